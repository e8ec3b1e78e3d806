"""The check run of one head commit and project: one outgoing thing, replaced as things go on.

Several pull requests may be at one head, and GitHub shows its check run in all of them. The ledger has a row for each
of them, since each comes, moves on and is closed by itself (`bot.checks.sharing`).
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from bot.settings import Project
from triage.ledger import Ledger
from triage.ledger.records import Check, NewOutgoing, OutKind

#: States of a check run that is not over.
OPEN = frozenset({"queued", "waiting", "running"})
#: The button that asks for another run.
RERUN = {"label": "Re-run", "description": "Run the suite on both builds once more", "identifier": "rerun"}


@dataclass(frozen=True)
class Words:
    """What a check run says: a title of one line, Markdown, and annotations as GitHub takes them."""

    title: str
    summary: str
    annotations: tuple[dict[str, Any], ...] = field(default=())


def external_id(repository: str, project: str, head: str) -> str:
    """Our name of the check run at GitHub, the same whenever this head is judged."""
    told = "\0".join((repository.lower(), project, head))
    return f"graphwarden-{hashlib.sha256(told.encode()).hexdigest()[:24]}"


def _row(project: Project, head: str, pull: int | None) -> str:
    """The name of the row that one pull request has of it."""
    shared = external_id(project.repository, project.name, head)
    return shared if pull is None else f"{shared}-{pull}"


def name(project: str) -> str:
    """What the check run is called at GitHub, where rules for merging name it."""
    return f"Graphwarden ({project})"


def said_under(check: Check) -> str:
    """The key of what is said of a check run."""
    return f"check:{external_id(check.repository, check.project, check.head_sha)}"


def outgoing(check: Check, status: str, words: Words, **more: object) -> NewOutgoing:
    """The check run as it shall be now. `status`: queued, in_progress, completed; `more` are further fields."""
    shared = external_id(check.repository, check.project, check.head_sha)
    payload: dict[str, Any] = {
        "head_sha": check.head_sha,
        "name": name(check.project),
        "external_id": shared,
        "status": status,
        "title": words.title,
        "summary": words.summary,
        **more,
    }
    if check.since is not None:
        payload["started_at"] = _time(check.since)
    if words.annotations:
        payload["annotations"] = list(words.annotations)
    key = said_under(check)
    return NewOutgoing(OutKind.CHECK, key, check.repository, payload, key, number=None)


def completed(check: Check, conclusion: str, words: Words) -> NewOutgoing:
    """The check run at its end; it can be asked for again."""
    at = _time(datetime.now(UTC))
    return outgoing(check, "completed", words, conclusion=conclusion, completed_at=at, actions=[RERUN])


class CheckRun:
    """Writes one check run: the row of a pull request and what is sent of it. Every method may be called again."""

    def __init__(
        self, ledger: Ledger, project: Project, head: str, pull: int | None, base: str, fork: bool = True
    ) -> None:
        self._ledger = ledger
        known = ledger.checks.get(_row(project, head, pull))
        going_on = known is not None and known.state in ("waiting", "running") and not known.conclusion
        self.waited_before = going_on and known is not None and known.state == "waiting"
        self._check = Check(
            repository=project.repository,
            head_sha=head,
            external_id=_row(project, head, pull),
            project=project.name,
            pull=pull,
            base=base,
            since=known.since if going_on and known is not None else datetime.now(UTC),
            fork=fork,
        )

    @property
    def row(self) -> Check:
        """As it is now."""
        return self._check

    @property
    def waited(self) -> float:
        """Seconds since this check began, or began to wait."""
        assert self._check.since is not None
        return (datetime.now(UTC) - self._check.since).total_seconds()

    def is_newest(self) -> None:
        """The pull request is at this head."""
        self._ledger.checks.moved(self._check)

    def queues(self) -> None:
        """Its work waits for its turn."""
        text = "The suite runs on this commit and on its base as soon as it is their turn.\n"
        self._say("queued", outgoing(self._check, "queued", Words("Queued", text)))

    def waits(self, words: Words) -> None:
        """A build is awaited."""
        self._say("waiting", outgoing(self._check, "queued", words))

    def runs(self, words: Words) -> None:
        """Something is done now."""
        self._say("running", outgoing(self._check, "in_progress", words))

    def asks(self, words: Words) -> None:
        """Nothing happens before a person has done something."""
        self._say("waiting", completed(self._check, "action_required", words), "action_required")

    def ends(self, conclusion: str, words: Words) -> None:
        """It is over: success, failure, neutral or cancelled."""
        state = "cancelled" if conclusion == "cancelled" else "done"
        self._say(state, completed(self._check, conclusion, words), conclusion)

    def _say(self, state: str, said: NewOutgoing, conclusion: str = "") -> None:
        self._ledger.outbox.add(said)
        self._check = replace(self._check, state=state, conclusion=conclusion)
        self._ledger.checks.put(self._check)


def _time(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
