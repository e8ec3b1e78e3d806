"""What bisection has found out about a bug, as it is stored and as its report says it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from triage.scrub import revision


class Kind(StrEnum):
    """What was looked for: the first revision that fails, or the first that passes again."""

    BAD = "bad"
    GOOD = "good"


@dataclass(frozen=True)
class Found:
    """The first revision known to be of that kind, the last one before that is not, and how sure that is (0 to 1).

    `between` are revisions between the two of which nothing is known, e.g. since they cannot be built: the change may
    have come with any of them. `others` is how many more of those there are. `merge` is the merge that brought
    it to the branch; it is `first` where the merge did it itself. With `tested`, some of `between` were tested.
    """

    first: str
    last_before: str
    confidence: float
    between: tuple[str, ...] = ()
    others: int = 0
    merge: str = ""
    tested: bool = False

    def among(self, spell: Callable[[str], str]) -> str:
        """The revisions between, in words; "" where there are none. `spell` writes a revision's name."""
        shown = self.between[:_SHOWN]
        rest = len(self.between) - len(shown) + self.others
        return ", ".join(spell(name) for name in shown) + (f" and {rest} more" if rest else "")


Bisected = Mapping[Kind, Found]

_FOOTER = "*Found, reduced and drafted by Graphwarden.*"
_HEADING = "### Bisection"
_WORDS = {
    Kind.BAD: "First bad revision: {first}. The last that passes before it: {before} (confidence {confidence:.4f}).",
    Kind.GOOD: "First good revision: {first}. The last that fails before it: {before} (confidence {confidence:.4f}).",
}
#: Where revisions lie between: none of them may be blamed alone, nor may the first that was seen.
_BETWEEN = {
    Kind.BAD: "It broke after {before}, which passes, and at the latest with {first}, which fails. Between them, and "
    "{doubt}: {among}.",
    Kind.GOOD: "It was fixed after {before}, which fails, and at the latest with {first}, which passes. Between them, "
    "and {doubt}: {among}.",
}
_BROUGHT = "It came to the branch with the merge {merge}."
_ITSELF = "This is a merge, and no commit that it takes in did it."
#: Revisions between that are kept, and those that are named.
MOST_BETWEEN, _SHOWN = 20, 5


def dumped(found: Bisected) -> str:
    """The stored form."""
    return json.dumps({str(kind): asdict(each) for kind, each in found.items()}, sort_keys=True)


def loaded(text: str | None) -> dict[Kind, Found]:
    """What `dumped` has written; nothing for None."""
    return {
        Kind(kind): Found(**{**each, "between": tuple(each.get("between", ()))})
        for kind, each in json.loads(text or "{}").items()
    }


def with_section(body: str, found: Bisected) -> str:
    """A report's body with what bisection found, in the place of what an earlier one found."""
    bare = re.sub(rf"{re.escape(_HEADING)}\n.*?(?=### |{re.escape(_FOOTER)})", "", body, flags=re.DOTALL)
    if not found or _FOOTER not in bare:
        return bare
    lines = [_line(kind, each) for kind, each in sorted(found.items())]
    head, _, tail = bare.rpartition(_FOOTER)
    return f"{head}{_HEADING}\n\n" + "\n".join(f"- {line}" for line in lines) + f"\n\n{_FOOTER}{tail}"


def _line(kind: Kind, found: Found) -> str:
    words = _BETWEEN if found.between else _WORDS
    told = words[kind].format(
        first=revision(found.first),
        before=revision(found.last_before),
        confidence=found.confidence,
        among=found.among(revision),
        doubt="not to be told apart" if found.tested else "not tested",
    )
    if not found.merge or found.between:
        return told
    brought = _ITSELF if found.merge == found.first else _BROUGHT
    return f"{told} {brought.format(merge=revision(found.merge))}"
