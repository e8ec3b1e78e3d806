"""A GitHub for one test: a repository of its own, people, the App, faults, and a look at what came of it all.

The fixture `github_world` gives a `World`; every test can have it (`tests/conftest.py`). Three layers work together:

- the emulator keeps issues, comments, labels, files, branches, pull requests and people (`world.ask`, `world.issues`,
  `world.comments`, `world.file`);
- the fake keeps check runs (`world.checks`), webhook deliveries, and a commit's pull requests (`world.fake.pulls`);
- the proxy is what the bot talks to (`world.url`): it holds every request and answer against GitHub's description,
  counts calls (`world.proxy.calls`) and lets those fail that a test names (`world.proxy.fail(3, FAULTS["lost"])`).

    def test_something(github_world: World) -> None:
        access = Access(github_world.settings())
        access.client(github_world.repository).create_issue("It breaks", "so", [])
        assert [each["title"] for each in github_world.issues()] == ["It breaks"]

Webhooks: `world.fake.hook.url = "http://localhost:PORT/webhook"`, then `world.send("issues", "closed", {...})` makes
one of GitHub's example payloads one of this repository, signs it with `SECRET`, posts it and gives the status (0:
nobody answered); it is in the App's delivery list then, and can be delivered again. The emulator sends webhooks of its
own to hooks that a test adds (``world.ask("/hooks", "POST", ...)``), but they lack some of what GitHub's have.
"""

from __future__ import annotations

import uuid
from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.settings import Filing, GitHub, Project, Settings
from tests.github import hooks
from tests.github.emulator import APP_ID, INSTALLATION, MAINTAINER, OWNER, SLUG, STRANGER, Emulator, token
from tests.github.fake import Fake
from tests.github.proxy import Proxy

SECRET = b"the webhook's secret"


@dataclass
class World:
    """What a test has of GitHub. `url` is the API's, for the bot; `repository` is ``owner/name``, with one commit.

    What this class asks goes past the proxy.
    """

    repository: str
    emulator: Emulator
    proxy: Proxy
    fake: Fake
    folder: Path

    owner, maintainer, stranger = OWNER, MAINTAINER, STRANGER
    app_id = APP_ID
    bot = f"{SLUG}[bot]"

    @property
    def url(self) -> str:
        """The API's URL."""
        return self.proxy.url

    @property
    def key_file(self) -> Path:
        """The App's private key."""
        return self.emulator.key_file

    def settings(self, *, with_token: bool = False, **github: Any) -> Settings:
        """A configuration whose one project, ``compiler``, is this repository; the bot is the App or has a token."""
        (self.folder / "secret").write_bytes(SECRET)
        (self.folder / "token").write_text(token(MAINTAINER))
        identity: dict[str, Any] = {"app_id": APP_ID, "private_key_file": self.key_file}
        if with_token:
            identity = {"token_file": self.folder / "token"}
        told: dict[str, Any] = {
            "api": self.url,
            "write_pause": 0,
            "timeout": 600.0,
            "webhook_secret_file": self.folder / "secret",
        }
        return Settings(
            source=self.folder / "graphwarden.toml",
            database=str(self.folder / "graphwarden.db"),
            github=GitHub(**(told | identity | github)),
            projects={
                "compiler": Project(
                    name="compiler", repository=self.repository, compiler="tiny", filing=Filing(moderation=False)
                )
            },
        )

    def ask(self, path: str, verb: str = "GET", body: Any = None, by: str = OWNER) -> Any:
        """A person's request, e.g. ``ask("/issues", "POST", {"title": "It breaks"}, by=world.stranger)``."""
        return self.emulator.ask(by, verb, f"/repos/{self.repository}{path}", body)

    def issues(self) -> list[dict[str, Any]]:
        """All issues, the oldest first."""
        found: list[dict[str, Any]] = self.ask("/issues?state=all&per_page=100&direction=asc")
        return found

    def comments(self, number: int) -> list[dict[str, Any]]:
        """An issue's comments, the oldest first."""
        found: list[dict[str, Any]] = self.ask(f"/issues/{number}/comments?per_page=100")
        return found

    def checks(self, head_sha: str = "") -> list[dict[str, Any]]:
        """The repository's check runs, the oldest first, each with its `annotations`."""
        return [
            {**run, "annotations": self.fake.notes[run["id"]]}
            for run in self.fake.checks
            if run["repository"] == self.repository and head_sha in ("", run["head_sha"])
        ]

    def file(self, branch: str, path: str) -> bytes:
        """A file on a branch."""
        return b64decode(self.ask(f"/contents/{path}?ref={branch}")["content"])

    def commits(self, branch: str) -> list[dict[str, Any]]:
        """The commits of a branch, the newest first."""
        found: list[dict[str, Any]] = self.ask(f"/commits?sha={branch}&per_page=100")
        return found

    def send(self, event: str, action: str = "", changes: Mapping[str, Any] | None = None, guid: str = "") -> int:
        """Deliver a webhook of this repository, by the maintainer unless `changes` say otherwise."""
        owner, _, name = self.repository.partition("/")
        ours: dict[str, Any] = {"sender": {"login": MAINTAINER, "type": "User"}}
        ours["repository"] = {"full_name": self.repository, "name": name, "owner": {"login": owner}}
        ours["repository"]["id"] = self.ask("")["id"]
        ours["installation"] = {"id": INSTALLATION}
        told = hooks.changed(hooks.payload(event, action, ours), changes or {})
        return self.fake.deliver(event, told, guid)


def make(emulator: Emulator, proxy: Proxy, fake: Fake, folder: Path) -> World:
    """A world around a new repository."""
    name = f"compiler-{uuid.uuid4().hex[:8]}"
    emulator.ask(OWNER, "POST", "/user/repos", {"name": name, "auto_init": True})
    repository = f"{OWNER}/{name}"
    for login, permission in ((MAINTAINER, "push"), (STRANGER, "pull")):
        emulator.ask(OWNER, "PUT", f"/repos/{repository}/collaborators/{login}", {"permission": permission})
    proxy.forget()
    fake.hook.url, fake.hook.secret = "", SECRET
    fake.settle()  # what a test has asked for again is delivered in that test
    fake.deliveries.clear()
    fake.pulls.clear()
    fake.repositories[:] = []
    return World(repository, emulator, proxy, fake, folder)
