"""A compiler of PyTorch's calls with two planted faults: `div` always truncates, and `sub` gives zeros."""

import importlib
import json

PACKAGES = ()
KINDS = ("instance",)
OPTIONS = {}


def warm():
    for name in ("torch", "fuzz.instance_torch"):
        importlib.import_module(name)


def devices():
    return ["CPU"]


def execute(job, enter):
    from fuzz import instance, instance_torch

    enter("convert")
    document = json.loads(job.model)
    if document["api"] == "torch.div" and document.get("kwargs", {}).get("rounding_mode") == "floor":
        document["kwargs"]["rounding_mode"] = "trunc"
    module, inputs, _ = instance_torch.build(instance.parse(json.dumps(document).encode()))
    enter("run")
    found = instance_torch.evaluate(module, inputs)
    return [(name, value * 0) for name, value in found] if document["api"] == "torch.sub" else found


def converters(operators):
    return [f"convert_{name.rpartition('.')[2]}" for _, name, _ in operators]
