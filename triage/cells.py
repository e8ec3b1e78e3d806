"""Failures that say exactly the same, counted once: what the grouping works on. Pure."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from triage.evidence import Evidence
from triage.families import family
from triage.hollow import deadly, ended
from triage.wrongness import sampled, says_wrong, wrong

#: With more different names than these in its quotes, a message is about any name.
_MOST_QUOTED = 4
#: A message that was cut short is recognised from this many characters on.
_SHORTEST_CUT = 16
#: One that ends between words had its later lines left out, if it holds more spaces than this.
_LEAST_WORDS = 4

_CUT = re.compile(r"(?: ?(?:\.\.\.|…|[\[<(]\w*(?:truncated|snip\w*|cut)[\])>]))+$")
#: What a check is called in quotes is no value.
_QUOTED = re.compile(r"(?<![Cc]heck )(?:'[^' ]{1,80}'|\"[^\" ]{1,80}\")")


@dataclass
class Cell:
    """All failures with the same words. `place` is where they happened; it is decided step by step. `files` are those
    of the native frames, `compilers` those whose failure it may be, `walks` where in the walk over a program it ended.
    `sentence` are the words in which a harness says what is wrong with a result (`triage/sentences.py`).
    `weight` is how many different reports it stands for: the very same one sent again, to the last number, is no second
    observation.
    """

    stack: tuple[str, ...]
    message: str
    empty: bool
    exception: str
    symptom: str
    operator: str
    names_operator: bool
    cut: bool
    quoted: bool
    shared: bool = False
    way: str = ""
    weak: bool = False
    site: str = ""
    refused: bool = False
    files: frozenset[str] = frozenset()
    compilers: frozenset[str] = frozenset()
    noted: str = ""
    walks: set[str] = field(default_factory=set)
    lines: list[int] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    weight: int = 0
    place: str = ""
    sentence: str = ""

    @property
    def converted(self) -> str:
        """The operator at work at its place: the one that was noted, whatever the message speaks of."""
        return self.noted or self.operator

    @property
    def caller(self) -> str:
        """The telling frame next to the innermost, "" where unknown."""
        return self.stack[1] if len(self.stack) > 1 and self.whole else ""

    @property
    def whole(self) -> bool:
        """Whether the stack begins at the place: line and caller are those of the innermost frame."""
        return bool(self.stack) and self.stack[0] == self.place

    @property
    def key(self) -> tuple[object, ...]:
        """What orders cells: their words, never their members."""
        return (
            self.stack,
            self.message,
            self.exception,
            self.symptom,
            self.operator,
            self.names_operator,
            self.cut,
            self.quoted,
            self.way,
            self.site,
            self.noted,
            "" if self.stack else "+".join(sorted(self.compilers)),
            "" if self.message else min(self.walks, default=""),
        )


def cells(ids: Iterable[Sequence[str]], evidence: Sequence[Evidence]) -> list[Cell]:
    """The cells of a batch, in an order that depends on their words alone; `ids` are those of a report's copies."""
    spelled = _spellings({each.message for each in evidence if not each.empty and not each.weak})
    evidence = _named(_unclipped(evidence, spelled), spelled)
    found: dict[tuple[object, ...], Cell] = {}
    for names, symptom, each in zip(ids, _symptoms(evidence), evidence, strict=True):
        message = spelled.get(each.message, each.message)
        key = (
            each.stack,
            message,
            each.exception,
            symptom,
            each.operator,
            each.names_operator,
            each.cut,
            each.quoted,
            each.way,
            each.site,
            each.noted if each.stack else "",
            "" if each.stack else each.compilers,
            "" if message else each.walk,
        )
        cell = found.get(key)
        if cell is None:
            place = each.stack[0] if each.stack else ""
            cell = found[key] = Cell(
                each.stack, message, each.empty, each.exception, symptom, each.operator, each.names_operator,
                each.cut, each.quoted, each.shared, each.way, each.weak, each.site, each.refused,
                noted=each.noted if each.stack else "", place=place,
            )  # fmt: skip
        if each.walk:
            cell.walks.add(each.walk)
        cell.members += names
        cell.weight += 1
        if not each.files <= cell.files:
            cell.files |= each.files
        if not each.compilers <= cell.compilers:
            cell.compilers |= each.compilers
        if each.line:
            cell.lines.append(each.line)
    return sorted(found.values(), key=lambda cell: cell.key)


def unquoted(message: str) -> str:
    """A message without the single words that it quotes."""
    return _QUOTED.sub("'…'", message)


def _spellings(messages: set[str]) -> dict[str, str]:
    """Another spelling for messages that quote one of many names, and for those that were cut short."""
    return _uncut({message: message for message in messages} | _unquoted(messages))


def _unquoted(messages: set[str]) -> dict[str, str]:
    fillers: defaultdict[str, list[str]] = defaultdict(list)
    for message in messages:
        if "'" in message or '"' in message:
            fillers[unquoted(message)].append(message)
    return {
        message: template for template, quoting in fillers.items() if len(quoting) > _MOST_QUOTED for message in quoting
    }


def _uncut(spelled: dict[str, str]) -> dict[str, str]:
    """A message that ends within a word, or in dots, is the longer one that goes on from there, if it is one."""
    begun = {message: _CUT.sub("", message).rstrip() for message in set(spelled.values())}
    marked = {begun[message] for message in begun if begun[message] != message}
    ordered = sorted(set(begun.values()))
    whole = {each: longer for each in ordered if (longer := _longer(each, ordered, each in marked))}
    result = {}
    for message, spelling in spelled.items():
        text = begun[spelling]
        while text in whole:  # ever longer
            text = whole[text]
        result[message] = text
    return result


def _longer(begun: str, ordered: Sequence[str], marked: bool) -> str:
    """The shortest message that goes on from this one, "" if none does, if they part, or if nothing says it was cut."""
    found = []
    for other in islice(ordered, bisect_right(ordered, begun), None):
        if not other.startswith(begun):
            break
        within_a_word = begun[-1:].isalnum() and other[len(begun)].isalnum()
        if marked or within_a_word or begun.count(" ") >= _LEAST_WORDS:
            found.append(other)
    if len(begun) < _SHORTEST_CUT or not found or not all(other.startswith(found[0]) for other in found):
        return ""
    return found[0]


def _unclipped(evidence: Sequence[Evidence], spelled: Mapping[str, str]) -> list[Evidence]:
    """With the message that goes on where somebody clipped it, as far as only one of its operator does.

    What is left of the word or path in which it was clipped may be read as something else: it does not count.
    """
    if not any(each.clipped for each in evidence):
        return list(evidence)
    known = _Begun(evidence, spelled)
    return [each._replace(message=longer, empty=False) if (longer := known.longer(each)) else each for each in evidence]


class _Begun:
    """The messages of each operator, in order, to find the one that goes on from a clipped one."""

    def __init__(self, evidence: Sequence[Evidence], spelled: Mapping[str, str]) -> None:
        self._spelled = spelled
        whole: defaultdict[str, set[str]] = defaultdict(set)
        said: defaultdict[str, set[str]] = defaultdict(set)
        for each in evidence:
            if not each.empty:
                (said if each.clipped else whole)[family(each.operator)].add(self._spelling(each))
        self._whole = {name: sorted(found) for name, found in whole.items()}
        self._said = {name: sorted(found) for name, found in said.items()}
        self._known: dict[tuple[str, str], str] = {}

    def longer(self, each: Evidence) -> str:
        """The one message that goes on where this one was clipped, "" where there is none or more than one.

        One of a round length may be whole: such count where no others go on.
        """
        if not each.clipped:
            return ""
        key = family(each.operator), self._spelling(each)
        if key not in self._known:
            self._known[key] = self._going_on(*key)
        return self._known[key]

    def _going_on(self, operator: str, clipped: str) -> str:
        whole = self._whole.get(operator, [])
        if clipped in whole[(at := bisect_left(whole, clipped)) : at + 1]:
            return ""  # others say just that
        found = _beginning(clipped, whole) or _beginning(clipped, self._said.get(operator, ()))
        return found[0] if len(found) == 1 else ""

    def _spelling(self, each: Evidence) -> str:
        return self._spelled.get(each.message, each.message)


def _beginning(clipped: str, ordered: Sequence[str]) -> list[str]:
    """Of messages in order, those that begin as this one does but for its last word: two at most besides itself."""
    begun = clipped.rpartition(" ")[0].rstrip()
    if not begun:
        return []
    first = bisect_left(ordered, begun)
    return [other for other in islice(ordered, first, first + 3) if other != clipped and other.startswith(begun)]


def _named(evidence: Sequence[Evidence], spelled: Mapping[str, str]) -> list[Evidence]:
    """With the operator that a message names where it is whole, for those of its failures that were cut before that."""
    named: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for each in evidence:
        if each.names_operator:
            named[spelled.get(each.message, each.message)].setdefault(family(each.operator), each.operator)
    return [_with_name(each, named.get(spelled.get(each.message, each.message), {})) for each in evidence]


def _with_name(each: Evidence, named: Mapping[str, str]) -> Evidence:
    if each.names_operator or not named:
        return each
    if not each.operator and len(named) == 1:
        return each._replace(operator=next(iter(named.values())), names_operator=True)
    return each._replace(names_operator=family(each.operator) in named)


def _symptoms(evidence: Sequence[Evidence]) -> Iterator[str]:
    """The symptom of each, and where it is not told that of the others in its place or with its message, if one."""
    evidence = _raised(evidence)
    known: defaultdict[tuple[str, ...], set[str]] = defaultdict(set)
    told = {(each.symptom, each.stack[:1], each.message, each.way): each for each in evidence if each.symptom}
    for each in told.values():
        near = _company(each)
        for key in near[:1] if sampled(each.symptom) else near:  # that one hangs says nothing of others
            known[key].add(each.symptom)
    for each in evidence:
        yield each.symptom or _symptom_of_company(each, known)


#: What is noted of failures that raise, and of what dies.
_RAISED, _DIED = "exception", "crash"


def _raised(evidence: Sequence[Evidence]) -> Sequence[Evidence]:
    """Where some runners of a batch tell what raises from what dies, others that call both a crash are corrected: what
    brings an exception and says something has not died."""
    if not any(each.symptom == _RAISED for each in evidence):
        return evidence
    return [
        each._replace(symptom=_RAISED)
        if each.symptom == _DIED
        and each.exception
        and not (each.empty or deadly(each.exception) or ended(each.message))
        else each
        for each in evidence
    ]


def _symptom_of_company(each: Evidence, known: Mapping[tuple[str, ...], set[str]]) -> str:
    """The one symptom of the nearest company that has one, "" where there is none."""
    found = (known[key] for key in _company(each) if key in known)
    return next((next(iter(symptoms)) for symptoms in found if len(symptoms) == 1), "")


def _company(each: Evidence) -> list[tuple[str, ...]]:
    """The failures like this one, from the nearest to all."""
    return [
        ("at", *each.stack[:1], each.message),
        *([("at", each.stack[0])] if each.stack else []),
        (each.message,),
        *([("raised",)] if each.exception else []),
        *([("wrong",)] if each.way or wrong(each.symptom) or says_wrong(each.message) else []),
        (),
    ]
