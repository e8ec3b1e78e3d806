"""A merge is not what broke something: the search goes on inside it (issue 5).

A branch is searched along first parents, where everything that a pull request brings is one commit. Where that one is
found, its own commits are searched between the commit before it and itself: those two are known to differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from fuzz.case import Revision
from triage.bisect.answer import Answer, Merge
from triage.bisect.bisection import NoAnswer
from triage.revisions.merges import Side


@dataclass(frozen=True)
class Descent:
    """Goes from the merge that an answer names to the commit in it.

    `sides` are the branches that a commit takes in, `search` a bisection over revisions, oldest first. Both may raise
    what they raise; of `search` a NoAnswer is taken as one.
    """

    sides: Callable[[Revision], Sequence[Side]]
    search: Callable[[Sequence[Revision]], Answer]

    def inside(self, found: Answer, span: Sequence[Revision]) -> Answer:
        """The answer over `span`, with the commit inside in the place of a merge."""
        known = {revision.version: revision for revision in span}
        if found.first is None or found.last_before is None or found.between or not found.finished:
            return found
        before, merge = known[found.last_before], known[found.first]
        if merge.parent != before.version:
            return found
        sides = self.sides(merge)
        for side in sides:
            found, done = self._one(found, before, merge, side)
            if done:
                return found
        if not sides:
            return found
        ends = ", ".join(_status(found, side.commits[-1].version) for side in sides)
        return _blamed(found, Merge(merge.version, True, f"it takes in {ends}"))

    def _one(self, found: Answer, before: Revision, merge: Revision, side: Side) -> tuple[Answer, bool]:
        """The answer that one side gives, and whether it gives one: what it takes in may be as it was before."""
        left = [side.left] if side.left is not None and side.left.version != before.version else []
        span = [before, *left, *side.commits, merge]
        try:
            inner = self.search(span)
        except NoAnswer as problem:
            return _unknown(found, merge, side, str(problem)), True
        if inner.first is None or inner.last_before is None:
            return _unknown(found, merge, side, next(inner.sentences(False))), True
        whole = _joined(found, inner)
        if left and inner.first == left[0].version:
            why = f"{_status(inner, inner.first)} already, where that branch left, and {before.version} has it mended"
            return _blamed(_seen(found, inner), Merge(merge.version, True, why)), True
        if inner.first == merge.version and not inner.between:
            return _seen(found, inner), False
        told = Merge(merge.version, False, "")
        return self.inside(_blamed(whole, told), span), True


def _unknown(found: Answer, merge: Revision, side: Side, why: str) -> Answer:
    names = tuple(commit.version for commit in side.commits)
    return _blamed(replace(found, between=names), Merge(merge.version, False, " ".join(why.split())))


def _blamed(found: Answer, merge: Merge) -> Answer:
    return replace(found, merges=(*found.merges, merge))


def _status(found: Answer, name: str) -> str:
    status = next((each.status for each in found.tested if each.revision == name), "not tested")
    return f"{name}, which is {status}"


def _joined(outer: Answer, inner: Answer) -> Answer:
    """What the inner search says, with all that both have seen."""
    sure = [each.confidence for each in (outer, inner) if each.confidence is not None]
    return replace(
        _seen(outer, inner),
        first=inner.first,
        last_before=inner.last_before,
        between=inner.between,
        confidence=math.floor(math.prod(sure) * 10**4) / 10**4,
        flips=inner.flips,
        changes=(*outer.changes, *inner.changes),
        finished=outer.finished and inner.finished,
    )


def _seen(outer: Answer, inner: Answer) -> Answer:
    known = {each.revision for each in outer.tested}
    tested = (*outer.tested, *(each for each in inner.tested if each.revision not in known))
    return replace(
        outer, tested=tested, skipped=(*outer.skipped, *inner.skipped), unseen=(*outer.unseen, *inner.unseen)
    )
