"""A project whose compiler is the tiny one, built from commits of a local repository; work on it is done here."""

from __future__ import annotations

import subprocess
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot import working
from bot.desk import Desk
from bot.github.client import Client
from bot.settings import Project, Settings
from tests.bot import suites
from tests.builds import tinyc
from triage.ledger import Ledger
from triage.ledger.records import NewWork, Outgoing, Work, WorkState
from triage.records import Bug
from triage.store import open_store


def nobody(repository: str) -> Client:
    """GitHub, where nothing is asked of it."""
    raise AssertionError(f"{repository} was asked for")


@dataclass
class Shop:
    """A repository with one commit of the sound compiler on main, its configuration, and an empty ledger."""

    folder: Path
    repository: Path
    first: str
    settings: Settings
    ledger: Ledger

    @property
    def project(self) -> Project:
        """The one project."""
        return self.settings.projects["tiny"]

    @property
    def desk(self) -> Desk:
        """What work is given."""
        return Desk(self.settings, self.ledger, nobody)

    def configure(self, **changes: object) -> None:
        """Change settings of the project."""
        project = self.project.model_copy(update=changes)
        self.settings = self.settings.model_copy(update={"projects": {"tiny": project}})

    def lands(self, *faults: str) -> str:
        """A commit on main that has these faults and no others; its hash."""
        return self._commit(faults)

    def pull(self, *faults: str, files: Mapping[str, str] | None = None) -> str:
        """A commit on a branch off main; its hash."""
        name = f"branch-{uuid.uuid4().hex[:8]}"
        self.git("checkout", "--quiet", "-b", name)
        commit = self._commit(faults, files)
        self.git("checkout", "--quiet", "main")
        return commit

    def _commit(self, faults: tuple[str, ...], files: Mapping[str, str] | None = None) -> str:
        for path, text in {**tinyc.sources(*faults), **(files or {})}.items():
            (self.repository / path).parent.mkdir(parents=True, exist_ok=True)
            (self.repository / path).write_text(text)
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", f"faults: {', '.join(faults) or 'none'}")
        return self.git("rev-parse", "HEAD").strip()

    def git(self, *arguments: str) -> str:
        """What git prints in the repository."""
        return git(self.repository, *arguments)

    def do(self, kind: str, key: str = "", **payload: Any) -> Work:
        """Queue work and do it as the bot's loop does; the row afterwards."""
        added = self.ledger.work.add(NewWork(kind, key or f"{kind}-{uuid.uuid4().hex}", "tiny", payload))
        return self.go_on(added, kind)

    def go_on(self, number: int, kind: str) -> Work:
        """Do the work that waits."""
        work = self.ledger.work.claim([kind])
        assert work is not None and work.id == number
        working.do(work, self.desk)
        return self.ledger.work.get(number)

    def gate(self, commit: str, **more: Any) -> dict[str, Any]:
        """Judge a pull request's head; what its check run says at the end."""
        self.do(
            "gate",
            **{"commit": commit, "base": self.git("rev-parse", "main").strip(), "pull": 7, "fork": False, **more},
        )
        return self.said(commit)

    def said(self, commit: str) -> dict[str, Any]:
        """What the check run of a commit says now."""
        return dict(self.outgoing(commit).payload)

    def outgoing(self, commit: str) -> Outgoing:
        """The check run of a commit in the outbox."""
        [found] = [one for one in self.ledger.outbox.listed() if one.payload.get("head_sha") == commit]
        return found

    def queued(self, kind: str) -> list[Work]:
        """Work of a kind that waits."""
        return self.ledger.work.listed([WorkState.QUEUED], kind)

    def bug(self, operator: str) -> Bug:
        """The one bug of an operator."""
        [found] = [bug for bug in self.ledger.store.bugs() if operator in bug.operators]
        return found


def git(folder: Path, *arguments: str) -> str:
    """What git prints."""
    author = ["-c", "user.name=tests", "-c", "user.email=tests@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(
        ["git", "-C", str(folder), *author, *arguments], capture_output=True, text=True, check=True
    ).stdout


@contextmanager
def shop(folder: Path, wheels: Path, copies: int = 1, database: str = "") -> Iterator[Shop]:
    """A shop in `folder` with so many cases of each operator; its database is a file there without another.

    `wheels` is where the tiny compiler's wheels lie, so that tests share environments.
    """
    repository = folder / "repository"
    # The hash of a commit tells the second in which it was made: a file of its own keeps tests apart.
    [first] = tinyc.repository(repository, [{**tinyc.sources(), "OWN": uuid.uuid4().hex}])
    configuration = folder / "tinyc.toml"
    configuration.write_text(overlay(repository, wheels))
    project = Project(
        name="tiny",
        repository="octo/tiny",
        compiler=str(configuration),
        cases=suites.cases(folder / "cases", ("Relu", "Neg", "Sub"), copies),
        jobs=2,
        budget="2h",
        triage_budget="2h",
    )
    place = database or str(folder / "bot.db")
    settings = Settings(source=folder / "graphwarden.toml", database=place, projects={"tiny": project})
    with open_store(settings.database, create=True) as store:
        yield Shop(folder, repository, first, settings, Ledger(store))


def overlay(repository: Path, wheels: Path) -> str:
    """The configuration of commits that are laid over a wheel."""
    return (
        f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "overlay"\nrepository = "{repository}"\nbranch = "main"\n'
        f'package = "tinyc @ {(wheels / "tinyc-1.3-py3-none-any.whl").as_uri()}"\n'
        '[provider.paths]\n"tinyc" = "tinyc"\n'
    )
