"""A backend whose compiler is not installed properly."""

PACKAGES = ("graphwarden-no-such-distribution",)
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    raise ImportError("libnative.so.4: cannot open shared object file")
