"""A backend whose import never ends and which has started a child of its own."""

import os
import time

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    os.fork()
    time.sleep(1000)
