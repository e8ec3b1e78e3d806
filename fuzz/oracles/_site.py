"""One operator with what is known of it: what the predicates of ``data/undefined.toml`` look at."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fuzz.wire import Value


@dataclass(frozen=True)
class Site:
    """One operator with what is known of it.

    ONNX: `inputs` and `outputs` by formal name (a variadic input's items are ``name``, ``name#1`` ...),
    `given` the names of the inputs that are connected. PyTorch: `inputs` holds the tensors among the
    arguments by position (``"0"``) or keyword, those in a list as ``"0.1"``, `attributes` the other
    arguments. A declared input of an ONNX graph: `inputs` holds the ``value``, `attributes` the declared
    ``shape`` (None for a free dimension).
    `subject` names the inputs that the rule speaks of, `version` is the opset version of the operator's own words
    (0: none).
    """

    op_type: str
    attributes: Mapping[str, Any]
    inputs: Mapping[str, Value]
    outputs: Mapping[str, Value]
    given: frozenset[str] = frozenset()
    subject: tuple[str, ...] = ()
    library: str = "onnx"
    version: int = 0

    def array(self, *names: str) -> np.ndarray | None:
        """The first of the named inputs that is known and a tensor."""
        return next((v for n in names if isinstance(v := self.inputs.get(n), np.ndarray)), None)

    def result(self) -> np.ndarray | None:
        """The first output, if it is known and a tensor."""
        first = next(iter(self.outputs.values()), None)
        return first if isinstance(first, np.ndarray) else None

    def subjects(self) -> list[np.ndarray]:
        """The tensors that the rule speaks of, those that are known."""
        return [array for name in self.subject if (array := self.array(name)) is not None]


Predicate = Callable[[Site], bool]


def is_integer(array: np.ndarray | None) -> bool:
    """Whether the dtype is an integer one, ml_dtypes' small ones included."""
    return array is not None and (array.dtype.kind in "iu" or bool(re.fullmatch(r"u?int\d+", array.dtype.name)))


def is_float(array: np.ndarray | None) -> bool:
    """Whether the dtype is a floating-point one, ml_dtypes' included."""
    return array is not None and (array.dtype.kind == "f" or "float" in array.dtype.name)


def predicates_in(namespace: Mapping[str, Any]) -> dict[str, Predicate]:
    """Every predicate that a module defines, by its name: its functions without a leading underscore."""
    own = namespace["__name__"]
    return {
        name: found
        for name, found in namespace.items()
        if callable(found) and getattr(found, "__module__", "") == own and not name.startswith("_")
    }
