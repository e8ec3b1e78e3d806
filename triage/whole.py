"""Messages of which somebody took no more than the beginning: the trace beside them tells the rest. Pure."""

from __future__ import annotations

import re

from triage import traces
from triage.headline import announces
from triage.hollow import hollow
from triage.messages import said
from triage.prefixes import prefixed

#: So much of a message that was clipped is found again in its trace.
_SHORTEST_CUT = 40
#: What is shorter tells nothing.
_SHORTEST = 12
#: What somebody who cut a message off put in the place of the rest.
_ELLIPSIS = re.compile(r"[ \t]*(?:\.\.\.|…|\[\.\.\.\])$")


def whole(message: str, trace: traces.Trace) -> str:
    """The message as its trace tells it, where somebody took no more than its first lines, or cut it within a line."""
    line = _ELLIPSIS.sub("", message.strip())
    if line != message.strip() and len(line) >= _SHORTEST_CUT and (at := trace.said.find(line)) >= 0:
        return trace.said[at:]
    told = trace.said if line.endswith(":") else trace.closing
    if told:
        at = told.find(line)
        if at >= 0 and _goes_on(told[at:], line):
            return told[at:]
        bare = prefixed(line)[0] if at < 0 else ""
        if bare and _goes_on(prefixed(told)[0], bare):
            return told  # another class, which raised it again
    at = trace.said.find(message) if len(message) >= _SHORTEST_CUT else -1
    goes_on = at >= 0 and trace.said[at + len(message) : at + len(message) + 1] not in ("", "\n")
    return trace.said[at:] if goes_on else message


def told_by(trace: traces.Trace) -> str:
    """What a trace tells of the failure: its last exception, or else the first line that announces one and what
    follows; "" where neither says anything."""
    lines = trace.text.splitlines()
    found = (trace.closing, *("\n".join(lines[at:]) for at, line in enumerate(lines) if announces(line)))
    return next((text for text in found if _tells(text) and not hollow(said(text))), "")


def _tells(text: str) -> bool:
    """Whether the first line of a text says more than a word behind the class of an exception."""
    return len(prefixed(text)[0].lstrip().partition("\n")[0]) >= _SHORTEST


def _goes_on(told: str, begun: str) -> bool:
    """Whether a text begins so and goes on with further lines, where these are needed: what was begun announces more
    or says nothing, or they tell of a failure, which what a log says afterwards does not."""
    rest = told[len(begun) :].lstrip(" \t")
    if not told.startswith(begun) or not rest.startswith("\n"):
        return False
    return begun.endswith(":") or hollow(said(begun)) or announces(rest)
