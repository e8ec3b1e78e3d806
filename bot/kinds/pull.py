"""A pull request has a new head, or needs no check any more: its gate is queued or ended.

Payload: {pull, commit, base, base_ref, fork, at, ended}; `ended` is why no check is wanted, "" where one is. Deliveries
may come late (missed ones are fetched) and in any order: where a later event is known, GitHub is asked how things are.
"""

from __future__ import annotations

from bot import keys
from bot.checks import sharing
from bot.checks.ending import moved
from bot.checks.run import CheckRun
from bot.desk import Desk
from bot.github.client import Client
from bot.github.errors import Refused
from bot.kinds import Answer, Done
from bot.settings import Project
from triage.ledger.records import Check, NewOutgoing, NewWork, Work, WorkState

HEAVY = False
#: Earlier events that are compared, and gates that are urgent.
_LOOKED_AT, _PRIORITY = 500, 10
#: States of a check run that somebody may still wait for.
_OVER = frozenset({"done", "cancelled"})


def run(work: Work, desk: Desk) -> Answer:
    """Queue the gate of the newest head, or end it and its check run. Raises GitHubError."""
    project, told = desk.project(work), work.payload
    if told["at"] and desk.ledger.work.done_before(work):
        return Done("done before: it was delivered twice")
    newer = _newer(work, desk)
    if newer is not None and _out_of_date(work, newer, desk.github(project.repository)):
        return Done(f"it came late: {newer.payload['commit']} is newer")
    if told["ended"]:
        ended = desk.ledger.work.cancel("gate", _gates(project, work), told["ended"])
        return Done(f"{ended} gates ended: {told['ended']}", outgoing=_end_checks(desk, project, work))
    check = CheckRun(desk.ledger, project, told["commit"], told["pull"], told["base"], told["fork"])
    check.is_newest()
    _end_older(desk, project, work)
    check.queues()
    payload = {name: value for name, value in told.items() if name != "ended"}
    key = keys.gate(project.name, told["pull"], told["commit"])
    return Done("checked", (NewWork("gate", key, project.name, payload, _PRIORITY),))


def _gates(project: Project, work: Work) -> str:
    pull = work.payload["pull"]
    return keys.gate(project.name, None, work.payload["commit"]) if pull is None else keys.gates(project.name, pull)


def _end_older(desk: Desk, project: Project, work: Work) -> None:
    """End the check runs of earlier heads, and the gates that wait; one that runs ends itself when it looks."""
    newest = work.payload["commit"]
    desk.ledger.work.cancel("gate", _gates(project, work), moved(newest), (WorkState.QUEUED,))
    for check in _checks(desk, project, work):
        if check.project == project.name and check.head_sha != newest and check.state not in _OVER:
            sharing.left(desk.ledger, project, check, moved(newest), "Superseded")


def _newer(work: Work, desk: Desk) -> Work | None:
    """A later event of the same pull request, None where this is the latest."""
    for other in desk.ledger.work.listed(kind="pull", limit=_LOOKED_AT):
        same = other.project == work.project and other.payload["pull"] == work.payload["pull"] is not None
        if same and (other.payload["at"], other.id) > (work.payload["at"], work.id):
            return other
    return None


def _out_of_date(work: Work, newer: Work, client: Client) -> bool:
    """Whether things are no longer as this event tells them. An event of what GitHub does not know is believed."""
    try:
        now = client.pull(work.payload["pull"])
    except Refused:
        return False
    if work.payload["ended"]:
        return now.open and not now.draft
    overtaken = now.head_sha == newer.payload["commit"] != work.payload["commit"]
    return not now.open or overtaken


def _end_checks(desk: Desk, project: Project, work: Work) -> tuple[NewOutgoing, ...]:
    return tuple(
        said
        for check in _checks(desk, project, work)
        if check.project == project.name and check.state not in _OVER
        for said in sharing.left(desk.ledger, project, check, work.payload["ended"])
    )


def _checks(desk: Desk, project: Project, work: Work) -> list[Check]:
    if work.payload["pull"] is None:
        checks = desk.ledger.checks.of_head(project.repository, work.payload["commit"])
        return [check for check in checks if check.pull is None]
    return desk.ledger.checks.of_pull(project.repository, work.payload["pull"])
