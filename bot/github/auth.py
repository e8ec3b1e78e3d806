"""Who the bot is at GitHub: an App with explicit permissions, one installation a repository, or a plain token."""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import jwt
from github import Auth, Github
from jwt.algorithms import RSAAlgorithm

from bot.github.app import App, User
from bot.github.client import Client
from bot.github.errors import Later, Refused
from bot.github.pace import Pace
from bot.github.wire import API_VERSION, CREDENTIALS, PAGE, RETRY, Wire
from bot.settings import BadSettings, Settings

#: What the bot needs, and nothing else. `contents` is written for models on a branch of their own.
PERMISSIONS: Mapping[str, str] = {
    "actions": "read",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "read",
}
_RANK = {"read": 1, "write": 2, "admin": 3}

# PyGithub's debug log holds the answers that carry installation tokens.
logging.getLogger("github").setLevel(logging.INFO)


class Access:
    """The bot's identity, and the clients that speak with it. For one process; not for several threads at once."""

    def __init__(self, settings: Settings, pace: Pace | None = None) -> None:
        """Reads key or token. Raises BadSettings: one line that says what is missing."""
        self._github = settings.github
        self._pace = pace or Pace(time.monotonic)
        self._app_auth: Auth.AppAuth | None = None
        if self._github.app_id is not None:
            assert self._github.private_key_file is not None  # the settings check it
            self._app_auth = _app_auth(settings.source, self._github.app_id, self._github.private_key_file)
        self._token = "" if self._app_auth else settings.token
        self.app = App(self._wire(self._app_auth)) if self._app_auth else None
        self.client = cache(self._client)
        self.login = cache(self._login)

    @property
    def pace(self) -> Pace:
        """How fast this process writes."""
        return self._pace

    def forget(self) -> None:
        """Ask anew where the App is installed: for when that changed."""
        self.client.cache_clear()

    def missing(self, repository: str) -> dict[str, str]:
        """Permissions that the installation in a repository lacks; none for a token. Raises GitHubError."""
        if self.app is None:
            return {}
        granted = self.app.installation(repository).permissions
        return {name: level for name, level in PERMISSIONS.items() if not _covers(granted.get(name, ""), level)}

    def _client(self, repository: str) -> Client:
        """The client of a repository (``owner/name``). Raises Later, also where the App is not installed (yet)."""
        return Client(repository, self._wire(self._auth(repository)), self.login)

    def _auth(self, repository: str) -> Auth.Auth:
        if self._app_auth is None or self.app is None:
            return Auth.Token(self._token)
        try:
            found = self.app.installation(repository)
        except Refused as error:  # it says nothing of what was to be done there: that can wait
            raise Later(f"{error} (the App cannot be used there)", CREDENTIALS) from error
        # More than was granted cannot be asked for; `missing` tells what that costs.
        asked = {name: level for name, level in PERMISSIONS.items() if _covers(found.permissions.get(name, ""), level)}
        return self._app_auth.get_installation_auth(found.id, token_permissions=asked)

    def _login(self) -> str:
        """The login under which the bot's texts appear. Raises Later."""
        try:
            if self.app is not None:
                return f"{self.app.slug()}[bot]"
            return User(self._wire(Auth.Token(self._token))).login()
        except Refused as error:
            raise Later(f"{error} (nobody knows who the bot is)", CREDENTIALS) from error

    def _wire(self, auth: Auth.Auth) -> Wire:
        pause = self._github.write_pause
        github = Github(
            auth=auth,
            base_url=self._github.api.rstrip("/"),
            timeout=math.ceil(self._github.timeout),
            user_agent="graphwarden",
            per_page=PAGE,
            retry=RETRY,
            seconds_between_requests=0,
            seconds_between_writes=pause,
            lazy=True,
            api_version=API_VERSION,
        )
        return Wire(github, self._pace)


def _app_auth(source: Path, app_id: int, key_file: Path) -> Auth.AppAuth:
    if not app_id:
        raise BadSettings(f"{source}: github.app_id is 0: write the id that the App's settings page shows")
    try:
        # Read and checked once: that takes far longer than signing with it, which each request of the App does.
        key: Any = RSAAlgorithm(RSAAlgorithm.SHA256).prepare_key(key_file.read_text(encoding="ascii"))
        auth = Auth.AppAuth(app_id, sign_func=lambda claims: jwt.encode(claims, key, algorithm="RS256"))
        auth.create_jwt()
    except FileNotFoundError as error:
        made = "`Generate a private key` on the App's settings page makes one"
        raise BadSettings(f"{source}: github.private_key_file: {key_file}: {error.strerror}: {made}") from error
    except OSError as error:
        raise BadSettings(f"{source}: github.private_key_file: {key_file}: {error.strerror}") from error
    except (AssertionError, ValueError, jwt.PyJWTError) as error:
        raise BadSettings(f"{source}: github.private_key_file: {key_file}: not an RSA key in PEM form") from error
    return auth


def _covers(granted: Any, wanted: str) -> bool:
    return _RANK.get(str(granted), 0) >= _RANK[wanted]
