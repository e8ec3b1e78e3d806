"""The court's judgement as the lines of a report. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from triage.court.evidence import Evidence, Judgement, Side, find
from triage.wording import headed

#: Evidence that tells a maintainer something, in the order in which it convinces.
_SHOWN = (
    "float64",
    "second",
    "votes",
    "memory",
    "levels",
    "devices",
    "threads",
    "repeats",
    "ties",
    "provenance",
    "undefined",
    "validity",
)


def lines(judgement: Judgement | None) -> Iterator[str]:
    """One sentence a piece of evidence, what speaks for a bug first; nothing without a judgement."""
    if judgement is None:
        return
    shown = [each for kind in _SHOWN for each in judgement.evidence if each.kind == kind]
    for side in (Side.AGAINST, Side.NEUTRAL, Side.FOR):
        for each in shown:
            if each.side is side and not _says_nothing(each) and not _is_chance(each, judgement):
                text = headed(each.sentence)
                yield text if text.endswith((".", '"')) else f"{text}."


def _is_chance(each: Evidence, judgement: Judgement) -> bool:
    """Whether what memory held decides what other threads and levels give: one run of each shows no race."""
    memory = find(judgement.evidence, "memory")
    depends = memory is not None and bool(memory.figures.get("depends"))
    return depends and each.kind in ("threads", "levels")


def _says_nothing(each: Evidence) -> bool:
    """Whether a look that found nothing would only lengthen the report."""
    if each.kind == "provenance":
        return not each.figures.get("node")
    if each.kind == "second":
        return not each.figures.get("agree") and not each.figures.get("differ")
    return each.side is Side.NEUTRAL and each.kind in ("memory", "threads", "levels", "devices")
