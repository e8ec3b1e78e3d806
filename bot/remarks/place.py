"""Where a command was given, by whom, and what it can be about."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from bot.desk import Desk
from bot.life import owner
from bot.remarks.grammar import Command
from bot.settings import Project
from triage.ledger.records import Issue, NewOutgoing, NewWork, Work
from triage.records import Bug
from triage.store import Unknown


class Declined(Exception):
    """The command cannot be followed; the text is the answer, as finished Markdown."""


@dataclass(frozen=True)
class Reply:
    """What follows from a command. `said` is finished Markdown, "" where the work that is queued answers by itself."""

    said: str = ""
    works: tuple[NewWork, ...] = ()
    outgoing: tuple[NewOutgoing, ...] = field(default=())


@dataclass(frozen=True)
class Place:
    """The issue or pull request of a comment. `project` is one of its repository's."""

    desk: Desk
    project: Project
    number: int
    comment: int
    author: str
    is_pull: bool
    is_open: bool

    @property
    def repository(self) -> str:
        """``owner/name``, as the configuration writes it."""
        return self.project.repository

    @property
    def name(self) -> str:
        """``owner/name#number``."""
        return f"{self.repository}#{self.number}"

    @property
    def answer(self) -> Mapping[str, int]:
        """What work needs that answers by itself (`bot.life.saying.answer`)."""
        return {"number": self.number, "comment": self.comment}

    @property
    def projects(self) -> list[Project]:
        """All projects of the repository."""
        return self.desk.settings.of_repository(self.repository)

    @property
    def linked(self) -> Issue | None:
        """The bug's issue that this is, if it is one."""
        return self.desk.ledger.issues.by_number(self.repository, self.number)

    def bug(self, command: Command) -> Bug:
        """The bug that a command is about: the one that it names, else the one of this issue. Raises Declined."""
        if command.bug is not None:
            return self._named(command.bug)
        linked = self.linked
        if linked is None:
            raise Declined(
                "This is the issue of no bug that I know. Name one (`bug N` at the end of the command), or link this "
                "issue to one first: `@graphwarden link bug N`."
            )
        return self.desk.store.bug(linked.bug_id)

    def project_of(self, bug: Bug) -> Project | None:
        """The project of this repository whose compiler has the bug."""
        return owner.project_of(self.desk.settings, self.repository, bug, self.project.name)

    def owner(self, bug: Bug) -> Project:
        """The same. Raises Declined."""
        found = self.project_of(bug)
        if found is None:
            raise Declined(f"Bug {bug.id} is not of this repository's compiler.")
        return found

    def _named(self, number: int) -> Bug:
        """A bug by its number, if it is this repository's: of others nothing is told. Raises Declined."""
        try:
            bug = self.desk.store.bug(number)
        except Unknown:
            bug = None
        if bug is None or self.project_of(bug) is None:
            raise Declined(f"I know no bug {number} of this repository's compiler.")
        return bug


Handler = Callable[[Command, Place], Reply]


def of(work: Work, desk: Desk) -> Place:
    """The place of a `command`'s payload (`bot.events.issue_comment`)."""
    told = work.payload
    return Place(
        desk,
        desk.project(work),
        number=told["number"],
        comment=told["comment"],
        author=told["author"],
        is_pull=told["pull"],
        is_open=told["open"],
    )


def today() -> str:
    """The time as GitHub writes it, for what a command decides."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
