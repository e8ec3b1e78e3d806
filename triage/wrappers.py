"""What the runners of a batch put before a compiler's own words: ``worker raised: ``, ``[Clip] golden diff: ``.

Nobody can list what harnesses write. But what they write goes before messages of all sorts, and these are met without
it as well, alone or in the traces beside them: so a beginning that at least two different messages have, each of which
is met bare, is a wrapper. Words that name an operator of the batch, but for a tag, are none. Pure.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

from triage.families import family
from triage.portion import portion
from triage.reading import Report

#: Where a wrapper may end: with a colon, a dash, a bar, a bracket or a line.
_BOUND = re.compile(
    r"(?:(?<!\s):|[|>\])]|(?<=[ \w])-{1,3}|[=-]>|[→»])(?: +|\n)(?=\S)|(?<= )[\"'](?=\w)|(?<=\w)=[\"'](?=\S)"
)
#: What differs between two of the same wrapper: ``case=a73bb4ca seed=256628``, ``(after 3.2 s)``, ``[run-4f]``.
_GIVEN = re.compile(
    r"(?<=\[)[^\[\]\n]*\d[^\[\]\n]*(?=\])|=[\w./:+-]+|\b(?=[a-z]*[0-9])[0-9a-z.,:]+\b|'[^'\n]*'|\"[^\"\n]*\""
)
_QUOTES = ("'", '"')
_BRACKET = re.compile(r"(?<=\[)(?:[\w.]+[/:])?(?P<name>\w+)(?=\])")
#: The class of an exception is no wrapper, it tells; nor is a place in the code of a compiler.
_CLASS = re.compile(r"\W*(?:[A-Za-z_]\w*\.)*\w*(?:Error|Exception|Failure|Fail|Fault|Interrupt|Warning): *\n?")
_PLACE = re.compile(r"\.(?:cc|cpp|cxx|c|h|hpp|cu|cuh|inl|rs|go)\b|::|[\w/\\]\.py:\d")
#: No message begins so, or with a path alone, which says nothing.
_GOES_ON = frozenset(":;,.-|/")
_SAYING = re.compile(r"\w{2}")
_NAME = re.compile(r"[A-Za-z_]\w{2,}")
_DIGITS = re.compile(r"\d+")
#: So many different messages are met with and without what goes before them.
_LEAST = 2
#: A message is known by this much of its beginning; less says too little.
_HEAD, _SHORTEST = 32, 8
_READ = 3 * _HEAD
#: No wrapper ends later, is longer, or has more parts.
_FARTHEST, _LONGEST, _MOST = 200, 110, 6
#: A wrapper is met in so many messages, if in any.
_MANY = 1_500


@dataclass
class _Part:
    """One part of what goes before a message, and where what stands behind begins."""

    words: str
    end: int
    message: str

    @cached_property
    def head(self) -> str:
        """The beginning of what stands behind."""
        return _head(_unended(self.message[self.end : self.end + _READ], self.message[self.end - 1]))


def unwrapped(reports: Sequence[Report]) -> list[Report]:
    """The reports without what only their runners wrote."""
    operators = frozenset(family(operator) for operator in {report.operator for report in reports} if operator)
    usual = _usual(reports, operators)
    if not usual:
        return list(reports)
    ends = {message: _end(message, usual, operators) for message in {report.message for report in reports}}
    return [_without(report, end, operators) if (end := ends[report.message]) else report for report in reports]


def _usual(reports: Sequence[Report], operators: frozenset[str]) -> frozenset[str]:
    """The wrappers of a batch."""
    traces: dict[str, str] = {}
    for report in reports:
        if report.message:
            traces[report.message] = max(report.trace, traces.get(report.message, ""))  # in any order the same
    messages = portion(traces.keys(), _MANY)
    bare = {head for message in messages if len(head := _head(message[_classes(message) :])) >= _SHORTEST}
    behind: defaultdict[str, set[str]] = defaultdict(set)
    for message in messages:
        parts = list(_parts(message, operators))
        known = [part for part in parts if _met(part, bare, traces[message])]
        for part in parts:
            behind[part.words].update(other.head for other in known if other.end >= part.end)
    return frozenset(words for words, heads in behind.items() if len(heads) >= _LEAST and not _names(words, operators))


def _names(words: str, operators: Collection[str]) -> bool:
    """Whether words name an operator of the batch, outside of a tag: then they tell."""
    return any(family(word) in operators for word in _NAME.findall(words))


def _met(part: _Part, bare: Collection[str], trace: str) -> bool:
    """Whether what stands behind a part is met alone, as a message or as a line of the trace beside it."""
    if len(part.head) < _SHORTEST or part.head[0] in _GOES_ON:
        return False
    if part.head in bare:
        return True
    begun = _line(part.message[part.end :])
    return f"\n{begun}" in trace and _line(part.message) not in trace


def _line(message: str) -> str:
    return message.partition("\n")[0][:_HEAD]


def _parts(message: str, operators: frozenset[str]) -> Iterator[_Part]:
    """What may be wrappers, the outer ones first, each with what stands behind it."""
    at = _classes(message)
    found = 0
    for bound in _BOUND.finditer(message, at, at + _FARTHEST):
        end = bound.end()
        words = message[at:end]
        if end - at > _LONGEST or words[0] in _GOES_ON or _PLACE.search(words):
            return
        if _SAYING.search(words) is None:
            continue
        if not _CLASS.fullmatch(words):
            yield _Part(_masked(words, operators), end, message)
            found += 1
        if found == _MOST:
            return
        at = end


def _classes(message: str) -> int:
    """Where the classes of exceptions end that a message begins with."""
    at = 0
    while ":" in message[at : at + _LONGEST] and (found := _CLASS.match(message, at)):
        at = found.end()
    return at


@lru_cache(maxsize=1 << 12)
def _masked(words: str, operators: frozenset[str]) -> str:
    words = _BRACKET.sub(lambda found: "OP" if family(found["name"]) in operators else found[0], words)
    return _DIGITS.sub("7", _GIVEN.sub("7", words))


def _head(message: str) -> str:
    return _DIGITS.sub("7", message.lstrip()[: 2 * _HEAD].partition("\n")[0])[:_HEAD]


def _end(message: str, usual: Collection[str], operators: frozenset[str]) -> int:
    """Where what was written before a message ends, 0 where nothing was."""
    end = 0
    for part in _parts(message, operators):
        if part.words not in usual:
            break
        end = part.end
    return end


def _without(report: Report, end: int, operators: frozenset[str]) -> Report:
    named = report.operator or _operator(report.message[:end], operators)
    return replace(report, message=_unended(report.message[end:], report.message[end - 1]), operator=named)


def _unended(message: str, begun: str) -> str:
    """What was quoted, without the quote that ends it."""
    return message.rstrip().removesuffix(begun) if begun in _QUOTES else message


def _operator(wrapper: str, operators: frozenset[str]) -> str:
    """The operator that a wrapper names in brackets, if others of the batch have noted it."""
    found = (each["name"] for each in _BRACKET.finditer(wrapper))
    return next((name for name in found if family(name) in operators), "")
