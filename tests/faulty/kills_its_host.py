"""A backend that computes Relu; a case with ``fault:kill_the_host;`` ends the process that its workers belong to."""

import os
import signal
from pathlib import Path

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("run")
    if b"fault:kill_the_host;" in job.model:
        os.kill(host(), signal.SIGKILL)
        signal.pause()
    return [("y", np.maximum(job.inputs["x"], 0))]


def host():
    """The first ancestor that is none of our workers."""
    pid = os.getpid()
    while b"worker.py" in Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    return pid


def blame(error, job):
    return "", ""
