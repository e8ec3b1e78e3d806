"""The tensors that a mutation may use, with their values: those of the seed, and a bounded number of inserted ones.

What is kept is bounded, so neither memory nor the time of a mutation grows with the mutant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from fuzz.mutants.draft import Rejected
from fuzz.mutants.tensors import Tensor

#: Inserted tensors that are kept at most, and the bytes of their values.
MOST_KEPT, MOST_BYTES = 256, 64 << 20
#: How often a tensor is drawn before none counts as found.
_DRAWS = 48


class Pool:
    """The seed's tensors stay; inserted ones make place for later ones by chance."""

    def __init__(self, seed: Iterable[Tensor]) -> None:
        self._seed = list(seed)
        self._inserted: list[Tensor] = []
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._seed) + len(self._inserted)

    def draw(self, rng: np.random.Generator, accept: Callable[[Tensor], bool]) -> Tensor:
        """One that is acceptable, each as likely as the others. Raises Rejected when none was found."""
        for _ in range(_DRAWS):
            at = int(rng.integers(len(self)))
            found = self._seed[at] if at < len(self._seed) else self._inserted[at - len(self._seed)]
            if accept(found):
                return found
        raise Rejected("no tensor that can be used there")

    def keep(self, tensor: Tensor, rng: np.random.Generator) -> None:
        """Add an inserted tensor, in the place of others where there is no room."""
        size = _bytes(tensor)
        if size > MOST_BYTES:
            return
        while len(self._inserted) >= MOST_KEPT or self._bytes + size > MOST_BYTES:
            at = int(rng.integers(len(self._inserted)))
            self._bytes -= _bytes(self._inserted[at])
            self._inserted[at] = self._inserted[-1]
            self._inserted.pop()
        self._inserted.append(tensor)
        self._bytes += size


def _bytes(tensor: Tensor) -> int:
    """What an array holds alive; views count as what they show."""
    return int(tensor.value.nbytes)
