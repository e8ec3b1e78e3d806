"""What the runners of a batch put before a compiler's own words: ``worker raised: ``, ``failed in phase compile: ``.

Nobody can list what harnesses write. But what they write goes before messages of all sorts, and these are met without
it as well: so a beginning that at least two different messages have, each of which is met bare, is a wrapper. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from triage.reading import Report

#: Words that end in a colon, before more.
_BEGUN = re.compile(r"\s*(?P<words>[A-Za-z][\w .='\"/-]{2,60}?):(?: +|\n)(?=\S)")
#: The class of an exception is no wrapper: it tells.
_CLASS = re.compile(r"(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure|Fail|Fault|Interrupt|Warning)")
_DIGITS = re.compile(r"\d+")
#: So many different messages are met with and without what goes before them.
_LEAST = 2
#: A message is known by this much of its beginning; less says too little.
_HEAD, _SHORTEST = 32, 8
#: A wrapper may be wrapped.
_MOST = 3


def unwrapped(reports: Sequence[Report]) -> list[Report]:
    """The reports without what only their runners wrote."""
    usual = _wrappers({report.message for report in reports if report.message})
    return [_without(report, usual) if report.message else report for report in reports] if usual else list(reports)


def _wrappers(messages: Iterable[str]) -> frozenset[str]:
    bare: set[str] = set()
    behind: defaultdict[str, set[str]] = defaultdict(set)
    for message in messages:
        bare.add(_head(_without_class(message)))
        peeled = list(_peeled(message))
        for at, (words, _) in enumerate(peeled):
            behind[words].update(_head(_without_class(rest)) for _, rest in peeled[at:])
    return frozenset(
        words for words, heads in behind.items() if sum(len(head) >= _SHORTEST for head in heads & bare) >= _LEAST
    )


def _peeled(message: str) -> Iterator[tuple[str, str]]:
    """What may be wrappers, the outer ones first, each with what stands behind it."""
    for _ in range(_MOST):
        message = _without_class(message)
        found = _BEGUN.match(message[:200])
        if found is None:
            return
        message = message[found.end() :]
        yield found["words"], message


def _without_class(message: str) -> str:
    found = _BEGUN.match(message[:200])
    while found is not None and _CLASS.fullmatch(found["words"]):
        message = message[found.end() :]
        found = _BEGUN.match(message[:200])
    return message


def _head(message: str) -> str:
    return _DIGITS.sub("7", message.lstrip()[: 2 * _HEAD].partition("\n")[0])[:_HEAD]


def _without(report: Report, usual: Collection[str]) -> Report:
    rest = report.message
    for words, behind in _peeled(report.message):
        if words not in usual:
            break
        rest = behind
    return report if rest is report.message else replace(report, message=rest)
