"""What the runners of a batch put before a compiler's own words: ``worker raised: ``, ``failed in phase compile: ``.

Nobody can list what harnesses write. But what they write goes before messages of all sorts, and these are met without
it as well: so a beginning that at least two different messages have, each of which is met bare, is a wrapper. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace

from triage.portion import portion
from triage.reading import Report

#: Words that end in a colon, before more.
_BEGUN = re.compile(r"\s*(?P<words>(?:\[[a-z][\w -]{2,40}\] ?)?[A-Za-z][\w .='\"/-]{2,60}?):(?: +|\n)(?=\S)")
#: What differs between two of the same wrapper: ``case=a73bb4ca seed=256628``.
_GIVEN = re.compile(r"=[\w.-]+")
#: The class of an exception is no wrapper: it tells.
_CLASS = re.compile(r"(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure|Fail|Fault|Interrupt|Warning)")
_DIGITS = re.compile(r"\d+")
#: So many different messages are met with and without what goes before them.
_LEAST = 2
#: A message is known by this much of its beginning; less says too little.
_HEAD, _SHORTEST = 32, 8
#: No colon that ends a wrapper or a class comes later.
_FARTHEST = 110
#: A wrapper is met in so many messages, if in any.
_MANY = 3_000
#: A wrapper may be wrapped.
_MOST = 3


def unwrapped(reports: Sequence[Report]) -> list[Report]:
    """The reports without what only their runners wrote."""
    usual = _wrappers(portion({report.message for report in reports if report.message}, _MANY))
    return [_without(report, usual) if report.message else report for report in reports] if usual else list(reports)


def _wrappers(messages: Collection[str]) -> frozenset[str]:
    behind: defaultdict[str, set[str]] = defaultdict(set)
    for message in messages:
        peeled = list(_peeled(message))
        for at, (words, _) in enumerate(peeled):
            behind[words].update(rest for _, rest in peeled[at:])
    likely = {words: heads for words, rests in behind.items() if len(heads := _heads(rests)) >= _LEAST}
    bare = _heads(messages) if likely else set()
    return frozenset(words for words, heads in likely.items() if len(heads & bare) >= _LEAST)


def _heads(messages: Iterable[str]) -> set[str]:
    """The beginnings of messages that say enough to be known again."""
    return {head for message in messages if len(head := _head(_without_class(message))) >= _SHORTEST}


def _peeled(message: str) -> Iterator[tuple[str, str]]:
    """What may be wrappers, the outer ones first, each with what stands behind it."""
    for _ in range(_MOST if ":" in message[:_FARTHEST] else 0):
        message = _without_class(message)
        found = _BEGUN.match(message[:200])
        if found is None:
            return
        message = message[found.end() :]
        yield _GIVEN.sub("=", found["words"]), message


def _without_class(message: str) -> str:
    found = _BEGUN.match(message[:200]) if ":" in message[:_FARTHEST] else None
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
