"""A merge is not what broke something: the search goes on inside it (issue 5).

A branch is searched along first parents, where everything that a pull request brings is one commit. Where that one is
found, its own commits are searched between the commit before it and itself: those two are known to differ. Inside, the
flip nearest to the merge is what reached the branch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from fuzz.case import Revision
from triage.bisect.answer import Answer, Change, Merge, rounded
from triage.bisect.bisection import NoAnswer, OutOfTime
from triage.revisions.merges import Side


class Verdict(IntEnum):
    """What one branch says of the merge that took it in; of several branches, the least counts."""

    NAMED = 0  # a commit of it did it
    UNKNOWN = 1
    LOST = 2  # it was so where the branch left: the merge brings that back
    CLEAN = 3  # its last commit is as the branch was before the merge


@dataclass(frozen=True)
class _Place:
    """A merge that is searched: the answer that led there, and the commit before it."""

    found: Answer
    before: Revision
    merge: Revision


@dataclass(frozen=True)
class _Result:
    """What the search in one branch has told: `answer` is the whole one if its verdict is the one that counts."""

    verdict: Verdict
    answer: Answer


@dataclass(frozen=True)
class Descent:
    """Goes from the merge that an answer names to the commit in it.

    `sides` are the branches that a commit takes in, given the commit before the outermost merge; `search` is a
    bisection over revisions, oldest first, in which only failures like those at the ends count. Both may raise what
    they raise; of `search` a NoAnswer is taken as one.
    """

    sides: Callable[[Revision, Revision], Sequence[Side]]
    search: Callable[[Sequence[Revision]], Answer]

    def inside(self, found: Answer, span: Sequence[Revision]) -> Answer:
        """The answer over `span`, with the commit inside in the place of a merge."""
        return self._into(found, span, None)

    def _into(self, found: Answer, span: Sequence[Revision], outermost: _Place | None) -> Answer:
        known = {revision.version: revision for revision in span}
        if found.first is None or found.last_before is None or found.between or not found.finished:
            return found
        before, merge = known[found.last_before], known[found.first]
        if merge.parent != before.version:
            return found
        top = outermost or _Place(found, before, merge)
        results: list[_Result] = []
        sides = self.sides(merge, top.before)
        for side in sides:
            result = self._one(_Place(found, before, merge), side, top)
            found = _seen(found, result.answer)
            if result.verdict is Verdict.NAMED:
                return result.answer
            results.append(result)
        if not results:
            return found
        least = min(results, key=lambda result: result.verdict)
        if least.verdict is not Verdict.CLEAN:
            return _seen(least.answer, found)
        tips = ", ".join(_status(found, _tip(side)) for side in sides)
        return _blamed(found, Merge(merge.version, True, f"it takes in {tips}"))

    def _one(self, place: _Place, side: Side, top: _Place) -> _Result:
        found, merge = place.found, place.merge
        left = side.left.version if side.left is not None and side.left.version != place.before.version else ""
        span = [place.before, *([side.left] if side.left is not None and left else []), *side.commits, merge]
        try:
            inner = self.search(span)
        except NoAnswer as problem:
            late = isinstance(problem, OutOfTime)
            return _Result(Verdict.UNKNOWN, _unknown(found, merge, side, str(problem), finished=not late))
        seen = _seen(found, inner)
        if not inner.flips or not inner.finished:
            why = next(inner.sentences(False)) if inner.finished else "the time ran out"
            return _Result(Verdict.UNKNOWN, _unknown(seen, merge, side, why, inner.finished))
        flip = inner.flips[-1]
        between = _between(span, flip)
        to_blame = top if side.old else place
        if left and flip.after == left:
            return _Result(Verdict.LOST, _lost(seen, left, to_blame))
        if left in between:
            names = [*between, flip.after] + ([merge.version] if to_blame is not place else [])
            return _doubted(seen, names, left, to_blame)
        if flip.after == merge.version and not between:
            return _Result(Verdict.CLEAN, seen)
        joined = _joined(found, inner, between)
        if flip.after == merge.version:
            return _Result(Verdict.UNKNOWN, _blamed(joined, Merge(merge.version, False, "none of those between tells")))
        return _Result(Verdict.NAMED, self._into(_blamed(joined, Merge(merge.version, False, "")), span, top))


def _lost(seen: Answer, left: str, to_blame: _Place) -> Answer:
    """A merge brings back what was where a branch left."""
    why = (
        f"{_status(seen, left)} already, is where a branch left that it takes in, and "
        f"{_status(seen, to_blame.before.version)}, is what it was merged into"
    )
    return _blamed(_back(seen, to_blame), Merge(to_blame.merge.version, True, why))


def _doubted(seen: Answer, names: Sequence[str], left: str, to_blame: _Place) -> _Result:
    """Nothing is known of where the branch left: the merge brings that back, or one of `names` did it."""
    merge = to_blame.merge.version
    between = tuple(dict.fromkeys(name for name in names if name not in (left, merge)))
    if not between:
        return _Result(Verdict.CLEAN, seen)
    why = f"of {left}, where a branch left that it takes in, nothing is known"
    answer = replace(_back(seen, to_blame), last_before=seen.last_before, between=between)
    return _Result(Verdict.UNKNOWN, _blamed(answer, Merge(merge, False, why)))


def _back(seen: Answer, place: _Place) -> Answer:
    """What was known when that merge was found, with all that was seen since."""
    return _seen(place.found, seen)


def _unknown(found: Answer, merge: Revision, side: Side, why: str, finished: bool) -> Answer:
    names = tuple(commit.version for commit in side.commits)
    told = Merge(merge.version, False, " ".join(why.split()))
    return _blamed(replace(found, between=names, finished=found.finished and finished), told)


def _blamed(found: Answer, merge: Merge) -> Answer:
    return replace(found, merges=(*found.merges, merge))


def _tip(side: Side) -> str:
    last = side.commits[-1] if side.commits else side.left
    return last.version if last is not None else ""


def _status(found: Answer, name: str) -> str:
    status = next((each.status for each in found.tested if each.revision == name), "not tested")
    return f"{name}, which is {status}"


def _between(span: Sequence[Revision], flip: Change) -> tuple[str, ...]:
    names = [revision.version for revision in span]
    return tuple(names[names.index(flip.before) + 1 : names.index(flip.after)])


def _joined(outer: Answer, inner: Answer, between: tuple[str, ...]) -> Answer:
    """What the inner search says by its last flip, with all that both have seen."""
    *others, flip = inner.flips
    sure = [each.confidence for each in (outer, inner) if each.confidence is not None]
    return replace(
        _seen(outer, inner),
        first=flip.after,
        last_before=flip.before,
        between=between,
        confidence=rounded(math.prod(sure)),
        flips=(flip,),
        changes=(*outer.changes, *others, *inner.changes),
    )


def _seen(outer: Answer, inner: Answer) -> Answer:
    """The outer answer, with what the inner search has looked at. Each revision is told once: tested, else skipped."""
    known = {each.revision for each in outer.tested}
    tested = (*outer.tested, *(each for each in inner.tested if each.revision not in known))
    known |= {each.revision for each in inner.tested}
    skipped = {name: reason for name, reason in (*inner.skipped, *outer.skipped) if name not in known}
    unseen = dict.fromkeys(name for name in (*outer.unseen, *inner.unseen) if name not in known | skipped.keys())
    return replace(outer, tested=tested, skipped=tuple(skipped.items()), unseen=tuple(unseen))
