"""Which end of a list of frames is the inner one: numbers tell, or what stands at its ends, or the batch. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import islice, pairwise

from fuzz.case import Frame
from triage.places import MOST_FRAMES, of_a_script
from triage.portion import portion
from triage.stack import known, spot

#: Frames that stand at the outer end.
_OUTER_KINDS = ("framework", "reporter")
#: What a reporter's own function may be called as well as a helper that only checks: no end of a list is told by it.
_OF_ANYBODY = frozenset(("check", "verify", "validate", "ensure", "require"))
#: So many lists, and so many traces, show who calls whom.
_MOST_LISTS, _MOST_TRACES = 1_000, 200


class OuterFirst(tuple[Frame, ...]):
    """Frames of which it is known that they end with the innermost one: they bore numbers."""


class Order:
    """Which end of each list of a batch is the inner one, from all of them.

    A list that tells it by its own ends, or by numbers, shows who calls whom, and so does every trace; others follow in
    which the same frames stand next to one another. What is left goes by what is usual in the batch.
    """

    def __init__(
        self, lists: Sequence[tuple[Frame, ...]], traced: Callable[[], Iterable[tuple[Frame, ...]]] = tuple
    ) -> None:
        """`traced` gives frames of traces of the same batch, innermost first."""
        several = [frames for frames in lists if len(frames) > 1]
        votes = [(_sure_vote(frames[0], frames[-1]), frames) for frames in several]
        self._usual = _usually_inner_last(votes, traced)
        self._calls: Counter[tuple[str, str]] = Counter()
        told = [
            frames if vote > 0 or isinstance(frames, OuterFirst) else frames[::-1]
            for vote, frames in votes
            if vote or isinstance(frames, OuterFirst)
        ]
        if len(told) < len(several):
            some = portion(told, _MOST_LISTS, lambda frames: f"{frames[0]}{frames[-1]}")
            self._calls.update(pair for frames in some for pair in pairwise(_names(frames)))
            self._calls.update(
                pair for frames in islice(traced(), _MOST_TRACES) for pair in pairwise(_names(frames[::-1]))
            )

    def inner_last(self, frames: tuple[Frame, ...]) -> bool:
        """Whether a list ends with the innermost frame."""
        if len(frames) < 2:
            return self._usual
        own = self._own(frames)
        if own is None and self._calls:
            pairs = list(pairwise(_names(frames)))
            seen = sum(self._calls[one, other] - self._calls[other, one] for one, other in pairs)
            own = seen > 0 if seen else None
        if own is None:
            weak = _weak_vote(frames[0], frames[-1])
            own = weak > 0 if weak else None
        return self._usual if own is None else own

    def _own(self, frames: tuple[Frame, ...]) -> bool | None:
        """What a list tells by itself, and surely."""
        if isinstance(frames, OuterFirst):
            return True
        vote = _sure_vote(frames[0], frames[-1])
        return vote > 0 if vote else None


def _names(frames: Sequence[Frame]) -> tuple[str, ...]:
    """The names of frames, of which the inner end of a long list is enough."""
    return tuple(name for frame in frames[-40:] if (name := spot(frame.file, frame.function)[0]))


def _usually_inner_last(
    votes: Sequence[tuple[int, tuple[Frame, ...]]], traced: Callable[[], Iterable[tuple[Frame, ...]]]
) -> bool:
    """Whether the lists of frames of a batch, each with its own sure vote, end with the innermost one.

    What kind of frame stands at the ends tells: a program dies at the inner end and begins at the outer one. Otherwise
    traces of the same batch tell: what is innermost there is so in a list. Otherwise the outer ends are alike, since
    every failure comes through the same few calls, and the inner ones differ.
    """
    total = sum(vote or _weak_vote(frames[0], frames[-1]) for vote, frames in votes)
    if total:
        return total > 0
    several = [frames for _, frames in votes]
    first = Counter(_telling(frames[:MOST_FRAMES]) for frames in several)
    last = Counter(_telling(frames[: -MOST_FRAMES - 1 : -1]) for frames in several)
    innermost = {_telling(frames) for frames in traced()} - {""} if several else set[str]()
    seen = sum(last[name] - first[name] for name in innermost)
    if seen:
        return seen > 0
    return sum(count**2 for count in last.values()) <= sum(count**2 for count in first.values())


def _kinds(first: Frame, last: Frame) -> list[str]:
    return ["" if each.function in _OF_ANYBODY else spot(each.file, each.function)[1] for each in (first, last)]


@lru_cache(maxsize=1 << 14)
def _sure_vote(first: Frame, last: Frame) -> int:
    """By where a program begins, what calls a compiler, and what dies."""
    kinds = _kinds(first, last)
    begins = [kind == "reporter" or _begins(each) for each, kind in zip((first, last), kinds, strict=True)]
    calls = [_calls(first, last), _calls(last, first)]
    dies = [kind == "panic" for kind in kinds]
    return (begins[0] or calls[0]) - (begins[1] or calls[1]) + dies[1] - dies[0]


def _weak_vote(first: Frame, last: Frame) -> int:
    """By the machinery of a compiler: it stands at the outer end of most lists, but at the inner one where native code
    is left out of a list."""
    kinds = _kinds(first, last)
    return (kinds[0] in _OUTER_KINDS) - (kinds[1] in _OUTER_KINDS)


def _begins(frame: Frame) -> bool:
    """Whether a program begins in a frame; what TVM prints of its own files bears that name anywhere in a trace."""
    return of_a_script(frame) and not known(frame.file, frame.function).compiler


def _calls(one: Frame, other: Frame) -> bool:
    """Whether a frame is of a program in Python that is no compiler's, and the other of a compiler."""
    mine, theirs = known(one.file, one.function), known(other.file, other.function)
    return one.file.endswith(".py") and not mine.compiler and not mine.kind and theirs.compiler != ""


def _telling(found: Sequence[Frame]) -> str:
    """The first frame that tells something, "" if none does."""
    spots = (spot(frame.file, frame.function) for frame in found)
    return next((name for name, kind in spots if name and not kind), "")
