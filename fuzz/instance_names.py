"""Which operators a library has, told without importing it: the lists in ``data/operators``.

Each list begins with the library and its version and names one operator a line.
"""

from __future__ import annotations

import difflib
import functools

from fuzz.data import data_path
from fuzz.instance import LIBRARIES
from fuzz.instance_values import InstanceError


@functools.cache
def listed(library: str) -> frozenset[str]:
    """The public names of a library's operators: functions, methods and module or layer classes."""
    return frozenset(_lines(library)[1:])


def check(library: str, api: str) -> None:
    """Raise InstanceError for an operator that the library does not have; other libraries are not judged."""
    if library not in LIBRARIES or api in listed(library):
        return
    near = difflib.get_close_matches(api, listed(library), n=1, cutoff=0.8)
    mend = f"did you mean {near[0]}?" if near else "see docs/instances.md for what can be named"
    raise InstanceError(f"api {api} is no operator of {_version(library)}; {mend}")


def _version(library: str) -> str:
    return _lines(library)[0].lstrip("# ").partition(":")[0]


@functools.cache
def _lines(library: str) -> tuple[str, ...]:
    return tuple(data_path("operators", f"{library}.txt").read_text("utf-8").splitlines())
