"""A known bug passes on a build: is it fixed, and may its issue be closed? {project, bug, commit, before?}

`commit` is the build's name; `before` one that is known to fail: the fix is looked for after it first. What decides is
the newest tested build of the branch.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from bot.desk import Desk
from bot.kinds import Answer, Done
from bot.life import ancestry, branch, changing, decide, following, human, judged, permission, saying
from bot.life.following import Change
from bot.life.limits import Allowance
from bot.life.running import Rerun
from bot.life.seen import Does, Seen
from bot.rendering import render
from bot.settings import Project
from triage.bisect.found import Bisected, Found, Kind
from triage.ledger.records import Issue, NewOutgoing, NewWork, OutKind, OutState, Work
from triage.lifecycle import State
from triage.records import Bug
from triage.revisions.config import Compiler

HEAVY = True
#: After so long is looked again whether an issue that is about to be opened is open.
_SOON = timedelta(minutes=5)


@dataclass(frozen=True)
class _Since:
    """Whether the fix is newer than all that a person knew who reopened the issue, as far as people had `said` by then.

    None: that cannot be told.
    """

    said: human.Said
    newer: bool | None

    def now(self, issue: Issue) -> bool | None:
        """The same as the issue stands now: who has reopened it since has had it run once more."""
        return self.newer if self.said.same_reopening(_said(issue)) else None


def run(work: Work, desk: Desk) -> Answer:
    """Run the bug where it was found and on the new build; close its issue if both say that it is fixed."""
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    if bug.state not in decide.FIXABLE:
        return Done(f"nothing to close: bug {bug.id} is {bug.state}")
    compiler, named = desk.compiler(project), str(work.payload["commit"])
    tip = branch.newest(desk, project, compiler, named)
    if not tip or branch.older(compiler, tip, bug.revision):
        return Done(f"nothing to close: {named} has not landed, or lies before {bug.revision}, where it was found")
    with desk.runner(project) as runner:
        rerun = Rerun(runner, compiler, desk.store, bug, desk.say)
        new = rerun.on(tip)
        if new.does is not Does.PASSES:
            return _unfixed(desk, project, bug, [new])
        old = rerun.on(bug.revision)
        verdict = decide.fixed(bug.state, old, new)
        if not verdict.act:
            return _unfixed(desk, project, bug, [old, new], verdict.why)
        starts = [str(work.payload.get("before") or ""), _last_failing(bug), bug.revision]
        change = following.change(
            runner, compiler, project, desk.store, bug, starts, new.revision, fix=True, say=desk.say
        )
        said = _said(desk.ledger.issues.of_bug(bug.id))
        since = _Since(said, _newer(said, compiler, rerun, change.found))
        last = branch.newest(desk, project, compiler, tip)
        if last != tip and (now := rerun.on(last)).does is not Does.PASSES:  # it landed while the fix was looked for
            return _unfixed(desk, project, desk.store.bug(bug.id), [now])
    return _fixed(work, desk, old, new, change, since)


def _last_failing(bug: Bug) -> str:
    """The newest build of the branch on which the bug is known to fail: where it came back, else where it was found."""
    bad = bug.bisected.get(Kind.BAD)
    return (bad.merge or bad.first) if bug.state is State.REGRESSED and bad else bug.revision


def _unfixed(desk: Desk, project: Project, bug: Bug, seen: list[Seen], why: str = "") -> Answer:
    """Nothing is proven. A bug whose revision is gone, and that passes on what there is, can no longer be judged."""
    if len(seen) == 2 and seen[0].does is Does.GONE and bug.state is not State.FIXED:
        note = f"{seen[0].revision} is gone, and {seen[1].revision} {seen[1].told}"
        desk.store.advance(bug.id, bug.state, State.STALE, note=note)
        bug = desk.store.bug(bug.id)
    note = why or decide.fixed(bug.state, seen[-1], seen[-1]).why
    return Done(note, outgoing=_status(desk, project, bug, seen))


def _fixed(work: Work, desk: Desk, old: Seen, new: Seen, change: Change, since: _Since) -> Answer:
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    judged.note(desk.ledger, bug, new.revision)
    issue = desk.ledger.issues.of_bug(bug.id)
    fix = change.found.first if change.found else new.revision
    if issue is None:
        saying.withdraw(desk.ledger, bug.id, f"fixed by {fix} before it was filed")
        if _being_filed(desk, bug):
            again = NewWork(work.kind, work.key, work.project, work.payload, not_before=datetime.now(UTC) + _SOON)
            return Done("its issue is about to be opened: looked at again then", works=(again,))
    if change.found is None and Kind.GOOD in bug.bisected:  # of an earlier fix, which did not last
        known: Bisected = {kind: found for kind, found in bug.bisected.items() if kind is not Kind.GOOD}
        desk.store.amend(bug.id, bug.state, bisected=known)
    if bug.state is not State.FIXED:
        desk.store.advance(bug.id, bug.state, State.FIXED, note=f"passes since {fix}")
        bug = desk.store.bug(bug.id)
    if issue is None:
        return Done(f"fixed by {fix}; it was never filed")
    newer = since.now(issue)
    named = change.found.first if change.found else new.revision if newer else ""
    against = human.read(issue.human).forbids_closing(named, issue.fixed_by, newer)
    status = _status(desk, project, bug, [old, new])
    return _told(work, desk, project, issue, fix, against, render("fixed", old=old, new=new, **change.words), status)


def _said(issue: Issue | None) -> human.Said:
    return human.read(issue.human) if issue else human.Said()


def _newer(said: human.Said, compiler: Compiler, rerun: Rerun, found: Found | None) -> bool | None:
    """Whether the fix came after all that a person knew who reopened the issue; None where that cannot be told.

    The same fix may have another name than the refuted one, so the history is asked. Where that does not tell, or no
    fix could be named, the newest build that the person knew is run: if it fails today, what mends it came later.
    """
    if not said.reopened:
        return True
    told: list[bool | None] = [None]
    if found:
        builds = [name for name in (said.judged, said.refuted, said.pushed) if name]
        told = [ancestry.landed_after(compiler, found.first, found.merge or found.first, build) for build in builds]
    if None not in told or False in told:
        return False not in told
    return True if said.pushed and rerun.on(said.pushed).does is Does.FAILS else None


def _told(
    work: Work,
    desk: Desk,
    project: Project,
    issue: Issue,
    fix: str,
    against: str,
    text: str,
    status: tuple[NewOutgoing, ...],
) -> Answer:
    if not issue.open and saying.pending(desk.ledger, issue.bug_id, is_open=True) is None:
        return _closed_already(desk, project, issue, fix)
    if waiting := saying.pending(desk.ledger, issue.bug_id, is_open=False):
        return Done(f"fixed by {fix}; its closing is {waiting.state} in the outbox", outgoing=status)
    may = decide.closing(issue, saying.will_be_open(desk.ledger, issue), project.filing.close, against)
    if not may.act:
        return Done(f"fixed by {fix}; not closed: {may.why}", outgoing=status)
    allowed = permission.asked(desk.ledger, project, desk.store.bug(issue.bug_id), "close:")
    if allowed.until:
        return Done(f"fixed by {fix}; {allowed.why}", works=(_later(work, allowed),), outgoing=status)
    said, rejected = changing.change(desk.ledger, issue, fix, text, allowed, is_open=False, fixed_by=fix)
    if rejected:
        return Done(f"fixed by {fix}; not closed: {rejected}", outgoing=status)
    why = f" ({allowed.why})" if allowed.held else ""
    return Done(f"fixed by {fix}; {may.why}{why}", outgoing=(*said, *status), counted=allowed.counted)


def _closed_already(desk: Desk, project: Project, issue: Issue, fix: str) -> Answer:
    """A person was faster: from now on a failure on a build with the fix is a return."""
    desk.ledger.issues.update(issue.bug_id, fixed_by=fix)
    desk.store.advance(issue.bug_id, State.FIXED, State.CLOSED)
    status = _status(desk, project, desk.store.bug(issue.bug_id), [])
    return Done(f"fixed by {fix}; its issue is closed already", outgoing=status)


def _later(work: Work, allowed: Allowance) -> NewWork:
    return NewWork(work.kind, work.key, work.project, work.payload, work.priority, allowed.until)


def _status(desk: Desk, project: Project, bug: Bug, seen: list[Seen]) -> tuple[NewOutgoing, ...]:
    return saying.status(desk.ledger, bug.id, project.filing.moderation, seen)


def _being_filed(desk: Desk, bug: Bug) -> bool:
    """Whether an issue for the bug may be opened at any moment."""
    going = desk.ledger.outbox.listed([OutState.READY, OutState.SENDING], bug.id)
    return any(one.kind is OutKind.ISSUE for one in going)
