"""A mutation as data: what is inserted, where, and what it needs. One line of ``mutations.jsonl``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

#: Integers, floats, or lists of integers: all that inserted nodes need.
Attribute = int | float | tuple[int, ...]


class UnreadableMutations(ValueError):
    """A list of mutations that cannot be read."""


@dataclass(frozen=True)
class Inserted:
    """A node with one output; its name is that of the output."""

    op: str
    inputs: tuple[str, ...]
    output: str
    attributes: Mapping[str, Attribute]


@dataclass(frozen=True)
class Constant:
    """An initializer, as the recipe that gives it again.

    Exactly one of these: `numbers` in row-major order; `drawn` (seed, mutation, position) from a normal distribution of
    standard deviation `scale`; `profiled`, a tensor of the seed, from which the elements [start, end) of each axis are
    taken as it is at the profiled input.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    numbers: tuple[float, ...] | None = None
    drawn: tuple[int, ...] | None = None
    scale: float = 1.0
    profiled: str = ""
    starts: tuple[int, ...] = ()

    def value(self, profile: Mapping[str, np.ndarray]) -> np.ndarray:
        """The array. `profile`: values of the seed's tensors by name."""
        if self.numbers is not None:
            return np.array(self.numbers, self.dtype).reshape(self.shape)
        if self.drawn is not None:
            found = np.random.default_rng(self.drawn).standard_normal(self.shape) * self.scale
            return np.asarray(found, self.dtype)
        window = tuple(slice(start, start + length) for start, length in zip(self.starts, self.shape, strict=True))
        return np.ascontiguousarray(profile[self.profiled][window])


@dataclass(frozen=True)
class Mutation:
    """One mutation: `result` is `target` with ``guard * garbage`` added; `readers` of the target read it instead.

    `index` is the number of the mutant that it makes, from 1. `kind` is ``uoc`` or ``pioc``, `guard` its form. A reader
    is a node, ``seed/12`` or the output of an inserted one, or an output of the graph, ``output/0``. The nodes stand in
    their order immediately before the first reader. `zero` is the tensor that is always zero. `needs` are the mutations
    without which this one cannot be.
    """

    index: int
    kind: str
    guard: str
    garbage: tuple[str, ...]
    target: str
    result: str
    zero: str
    readers: tuple[str, ...]
    nodes: tuple[Inserted, ...]
    constants: tuple[Constant, ...]
    needs: tuple[int, ...]

    def line(self) -> str:
        """The mutation as one line of JSON with sorted keys."""
        document = asdict(self)
        document["constants"] = [_slim(constant) for constant in self.constants]
        return json.dumps(document, sort_keys=True)


def _slim(constant: Constant) -> dict[str, Any]:
    """Without what is not said."""
    kept = {key: value for key, value in asdict(constant).items() if value not in (None, "", ())}
    if constant.drawn is None:
        kept.pop("scale", None)
    return (
        kept
        | {"shape": list(constant.shape)}
        | ({} if constant.numbers is None else {"numbers": list(constant.numbers)})
    )


def read(text: str, where: str) -> list[Mutation]:
    """The mutations of a ``mutations.jsonl``, in order. Raises UnreadableMutations with the place."""
    found = []
    for number, line in enumerate(text.splitlines(), start=1):
        try:
            found.append(_parsed(json.loads(line)))
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            raise UnreadableMutations(
                f"{where}: line {number} is no mutation ({error!r:.200}); take the file as graphwarden mutate wrote it"
            ) from error
    return found


def _parsed(document: dict[str, Any]) -> Mutation:
    nodes = tuple(
        Inserted(each["op"], tuple(each["inputs"]), each["output"], _attributes(each["attributes"]))
        for each in document.pop("nodes")
    )
    constants = tuple(Constant(**_tuples(each)) for each in document.pop("constants"))
    return Mutation(nodes=nodes, constants=constants, **_tuples(document))


def _attributes(document: dict[str, Any]) -> dict[str, Attribute]:
    return _tuples(document)


def _tuples(document: dict[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in document.items()}
