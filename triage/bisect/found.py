"""What bisection has found out about a bug, as it is stored and as its report says it. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum

from triage.scrub import code


class Kind(StrEnum):
    """What was looked for: the first revision that fails, or the first that passes again."""

    BAD = "bad"
    GOOD = "good"


@dataclass(frozen=True)
class Found:
    """The first revision known to be of that kind, the last one before that is not, and how sure that is (0 to 1)."""

    first: str
    last_before: str
    confidence: float


Bisected = Mapping[Kind, Found]

_FOOTER = "*Found, reduced and drafted by Graphwarden.*"
_HEADING = "### Bisection"
_WORDS = {
    Kind.BAD: "First bad revision: {first}. The last that passes before it: {before} (confidence {confidence:.4f}).",
    Kind.GOOD: "First good revision: {first}. The last that fails before it: {before} (confidence {confidence:.4f}).",
}


def dumped(found: Bisected) -> str:
    """The stored form."""
    return json.dumps({str(kind): asdict(each) for kind, each in found.items()}, sort_keys=True)


def loaded(text: str | None) -> dict[Kind, Found]:
    """What `dumped` has written; nothing for None."""
    return {Kind(kind): Found(**each) for kind, each in json.loads(text or "{}").items()}


def with_section(body: str, found: Bisected) -> str:
    """A report's body with what bisection found, in the place of what an earlier one found."""
    bare = re.sub(rf"{re.escape(_HEADING)}\n.*?(?=### |{re.escape(_FOOTER)})", "", body, flags=re.DOTALL)
    if not found or _FOOTER not in bare:
        return bare
    lines = [
        _WORDS[kind].format(first=code(each.first), before=code(each.last_before), confidence=each.confidence)
        for kind, each in sorted(found.items())
    ]
    head, _, tail = bare.rpartition(_FOOTER)
    return f"{head}{_HEADING}\n\n" + "\n".join(f"- {line}" for line in lines) + f"\n\n{_FOOTER}{tail}"
