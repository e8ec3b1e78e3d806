"""A drafted bug becomes an issue, or is found to be one already: {project, bug, answer?}.

With `answer` a person with write permission asked for it: neither a moderator nor a limit is waited for, what was
rejected before is filed after all, and an issue that looks alike is linked rather than obeyed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bot import keys
from bot.desk import Desk
from bot.github.shapes import IssueSeen
from bot.kinds import Answer, Done
from bot.life import branch, decide, filed, human, permission, pushed, saying, sent, tracker, turns
from bot.life.limits import Allowance
from bot.life.turns import Turn
from bot.rendering import render
from bot.settings import Project
from fuzz import registry
from triage.ledger.issues import Taken
from triage.ledger.records import Counted, Issue, NewOutgoing, NewWork, OutKind, OutState, Work
from triage.lifecycle import State
from triage.records import Bug
from triage.suite import memory
from triage.suite.entries import PASS

HEAVY = False


def run(work: Work, desk: Desk) -> Answer:
    """Look for it in the tracker; open an issue if it is not there, as far as the settings allow."""
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    issue, asked = desk.ledger.issues.of_bug(bug.id), isinstance(work.payload.get("answer"), Mapping)
    if issue is not None and bug.state is State.DRAFTED:  # a person linked it while it was worked on
        desk.store.advance(bug.id, State.DRAFTED, State.REPORTED)
    name, before = filed.key(desk.ledger.outbox, bug)
    if asked and before == OutState.HELD:
        return _let_go(work, desk, project, bug)
    mine = registry.backend(bug.backend).source == desk.compiler(project).backend
    facts = decide.ToFile(bug.state, mine, desk.store.draft(bug.id) is not None, issue, before, asked)
    verdict = decide.filing(facts)
    if not verdict.act:
        return _done(work, project, f"bug {bug.id} is not filed: {verdict.why}")
    if not asked and (passes := _passing(desk, project, bug)):
        payload = {"project": project.name, "bug": bug.id, "commit": passes}
        note = f"bug {bug.id} is not filed: it passed on {passes}; whether that is a fix is looked at now"
        return Done(note, works=(NewWork("close", keys.bug(bug.id), work.project, payload),))
    known = tracker.look(desk.github(project.repository), bug, name)
    if known.own is not None:
        return _own(work, desk, project, bug, known.own)
    same = known.same
    if same is not None and not asked and not _not_the_same(desk, bug, project.repository, same.issue.number):
        return _known(work, desk, project, bug, known)
    return _new(work, desk, project, bug, known, name)


def _passing(desk: Desk, project: Project, bug: Bug) -> str:
    """The newest tested commit of the branch, if the bug's cases passed there: mended while it was worked on."""
    compiler = desk.compiler(project)
    tip = branch.newest(desk, project, compiler, "")
    letters = memory.recall(compiler.name).get(tip, {}) if tip else {}
    cases = {bug.reduced_case_id, *desk.store.failing_cases([bug.id])}
    seen = [letters[case] for case in cases if case in letters]
    return tip if seen and all(letter == PASS for letter in seen) else ""


def _let_go(work: Work, desk: Desk, project: Project, bug: Bug) -> Answer:
    """A person with write permission wants what waits for a moderator."""
    for one in desk.ledger.outbox.listed([OutState.HELD], bug.id):
        if one.kind in (OutKind.FILE, OutKind.ISSUE):
            desk.ledger.outbox.approve(one.id, "a person with write permission")
    return _done(work, project, f"bug {bug.id} is filed: its report was waiting for a moderator")


def _own(work: Work, desk: Desk, project: Project, bug: Bug, seen: IssueSeen) -> Answer:
    """The bot has filed it already, from another database or before a crash: as it stands there now."""
    said = human.found(seen.open, seen.reason, seen.labels, pushed.newest(desk, project))
    issue = Issue(bug.id, project.repository, seen.number, ours=True, open=seen.open, human=said.document())
    note = f"bug {bug.id} is #{seen.number}, which the bot had filed"
    if seen.open or bug.state is not State.DRAFTED:
        return _linked(work, desk, project, bug, issue, note)
    note += f" and which is closed as {said.closed.replace('_', ' ')}"
    return _linked(work, desk, project, bug, issue, note, _CLOSED.get(said.closed, State.CLOSED))


#: What people have made of a bug by closing its issue so.
_CLOSED = {human.NOT_PLANNED: State.INVALID, human.DUPLICATE: State.DUPLICATE}


def _linked(
    work: Work,
    desk: Desk,
    project: Project,
    bug: Bug,
    issue: Issue,
    note: str,
    state: State = State.REPORTED,
) -> Answer:
    try:
        desk.ledger.issues.link(issue)
    except Taken as taken:
        if bug.state is State.DRAFTED:
            desk.store.advance(bug.id, State.DRAFTED, State.DUPLICATE, note=str(taken))
        return _done(work, project, f"bug {bug.id}: {taken}")
    if bug.state is State.DRAFTED and state is State.CLOSED:
        desk.store.advance(bug.id, State.DRAFTED, State.REPORTED)
        desk.store.advance(bug.id, State.REPORTED, State.CLOSED, note=note)
    elif bug.state is State.DRAFTED:
        desk.store.advance(bug.id, State.DRAFTED, state, note=note if state in _CLOSED.values() else bug.note)
    return _done(work, project, note)


def _not_the_same(desk: Desk, bug: Bug, repository: str, number: int) -> bool:
    """Whether a person has said that this issue is another bug, by a command or by rejecting the comment there."""
    one = _known_turn(desk, bug, number).there
    rejected = one is not None and one.state is OutState.REJECTED
    return rejected or desk.ledger.facts.is_apart(bug.id, repository, number)


def _known_turn(desk: Desk, bug: Bug, number: int) -> Turn:
    """The turn of the comment; one that was taken back counts as never put forward."""
    key = f"{sent.KNOWN}{bug.fingerprint}:{number}"
    return turns.turn(desk.ledger.outbox, key, before=(OutState.WITHDRAWN,))


def _known(work: Work, desk: Desk, project: Project, bug: Bug, known: tracker.Known) -> Answer:
    """Somebody has filed it: a comment there, which a moderator sees first; nothing where people refused it."""
    assert known.same is not None
    number, why = known.same.issue.number, known.same.why
    if known.refused:
        return _done(work, project, f"bug {bug.id} is not filed: #{number} {why} and was closed as not wanted")
    turn = _known_turn(desk, bug, number)
    if turn.there is not None and turn.there.state is OutState.FAILED:  # the bot may not write there
        issue = Issue(bug.id, project.repository, number, ours=False)
        return _linked(work, desk, project, bug, issue, f"bug {bug.id} is #{number}, where the bot may not write")
    if (other := desk.ledger.issues.by_number(project.repository, number)) is not None:
        note = f"same issue as bug {other.bug_id}: {project.repository}#{number} {why}"
        desk.store.advance(bug.id, bug.state, State.DUPLICATE, note=note)
        return _done(work, project, f"bug {bug.id}: {note}")
    draft = desk.store.draft(bug.id)
    assert draft is not None
    script = draft.script if len(draft.script) < _LONGEST else ""
    text = render("known", why=why, revision=bug.revision, title=draft.title, script=script.rstrip("\n"))
    allowed = permission.asked(desk.ledger, project, bug, sent.KNOWN)
    if allowed.until:
        return _postponed(work, project, bug, allowed)
    outgoing = NewOutgoing(
        OutKind.COMMENT,
        turn.key,
        project.repository,
        {"body": text},
        keys.bug(bug.id),
        number,
        bug.id,
        allowed.held,
    )
    return _done(work, project, f"bug {bug.id} is known: #{number} {why}", (outgoing,), allowed.counted)


#: Characters of a script that a comment holds.
_LONGEST = 25_000


def _new(work: Work, desk: Desk, project: Project, bug: Bug, known: tracker.Known, name: str) -> Answer:
    asked = isinstance(work.payload.get("answer"), Mapping)
    allowed = Allowance() if asked else permission.asked(desk.ledger, project, bug, "issue:")
    if allowed.until:
        return _postponed(work, project, bug, allowed)
    draft = desk.store.draft(bug.id)
    assert draft is not None
    alike = [*([known.same] if known.same else []), *known.alike]
    api = desk.settings.github.api
    place = f"{saying.site(api)}/{project.repository}/issues"
    linked = [filed.addressed(one, f"{place}/{one.issue.number}") for one in alike]
    if not asked and (refused := filed.refused(desk.ledger.outbox, bug)):
        allowed = replace(allowed, held=True, why=refused)
    outgoing = filed.issue(bug, draft, project, api, linked, name, allowed)
    note = f"bug {bug.id}: {allowed.why}" if allowed.held else f"bug {bug.id} is filed"
    return _done(work, project, note, outgoing, allowed.counted)


def _postponed(work: Work, project: Project, bug: Bug, allowed: Allowance) -> Answer:
    assert allowed.until is not None
    later = NewWork(work.kind, work.key, work.project, work.payload, work.priority, allowed.until)
    return Done(f"bug {bug.id} is not filed now: {allowed.why}", works=(later,))


def _done(
    work: Work, project: Project, note: str, outgoing: tuple[NewOutgoing, ...] = (), counted: Counted | None = None
) -> Answer:
    told = saying.answer(work, project.repository, render("result", sentences=[f"{note[0].upper()}{note[1:]}."]))
    return Done(note, outgoing=(*outgoing, *told), counted=counted)
