"""Whether a delivery under a former name is from the repository that was renamed, or from one that took the name.

Once a repository is called otherwise its name is free, and anybody's repository may get it. GitHub's id of a
repository stays, whatever it is called: it is noted with the first delivery that comes under a project's own name.
"""

from __future__ import annotations

from collections.abc import Iterable

from bot.events import Event
from bot.events._reading import identifier
from bot.settings import Project
from triage.ledger import Ledger


def repositories(ledger: Ledger, event: Event, projects: Iterable[Project]) -> list[Project]:
    """Those of the projects that have this name or a former one whose repository it is. Raises StoreError.

    The id that the new name has counts, before it is known the one that the former name had. Where neither is known,
    nothing under a former name is believed.
    """
    found = identifier(event.payload, "repository", "id")
    former = event.repository
    mine = []
    for project in projects:
        if project.repository.lower() == former.lower():
            _note(ledger, project.repository, found)
        elif found is None or str(found) != (_noted(ledger, project.repository) or _noted(ledger, former)):
            continue
        mine.append(project)
    return mine


def _note(ledger: Ledger, repository: str, found: int | None) -> None:
    if found is not None and not _noted(ledger, repository):
        ledger.switches.set(_switch(repository), str(found))


def _noted(ledger: Ledger, repository: str) -> str:
    return ledger.switches.get(_switch(repository))


def _switch(repository: str) -> str:
    return f"repository id: {repository.lower()}"
