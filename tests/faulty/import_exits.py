"""A backend whose import ends the process without a word."""

import os

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    os._exit(5)
