"""What is known of one tensor of a mutant at the profiled input."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

#: Only tensors that stay below this are fed to guards and garbage, and garbage must stay below it: a product with zero
#: is then zero even in half precision, and rounding is far from any overflow.
LARGEST = 1024.0
#: How often a value of the seed may be a factor of one term of a tensor that is used again: whatever the input is,
#: no product overflows while the seed's own values stay below the fourth root of the largest number.
MOST_FACTORS = 4


@dataclass(frozen=True)
class Tensor:
    """One tensor. `largest` is the largest magnitude of an element.

    `factors`: of so many values of the seed its largest term is the product. `owner`: the mutation that made it, -1 for
    the seed. `value` belongs to whoever keeps the tensor and is never changed.
    """

    name: str
    value: np.ndarray
    largest: float
    factors: int = 1
    owner: int = -1

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its axes."""
        return self.value.shape

    @property
    def usable(self) -> bool:
        """Whether guards and garbage may be computed from it."""
        return self.largest <= LARGEST and self.factors <= MOST_FACTORS


def largest(value: np.ndarray) -> float:
    """The largest magnitude of an element; infinity where one is NaN."""
    if value.dtype.kind != "f":
        return 0.0
    found = float(max(value.max(initial=0.0), -value.min(initial=0.0)))
    return found if np.isfinite(found) else float("inf")
