"""One identity for each thread: PyGithub's connections are not to be shared."""

from __future__ import annotations

import threading

from bot.github.app import App
from bot.github.auth import Access
from bot.github.client import Client
from bot.settings import Settings


class PerThread:
    """Clients as `bot.desk.Desk` wants them. Nothing is read or asked before somebody needs it."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._local = threading.local()

    def client(self, repository: str) -> Client:
        """The client of a repository (``owner/name``). Raises BadSettings, Later."""
        return self._access().client(repository)

    def app(self) -> App | None:
        """The App, None for a plain token. Raises BadSettings."""
        return self._access().app

    def _access(self) -> Access:
        found: Access | None = getattr(self._local, "access", None)
        if found is None:
            found = self._local.access = Access(self._settings)
        return found
