"""OpenVINO's transformations one by one: the model as each of them leaves it.

With OV_ENABLE_SERIALIZE_TRACING set, OpenVINO's pass managers write the model to the working folder after every pass
(src/core/src/pass/manager.cpp), under the model's name, a number that counts up, and the pass's name.
"""

from __future__ import annotations

import contextlib
import os
import re
import tempfile
from collections import Counter
from typing import Any, Callable, Dict, Iterator, List

from fuzz.wire import CannotFeed

_TRACING = "OV_ENABLE_SERIALIZE_TRACING"
_FILE = re.compile(r"(?P<model>.+)_(?P<number>\d{3,})_(?P<name>.+)\.xml")
#: Larger models would fill the disk: each is written some 300 times.
MOST_BYTES = 1 << 20


@contextlib.contextmanager
def traced(size: int, compile_model: Callable[[], Any]) -> Iterator[Dict[str, str]]:
    """The models, by the labels of the passes that changed them: paths that are good while the context lasts.

    A label is the pass's place among all and its name, e.g. ``019 AbsSinking``, for one pass may run several times. A
    failing compilation shows the passes before. `size` is the model's in bytes; raises CannotFeed for a large one.
    """
    if size > MOST_BYTES:
        raise CannotFeed("the model is too large to be written after every transformation")
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ[_TRACING] = "true"
        try:
            with contextlib.suppress(RuntimeError):
                compile_model()
        finally:
            del os.environ[_TRACING]
            os.chdir(before)
        yield _changed(folder)


def _changed(folder: str) -> Dict[str, str]:
    """The files of the model that most passes see (others are bodies and what a frontend began with) that differ."""
    found = [match for match in map(_FILE.fullmatch, os.listdir(folder)) if match]
    counted = Counter(match["model"] for match in found)
    if not counted:
        return {}
    most = min(counted, key=lambda name: (-counted[name], name))
    steps: Dict[str, str] = {}
    last: List[bytes] = []
    passes = sorted((each for each in found if each["model"] == most), key=lambda each: int(each["number"]))
    first = int(passes[0]["number"])  # the process counts on from one compilation to the next
    for match in passes:
        path = os.path.join(folder, match.group())
        content = [_content(path), _content(path[: -len(".xml")] + ".bin")]
        if content != last:
            number, name = int(match["number"]) - first, match["name"].rpartition("::")[2]
            steps["%03d %s" % (number, name)] = path
        last = content
    return steps


def _content(path: str) -> bytes:
    with open(path, "rb") as file:
        return file.read()
