"""Which known issues look like one of our bugs: exact names, no scores learnt from anywhere. Pure.

An issue is listed when it holds the exception's own words, or when it names the operator, tells of the same kind of
failure and does not hang on something else. Its sentence says which. Measured on the pairs of
`tests/triage/known/pairs.jsonl`; rather silent than wrong, since nobody reads a list of strangers twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from triage import mentions
from triage.scrub import code, prose
from triage.signature import normalise

#: More than these are no help.
MOST = 5
#: The part of a message's telling words that one line of an issue must hold, and how many words tell anything.
_SHARED, _LEAST = 0.75, 4
#: Of a body only so much is read: what follows are logs and attachments.
_READ = 20_000
_BETWEEN = re.compile(r"[^\w]+")
#: What we say of every process that died without a word: no compiler's message.
_OURS = "the process died of "
#: The condition of a check that failed, as C++ prints it.
_CHECKED = re.compile(r"Check failed: \((.+)\) is false")
#: What tells two messages of one wording apart: 'Var' object has no attribute 'value'.
_QUOTED = re.compile(r"['\"`]([^'\"`]{1,80})['\"`]")


@dataclass(frozen=True)
class Issue:
    """An entry of an issue list. `url` is "" for a bug of our own that is not filed."""

    number: int
    title: str
    body: str = ""
    url: str = ""
    state: str = ""


@dataclass(frozen=True)
class Sought:
    """What is known of our bug: its title, operators, the message without numbers and paths, the symptom.

    `elsewhere` are words that mark another part of the project (``Relay``, ``WebGPU``), by the project's data.
    """

    title: str
    operators: tuple[str, ...]
    message: str
    symptom: str
    elsewhere: tuple[str, ...] = ()


@dataclass(frozen=True)
class Similar:
    """An issue that looks like ours, and the clause that says why. The larger the `weight`, the likelier."""

    issue: Issue
    why: str
    weight: int


def similar(sought: Sought, issues: Iterable[Issue]) -> list[Similar]:
    """The issues that look like the bug, the likeliest first, open before closed, newer before older."""
    found = [one for issue in issues if (one := _compared(sought, issue))]
    found.sort(key=lambda one: (-one.weight, one.issue.state.lower() != "open", -one.issue.number))
    return found[:MOST]


def _compared(sought: Sought, issue: Issue) -> Similar | None:
    if _elsewhere(issue.title, sought.elsewhere):
        return None
    worded = not sought.symptom.startswith("wrong") and not sought.message.startswith(_OURS)
    said = worded and _says(sought.message, f"{issue.title}\n{issue.body[:_READ]}")
    named = _named(sought, issue)
    if said:
        also = f" and names {', '.join(named)}" if named else ""
        return Similar(issue, f"holds the same message{also}", 4 + bool(named))
    if not named or not mentions.agree(_kind(sought.symptom), mentions.symptoms(issue.title)):
        return None
    ours, theirs = _details(sought, issue.title), mentions.details(issue.title, sought.operators)
    shared = ours & (theirs or mentions.details(issue.body[:_READ], sought.operators))
    if ours and (theirs or issue.body) and not shared:
        return None  # the same operator, but it hangs on something else
    if theirs and not ours:
        return None
    if any(_contradicts(sought.title, f"{issue.title}\n{issue.body[:_READ]}", option) for option in shared):
        return None
    speaks = f"names {', '.join(named)}"
    if shared:
        everything = theirs | mentions.details(issue.body[:_READ], sought.operators)
        sure = bool(ours & theirs) and ours <= everything
        return Similar(issue, f"{speaks} and {', '.join(sorted(shared))}", 2 + sure)
    return Similar(issue, f"{speaks} with the same kind of failure", 1)


def _elsewhere(title: str, words: Sequence[str]) -> bool:
    return any(re.search(rf"(?<!\w){re.escape(word)}(?!\w)", title, re.IGNORECASE) for word in words)


def _named(sought: Sought, issue: Issue) -> list[str]:
    """Those of our operators that the title names; one that names no operator at all may do so in its body, as code."""
    named = [name for name in sought.operators if mentions.names(issue.title, name)]
    if named or mentions.operators(issue.title):
        return named
    body = issue.body[:_READ]
    return [name for name in sought.operators if re.search(rf"make_node\(\s*['\"]{re.escape(name)}['\"]", body)]


def _details(sought: Sought, theirs: str) -> frozenset[str]:
    """What our bug hangs on. Numbers that come out wrong (``instead of NaN``) are details only if theirs names them."""
    head = sought.title.partition(" returns ")[0]
    found = mentions.details(head, sought.operators)
    return found | (mentions.details(sought.title, sought.operators) & mentions.details(theirs, sought.operators))


def _contradicts(ours: str, theirs: str, option: str) -> bool:
    """Whether both say what an option is set to, and not the same: the one fails in another mode than the other."""
    one, other = mentions.chosen(ours, option), mentions.chosen(theirs, option)
    return bool(one and other) and not one & other


def _kind(symptom: str) -> str:
    kind = symptom.removeprefix("dies-on-invalid:").removeprefix("asserts-on-invalid:").partition(":")[0]
    return {"timeout": "hang"}.get(kind, kind)


def _says(message: str, text: str) -> bool:
    """Whether one line of a text holds most words of a message, and all that the message quotes."""
    first = normalise(message.partition("\n")[0])
    checked = _CHECKED.search(message.partition("\n")[0])
    if checked and not _masks(checked[1]) and "".join(checked[1].split()) not in "".join(text.split()):
        return False  # other conditions have most words in common
    words, quoted = _words(first), _words(" ".join(_QUOTED.findall(first)))
    if len(words) < _LEAST or _SHARED * len(words) > len(words & _all_words(text)) + len(_masks(first)):
        return False
    return any(quoted <= line and len(words & line) >= _SHARED * len(words) for line in _lines(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _BETWEEN.split(text) if len(word) > 2)


def _masks(normalised: str) -> set[str]:
    """What `normalise` writes in the place of names and numbers: a text that is not normalised has none."""
    return {word for word in _BETWEEN.split(normalised) if len(word) > 2 and word.isupper()}


@lru_cache(maxsize=1 << 14)
def _all_words(text: str) -> frozenset[str]:
    return _words(text)


@lru_cache(maxsize=1 << 10)
def _lines(text: str) -> tuple[frozenset[str], ...]:
    """The words of each line, numbers and names masked: costly, so only for texts that hold the words somewhere."""
    return tuple(_words(normalise(line)) for line in text.splitlines() if line.strip())


# ---------------------------------------------------------------- the section of a report


#: Before this line of a report the section goes in.
_FOOTER = "*Found, reduced and drafted by Graphwarden.*"
_HEADING = "### Similar issues"


def with_section(body: str, known: Sequence[Similar], own: Sequence[Similar] = ()) -> str:
    """A report's body with the section that links what looks alike; as it is where nothing does.

    `known` are issues of the project, `own` bugs of the same database.
    """
    bare = re.sub(rf"{re.escape(_HEADING)}\n.*?(?={re.escape(_FOOTER)})", "", body, flags=re.DOTALL)
    lines = [f"- {_link(one.issue)}: {prose(one.issue.title)} ({_state(one.issue)}{prose(one.why)})" for one in known]
    lines += [f"- Of the same hunt: {prose(one.issue.title)} ({prose(one.why)})" for one in own]
    if not lines or _FOOTER not in bare:
        return bare
    head, _, tail = bare.rpartition(_FOOTER)
    return f"{head}{_HEADING}\n\n" + "\n".join(lines) + f"\n\n{_FOOTER}{tail}"


def _link(issue: Issue) -> str:
    plain = re.fullmatch(r"https://[\w.\-/#]+", issue.url)
    return f"[#{issue.number}]({issue.url})" if plain else code(f"#{issue.number}")


def _state(issue: Issue) -> str:
    return f"{issue.state.lower()}, " if issue.state else ""
