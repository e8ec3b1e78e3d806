"""A fixed bug fails on a build: is it back, and may its issue be reopened? {project, bug, commit, before?}

`commit` is the build's name; `before` one that is known to pass, from which on the culprit is looked for first. What
decides is the newest tested build of the branch.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.bisecting import case_of
from bot.checks import known, landing
from bot.desk import Desk
from bot.kinds import Answer, Done
from bot.life import ancestry, branch, changing, decide, following, human, permission, saying
from bot.life.following import Change
from bot.life.running import Rerun
from bot.life.seen import Does, Seen
from bot.rendering import render
from bot.settings import Project
from fuzz.case import Status
from triage.bisect.found import Kind
from triage.ledger.records import Issue, NewOutgoing, NewWork, Work
from triage.lifecycle import State
from triage.records import Bug
from triage.suite.entries import PASS
from triage.suite.running import Ran

HEAVY = True


def run(work: Work, desk: Desk) -> Answer:
    """Run the bug on the build, if that contains the fix; reopen its issue if it fails every time."""
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    fix = _fix(desk, bug, desk.ledger.issues.of_bug(bug.id))
    if bug.state not in decide.RETURNING or not fix:
        return Done(decide.regressed(bug.state, fix, None, Seen.nothing(str(work.payload["commit"]))).why)
    compiler, named = desk.compiler(project), str(work.payload["commit"])
    if not (tip := branch.newest(desk, project, compiler, named)):
        return Done(f"nothing to reopen: {named} has not landed")
    with desk.runner(project) as runner:
        rerun = Rerun(runner, compiler, desk.store, bug, desk.say)
        new = rerun.on(tip)
        verdict = decide.regressed(bug.state, fix, ancestry.contains(compiler, new.revision, fix), new)
        if not verdict.act:
            others = _another(work, desk, rerun, bug, new)
            return Done(verdict.why + _told_of(others), others, _status(desk, project, bug, new))
        good = bug.bisected.get(Kind.GOOD)
        landed = good.merge if good and good.first == fix else ""  # a commit inside a merge is none of the branch's
        starts = [str(work.payload.get("before") or ""), landed, fix]
        change = following.change(
            runner, compiler, project, desk.store, bug, starts, new.revision, fix=False, say=desk.say
        )
        newer = branch.newest(desk, project, compiler, tip)
        if newer != tip and (now := rerun.on(newer)).does is not Does.FAILS:  # it landed while that was looked for
            return Done(f"{newer} {now.told}: that proves no return", outgoing=_status(desk, project, bug, now))
    return _back(work, desk, project, new, fix, change)


def _another(work: Work, desk: Desk, rerun: Rerun, bug: Bug, new: Seen) -> tuple[NewWork, ...]:
    """The work on what fails with the bug's signature on the very commit on which the bug itself passes.

    A suite sees that by itself (`bot.checks.landing`), but for a bug whose case it did not come to.
    """
    commit, store = str(work.payload["commit"]), desk.store
    own = case_of(store, bug).id
    stored = (store.failure(number).failure for number in store.failure_ids(bug.id))
    met = [one for one in stored if one.target.revision.version == commit and one.case.id != own]
    made = [one for one in store.bugs([State.NEW]) if _split_from(one, bug, commit)]  # and the process was killed then
    if not (met or made) or new.does is not Does.PASSES:
        return ()
    if new.revision != commit and rerun.on(commit).does is not Does.PASSES:
        return ()  # it was back there, and is mended by now
    passed = [Ran(f"bug-{bug.id}", own, PASS, Status.OK)]
    find = (known.by_case(store, bug.backend), known.by_any_case(store, bug.backend))
    landed = landing.Landed(work.project, commit, str(work.payload.get("before") or ""))
    found = [*landing.apart(store, passed, *find, met, [bug]), *made]
    return tuple(landing.follow(landed, (), {}, {}, found))


def _split_from(one: Bug, bug: Bug, commit: str) -> bool:
    return one.why.startswith(f"split from bug {bug.id}: ") and one.target.revision.version == commit


def _told_of(works: Sequence[NewWork]) -> str:
    return "".join(f"; {each.kind} bug {each.payload['bug']}" for each in works)


def _fix(desk: Desk, bug: Bug, issue: Issue | None) -> str:
    """The revision that fixed the bug, "" where none is known. Once its issue is reopened there is none any more."""
    if closing := saying.pending(desk.ledger, bug.id, is_open=False):
        return str(closing.payload["fixed_by"])
    good = bug.bisected.get(Kind.GOOD)
    if bug.state is State.FIXED and good:
        return good.first
    return issue.fixed_by if issue else ""


def _back(work: Work, desk: Desk, project: Project, new: Seen, fix: str, change: Change) -> Answer:
    bug = desk.store.bug(int(work.payload["bug"]))
    if bug.state is not State.REGRESSED:
        desk.store.advance(bug.id, bug.state, State.REGRESSED, note=f"fails again on {new.revision}, fixed by {fix}")
        bug = desk.store.bug(bug.id)
    saying.withdraw(desk.ledger, bug.id, f"it fails again on {new.revision}", starts=("fixed:", "close:"))
    issue = desk.ledger.issues.of_bug(bug.id)
    if issue is None:
        return Done(f"fails again on {new.revision}; it was never filed", works=(saying.to_file(bug.id, work.project),))
    return _told(work, desk, project, issue, new, fix, change)


def _told(work: Work, desk: Desk, project: Project, issue: Issue, new: Seen, fix: str, change: Change) -> Answer:
    bug = desk.store.bug(issue.bug_id)
    status = _status(desk, project, bug, new)
    if waiting := saying.pending(desk.ledger, bug.id, is_open=True):
        return Done(f"fails again on {new.revision}; its reopening is {waiting.state} in the outbox", outgoing=status)
    against = human.read(issue.human).forbids_reopening(fix)
    may = decide.reopening(issue, saying.will_be_open(desk.ledger, issue), project.filing.reopen, against)
    if not may.act:
        return Done(f"fails again on {new.revision}; not reopened: {may.why}", outgoing=status)
    allowed = permission.asked(desk.ledger, project, bug, "reopen:")
    if allowed.until:
        later = NewWork(work.kind, work.key, work.project, work.payload, work.priority, allowed.until)
        return Done(f"fails again on {new.revision}; {allowed.why}", works=(later,), outgoing=status)
    text = render("regressed", new=new, fix=fix, **change.words)
    said, rejected = changing.change(desk.ledger, issue, new.revision, text, allowed, is_open=True)
    if rejected:
        return Done(f"fails again on {new.revision}; not reopened: {rejected}", outgoing=status)
    why = f" ({allowed.why})" if allowed.held else ""
    note = f"fails again on {new.revision}; {may.why}{why}"
    return Done(note, outgoing=(*said, *status), counted=allowed.counted)


def _status(desk: Desk, project: Project, bug: Bug, new: Seen) -> tuple[NewOutgoing, ...]:
    return saying.status(desk.ledger, bug.id, project.filing.moderation, [new])
