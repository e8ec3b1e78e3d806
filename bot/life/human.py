"""What people decided about an issue, how it is remembered (`Issue.human`), and what the bot may not do any more. Pure.

The bot never argues: what a person did last holds until a person does something else, or until there is news that the
person could not know (a new fix).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any


class Act(StrEnum):
    """What a person may do with an issue; the names are GitHub's actions of the event ``issues``."""

    CLOSED = "closed"
    REOPENED = "reopened"
    LABELED = "labeled"
    UNLABELED = "unlabeled"
    TRANSFERRED = "transferred"
    DELETED = "deleted"


#: Why an issue is closed, as GitHub names it.
COMPLETED, NOT_PLANNED, DUPLICATE = "completed", "not_planned", "duplicate"
#: Closed so, a person has refused the report.
REFUSED = frozenset({NOT_PLANNED, DUPLICATE})
#: Labels by which people say that nothing will be done (GitHub's default ones, and others' common ones).
ASIDE = frozenset({"duplicate", "invalid", "wontfix", "won't fix", "not a bug", "by design"})
#: Acts that are remembered.
_HISTORY = 50


@dataclass(frozen=True)
class Done:
    """One thing that a person did. `at` is when, as GitHub writes times, "" if it is not known."""

    act: Act
    by: str
    at: str = ""
    reason: str = ""
    label: str = ""
    to: str = ""


@dataclass(frozen=True)
class Said:
    """What people have said about an issue, and what follows.

    `closed` is why it is closed, "" where the last word was to open it or there was none; `reopened` whether a person
    reopened it after that, `refuted` the fix that it was closed for then, `judged` the build on which that was judged,
    and `pushed` the newest commit of the branch then. `gone`: the issue was transferred or deleted. `muted`: nobody
    wants to hear of the bug. `duplicate_of` is the other issue, as text. `labels` are those that people put on (true)
    or took off (false).
    `by` and `at` tell of the last word on open or closed. `history` holds every act, the oldest first.
    """

    closed: str = ""
    reopened: bool = False
    refuted: str = ""
    judged: str = ""
    pushed: str = ""
    gone: str = ""
    muted: bool = False
    duplicate_of: str = ""
    reason: str = ""
    by: str = ""
    at: str = ""
    labels: Mapping[str, bool] = field(default_factory=dict)
    history: tuple[Mapping[str, Any], ...] = ()

    def document(self) -> dict[str, Any]:
        """As it is stored: only what was said."""
        return {name: value for name, value in asdict(self).items() if value}

    def same_reopening(self, later: Said) -> bool:
        """Whether nobody has reopened it between this and what is known later."""
        return all(getattr(self, name) == getattr(later, name) for name in ("reopened", "refuted", "judged", "pushed"))

    def forbids_writing(self) -> str:
        """Why the bot writes nothing of its own accord any more, "" where it may."""
        if self.gone:
            return f"{self.by} took the issue away ({self.gone})"
        return f"{self.by} does not want to hear of it" if self.muted else ""

    def forbids_closing(self, fix: str, closed_for: str = "", new: bool | None = True) -> str:
        """Why the bot does not close it, "" where it may.

        `fix` is the revision that is said to mend it, `closed_for` the one for which it was closed before. `new`:
        whether the fix came after the builds that `refuted`, `judged` and `pushed` name, so that the person did not
        know it; None where nobody can tell.
        """
        if reason := self.forbids_writing():
            return reason
        if not self.reopened:
            return ""
        if new is False or (fix and fix in (self.refuted, closed_for)):
            return f"{self.by} reopened it, and there is no new fix since"
        if new is None or not fix:
            what = f"whether {fix} is a fix since then" if fix else "what has mended it since"
            return f"{self.by} reopened it, and {what} cannot be told from the history"
        return ""

    def forbids_reopening(self, fixed_by: str) -> str:
        """Why the bot does not reopen it, "" where it may. `fixed_by` is the fix that was seen to work, "" for none."""
        if reason := self.forbids_writing():
            return reason
        if self.closed in REFUSED:
            return f"{self.by} closed it as {self.closed.replace('_', ' ')}"
        if self.closed and not fixed_by:
            return f"{self.by} closed it, and no fix was seen to work that could have been undone"
        aside = sorted(label for label, on in self.labels.items() if on and label in ASIDE)
        return f"a person labelled it {aside[0]}" if aside else ""

    def forbids_label(self, name: str) -> str:
        """Why the bot does not put on a label, "" where it may."""
        if reason := self.forbids_writing():
            return reason
        return "a person took that label off" if self.labels.get(name.lower()) is False else ""


def read(human: Mapping[str, Any]) -> Said:
    """What is stored, whatever else the document holds. What cannot be read counts as never said."""
    texts = {
        name: value
        for name in ("closed", "refuted", "judged", "pushed", "gone", "duplicate_of", "reason", "by", "at")
        if isinstance(value := human.get(name), str)
    }
    labels, history = human.get("labels"), human.get("history")
    return Said(
        **texts,
        reopened=human.get("reopened") is True,
        muted=human.get("muted") is True,
        labels={name: on is True for name, on in labels.items()} if isinstance(labels, Mapping) else {},
        history=tuple(each for each in history if isinstance(each, Mapping)) if isinstance(history, list) else (),
    )


def found(is_open: bool, reason: str, labels: Iterable[str], pushed: str = "") -> Said:
    """What an issue shows of what was decided while nobody remembered it: somebody closed it, reopened or labelled it.

    `pushed` is the newest commit of the branch now.
    """
    aside = {name.lower(): True for name in labels if name.lower() in ASIDE}
    closed = "" if is_open else reason or COMPLETED
    reopened = is_open and reason == "reopened"
    by = "somebody" if closed or aside or reopened else ""
    return Said(closed=closed, reopened=reopened, pushed=pushed if reopened else "", by=by, labels=aside)


def refused(human: Mapping[str, Any]) -> bool:
    """Whether people refused the report: closed it as not planned or as a duplicate."""
    return read(human).closed in REFUSED


def after(said: Said, done: Done, fixed_by: str = "", late: bool = False, judged: str = "", pushed: str = "") -> Said:
    """What is known after a person did something. The same again changes nothing.

    `fixed_by` is the fix that the issue was closed for, or was to be, `judged` the newest build on which that was
    judged, and `pushed` the newest commit of the branch now: whoever reopens it does not believe in those.
    An act that came `late`, after a later one, is remembered and decides nothing any more.
    """
    noted = remembered(said, done)
    if noted is said:
        return said
    if done.act in (Act.LABELED, Act.UNLABELED):
        return replace(noted, labels={**said.labels, done.label.lower(): done.act is Act.LABELED})
    if late:
        return noted
    word = replace(noted, by=done.by, at=done.at or said.at, reason="", duplicate_of="")
    match done.act:
        case Act.CLOSED:
            return replace(word, closed=done.reason or COMPLETED, reopened=False)
        case Act.REOPENED:
            refuted, build, tip = fixed_by or said.refuted, judged or said.judged, pushed or said.pushed
            return replace(word, closed="", reopened=True, refuted=refuted, judged=build, pushed=tip)
        case _:
            return replace(word, gone=f"{done.act} to {done.to}" if done.to else str(done.act))


def remembered(said: Said, done: Done) -> Said:
    """The same, with one act more that is remembered and decides nothing. The same act again changes nothing."""
    told = {name: str(value) for name, value in asdict(done).items() if value}
    return said if told in said.history else replace(said, history=(*said.history, told)[-_HISTORY:])


def seems_late(said: Said, done: Done) -> bool:
    """Whether a later act is known already, going by the times."""
    return bool(done.at and said.at and done.at < said.at)


def decided(said: Said, by: str, at: str, *, closed: str = "", reason: str = "", duplicate_of: str = "") -> Said:
    """What is known after a command: the bug is put aside (`closed`: NOT_PLANNED or DUPLICATE) for a reason."""
    told = {"act": "command", "by": by, "at": at, "closed": closed, "reason": reason, "duplicate_of": duplicate_of}
    noted = {name: value for name, value in told.items() if value}
    history = said.history if _same(said, noted) else (*said.history, noted)[-_HISTORY:]
    return replace(
        said,
        closed=closed,
        reopened=False,
        reason=reason,
        duplicate_of=duplicate_of,
        by=by,
        at=at,
        history=history,
    )


def hushed(said: Said, by: str, at: str) -> Said:
    """What is known after nobody wants to hear of the bug any more."""
    noted = {"act": "mute", "by": by, "at": at}
    history = said.history if _same(said, noted) else (*said.history, noted)[-_HISTORY:]
    return replace(said, muted=True, by=by, at=at, history=history)


def _same(said: Said, noted: Mapping[str, Any]) -> bool:
    """Whether the last act is this one: work that is done again after a kill is remembered once."""
    last = {name: value for name, value in (said.history[-1] if said.history else {}).items() if name != "at"}
    return last == {name: value for name, value in noted.items() if name != "at"}
