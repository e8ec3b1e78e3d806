"""What facts about a bug and its issue allow the bot to do. Pure: facts in, a decision with its reason out.

Everything that may be said at GitHub passes one of these; each gives the first reason that speaks against it. What a
build does and whether that may be told are decided apart: a bug is fixed whether or not anybody may close its issue.
"""

from __future__ import annotations

from dataclasses import dataclass

from bot.life.seen import Does, Seen
from triage.ledger.records import Issue
from triage.lifecycle import State

#: States of a bug whose fix can be noticed, and whose return can. The state that it then has is among them: whoever was
#: killed after the move still has to tell it.
FIXABLE = frozenset({State.DRAFTED, State.REPORTED, State.REGRESSED, State.FIXED})
RETURNING = frozenset({State.FIXED, State.CLOSED, State.REGRESSED})


@dataclass(frozen=True)
class Decision:
    """Whether to act, and the reason in a sentence."""

    act: bool
    why: str


def fixed(state: State, old: Seen, new: Seen) -> Decision:
    """Whether a bug counts as fixed: the revision it was found on still fails today, the new one passes every time."""
    if state not in FIXABLE:
        return Decision(False, f"a bug that is {state} cannot be fixed")
    if new.does is not Does.PASSES:
        return Decision(False, f"{new.revision} {new.told}: that is no fix")
    if old.does is not Does.FAILS:
        return Decision(False, f"{old.revision}, on which it was found, {old.told} today: that proves no fix")
    return Decision(True, f"{old.revision} still fails today and {new.revision} passes every time")


def regressed(state: State, fix: str, contains: bool | None, new: Seen) -> Decision:
    """Whether a fixed bug is back: a build that contains the fix fails every time, as the bug does.

    `fix` is the revision that fixed it, "" where none is known; `contains` whether the build has it, None if unknown.
    """
    if state not in RETURNING:
        return Decision(False, f"a bug that is {state} cannot come back")
    if not fix:
        return Decision(False, "no revision is known to have fixed it, so none can be said to have broken it again")
    if contains is None:
        return Decision(False, f"whether {new.revision} contains the fix {fix} cannot be told")
    if not contains:
        return Decision(False, f"{new.revision} does not contain the fix {fix}")
    if new.does is not Does.FAILS:
        return Decision(False, f"{new.revision} {new.told}: that proves no return")
    return Decision(True, f"{new.revision} contains the fix {fix} and fails every time")


def closing(issue: Issue | None, is_open: bool, enabled: bool, against: str) -> Decision:
    """Whether the issue of a fixed bug may be closed. `against` is what people decided against it, "" for nothing."""
    return _touching(issue, enabled, against, "close", None if is_open else "it is closed already")


def reopening(issue: Issue | None, is_open: bool, enabled: bool, against: str) -> Decision:
    """Whether the issue of a bug that is back may be reopened."""
    return _touching(issue, enabled, against, "reopen", "it is open" if is_open else None)


def may_speak(issue: Issue | None) -> bool:
    """Whether the bot may write in a bug's issue and edit what it wrote: its own, or one that a person linked."""
    return issue is not None and (issue.ours or bool(issue.linked_by))


def _touching(issue: Issue | None, enabled: bool, against: str, verb: str, needless: str | None) -> Decision:
    if issue is None:
        return Decision(False, "it has no issue")
    name = f"{issue.repository}#{issue.number}"
    if not may_speak(issue):
        return Decision(False, f"{name} is not the bot's and nobody with write permission has linked it")
    if needless:
        return Decision(False, f"{name}: {needless}")
    if not enabled:
        return Decision(False, f"the configuration does not let the bot {verb} issues")
    if against:
        return Decision(False, f"{name}: {against}")
    return Decision(True, f"{verb} {name}")


@dataclass(frozen=True)
class ToFile:
    """What is known when a bug is to be filed.

    `mine`: the project's compiler is the one at fault. `pending` is the state of what was put into the outbox for it
    before, "" for nothing; `asked`: a person with write permission asks for it.
    """

    state: State
    mine: bool
    has_draft: bool
    issue: Issue | None
    pending: str = ""
    asked: bool = False


def filing(facts: ToFile) -> Decision:
    """Whether a new issue may be opened for a bug, as far as the bug itself decides that."""
    if facts.issue is not None:
        return Decision(False, f"it is {facts.issue.repository}#{facts.issue.number} already")
    if facts.state not in (State.DRAFTED, State.REGRESSED):
        return Decision(False, f"a bug that is {facts.state} is not filed")
    if not facts.has_draft:
        return Decision(False, "it has no report")
    if not facts.mine:
        return Decision(False, "it is another project's bug")
    if facts.pending == "rejected" and not facts.asked:
        return Decision(False, "a moderator has rejected its issue")
    if facts.pending and facts.pending not in ("rejected", "failed"):
        return Decision(False, f"its issue is {facts.pending} in the outbox")
    return Decision(True, "it is drafted and not filed")
