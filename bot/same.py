"""Whether a repository is the one that a project means: by GitHub's id of it, which stays whatever it is called.

Once a repository is called otherwise, or deleted, its name is free, and anybody's repository may get it. So the id is
noted the first time that something comes from a name, or is asked of it, and compared from then on: with every
delivery (`repositories`), and before anything is asked or said there (`Vouched`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import structlog

from bot.events import Event
from bot.events._reading import identifier
from bot.github.client import Client
from bot.github.errors import Later, Refused
from bot.github.wire import CREDENTIALS
from bot.settings import Project, Settings
from triage.ledger import Ledger

log = structlog.get_logger()

#: Seconds for which a look at a repository's id holds.
HOLDS = 60.0


def known(ledger: Ledger, project: Project) -> int | None:
    """The id that a project's repository has: as configured, as noted, or as noted under a former name."""
    if project.repository_id is not None:
        return project.repository_id
    noted = (ledger.repositories.id_of(name) for name in (project.repository, *project.formerly))
    return next((each for each in noted if each is not None), None)


def repositories(ledger: Ledger, event: Event, projects: Iterable[Project]) -> list[Project]:
    """Those of the projects that have this name or a former one whose repository it is. Raises StoreError.

    The first delivery under a project's own name is believed, and one that has no id. Under a former name nothing is
    believed but what has the known id.
    """
    found = identifier(event.payload, "repository", "id")
    mine = []
    for project in projects:
        its_own, wanted = _is_called(project, event.repository), known(ledger, project)
        believed = its_own if found is None or wanted is None else found == wanted
        if believed:
            mine.append(project)
        if believed and its_own and found is not None and ledger.repositories.id_of(project.repository) is None:
            ledger.repositories.note(project.repository, found)
    return mine


def _is_called(project: Project, repository: str) -> bool:
    return project.repository.lower() == repository.lower()


class Vouched:
    """Gives the client of a repository once GitHub has said that it is the one that is meant. For several threads."""

    def __init__(self, github: Callable[[str], Client], settings: Settings, ledger: Ledger) -> None:
        self._github, self._settings, self._ledger = github, settings, ledger
        self._seen: dict[str, float] = {}

    def __call__(self, repository: str) -> Client:
        """The client. Raises Later where the repository is another one, or cannot be seen; and as `github` does."""
        client, name = self._github(repository), repository.lower()
        if time.monotonic() - self._seen.get(name, float("-inf")) > HOLDS:
            self._look(client)
            self._seen[name] = time.monotonic()
        return client

    def _look(self, client: Client) -> None:
        try:
            found = client.identifier()
        except Refused as refused:  # it says nothing of what was to be done there: that can wait
            raise Later(f"{refused} (nobody knows which repository it is)", CREDENTIALS) from refused
        name, projects = client.repository, self._settings.of_repository(client.repository)
        wanted = [known(self._ledger, project) for project in projects] or [self._ledger.repositories.id_of(name)]
        if any(each not in (None, found) for each in wanted):
            why = another(name, found, next(each for each in wanted if each not in (None, found)))
            log.error("another_repository", repository=name, why=why)
            raise Later(why, CREDENTIALS)
        if None in wanted and any(_is_called(project, name) for project in projects):
            self._ledger.repositories.note(name, found)


def another(name: str, found: int, wanted: int | None) -> str:
    """For people: who has the name of a project's repository now, and what to do."""
    return (
        f"{name} is another repository now: GitHub's id of it is {found}, known is {wanted}. Mend `repository` of its "
        f"project, or write `repository_id = {found}` there if that one is meant"
    )
