"""Failures that come and go may hide that one was mended and another came: where to look again. Pure.

One change leaves two sides with one rate each at which runs fail. Where the failing side has several (it fails each
time in one stretch, now and then in the next), there was more than one change. A pass next to where the rate changed
may then be that of a mended compiler, not the luck of one that fails now and then, and only more runs can tell.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from triage.bisect.posterior import evidence

#: The log odds at which two rates are looked into. A false alarm costs runs, never an answer.
_WORTH = math.log(10)


@dataclass(frozen=True)
class Seen:
    """A tested revision, and how many of its own runs were `like` most of its side and `unlike` it."""

    at: int
    like: int
    unlike: int


def doubts(stretch: Sequence[Seen]) -> Iterator[tuple[int, int]]:
    """Pairs of revisions between which the rate changes, the nearest that were seen to be like their side.

    `stretch` is one side's, oldest first. What was tested strictly between the two was only seen to be unlike it.
    """
    split = _split(stretch)
    if split is None:
        return
    yield from doubts(stretch[:split])
    before = [each.at for each in stretch[:split] if each.like]
    after = [each.at for each in stretch[split:] if each.like]
    if before and after:
        yield before[-1], after[0]
    yield from doubts(stretch[split:])


def _split(stretch: Sequence[Seen]) -> int | None:
    """How many revisions come before the most likely change of the rate; None where one rate explains all."""
    if len(stretch) < 2:
        return None
    like = np.cumsum([each.like for each in stretch])
    unlike = np.cumsum([each.unlike for each in stretch])
    one = evidence(like[-1:], unlike[-1:], True)[0]
    two = evidence(like[:-1], unlike[:-1], True) + evidence(like[-1] - like[:-1], unlike[-1] - unlike[:-1], True)
    best = int(np.argmax(two))
    return best + 1 if two[best] - one - math.log(len(two)) > _WORTH else None
