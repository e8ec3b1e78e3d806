"""A compiler of PyTorch's calls whose `mul` of 8-bit integers saturates, and whose composite calls are wrong for that.

With the option ``sub=wrong`` it has a fault as well: `sub` is off by one.
"""

import importlib
import json

PACKAGES = ()
KINDS = ("instance",)
OPTIONS = {"sub": ("right", "wrong")}


def warm():
    for name in ("torch", "fuzz.instance_torch"):
        importlib.import_module(name)


def devices():
    return ["CPU"]


def execute(job, enter):
    import numpy as np

    from fuzz import instance, instance_torch

    enter("convert")
    module, inputs, _ = instance_torch.build(instance.parse(job.model))
    enter("run")
    found = instance_torch.evaluate(module, inputs)
    api = json.loads(job.model)["api"]
    if api == "torch.nn.functional.margin_ranking_loss":
        return [(name, value + np.float32(1)) for name, value in found]
    if api == "torch.mul":
        exact = inputs[0].numpy().astype(int) * inputs[1].numpy().astype(int)
        return [(name, exact.clip(-128, 127).astype(value.dtype)) for name, value in found]
    if api == "torch.sub" and job.options.get("sub") == "wrong":
        return [(name, value + 1) for name, value in found]
    return found


def converters(operators):
    return [f"convert_{name.rpartition('.')[2]}" for _, name, _ in operators]
