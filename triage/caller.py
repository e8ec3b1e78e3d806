"""Whose frames call the compiler and are none of it: those of the folder in which a traceback begins. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from fuzz.case import Frame
from triage.rules import compilers
from triage.stack import known

#: Where packages are installed: no reporter's script lies there.
_INSTALLED = re.compile(r"(?:^|/)(?:site|dist)-packages/|(?:^|/)lib/python[\d.]+/")
_PACKAGES = re.compile(r"(?:^|/)(?:site|dist)-packages/")
#: Names of folders that say nothing of whose code lies there.
_COMMON = frozenset(
    """
    home users root usr opt var tmp mnt data src source sources lib lib64 python py include build work workspace
    workspaces project projects repo repos git code dev documents desktop downloads ci app apps local share private
    """.split()  # noqa: SIM905
)
_HOME = re.compile(r"^(?:[A-Za-z]:)?/(?:home|Users)/[^/]+/")


def without_the_caller(found: tuple[Frame, ...]) -> tuple[Frame, ...]:
    """Frames, innermost first, without the outermost ones that lie in the folder in which the traceback begins.

    Nor those that lead on from there to an installed package: a harness, its threads. Only where what they call lies
    elsewhere, and nowhere near: the beginning of a trace may be lost, and then a compiler's own frame stands first.
    """
    folder = _outside(found[-1].file) if found else None
    if folder is None or found[0].function == "<module>":  # a list in the other order
        return found
    end = len(found)
    while end and _lies_in(found[end - 1].file, folder):
        end -= 1
    if not folder and not {frame.file for frame in found[end:]}.isdisjoint(map(_last, found[:end])):
        return found  # a list of bare names beside a trace
    way = end
    while way and _on_the_way(found[way - 1].file):
        way -= 1
    if way and _PACKAGES.search(found[way - 1].file.replace("\\", "/")):
        end = way
    parts = _telling_parts(folder)
    if (
        not end
        or _of_libraries(found[:end])
        or (parts and any(not parts.isdisjoint(_names(each.file, each.function)) for each in found[:end]))
    ):
        return found
    return found[:end]


def _of_libraries(found: tuple[Frame, ...]) -> bool:
    """Whether all telling frames are of libraries, which tell nothing without who called them: a compiler that is not
    installed lies where its users' scripts do."""
    left = [each for frame in found if not (each := known(frame.file, frame.function)).kind]
    return bool(left) and all(each.shared for each in left)


@lru_cache(maxsize=1 << 12)
def _outside(file: str) -> str | None:
    """The folder of a file of Python outside every installed package, None where a file is none such."""
    path = file.replace("\\", "/")
    if not path.endswith(".py") or _INSTALLED.search(path):
        return None
    return path.rpartition("/")[0]


@lru_cache(maxsize=1 << 12)
def _on_the_way(file: str) -> bool:
    """Whether a frame may stand between a script and the package that it calls: of a harness, of the language."""
    path = file.replace("\\", "/")
    return path.endswith((".py", ">")) and not _PACKAGES.search(path) and compilers().isdisjoint(path.split("/"))


def _last(frame: Frame) -> str:
    return frame.file.replace("\\", "/").rpartition("/")[2]


def _lies_in(file: str, folder: str) -> bool:
    path = file.replace("\\", "/")
    own = path.rpartition("/")[0]
    below = bool(folder) and own.startswith(f"{folder}/") and compilers().isdisjoint(own[len(folder) :].split("/"))
    return path.endswith(".py") and (own == folder or below)


@lru_cache(maxsize=1 << 14)
def _names(file: str, function: str) -> frozenset[str]:
    """The names of folders and namespaces that a frame bears."""
    spaces = function.partition("(")[0].partition("<")[0].split("::")[:-1] if "::" in function else ()
    path = _PACKAGES.split(file.replace("\\", "/"))[-1]  # what an environment is called says nothing
    return _telling_parts(path.rpartition("/")[0]) | {name.lower() for name in spaces}


@lru_cache(maxsize=1 << 12)
def _telling_parts(folder: str) -> frozenset[str]:
    return frozenset(_parts(folder))


def _parts(folder: str) -> Iterator[str]:
    for part in _HOME.sub("", folder).lower().split("/"):
        if part and part not in _COMMON and not part.startswith("python3"):
            yield part
