"""Generators of whole models from the operator table. The file name is the registry entry; there is no list to edit.

A file defines ``generate(parameters: Parameters, seed: int, index: int) -> Generated``: one model, which depends on
nothing but these. `graphwarden generate` writes them to files; those worth hunting with have a file of cases, too
(`fuzz.generators`). Optional: ``OPTIONS``, options of this generator alone with what they may say, the default first
(None: anything), ``MOST_NODES`` where a model cannot be as large as others, and ``series(parameters, seed, count)``
where models are made one after the other.
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import onnx
from onnx import helper

from fuzz.operators.families import OPSET, operators
from fuzz.operators.growth import GraphInput, Limits
from fuzz.operators.specification import Operator

_HERE = Path(__file__).parent
#: Before this IR version an initializer must be a graph input, too.
_FIRST_IR_VERSION = 4
#: Nodes of a model, at most: it is made in memory, and --ops may be mistyped.
MOST_NODES = 100_000
#: What is wrong where no operator can be given anything.
TOO_NARROW = (
    "no operator can be given tensors within --rank and --length: allow more of them, or name other --operators"
)


class UnknownModels(ValueError):
    """No generator of models has that name."""


class UnusableParameters(ValueError):
    """Parameters with which no model can be made."""


def unknown_operator(name: str, opset: int) -> str:
    """What is wrong with the name of an operator that the table lacks, and which one may be meant."""
    table = operators(opset)
    by_small = {each.lower(): each for each in table}
    near = [by_small[each] for each in difflib.get_close_matches(name.lower(), by_small, 1, 0.75)]
    hint = f"; do you mean {near[0]}?" if near else "; docs/generators.md says how to add one"
    return f"--operators: no operator {name!r} in the table at opset {opset}, which has {len(table)}{hint}"


@dataclass(frozen=True)
class Parameters:
    """What models are made of: `low` to `high` operators of the named ones (all of the table without names).

    `all_outputs`: every result of a node is an output, for looking at intermediate values. `own` are options of the
    generator alone (its ``OPTIONS``), as (name, value), without those at their default.
    """

    low: int = 1
    high: int = 10
    names: tuple[str, ...] = ()
    opset: int = OPSET
    limits: Limits = field(default_factory=Limits)
    all_outputs: bool = False
    own: tuple[tuple[str, str], ...] = ()

    def operators(self) -> tuple[Operator, ...]:
        """The operators to draw from, by name. Raises UnusableParameters."""
        newest = onnx.defs.onnx_opset_version()
        if not 1 <= self.opset <= newest:
            raise UnusableParameters(f"no opset {self.opset}: choose one from 1 to {newest}")
        table = operators(self.opset)
        unknown = [name for name in self.names if name not in table]
        if unknown:
            raise UnusableParameters(unknown_operator(unknown[0], self.opset))
        chosen = tuple(table[name] for name in sorted(set(self.names))) if self.names else tuple(table.values())
        if not chosen:
            raise UnusableParameters(f"the table has no operator at opset {self.opset}: choose a newer one")
        return chosen

    @property
    def ir_version(self) -> int:
        """The oldest IR version that the opset came with."""
        return _ir_version(self.opset)


@cache
def _ir_version(opset: int) -> int:
    return max(helper.find_min_ir_version_for([helper.make_opsetid("", opset)]), _FIRST_IR_VERSION)


@dataclass(frozen=True)
class Generated:
    """One model.

    `inputs` are what its graph inputs are and which values they may have; `nodes` counts its operators. `rejected`
    counts what was built and thrown away on the way: backtracks of a solver, invalid attempts of a baseline. `notes`
    are what else the manifest says of it.
    """

    model: bytes
    inputs: tuple[GraphInput, ...]
    nodes: int
    rejected: int = 0
    notes: Mapping[str, object] = field(default_factory=dict)


Generate = Callable[[Parameters, int, int], Generated]
Series = Callable[[Parameters, int, int], Iterator[Generated]]


def names() -> list[str]:
    """Registered names in alphabetical order."""
    return sorted(path.stem for path in _HERE.glob("*.py") if not path.stem.startswith("_"))


def load(name: str) -> Generate:
    """The `generate` of that name. Raises UnknownModels."""
    if name not in names():
        raise UnknownModels(f"no generator of models is called {name!r}: choose one of {', '.join(names())}")
    found: Generate = importlib.import_module(f"{__name__}.{name}").generate
    return found


def check(name: str, parameters: Parameters) -> None:
    """Raises UnknownModels, or UnusableParameters where the generator of that name can make no model of them.

    A generator that asks for more than operators has a ``check(parameters)`` of its own.
    """
    load(name)
    parameters.operators()
    module = importlib.import_module(f"{__name__}.{name}")
    most = getattr(module, "MOST_NODES", MOST_NODES)
    if parameters.high > most:
        raise UnusableParameters(f"--ops {parameters.low}:{parameters.high}: {name} makes models of at most {most}")
    known: dict[str, tuple[str, ...] | None] = getattr(module, "OPTIONS", {})
    for option, value in parameters.own:
        allowed = known.get(option)
        if option not in known:
            raise UnusableParameters(f"--{option}: {name} has no such option; leave it out")
        if allowed is not None and value not in allowed:
            raise UnusableParameters(f"--{option} {value!r}: choose one of {', '.join(allowed)}")
    own = getattr(module, "check", None)
    if own is not None:
        own(parameters)


def series(name: str, parameters: Parameters, seed: int, count: int) -> Iterator[Generated]:
    """The first `count` models of the generator of that name. Raises UnknownModels or UnusableParameters."""
    make = load(name)
    own: Series | None = getattr(importlib.import_module(f"{__name__}.{name}"), "series", None)
    yield from own(parameters, seed, count) if own else (make(parameters, seed, index) for index in range(count))
