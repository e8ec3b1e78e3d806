"""FAST-pw (Miranda, Cruciani, Verdecchia, Bertolino, ICSE 2018): the test least like all before it, by minhash and LSH.

Each test is the set of its text's k-shingles, known by its minhash signature. A test that agrees with what has been
taken in some band is near it and no candidate; of the others one comes next. What has been taken is one signature, the
elementwise minimum, which starts anew when no candidate is left. The signature changes rarely, so the agreement of all
tests with it is kept up to date instead of being looked up.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from fuzz.ranking.item import Item

#: The parameters of the paper's implementation: shingles of 5 characters, 10 bands of one row.
SHINGLE = 5
BANDS = 10
_PRIME = (1 << 31) - 1
_NEVER = 10_000
#: Texts hashed at once: bounds memory.
_BATCH = 512

Signatures = npt.NDArray[np.uint64]


def order(items: Sequence[Item], tested: Sequence[Item], seed: int) -> list[int]:
    """The items by FAST-pw; hash functions and the choice among candidates are drawn by `seed`."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(len(items))
    own = np.ascontiguousarray(signatures([items[at].text for at in shuffled], rng).T.astype(np.uint32))
    taken = np.full(BANDS, _PRIME, np.uint32)
    near = np.zeros(len(items), np.int16)  # in how many bands a test agrees with what has been taken
    found = []
    for _ in items:
        best = int(near.argmin())
        if near[best] > 0:
            taken[:] = _PRIME
            near = np.where(near < _NEVER, 0, 2 * _NEVER).astype(np.int16)
            best = int(near.argmin())
        found.append(int(shuffled[best]))
        for band in np.flatnonzero(own[:, best] < taken):
            if taken[band] < _PRIME:
                near -= own[band] == taken[band]
            taken[band] = own[band, best]
            near += own[band] == taken[band]
        near[best] = 2 * _NEVER  # taken: no agreement that ends brings it back
    return found


def signatures(texts: Sequence[str], rng: np.random.Generator) -> Signatures:
    """The minhash signatures of texts, shape (texts, BANDS)."""
    factors = rng.integers(1, _PRIME, BANDS, dtype=np.uint64)
    offsets = rng.integers(0, _PRIME, BANDS, dtype=np.uint64)
    parts = [_hashed(texts[at : at + _BATCH], factors, offsets) for at in range(0, len(texts), _BATCH)]
    return np.concatenate(parts) if parts else np.zeros((0, BANDS), np.uint64)


def _hashed(texts: Sequence[str], factors: Signatures, offsets: Signatures) -> Signatures:
    encoded = [text.encode("utf-8", "replace").ljust(SHINGLE) for text in texts]
    starts = np.cumsum([0, *(len(text) for text in encoded[:-1])])
    letters = np.frombuffer(b"".join(encoded) + b" " * SHINGLE, np.uint8).astype(np.uint64)
    count = len(letters) - SHINGLE
    shingles = np.zeros(count, np.uint64)
    for step in range(SHINGLE):
        shingles = (shingles * np.uint64(257) + letters[step : step + count]) % np.uint64(_PRIME)
    # A shingle that runs into the next text is counted as the first text's: its end is as good as any other.
    rows = [
        np.minimum.reduceat((shingles * factor + offset) % np.uint64(_PRIME), starts)
        for factor, offset in zip(factors, offsets, strict=True)
    ]
    return np.stack(rows, axis=1)
