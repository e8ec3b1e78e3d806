"""A backend that imports well and finds no device to run on."""

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    pass


def devices():
    raise RuntimeError("no such device: accelerator 0")
