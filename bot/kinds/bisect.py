"""Which revision broke a bug's case, or with `fix` mended it: {project, bug, from?, to?, fix?, answer?}

Without `from` and `to`: between the oldest revision and the one on which it was found; with `fix`, from that one on to
the newest. A bug that is drafted and not filed is filed next, with what was found.
"""

from __future__ import annotations

from bot import bisecting, durations, patience
from bot.bisecting import Question, Subject
from bot.desk import Desk
from bot.failures import Refusal
from bot.kinds import Answer, Done
from bot.life import saying
from bot.rendering import render
from bot.settings import Project
from triage.bisect import answer as answers
from triage.bisect.bisection import BrokenEnd, NoAnswer
from triage.ledger.records import Work
from triage.lifecycle import State
from triage.records import Bug
from triage.scrub import prose, revision, scrub

HEAVY = True


def run(work: Work, desk: Desk) -> Answer:
    """Search, within the project's time for triage. A search that was killed goes on where it was.

    Where a build at an end is in passing trouble it is tried again later, and told without an answer in the end.
    """
    project, bug = desk.project(work), desk.store.bug(int(work.payload["bug"]))
    question = _question(work, desk, project, bug)
    note = ""
    try:
        with desk.runner(project) as runner:
            found = bisecting.search(runner, question, desk.say)
        bug = desk.store.bug(bug.id)  # it may have moved while the builds ran
        bisecting.keep(desk.store, bug, found, question.fix)
        sentences = list(found.sentences(question.fix))
        told = _told(found, question.fix) or prose(scrub(f"{sentences[0]}."))
    except (Refusal, NoAnswer) as problem:
        if isinstance(problem, BrokenEnd) and problem.passing and work.attempts < patience.MOST:
            return patience.later(work, str(problem))
        note = " ".join(str(problem).split())
        sentences, told = [note], f"It could not be bisected: {prose(scrub(note))}."
    works = (saying.to_file(bug.id, work.project),) if _to_be_filed(desk, bug, question.fix) else ()
    body = render("bisected", sentence=told, more=sentences[1:])
    status = () if note else saying.status(desk.ledger, bug.id, project.filing.moderation)
    return Done(sentences[0], works=works, outgoing=(*saying.answer(work, project.repository, body), *status))


def _question(work: Work, desk: Desk, project: Project, bug: Bug) -> Question:
    fix = bool(work.payload.get("fix"))
    first, last = str(work.payload.get("from") or ""), str(work.payload.get("to") or "")
    return Question(
        desk.compiler(project),
        Subject(bisecting.case_of(desk.store, bug), dict(bug.target.options), bug.perturb),
        first or (bug.revision if fix else ""),
        last or ("" if fix else bug.revision),
        fix,
        budget=durations.seconds(project.triage_budget),
    )


def _to_be_filed(desk: Desk, bug: Bug, fix: bool) -> bool:
    return bug.state is State.DRAFTED and not fix and desk.ledger.issues.of_bug(bug.id) is None


def _told(found: answers.Answer, fix: bool) -> str:
    one = bisecting.found(found)
    if one is None:
        return ""
    verb, before = ("passes", "fails") if fix else ("fails", "passes")
    if one.between:  # the next sentence names those
        return f"It {verb} at the latest with {revision(one.first)}; {revision(one.last_before)} before it {before}."
    return (
        f"The first revision that {verb} is {revision(one.first)}; {revision(one.last_before)} before it {before} "
        f"(confidence {one.confidence:.4f})."
    )
