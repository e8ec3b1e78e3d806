"""Which operators a change touches: from changed files and lines to the names of operators.

Of a Python frontend the classes and functions around the changed lines are asked which operators they convert: by the
frontend's own table (``"Resize": Resize``), else by their name. Helpers touch the classes that use them. Of any other
file the name tells: ``op/layer_normalization.cpp``. Pure but for `from_git` and `texts`, which ask a
repository.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from triage.revisions.git import Repository
from triage.suite.order import spelling

_HUNK = re.compile(r"@@ -\d+(?:,(?P<old>\d+))? \+(?P<first>\d+)(?:,(?P<new>\d+))? @@")
_GIVEN = re.compile(r"(?P<file>[^:].*?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?\Z", re.DOTALL)
#: How many lines of the old and of the new file a line of a hunk is, by its first character ("": an empty one).
_COUNTS = {" ": (1, 1), "": (1, 1), "-": (1, 0), "+": (0, 1)}
#: Functions that so many classes use are no helper of an operator: a change there touches everything or nothing.
_EVERYBODY = 12


class BadLines(ValueError):
    """A file with lines that are none; the message says what would be right."""


@dataclass(frozen=True)
class Lines:
    """Changed lines of a file, from 1, both ends included; `path` is relative to the project. No spans: all of it."""

    path: str
    spans: tuple[tuple[int, int], ...] = ()

    def covers(self, first: int, last: int) -> bool:
        """Whether a changed line lies between `first` and `last`."""
        return not self.spans or any(low <= last and first <= high for low, high in self.spans)


@dataclass(frozen=True)
class Place:
    """Where a touched operator is converted: for positions in a report."""

    path: str
    first: int = 1
    last: int = 1


def given(text: str) -> Lines:
    """``FILE``, ``FILE:LINE`` or ``FILE:FIRST-LAST``, as a user writes it. Raises BadLines."""
    found = _GIVEN.match(text)
    if found is None or _ends_in_no_lines(found["file"]):
        raise _bad(text)
    if found["first"] is None:
        return Lines(found["file"])
    first, last = int(found["first"]), int(found["last"] or found["first"])
    if not 1 <= first <= last:
        raise _bad(text)
    return Lines(found["file"], ((first, last),))


def _ends_in_no_lines(file: str) -> bool:
    """Whether what follows a colon was meant as lines: a name may hold colons, too (``odd:name.py``)."""
    name, colon, rest = file.rpartition(":")
    return bool(colon) and (bool(PurePosixPath(name).suffix) or "." not in rest)


def _bad(text: str) -> BadLines:
    return BadLines(f"{text!r} is not FILE, FILE:LINE or FILE:FIRST-LAST with lines from 1")


def from_git(repository: Repository, base: str, head: str) -> list[Lines]:
    """The changed lines of the commit `head` against `base`, as they stand in `head`. Raises GitError."""
    paths = repository.changed(base, head)
    return [lines for path in paths for lines in parse_diff(repository.difference(base, head, path))]


def texts(repository: Repository, head: str, changes: Iterable[Lines]) -> dict[str, str]:
    """The texts of the changed Python files in the commit `head`. Raises GitError."""
    return {each.path: repository.text(head, each.path) for each in changes if each.path.endswith(".py")}


def parse_diff(text: str) -> list[Lines]:
    """The changed lines of a unified diff, as they stand in the new version; deleted files are left out."""
    spans: dict[str, list[tuple[int, int]]] = {}
    path = ""
    old = new = 0  # lines that the hunk still has of each version: what looks like a header there is none
    for line in text.split("\n"):
        if old > 0 or new > 0:
            taken = _COUNTS.get(line[:1], (0, 0))
            old, new = old - taken[0], new - taken[1]
        elif line.startswith("+++ "):
            path = "" if line.startswith("+++ /dev/null") else line[4:].strip().strip('"').removeprefix("b/")
        elif found := _HUNK.match(line):
            old, new = (int(found[side] if found[side] is not None else 1) for side in ("old", "new"))
            if path:
                spans.setdefault(path, []).append(_span(int(found["first"]), new))
    return [Lines(path, tuple(each)) for path, each in spans.items()]


def _span(first: int, count: int) -> tuple[int, int]:
    """The lines of a hunk. Where lines were only taken away, what stands around the gap has changed."""
    return (first, first + count - 1) if count else (first, first + 1)


def touched(changes: Iterable[Lines], read: Mapping[str, str]) -> dict[str, Place]:
    """Operators (spelt as in `order.spelling`) -> where the change touches them.

    `read` holds the new texts of Python files by path; of other files only the name counts.
    """
    found: dict[str, Place] = {}
    for change in changes:
        places = _in_python(change, read[change.path]) if change.path in read else _by_name(change)
        for operator, place in places.items():
            found.setdefault(operator, place)
    return found


def _by_name(change: Lines) -> dict[str, Place]:
    name = spelling(PurePosixPath(change.path).name.partition(".")[0])
    first, last = change.spans[0] if change.spans else (1, 1)
    return {name: Place(change.path, first, last)} if name else {}


def _in_python(change: Lines, text: str) -> dict[str, Place]:
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return _by_name(change)
    definitions = {
        node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    }
    hit = [name for name, node in definitions.items() if change.covers(_first(node), node.end_lineno or node.lineno)]
    table = _table(tree, definitions)
    found: dict[str, Place] = {}
    for name in hit:
        where = _place(change, definitions[name])
        # Where the file has a table, only what stands in it converts an operator.
        named = table or {user: [user] for user in definitions}
        for user in (name, *_users(name, definitions)):
            for operator in named.get(user, ()):
                found.setdefault(spelling(operator), where)
    return found


def _first(node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])


def _place(change: Lines, node: ast.AST) -> Place:
    """The first changed lines inside a definition."""
    low, high = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
    for first, last in change.spans:
        if first <= high and low <= last:
            return Place(change.path, max(first, low), min(last, high))
    return Place(change.path, low, low)


def _table(tree: ast.Module, definitions: Collection[str]) -> dict[str, list[str]]:
    """Definition -> the operators that a table of the file gives it: ``{"Resize": Resize.get_converter(opset)}``."""
    found: dict[str, list[str]] = {}
    for node in ast.walk(tree):
        if not isinstance(node, ast.Dict):
            continue
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                for name in _names(value) & set(definitions):
                    found.setdefault(name, []).append(key.value)
    return found


def _users(name: str, definitions: Mapping[str, ast.AST]) -> Sequence[str]:
    """The other definitions that use `name`, directly or through others; none where everybody does."""
    found: list[str] = []
    wanted = {name}
    while wanted:
        rest = {user: node for user, node in definitions.items() if user not in (name, *found)}
        using = [user for user, node in rest.items() if not wanted.isdisjoint(_names(node))]
        found += using
        wanted = set(using)
    return found if len(found) <= _EVERYBODY else []


def _names(node: ast.AST) -> set[str]:
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
