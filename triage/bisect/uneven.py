"""Failures that come and go may hide that one was mended and another came: where to look again. Pure.

One change leaves two sides with one rate each at which runs fail. Where the failing side has several (it fails each
time in one stretch, now and then in the next), there was more than one change. A pass next to where the rate changed
may then be that of a mended compiler, not the luck of one that fails now and then, and only more runs can tell. So it
is where the better end itself fails now and then: next to the flip it may not fail at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from triage.bisect.posterior import evidence, repeats

#: The probability that a build that fails now and then passes in all its runs, at which it is told to pass.
LUCK = 0.001
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


@dataclass(frozen=True)
class Relapse:
    """What lies between a flip and an end that fails now and then, though less than the other.

    `flip` are the last revision towards the end that passes each time, and the one behind it that fails; None where
    none passes each time. `wanted` is the revision whose run would tell more, None where nothing would.
    """

    flip: tuple[int, int] | None = None
    wanted: int | None = None


def relapse(stretch: Sequence[Seen], unseen: Sequence[int], closed: Sequence[int] = ()) -> Relapse:
    """Whether compilers next to a flip pass each time. `stretch` goes from the flip to the end, which fails sometimes.

    `unseen` are revisions within it that can be run and were not, `closed` those that shall not be run again.
    """
    end = stretch[-1]
    needed = repeats(end.unlike / (end.like + end.unlike), LUCK)
    passing = [place for place, each in enumerate(stretch) if not each.unlike and each.like >= needed]
    if not passing:
        first = stretch[0]
        asks = not first.unlike and first.at not in closed
        return Relapse(wanted=first.at if asks else None)
    last = stretch[passing[-1]].at
    fails = next(each.at for each in stretch[passing[-1] :] if each.unlike)
    low, high = sorted((last, fails))
    again = [each.at for each in stretch if low < each.at < high and each.at not in closed]
    between = sorted(again + [at for at in unseen if low < at < high])
    return Relapse((last, fails), between[len(between) // 2] if between else None)
