"""Tests as prioritisation sees them: operators and parameters, without models, values or outcomes.

One `Item` is one test: a migrated operator instance (OPERA, section III-A) or a whole model. `fuzz.ranking.reading`
makes items of files, `fuzz.ranking.cases` of cases.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

#: A parameter's value: a tensor, or plain JSON (numbers, texts, lists, objects).
Value = Any


@dataclass(frozen=True)
class Tensor:
    """A tensor parameter: element type and shape (None: unknown dimension or rank)."""

    dtype: str
    shape: tuple[int | None, ...] | None
    constant: bool = False


@dataclass(frozen=True)
class Call:
    """One operator with the parameters it is given; a parameter that is left out is not listed.

    `defaults` holds the declared defaults of optional parameters, `results` the outputs' types, where they are known.
    `contents` holds the elements of small inputs that are no data (axes, pads, shapes), where they are known.
    """

    operator: str
    parameters: Mapping[str, Value]
    defaults: Mapping[str, Value] = field(default_factory=dict)
    results: tuple[Tensor, ...] = ()
    contents: Mapping[str, Value] = field(default_factory=dict)


@dataclass(frozen=True)
class Item:
    """One test. `calls` holds the operators of its model, the one that it is about first; never empty.

    `text` is the test as one string (for FAST), `seconds` what it is known to cost, None where nothing is known.
    """

    id: str | int
    calls: tuple[Call, ...]
    text: str
    seconds: float | None = None

    @property
    def operator(self) -> str:
        """The operator that the test is about."""
        return self.calls[0].operator

    @property
    def call(self) -> Call:
        """The operator that the test is about, with its parameters."""
        return self.calls[0]
