"""What HirGen has inserted so far (section 3.1.3), and whether an insertion would be new.

Kept over campaigns in a file: JSON with sorted lists, so that equal coverage has equal bytes.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from onnx import TensorProto

from fuzz.operators.shapes import Shape

#: Operator and data type; operator and shape of its result; edge; path of three operators; a broken constraint.
DATATYPE, SHAPE, EDGE, PATH, VIOLATION = "datatype", "shape", "edge", "path", "violation"
CRITERIA = (DATATYPE, SHAPE, EDGE, PATH, VIOLATION)
#: Those of the paper. Paths are its extension, "at greater time costs".
PAPER = (DATATYPE, SHAPE, EDGE)
#: Shapes are so many that with them nearly any insertion is new, and graphs are no other than chance's (decision 017).
USUAL = (DATATYPE, EDGE)
_FORMAT = 1


class CoverageError(ValueError):
    """A file that holds no coverage, or a criterion that there is not."""


@dataclass(frozen=True)
class Insertion:
    """An operator node as it is inserted: its data type, the shapes of its results, and what it reads.

    `sources` are the operators whose results it reads, `paths` pairs of an operator and one of `sources` that reads
    it. `dtype` is a `TensorProto.DataType`.
    """

    op_type: str
    dtype: int
    shapes: tuple[Shape, ...] = ()
    sources: frozenset[str] = frozenset()
    paths: frozenset[tuple[str, str]] = frozenset()

    def items(self) -> Iterator[tuple[str, str]]:
        """Every (criterion, item) that the insertion covers; an item is text with the operator first."""
        yield DATATYPE, f"{self.op_type} {TensorProto.DataType.Name(self.dtype).lower()}"
        for shape in self.shapes:
            yield SHAPE, f"{self.op_type} {'x'.join(map(str, shape)) or 'scalar'}"
        for source in sorted(self.sources):
            yield EDGE, f"{source} {self.op_type}"
        for first, second in sorted(self.paths):
            yield PATH, f"{first} {second} {self.op_type}"


class Coverage:
    """The items covered so far, by criterion. What no criterion in use counts is not kept."""

    def __init__(self, criteria: Collection[str] = USUAL) -> None:
        """`criteria`: those of `CRITERIA` that guide. Raises CoverageError."""
        unknown = sorted(set(criteria) - set(CRITERIA))
        if unknown or not criteria:
            raise CoverageError(f"no criterion {', '.join(unknown) or '(none)'}: choose from {', '.join(CRITERIA)}")
        self._seen: dict[str, set[str]] = {name: set() for name in CRITERIA if name in criteria}

    def is_new(self, items: Collection[tuple[str, str]]) -> bool:
        """Whether any of the (criterion, item) pairs is not covered."""
        return any(name in self._seen and item not in self._seen[name] for name, item in items)

    def add(self, items: Collection[tuple[str, str]]) -> int:
        """Cover the items; how many of them are new."""
        new = 0
        for name, item in items:
            seen = self._seen.get(name)
            if seen is not None and item not in seen:
                seen.add(item)
                new += 1
        return new

    def counts(self) -> dict[str, int]:
        """How many items are covered, by criterion."""
        return {name: len(seen) for name, seen in self._seen.items()}

    def empty(self) -> Coverage:
        """Another coverage of the same criteria, with nothing covered."""
        return Coverage(tuple(self._seen))

    # ---- over campaigns

    def save(self, path: Path) -> None:
        """Write the file, whole or not at all. Criteria that guide nothing now keep what the file has of them."""
        kept: dict[str, set[str]] = dict(_read(path)) if path.exists() else {}
        for name, seen in self._seen.items():
            kept[name] = kept.get(name, set()) | seen
        document = {"format": _FORMAT, "covered": {name: sorted(kept[name]) for name in sorted(kept)}}
        text = json.dumps(document, indent=0, sort_keys=True) + "\n"
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        part.write_text(text, encoding="utf-8")
        part.replace(path)

    def load(self, path: Path) -> None:
        """Cover what the file says. A missing file is that of a first campaign. Raises CoverageError."""
        if path.exists():
            found = _read(path)
            for name, seen in self._seen.items():
                seen |= found.get(name, set())


def _read(path: Path) -> Mapping[str, set[str]]:
    try:
        document = json.loads(path.read_text("utf-8"))
        version, covered = document["format"], document["covered"]
        if version != _FORMAT:
            raise CoverageError(f"{path}: format {version!r}, not {_FORMAT}; name another file to begin anew")
        return {str(name): set(map(str, items)) for name, items in covered.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        if isinstance(error, CoverageError):
            raise
        raise CoverageError(f"{path}: holds no coverage ({error}); name another file to begin anew") from error
