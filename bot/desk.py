"""What a piece of work is given: the settings, the ledger, GitHub, compilers, and a way to say how it goes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from bot import builds, hosts
from bot.github.app import App
from bot.github.client import Client
from bot.settings import Project, Settings
from fuzz.limits import Limits
from fuzz.remote import RemotePool
from fuzz.runner import Runner
from triage.ledger import Ledger
from triage.ledger.records import Work
from triage.revisions.config import Compiler
from triage.store import Store


class Cancelled(Exception):
    """The work was cancelled, or another process has taken it over: stop, and save nothing."""


class NoProject(Exception):
    """The work names a project that the configuration does not have (any more)."""


def _nothing(text: str) -> None:
    return None


def _no_app() -> None:
    return None


@dataclass(frozen=True)
class Desk:
    """Everything a kind of work needs.

    `github` gives the client of a repository, `app` the App (None where the bot has a plain token). `say` keeps the
    work alive and tells how it goes; it raises Cancelled.
    """

    settings: Settings
    ledger: Ledger
    github: Callable[[str], Client]
    app: Callable[[], App | None] = field(default=_no_app)
    say: Callable[[str], None] = field(default=_nothing)

    @property
    def store(self) -> Store:
        """The bugs."""
        return self.ledger.store

    def project(self, work: Work) -> Project:
        """The project that the work is for. Raises NoProject."""
        found = self.settings.projects.get(work.project)
        if found is None:
            raise NoProject(f"{self.settings.source}: there is no project {work.project!r}")
        return found

    def compiler(self, project: Project) -> Compiler:
        """The compiler of a project. Raises Refusal."""
        return builds.compiler(project.compiler)

    def runner(self, project: Project) -> Runner:
        """A runner with the project's limits; to be used in a ``with``."""
        return Runner(Limits(project.timeout, project.memory), jobs=project.jobs or None)

    def remote(self, project: Project, schedule: str) -> Runner | None:
        """The same on other machines, None where the schedule has none. Raises Refusal where nobody answers there."""
        wanted = self.settings.hosts_of(schedule)
        if wanted is None:
            return None
        limits = Limits(project.timeout, project.memory)
        return Runner(limits, pool=RemotePool(hosts.connect(wanted.executor, wanted.tls), limits, wanted.tags))
