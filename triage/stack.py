"""Stacks: the frames of a failure, and which of them tell something. Which do not is data (`triage/rules.py`).

Frames are outermost first, as in `fuzz.case`; what tells is given innermost first. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import NamedTuple

from fuzz.case import Error, Frame
from triage.functions import function_name
from triage.rules import rules

_FAULTHANDLER = re.compile(r'^  File "(?P<file>[^"]+)", line (?P<line>\d+) in (?P<function>.+)$', re.MULTILINE)
#: A place in native code that a message names; ONNX Runtime writes the function's signature after it.
_SITE = re.compile(
    r"(?<![\w./+\\-])(?P<file>[\w./+\\-]+\.(?:cpp|cc|cxx|c|hpp|hxx|h|cu|cuh|inl|rs|mm|m|swift|go|zig|kt|java)):(?P<line>\d++)"
    r"(?!(?::\d+)?: (?:fatal )?(?:error|warning|note):)"  # what a C++ compiler says of generated code
    r"(?P<signature> (?:[\w:<>*&~]+ ){0,3}[\w:<>~]+\(| (?:[A-Za-z_]\w*::)+~?\w+(?= ))?"
)
#: The same as TensorRT writes it: file, function, line; or the function in words.
_SITE_TOO = re.compile(
    r"\[(?P<file>[\w./+-]+\.(?:cpp|cc|cxx|c|hpp|h|cu|cuh))::(?P<function>~?\w+)::(?P<line>\d+)\]"
    r"|(?P<file2>[\w./+-]+\.(?:cpp|cc|cxx|c|hpp|h|cu|cuh)):(?P<line2>\d+):? [Ii]n function:? (?P<function2>[\w:~]+)"
    r"|\b[Ii]n node -?\d+ \((?P<function3>\w+)\): "
)
_NATIVE = re.compile(r"\.(?:cpp|cc|cxx|c|hpp|hxx|hh|h|cu|cuh|inl|rs|mlir|so(?:\.\d+)*|dll|dylib)$")
#: What the function of a frame begins with whose symbol was stripped.
OFFSET = "+0x"
#: Rules look at no more than these last parts of a path.
_PARTS = 5
#: Folders at the root within which every user has one; so has every run, by a number, within that of temporary files.
_ROOTS = frozenset({"home", "Users"})
_DIGIT = re.compile(r"\d")
_LONGEST_CODE = 100
#: Kernels are compiled for several sets of instructions; only assemblers' names spell them as words of their own.
_ISA = re.compile(
    r"(?<=[a-z])(?:Avx(?:2|512(?:F|Core|Vnni)?)?|Fma3?|Sse(?:2|41)?|Neon|Sve|Vnni|Amx)+$|"
    r"(?<=[a-z0-9])(?:_(?:x86|arm(?:82)?|riscv|mips|loongarch|sse[\d_]*|avx\w*?|fma|neon|asimd\w*?|sve|rvv|vnni))+(?=::|$)"
)
#: What a method raises that was handed the words.
_PASSED_ON = re.compile(r"raise [\w.]+\(\w*(?:msg|message|text|reason|what|errors?)\)(?: from \w+)?")
_CHECK = re.compile(r"failed at\s+$")
#: ONNX Runtime's logger: severity, category, and the place that logs.
_LOGGED = re.compile(r"\[[VIWEF]:\w+:[\w.-]*, $")


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
    """The innermost `most` frames that say where it happened, innermost first, without line numbers.

    Each once: how often a function calls itself says nothing.
    """
    named: dict[str, None] = {}
    for frame in reversed(found):
        name, kind = spot(frame.file, frame.function)
        if name and not kind:
            named[name] = None
        if len(named) == most:
            break
    return list(named)


def spot(file: str, function: str, code: str = "") -> tuple[str, str]:
    """(a frame's name, "" or why it tells nothing: a kind of `triage.rules.KINDS`).

    Python: file and function, and where many functions share that name the line of code. Native code: the qualified
    function, which is the same whether the tool knows the file or not; else the file with its folder. The name is ""
    where nothing is known.
    """
    name, kind, *_ = known(file, function)
    if code and not kind and rules().namesakes.search(function):
        if _PASSED_ON.fullmatch(code):
            return name, "panic"
        name = f"{name}: {' '.join(code.split())[:_LONGEST_CODE]}"
    return name, kind


def shared(file: str, function: str) -> bool:
    """Whether many conversions come by a frame: it tells only with who called it."""
    return known(file, function).shared


class Known(NamedTuple):
    """What is known of a frame by its file and function: `spot` and `shared` of these, its file's bare name, and whose
    code it is, "" where that cannot be told."""

    name: str
    kind: str
    shared: bool
    file: str
    compiler: str


@lru_cache(maxsize=1 << 16)
def known(file: str, function: str) -> Known:
    """What is known of a frame but for its line of code."""
    parts = file.replace("\\", "/").split("/")
    if len(parts) > _PARTS and not parts[0] and (parts[1] in _ROOTS or (parts[1] == "tmp" and _DIGIT.search(parts[2]))):
        del parts[:3]
    return _known("/".join(parts[-_PARTS:]), function)  # the end of a path is the same on every machine


@lru_cache(maxsize=1 << 16)
def _known(path: str, function: str) -> Known:
    name = _bare(function)
    named = _by_name(name)
    placed = _by_path(path)
    return Known(
        _name(path, placed, name),
        named.kind or placed.kind or _found_in(named.kinds_within, path),
        bool(named.shared or placed.shared or _found_in(named.shared_within, path)),
        placed.file,
        named.compiler or placed.compiler,
    )


_Within = tuple[tuple[str, re.Pattern[str]], ...]


def _found_in(within: _Within, path: str) -> str:
    return next((kind for kind, file in within if file.search(path)), "") if within else ""


class _Named(NamedTuple):
    """What a function's name alone tells, "" what it does not; and what it tells in some files."""

    kind: str
    shared: str
    compiler: str
    kinds_within: _Within
    shared_within: _Within


class _Placed(NamedTuple):
    """What a path alone tells: the file's name, whether it is native code, and, "" what it does not, the rest."""

    file: str
    native: bool
    kind: str
    shared: str
    compiler: str


@lru_cache(maxsize=1 << 16)
def _by_name(name: str) -> _Named:
    ignored, shared = rules().ignored, rules().shared
    return _Named(
        ignored.function(name),
        shared.function(name),
        rules().owned.name(name),
        ignored.within(name),
        shared.within(name),
    )


@lru_cache(maxsize=1 << 16)
def _by_path(path: str) -> _Placed:
    every, file = rules(), path.rpartition("/")[2]
    return _Placed(
        file,
        _NATIVE.search(file) is not None,
        every.ignored.file(path),
        every.shared.file(path),
        every.owned.file(path) if path else "",
    )


@lru_cache(maxsize=1 << 16)
def _bare(function: str) -> str:
    """A function's name, whatever set of instructions it was compiled for, "" where it is an offset in a library."""
    if function.startswith(OFFSET):
        return ""
    name = function_name(function)
    return _ISA.sub("", name) if "_" in name or name.isalnum() else name


def _name(path: str, placed: _Placed, function: str) -> str:
    file = placed.file
    if file == "__init__.py":
        file = "/".join(path.split("/")[-2:])  # the folder is the module
    if "." in file and not placed.native:
        return file if function in ("", "<module>") else f"{file} {function}"
    if function and function != "<module>":
        return function
    return "/".join(path.split("/")[-2:]) if placed.native else ""


def native_site(message: str) -> str:
    """The first C++ file that a message names, shortened to its last three parts, "" when none."""
    found = _SITE.search(message)
    return "/".join(found["file"].split("/")[-3:]) if found else ""


def sites(message: str) -> Iterable[Frame]:
    """The places in native code that a message names, the one where it was raised first.

    In a chain of rethrown checks (OpenVINO) that is the last one that tells something. Before places without a function
    goes one that names it as TensorRT does; what a logger writes of itself in brackets is none.
    """
    functions = list(_SITE_TOO.finditer(message))
    told = {each.start() for each in functions}  # once, with the function
    found = [
        (
            Frame(each["file"], int(each["line"]), each["signature"] or ""),
            _CHECK.search(message, max(each.start() - 40, 0), each.start()) is not None,
        )
        for each in _SITE.finditer(message)
        if each.start() not in told and not _LOGGED.search(message, max(each.start() - 40, 0), each.start())
    ]
    named = [
        Frame(
            each["file"] or each["file2"] or "",
            int(each["line"] or each["line2"] or 0),
            each["function"] or each["function2"] or each["function3"],
        )
        for each in functions
    ]
    checks = [frame for frame, checked in reversed(found) if checked]
    return checks + named + [frame for frame, checked in found if not checked]
