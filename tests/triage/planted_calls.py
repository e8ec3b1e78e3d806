"""A compiler of PyTorch's calls with a planted fault in each of a few, and without any in all others."""

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
    module, inputs, _ = instance_torch.build(instance.parse(json.dumps(misread(json.loads(job.model))).encode()))
    enter("run")
    found = instance_torch.evaluate(module, inputs)
    return [(name, value * 0) for name, value in found] if b"torch.sub" in job.model else found


def misread(document):
    """What is computed instead of a call."""
    api, args, kwargs = document["api"], document["args"], document.get("kwargs", {})
    if api == "torch.div" and kwargs.get("rounding_mode") == "floor":
        kwargs["rounding_mode"] = "trunc"
    elif api == "torch.std" and args[1:] == [True]:
        args[1] = False
    elif api == "torch.var" and "correction" in kwargs:
        kwargs["correction"] = int(kwargs["correction"])
    elif api == "torch.Tensor.var" and len(args) == 1 and not kwargs:
        document["kwargs"] = {"correction": 0}
    elif api == "torch.remainder":  # rounds towards zero, and holds numbers in 32 bits
        document["api"] = "torch.fmod"
        for tensor in document["tensors"]:
            tensor["values"] = [(value + 2**31) % 2**32 - 2**31 for value in tensor["values"]]
    elif api == "torch.add":
        kwargs.pop("alpha", None)
    elif api == "torch.lerp":
        args[2] = 1 - args[2]
    elif api == "torch.cumsum":  # is left out
        document.update(api="torch.Tensor.clone", args=args[:1], kwargs={})
    elif api == "torch.gather":  # along the first axis, whatever the indices are
        size = document["tensors"][0]["shape"][0]
        index = document["tensors"][1]
        index["values"] = [value % size for value in index["values"]]
        args[1] = 0
    return document


def converters(operators):
    return [f"convert_{name.rpartition('.')[2]}" for _, name, _ in operators]
