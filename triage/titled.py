"""Messages that are titles: what the traces beside them say tells the bug, as far as others say the same. Pure.

A title is somebody's own (``vit on OpenCL: build error``), or stands above different things (``Inference fails``). What
a program said is met again: as another's message, or in another's trace.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from triage.families import family
from triage.frame_order import Order
from triage.headline import announces
from triage.hollow import hollow
from triage.messages import said
from triage.places import quoted_places
from triage.prefixes import prefixed
from triage.reading import Read, Report, read

#: A line that stands in this part of the logs, and in more than a few, is about none of them.
_USUAL, _FEW = 0.2, 12
#: A line that says less is no message.
_SHORTEST = 12


def without_titles(reports: Sequence[Report], found: Sequence[Read], order: Order) -> list[Read]:
    """What was read, read anew with the line of its trace as its message where the message is a title."""
    if not any(each.beside for each in found):
        return list(found)
    lines = [{} if each.named or (each.compared and each.operator) else _lines(each) for each in found]
    spoken = Counter(each.normal for each, own in zip(found, lines, strict=True) if not own)
    told = _told(found, lines)
    titles = _titles(found, lines)
    result = []
    for report, each, own in zip(reports, found, lines, strict=True):
        line = _line(own, spoken, told) if each.normal in titles else ""
        result.append(read(replace(report, message=own[line]), order) if line else each)
    return result


def _told(found: Sequence[Read], lines: Sequence[Mapping[str, str]]) -> Counter[str]:
    """How often each line is said beside a message, but for those that any log holds: beside the messages of several
    operators, or in too large a part of the logs."""
    told = Counter(line for own in lines for line in own)
    operators: defaultdict[str, set[str]] = defaultdict(set)
    for each, own in zip(found, lines, strict=True):
        for line in own if each.operator else ():
            operators[line].add(family(each.operator))
    most = max(_FEW, _USUAL * sum(map(bool, lines)))
    return Counter({line: count for line, count in told.items() if count <= most and len(operators[line]) < 2})


def _lines(each: Read) -> Mapping[str, str]:
    """What the trace says besides, normalised, each with the line as it stands there."""
    telling = [line for line in each.beside if len(prefixed(line)[0]) >= _SHORTEST]
    normal = {said(line): line for line in telling}
    return {text: line for text, line in normal.items() if not hollow(text)}


def _titles(found: Sequence[Read], lines: Sequence[Mapping[str, str]]) -> set[str]:
    """The messages that one failure alone has, or several of which the traces do not say the same."""
    beside: defaultdict[str, list[tuple[str, ...]]] = defaultdict(list)
    for each, own in zip(found, lines, strict=True):
        beside[each.normal].append(tuple(own))
    return {message for message, texts in beside.items() if all(texts) and (len(texts) == 1 or len(set(texts)) > 1)}


def _line(own: Mapping[str, str], spoken: Mapping[str, int], told: Mapping[str, int]) -> str:
    """The line that is another's message, else the first that announces a failure and others have as well, else the
    first that names a place in the compiler's code; "" where there is none."""
    others = [line for line in own if spoken.get(line)]
    shared = [line for line in own if announces(line) and told[line] > 1]
    placed = [line for line, raw in own.items() if told[line] and quoted_places(raw)]
    return next(iter((*others, *shared, *placed)), "")
