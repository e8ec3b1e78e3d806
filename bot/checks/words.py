"""The texts of a check run. Pure. Foreign text is made harmless here: a check run acts on nothing and calls nobody."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from bot.checks.known import KnownBug
from bot.checks.run import Words
from bot.gating import Answer
from bot.github import limits
from bot.github.markers import without
from bot.rendering import render
from triage import scrub
from triage.suite.compare import Change
from triage.suite.gate import Conclusion
from triage.suite.telling import Told

#: What a summary may hold, tried in turn until it fits: entries of each list, scripts.
_SIZES = ((50, 20), (50, 5), (30, 2), (20, 0), (5, 0))
#: Of a build's log, what is shown; of a script, what one may hold; of a message of an annotation.
_LOG, _SCRIPT, _MESSAGE = 6000, 20_000, 1500
_LEVEL = "failure"


def finished(
    answer: Answer, known: Mapping[str, Sequence[KnownBug]], cases: Collection[str], repository: str, budget: str
) -> Words:
    """What a gate has found. `known` are bugs whose reduced cases are fixed, by case; `budget` as it is configured.

    `cases` are the cases that known bugs were seen in: they are no news beside the bugs themselves.
    """
    document = answer.document
    new = answer.told[Change.NEW_FAILURE]
    fixed = [one for one in answer.told[Change.FIXED] if one.id not in cases and one.id not in known]
    told = document | {change.value: _together(answer.told[change]) for change in answer.told}
    told |= {
        "share": round(100 * document["ran"] / document["of"]) if document["of"] else 0,
        "fixed": _together(fixed),
        "known": [
            {"called": one.called(repository), "title": scrub.scrub(one.title)}
            for some in known.values()
            for one in some
        ],
        "budget": "the time it takes" if budget.strip().lower() == "none" else budget,
        "reason": scrub.scrub(document["reason"]),
        "counted": _counts(answer),
    }
    return Words(title(answer), _fitting(told, new), tuple(_annotations(new)))


def title(answer: Answer) -> str:
    """One line that says it all."""
    result = answer.result
    if answer.conclusion is Conclusion.NEUTRAL:
        return limits.short(f"Nothing is concluded: {scrub.inert(result.reason)}", 120)
    return f"{_counts(answer)}; {len(result.pairs)} of {result.of} cases"


def running(counts: Mapping[Change, int], ran: int, names: Sequence[str]) -> Words:
    """How it goes: how many pairs changed in which way, how many ran, and the names of new failures."""
    line = _counted(*(counts.get(change, 0) for change in (Change.NEW_FAILURE, Change.FIXED, Change.FLAKY)))
    shown = [f"- {scrub.prose(scrub.scrub(name), 200)}" for name in names[:20]]
    more = [f"- and {len(names) - 20} more"] if len(names) > 20 else []
    text = [f"{ran} cases have run on both builds: {line}. Further ones are running."]
    if shown:
        text += ["", "New failures so far:", "", *shown, *more]
    return Words(f"{line} so far; {ran} cases", "\n".join(text))


def note(title: str, text: str, log: str = "") -> Words:
    """One thing to say, as why nothing can be concluded; `text` and `log` are foreign."""
    shown = scrub.scrub(log)[-_LOG:]
    told = render("check_note", text=scrub.spoken(scrub.scrub(text), 1200), log=shown)
    return Words(limits.short(title, 120), without(told))


def _counts(answer: Answer) -> str:
    return _counted(*(len(answer.told[change]) for change in (Change.NEW_FAILURE, Change.FIXED, Change.FLAKY)))


def _counted(new: int, fixed: int, flaky: int) -> str:
    return f"{new} new failure{'s' * (new != 1)}, {fixed} fixed, {flaky} flaky"


def _fitting(told: Mapping[str, Any], new: Sequence[Told]) -> str:
    """The longest summary that GitHub takes."""
    scripts = [_entry(one) for one in new if one.reproducer and len(one.reproducer) <= _SCRIPT]
    text = ""
    for entries, most in _SIZES:
        text = without(render("check", **told, entries=entries, scripts=scripts[:most]))
        if limits.length(text) <= limits.CHECK:
            return text
    return limits.fit(text, limits.CHECK)


def _entry(one: Told) -> dict[str, str]:
    return one.document | {"title": scrub.scrub(one.title), "reproducer": scrub.plain(one.reproducer)}


def _together(found: Iterable[Told]) -> list[dict[str, Any]]:
    """The entries of a list, those that read the same once, with the number of their cases."""
    lines: dict[tuple[str, str, str], dict[str, Any]] = {}
    for one in found:
        entry = lines.setdefault((one.title, one.status_base, one.status_head), {**_entry(one), "cases": 0})
        entry["cases"] += 1
    return list(lines.values())


def _annotations(new: Iterable[Told]) -> Iterable[dict[str, Any]]:
    """A new failure at the changed lines that convert its operator; one whose lines are not known has none."""
    for one in new:
        if one.place is None or not _plain_path(one.place.path):
            continue
        statuses = f"{scrub.inert(one.name, 200)}: {one.status_base} before, {one.status_head} with this change"
        detail = scrub.inert(one.detail, _MESSAGE)
        yield {
            "path": one.place.path,
            "start_line": one.place.first,
            "end_line": max(one.place.first, one.place.last),
            "annotation_level": _LEVEL,
            "title": scrub.inert(one.title, limits.ANNOTATION_TITLE - 20),
            "message": f"{statuses}\n{detail}".strip(),
        }


def _plain_path(path: str) -> bool:
    """Whether a path is one of a file in the repository: anybody names files."""
    inside = not path.startswith("/") and ".." not in path.split("/")
    return inside and path.isprintable() and 0 < len(path) <= 1000
