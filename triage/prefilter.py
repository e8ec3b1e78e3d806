"""The literals of a pattern: texts of which one stands wherever the pattern is found. Pure.

To see that a text holds none of them is far quicker than to search it with the pattern (a literal prefilter, as tools
have it that search with many regular expressions). What a pattern demands is read from its source. What is not
understood there demands nothing: a filter may let too much through, but never too little.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from triage.alternation import branches, class_end, group_end

#: To look for more literals than these takes as long as the search.
_MOST = 8
#: How a group begins whose content must stand where the group does.
_DEMANDING = re.compile(r"\((?:\?(?:[:>=]|<=|P<\w+>))?(?!\?)")
_QUANTIFIER = re.compile(r"(?P<optional>[*?]|\{(?:0+(?:,\d*)?|,\d*)\})[?+]?|(?:\+|\{\d+(?:,\d*)?\})[?+]?")
_ESCAPE = re.compile(r"\\(?:x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|N\{[^}]*\}|\d+|.)", re.DOTALL)
_SPELLED = {r"\n": "\n", r"\t": "\t", r"\r": "\r"}
_NO_LITERALS = ".^$"
#: A class of a few signs, no ranges, none of the classes' own escapes; and one of its signs.
_SMALL_CLASS = re.compile(r"\[(?!\^)(?:\\[^\w\s]|[^\\\]\[\-]){1,4}\]")
_CLASS_SIGN = re.compile(r"\\?(.)", re.DOTALL)


@dataclass(frozen=True)
class Filtered:
    """A pattern that is tried only where one of its literals stands; () if it demands none."""

    pattern: re.Pattern[str]
    literals: tuple[str, ...]

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        """The text with every match replaced, as `re.Pattern.sub` does it."""
        for literal in self.literals:
            if literal in text:
                break
        else:
            if self.literals:
                return text
        return self.pattern.sub(by, text)


def replaced(masks: Iterable[tuple[Filtered, str | Callable[[re.Match[str]], str]]], text: str) -> str:
    """The text with the matches of each pattern replaced, one pattern after the other.

    As `Filtered.sub` for each, of which few are tried: there the calls would take longer than the searches.
    """
    for mask, by in masks:
        for literal in mask.literals:
            if literal in text:
                break
        else:
            if mask.literals:
                continue
        text = mask.pattern.sub(by, text)
    return text


def filtered(pattern: re.Pattern[str]) -> Filtered:
    """The pattern with its literals."""
    return Filtered(pattern, literals(pattern))


def literals(pattern: re.Pattern[str]) -> tuple[str, ...]:
    """Texts of which one at least stands in every text where the pattern is found; () if that cannot be told."""
    if pattern.flags & (re.IGNORECASE | re.VERBOSE) or "(?#" in pattern.pattern:
        return ()  # before a comment may stand what a sign behind it repeats
    found = _of_any(branches(pattern.pattern))
    return found if len(found) <= _MOST else ()


def _of_any(alternatives: Sequence[str]) -> tuple[str, ...]:
    """What the alternatives demand together: one of the texts of one of them; () where one of them demands nothing."""
    demands = [list(_demands(branch)) for branch in alternatives]
    each = [max(found, key=_worth, default=()) for found in demands]
    if sum(map(len, each)) > _MOST:
        each = [min(found, key=len, default=()) for found in demands]
    return tuple(dict.fromkeys(itertools.chain.from_iterable(each))) if all(each) else ()


def _worth(texts: tuple[str, ...]) -> tuple[int, int]:
    """How much a demand filters: by the shortest of its texts, and fewer are sooner looked for."""
    return (min(map(len, texts)) if 0 < len(texts) <= _MOST else 0, -len(texts))


def _demands(branch: str) -> Iterator[tuple[str, ...]]:
    """What every match of one alternative holds: one of some texts, several times over."""
    run, at = "", 0
    while at < len(branch):
        end = _element_end(branch, at)
        element, sign = branch[at:end], _sign(branch[at:end])
        quantifier = _QUANTIFIER.match(branch, end)
        optional = quantifier is not None and quantifier["optional"] is not None
        run += "" if optional else sign
        if (quantifier or not sign) and run:
            yield (run,)
        if quantifier or not sign:
            run = ""
        if not optional:
            yield from _within(element)
        at = quantifier.end() if quantifier else end
    if run:
        yield (run,)


def _within(element: str) -> Iterator[tuple[str, ...]]:
    """What a group or a small class demands."""
    if group := _DEMANDING.match(element):
        alternatives = branches(element[group.end() : -1])
        found = _demands(alternatives[0]) if len(alternatives) == 1 else iter((_of_any(alternatives),))
        yield from (texts for texts in found if texts)
    elif _SMALL_CLASS.fullmatch(element):
        yield tuple(_CLASS_SIGN.findall(element[1:-1]))


def _element_end(pattern: str, at: int) -> int:
    """Where the group, the class, the escape or the single character that begins there ends."""
    if pattern[at] == "(":
        return group_end(pattern, at)
    if pattern[at] == "[":
        return class_end(pattern, at)
    escape = _ESCAPE.match(pattern, at)
    return escape.end() if escape else at + 1


def _sign(element: str) -> str:
    """The one character that an element stands for, "" if it may be several or none."""
    if len(element) == 1:
        return "" if element in _NO_LITERALS else element
    if element[0] == "\\" and len(element) == 2 and not element[1].isalnum():
        return element[1]
    return _SPELLED.get(element, "")
