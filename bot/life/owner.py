"""Which of a repository's projects a bug belongs to: several may watch one repository, each for its own compiler."""

from __future__ import annotations

from bot import builds
from bot.settings import Project, Settings
from fuzz import registry
from triage.records import Bug


def project_of(settings: Settings, repository: str, bug: Bug, rather: str = "") -> Project | None:
    """The project of a repository whose compiler has the bug, of several the one named `rather`; None: there is none.

    Raises Refusal for a compiler whose configuration cannot be read.
    """
    source = _source(bug.backend)
    mine = [each for each in settings.of_repository(repository) if builds.compiler(each.compiler).backend == source]
    return next((each for each in mine if each.name == rather), next(iter(mine), None))


def _source(backend: str) -> str:
    """How a compiler's configuration names a backend; "" for one that is not there any more."""
    try:
        return registry.backend(backend).source
    except registry.UnknownBackend:
        return ""
