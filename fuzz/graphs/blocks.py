"""The block corpus (section III-D): operators of the table and subgraphs of them, as data (``data/blocks``).

A corpus file says of every block which in-degrees and out-degrees it may have, and of a subgraph its operators and
inner edges. The form is described at the head of ``data/blocks/onnx.toml``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from fuzz.coverage.operator_level import Degrees
from fuzz.data import data_path
from fuzz.operators.families import OPSET, operators, specifications
from fuzz.operators.shapes import LARGEST, SIZE, Shape

#: The corpora that come with the project.
DEFAULT, PAPER = "onnx", "paper"
_KEYS = {"shapes", "out", "rest", "operators", "subgraphs"}


class BlockError(ValueError):
    """A corpus file that cannot be used: which, where, and how to mend it."""


@dataclass(frozen=True)
class Block:
    """An operator, or a subgraph of several with inner edges between their positions.

    The name of a subgraph is the sequence of its operators. Edges go from smaller to larger positions, and one may
    be there twice: an operator that reads the same result twice.
    """

    name: str
    operators: tuple[str, ...]
    edges: tuple[tuple[int, int], ...]
    degrees: Degrees

    @property
    def is_subgraph(self) -> bool:
        """Whether it has several operators."""
        return len(self.operators) > 1

    @cached_property
    def fewest_ins(self) -> int:
        """Its smallest in-degree."""
        return min(self.degrees.ins)

    @cached_property
    def most_ins(self) -> int:
        """Its largest in-degree."""
        return max(self.degrees.ins)

    @cached_property
    def is_end(self) -> bool:
        """Whether nothing may read it."""
        return max(self.degrees.outs) == 0


@dataclass(frozen=True)
class Corpus:
    """Blocks by name, the degrees of every operator in them, and the shapes that inputs usually have."""

    blocks: tuple[Block, ...]
    degrees: Mapping[str, Degrees]
    shapes: tuple[Shape, ...]

    def only(self, names: Collection[str]) -> Corpus:
        """Blocks of these operators alone. Raises BlockError where none is left."""
        kept = tuple(block for block in self.blocks if set(block.operators) <= set(names))
        if not kept:
            raise BlockError(f"the corpus has no block of {', '.join(sorted(names))} alone; name more operators")
        used = {name for block in kept for name in block.operators}
        return Corpus(kept, {name: degrees for name, degrees in self.degrees.items() if name in used}, self.shapes)


def load(name: str = DEFAULT, opset: int = OPSET) -> Corpus:
    """The corpus ``data/blocks/NAME.toml``, or the file at that path, without what the opset lacks.

    Raises BlockError.
    """
    path = Path(name) if name.endswith(".toml") else data_path("blocks", f"{name}.toml")
    try:
        document = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise BlockError(
            f"{path}: {error.strerror}; name a corpus of data/blocks or a file that ends in .toml"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise BlockError(f"{path}: is not TOML: {error}") from error
    return _Reader(str(path), opset).corpus(document)


class _Reader:
    def __init__(self, path: str, opset: int) -> None:
        self._path, self._opset = path, opset
        self._known = {row.op_type for row in specifications()}
        self._table = operators(opset)
        self._outs: frozenset[int] = frozenset()

    def _error(self, place: str, problem: str) -> BlockError:
        return BlockError(f"{self._path}: {place}: {problem}")

    def corpus(self, document: Mapping[str, Any]) -> Corpus:
        for key in document.keys() - _KEYS:
            raise self._error(key, f"is not known; a corpus has {', '.join(sorted(_KEYS))}")
        self._outs = self._numbers("out", document.get("out"))
        degrees = self._operators(document)
        if not degrees:
            raise self._error("operators", f"there is none that opset {self._opset} has")
        blocks = [Block(name, (name,), (), found) for name, found in sorted(degrees.items())]
        given = document.get("subgraphs", [])
        if not isinstance(given, list):
            raise self._error("subgraphs", "write each as [[subgraphs]]")
        read = [self._subgraph(f"subgraphs[{at}]", entry, degrees) for at, entry in enumerate(given)]
        blocks += [block for block in read if block]
        return Corpus(tuple(blocks), degrees, self._shapes(document.get("shapes")))

    def _operators(self, document: Mapping[str, Any]) -> dict[str, Degrees]:
        given = document.get("operators", {})
        if not isinstance(given, dict):
            raise self._error("operators", "must be a table such as Add = {in = [2]}")
        for name in given.keys() - self._known:
            raise self._error(f"operators.{name}", "the operator table has no such operator; see docs/generators.md")
        found = {name: self._degrees(f"operators.{name}", entry) for name, entry in given.items()}
        if "rest" in document:
            rest = self._degrees("rest", document["rest"])
            found |= {name: rest for name, row in self._table.items() if name not in given and not row.bodies}
        return {name: degrees for name, degrees in found.items() if name in self._table}

    def _degrees(self, place: str, entry: Any) -> Degrees:
        if not isinstance(entry, dict) or not {"in"} <= entry.keys() <= {"in", "out"}:
            raise self._error(place, "must be {in = [...]}, and out = [...] where it differs from the usual")
        outs = self._numbers(f"{place}.out", entry["out"]) if "out" in entry else self._outs
        return Degrees(self._numbers(f"{place}.in", entry["in"]), outs)

    def _numbers(self, place: str, given: Any) -> frozenset[int]:
        good = isinstance(given, list) and given and all(type(each) is int and each >= 0 for each in given)
        if not good:
            raise self._error(place, "must be a list of degrees from 0 on, such as [0, 1, 2]")
        return frozenset(given)

    def _shapes(self, given: Any) -> tuple[Shape, ...]:
        if not isinstance(given, list) or not given:
            raise self._error("shapes", "must be a list of shapes such as [[1, 3, 4, 4], [2, 5]]")
        for shape in given:
            good = isinstance(shape, list) and len(shape) <= 5 and all(type(n) is int and n > 0 for n in shape)
            if not good or SIZE[tuple(shape)] > LARGEST:
                raise self._error("shapes", f"{shape}: give at most 5 positive sizes with a product up to {LARGEST}")
        return tuple(tuple(shape) for shape in given)

    def _subgraph(self, place: str, entry: Any, degrees: Mapping[str, Degrees]) -> Block | None:
        """None where the opset lacks one of its operators."""
        if not isinstance(entry, dict) or not {"operators", "edges", "in"} <= entry.keys() <= _SUBGRAPH:
            raise self._error(place, "must have operators, edges and in, and may have out")
        names, edges = entry["operators"], entry["edges"]
        if not isinstance(names, list) or len(names) < 2:
            raise self._error(f"{place}.operators", 'must be two names or more, such as ["Conv", "Relu"]')
        for name in names:
            if name not in self._known:
                raise self._error(f"{place}.operators", f"the operator table has no operator {name!r}")
        self._check_edges(f"{place}.edges", edges, len(names))
        if not set(names) <= self._table.keys():
            return None
        for name in set(names) - degrees.keys():
            raise self._error(f"{place}.operators", f"{name} is not among the operators of the corpus; add it there")
        found = self._degrees(place, {key: entry[key] for key in ("in", "out") if key in entry})
        return Block("+".join(names), tuple(names), tuple((source, target) for source, target in edges), found)

    def _check_edges(self, place: str, edges: Any, count: int) -> None:
        good = isinstance(edges, list) and all(isinstance(edge, list) and len(edge) == 2 for edge in edges)
        if not good or any(type(end) is not int for edge in edges for end in edge):
            raise self._error(place, "must be a list of pairs of positions, such as [[0, 1], [1, 2]]")
        for source, target in edges:
            if not 0 <= source < target < count:
                raise self._error(place, f"[{source}, {target}] does not go from an operator to a later one of {count}")


_SUBGRAPH = {"operators", "edges", "in", "out"}
