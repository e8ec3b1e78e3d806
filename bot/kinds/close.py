"""A known bug passes on a build: is it fixed, and may its issue be closed? {project, bug, commit, before?}

`commit` is the build's name; `before` one that is known to fail: the fix is looked for after it first. What decides is
the newest tested build of the branch.
"""

from __future__ import annotations

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
        newer = branch.newest(desk, project, compiler, tip)
        if newer != tip and (now := rerun.on(newer)).does is not Does.PASSES:  # it landed while the fix was looked for
            return _unfixed(desk, project, desk.store.bug(bug.id), [now])
    return _fixed(work, desk, compiler, old, new, change)


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


def _fixed(work: Work, desk: Desk, compiler: Compiler, old: Seen, new: Seen, change: Change) -> Answer:
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
    against = _against(compiler, issue, change.found)
    status = _status(desk, project, bug, [old, new])
    return _told(work, desk, project, issue, fix, against, render("fixed", old=old, new=new, **change.words), status)


def _against(compiler: Compiler, issue: Issue, found: Found | None) -> str:
    """What a person decided against closing the issue. The same fix may have another name than the refuted one."""
    said, fix = human.read(issue.human), found.first if found else ""
    new: bool | None = True
    if said.reopened and found:
        builds = [name for name in (said.judged, said.refuted, said.pushed) if name]
        told = [ancestry.landed_after(compiler, fix, found.merge or fix, build) for build in builds]
        new = False if False in told else None if None in told else True
    return said.forbids_closing(fix, issue.fixed_by, new)


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
