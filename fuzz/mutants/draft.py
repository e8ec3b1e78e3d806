"""A mutation in the making: its nodes are evaluated as they are added, on the kept values of the profiled input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fuzz.mutants import kernels
from fuzz.mutants.mutation import Attribute, Constant, Inserted
from fuzz.mutants.tensors import Tensor, largest

#: Operators whose result may have the factors of all inputs together; others have those of the largest.
_MULTIPLYING = frozenset(("Mul", "Div"))


class Rejected(Exception):
    """What was drawn cannot be used, and why; something else is drawn instead."""


class Draft:
    """Nodes and constants of mutation `index`, and the tensors that they make. `stem` begins their names.

    `rng` draws everything; `seed` is the campaign's, for constants that are drawn again from the list of mutations.
    """

    def __init__(self, stem: str, index: int, seed: int, rng: np.random.Generator, dtype: str) -> None:
        self._stem, self._index, self._seed, self.rng, self.dtype = stem, index, seed, rng, dtype
        self.nodes: list[Inserted] = []
        self.constants: list[Constant] = []
        self.tensors: dict[str, Tensor] = {}

    def node(self, op: str, *inputs: Tensor, **attributes: Attribute) -> Tensor:
        """Add a node and evaluate it."""
        value = kernels.evaluate(op, [each.value for each in inputs], attributes)
        factors = [each.factors for each in inputs]
        made = Tensor(
            self._name(len(self.nodes)),
            value,
            largest(value),
            sum(factors) if op in _MULTIPLYING else max(factors),
            self._index,
        )
        self.nodes.append(Inserted(op, tuple(each.name for each in inputs), made.name, attributes))
        self.tensors[made.name] = made
        return made

    def same(self, op: str, x: Tensor, zero: Tensor) -> Tensor:
        """Add ``x op zero``, which is x: nothing is computed and nothing more is kept."""
        made = replace(x, name=self._name(len(self.nodes)), owner=self._index)
        swapped = op == "Add" and self.rng.random() < 0.5
        inputs = (zero.name, x.name) if swapped else (x.name, zero.name)
        self.nodes.append(Inserted(op, inputs, made.name, {}))
        self.tensors[made.name] = made
        return made

    def integers(self, numbers: Sequence[int]) -> Tensor:
        """A vector of int64."""
        return self._constant("int64", (len(numbers),), numbers=tuple(int(each) for each in numbers))

    def scalar(self, number: float) -> Tensor:
        """One number of the mutation's dtype, without axes."""
        return self._constant(self.dtype, (), numbers=(float(np.asarray(number, self.dtype)),))

    def drawn(self, shape: Sequence[int], scale: float) -> Tensor:
        """Normally distributed numbers with that standard deviation."""
        recipe = (self._seed, self._index, len(self.constants))
        return self._constant(self.dtype, tuple(shape), drawn=recipe, scale=float(scale))

    def profiled(self, root: Tensor, starts: Sequence[int], shape: Sequence[int]) -> Tensor:
        """A window of a tensor of the seed, as it is at the profiled input."""
        constant = Constant(
            self._constant_name(), root.value.dtype.name, tuple(shape), profiled=root.name, starts=tuple(starts)
        )
        return self._add(constant, constant.value({root.name: root.value}))

    def _constant(
        self,
        dtype: str,
        shape: tuple[int, ...],
        numbers: tuple[float, ...] | None = None,
        drawn: tuple[int, ...] | None = None,
        scale: float = 1.0,
    ) -> Tensor:
        constant = Constant(self._constant_name(), dtype, shape, numbers, drawn, scale)
        return self._add(constant, constant.value({}))

    def _add(self, constant: Constant, value: np.ndarray) -> Tensor:
        self.constants.append(constant)
        return Tensor(constant.name, value, largest(value), 0, self._index)

    def _name(self, position: int) -> str:
        return f"{self._stem}{self._index}.{position}"

    def _constant_name(self) -> str:
        return f"{self._stem}{self._index}.c{len(self.constants)}"
