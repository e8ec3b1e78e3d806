"""Whether results that fit could have fitted by chance: two zeros in the right places prove nothing. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from fuzz.oracles import differential
from fuzz.wire import Value

#: So many different numbers that are wrong, and fit, are no chance; of 0, 1 and -1, truth values and infinities,
#: which many mistakes give, so many elements, of both kinds and of two witnesses at least.
NUMBERS, ELEMENTS, WITNESSES = 4, 8, 2


@dataclass
class Fitting:
    """The wrong elements of all witnesses so far that another explanation fits."""

    numbers: set[float] = field(default_factory=set)
    common: list[float] = field(default_factory=list)
    witnesses: int = 0

    def see(self, actual: Sequence[Value], expected: Sequence[Value]) -> None:
        """One more witness: what the compiler gave, which fits, and what is right."""
        before = len(self.numbers) + len(self.common)
        for got, want in zip(actual, expected, strict=False):
            for number in _wrong(got, want):
                if number in (0.0, 1.0, -1.0) or not np.isfinite(number):
                    self.common.append(number)
                else:
                    self.numbers.add(float(f"{number:.4g}"))
        self.witnesses += len(self.numbers) + len(self.common) > before

    @property
    def convinces(self) -> bool:
        """Whether there are enough of them."""
        if len(self.numbers) >= NUMBERS:
            return True
        if self.common and not self.numbers and not np.isfinite(self.common).any():  # few mistakes give these
            return self.witnesses >= 2 * WITNESSES and len(self.common) >= ELEMENTS
        varied = len(set(map(str, self.common))) + len(self.numbers) > 1
        return varied and self.witnesses >= WITNESSES and len(self.common) + len(self.numbers) >= ELEMENTS


def _wrong(got: Value, want: Value) -> list[float]:
    """The elements of a result that differ from the right one; a wrong shape or type makes all of them wrong."""
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or got.dtype.kind in "OUSTc":
        return []
    with np.errstate(all="ignore"):
        one = got.astype(np.float64).ravel()
        if got.shape != want.shape or got.dtype != want.dtype:
            return list(map(float, one))
        other = want.astype(np.float64).ravel()
        allowed = differential.tolerance(want.dtype.name)
        whole = want.dtype.kind in "iub"
        bound = 0.0 if whole else allowed.absolute + allowed.relative * np.abs(np.where(np.isfinite(other), other, 0.0))
        same = (one == other) | (np.isnan(one) & np.isnan(other)) | (np.abs(one - other) <= bound)
    return list(map(float, one[~same]))
