"""One new bug through all steps up to its report, then bisection and filing: {project, bug, good?, bad?, answer?}

`bad` is the build on which it was seen first, `good` one before it that passed.
"""

from __future__ import annotations

import time

from bot import builds, durations, keys
from bot.desk import Desk
from bot.kinds import Answer, Done, Failed
from bot.life import saying
from bot.rendering import render
from fuzz import catalogue, registry
from fuzz.runner import Runner
from triage import pipeline
from triage.ledger.records import OPEN, NewWork, Work
from triage.lifecycle import State
from triage.records import Bug
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments
from triage.steps import desk as triage_desk

HEAVY = True


def run(work: Work, desk: Desk) -> Answer:
    """Take the bug as far as it goes. What it came across becomes work of its own."""
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    before, compiler = bug, desk.compiler(project)
    newest = max((one.id for one in desk.store.bugs()), default=0)
    budget = durations.seconds(project.triage_budget)
    with desk.runner(project) as runner:
        if problem := _not_there(runner, compiler, bug):
            return Failed(problem)
        deadline = None if budget is None else time.monotonic() + budget
        reference = catalogue.target("reference")
        steps = triage_desk.Desk(desk.store, runner, reference, desk.settings.reports, deadline)
        bug = pipeline.advance(steps, bug, lambda one: desk.say(f"bug {one.id} is {one.state}"))
    works = [*_met(work, desk, newest), *_next(work, desk, compiler, bug)]
    if bug.state in pipeline.STEPS and bug.state not in (before.state, State.DUPLICATE):
        works.append(NewWork(work.kind, work.key, work.project, work.payload, work.priority))  # with time of its own
    return Done(_note(bug), works=tuple(works), outgoing=saying.answer(work, project.repository, _told(bug)))


def _not_there(runner: Runner, compiler: Compiler, bug: Bug) -> str:
    """Why the build on which the bug was seen cannot be run now, "" where it can. Raises Refusal, Untestable."""
    revision = bug.target.revision
    if not revision.python or registry.backend(bug.backend).source != compiler.backend:
        return ""  # it was seen on what is installed beside Graphwarden
    found = Environments(runner).ensure(compiler, builds.revision(compiler, revision.version))
    if found.python == revision.python:
        return ""
    return f"bug {bug.id} was seen in {revision.python}, and {revision.version} is in {found.python} now"


def _met(work: Work, desk: Desk, newest: int) -> list[NewWork]:
    """Bugs that the steps came across: the operator behind it, a crash on the way, a fault of the reference."""
    found = [bug for bug in desk.store.bugs([State.NEW]) if bug.id > newest]
    payload = {name: work.payload[name] for name in ("good", "bad") if name in work.payload}
    return [
        NewWork("triage", keys.bug(bug.id), work.project, {"project": work.project, "bug": bug.id, **payload})
        for bug in found
        if not desk.ledger.work.listed(OPEN, "triage", keys.bug(bug.id))
    ]


def _next(work: Work, desk: Desk, compiler: Compiler, bug: Bug) -> list[NewWork]:
    """A drafted bug of this compiler is bisected where it is known when it came, and filed after that."""
    if bug.state is not State.DRAFTED or registry.backend(bug.backend).source != compiler.backend:
        return []
    good, bad = str(work.payload.get("good") or ""), str(work.payload.get("bad") or "")
    if not (good and bad):
        return [saying.to_file(bug.id, work.project)]
    payload = {"project": work.project, "bug": bug.id, "from": good, "to": bad}
    return [NewWork("bisect", keys.bug(bug.id), work.project, payload, work.priority)]


def _note(bug: Bug) -> str:
    return f"bug {bug.id} is {bug.state}" + (f": {' '.join(bug.note.split())[:300]}" if bug.note else "")


def _told(bug: Bug) -> str:
    nodes = f", with {bug.nodes} node{'' if bug.nodes == 1 else 's'}" if bug.nodes else ""
    note = "" if bug.state is State.DRAFTED else bug.note
    sentences = [f"Bug {bug.id} is `{bug.state}`{nodes}.", note] if note else [f"Bug {bug.id} is `{bug.state}`{nodes}."]
    return render("result", sentences=sentences)
