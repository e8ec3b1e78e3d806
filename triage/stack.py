"""Stacks: reading faulthandler's output, and the frames of a failure that tell something."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import PurePath

from fuzz.case import Error, Frame

_FAULTHANDLER = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>.+)$', re.MULTILINE)
_NATIVE_SITE = re.compile(r"([\w./+-]+\.(?:cpp|cc|cxx|h|hpp)):\d+")
#: Frames that every failure of a library passes through and that therefore tell nothing.
_NOISE = (
    "fuzz/worker.py",
    "fuzz/backends/",
    "fuzz/instance",
    "tvm_ffi/",
    "function.pxi",
    "error.pxi",
    "tvm/base.py",
    "contextlib.py",
    "functools.py",
    "<frozen",
    "<unknown>",
    "runpy.py",
    "onnxruntime_inference_collection.py",
)


def faulthandler_frames(stderr: str) -> tuple[Frame, ...]:
    """The Python frames that faulthandler printed for the current thread, outermost first."""
    start = max(stderr.rfind("Current thread "), 0) or stderr.rfind("(most recent call first)")
    block = stderr[max(start, 0) :]
    block = block.partition("\n\n")[0]  # other threads follow after a blank line
    found = [Frame(m["file"], int(m["line"]), m["function"]) for m in _FAULTHANDLER.finditer(block)]
    return tuple(reversed(found))


def frames(error: Error) -> tuple[Frame, ...]:
    """The frames of an error: its traceback, or what faulthandler saw when the process died."""
    return error.frames or faulthandler_frames(error.stderr)


def telling(found: Sequence[Frame], most: int = 3) -> list[str]:
    """The innermost `most` frames that say where it happened, innermost first, without line numbers."""
    named = []
    for frame in reversed(found):
        path = frame.file.replace("\\", "/")
        if any(noise in path for noise in _NOISE):
            continue
        function = "" if frame.function == "<module>" else f" {frame.function}"
        named.append(f"{PurePath(path).name}{function}")
        if len(named) == most:
            break
    return named


def native_site(message: str) -> str:
    """The first C++ file that a message names, shortened to its last three parts, "" when none."""
    found = _NATIVE_SITE.search(message)
    return "/".join(found.group(1).split("/")[-3:]) if found else ""
