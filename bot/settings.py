"""The bot's configuration: ``graphwarden.toml``, read once, checked whole (issue 6, docs/bot.md).

Secrets lie in files or environment variables, never in the configuration itself. Relative paths count from its folder.
The configuration lies on the machine that runs the bot: nothing in a watched repository can change it.
"""

from __future__ import annotations

import os
import tomllib
from collections import Counter
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from bot import wrong_settings
from bot.failures import Refusal
from bot.hosts import Tls
from bot.setting_types import (
    Address,
    Branch,
    Cron,
    Duration,
    Executor,
    Label,
    Remote,
    Repository,
    ScheduleName,
    Source,
    Tag,
    WebPath,
)
from fuzz.generators import FILES
from triage.store_place import is_server

#: Where a secret may come from instead of a file.
SECRET_VARIABLE, TOKEN_VARIABLE = "GRAPHWARDEN_WEBHOOK_SECRET", "GRAPHWARDEN_GITHUB_TOKEN"


class BadSettings(Refusal):
    """A configuration that cannot be used: which file, which setting, what would be right."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Server(_Table):
    """Where webhooks are taken. `path` is the webhook's."""

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8080
    path: WebPath = "/webhook"


class GitHub(_Table):
    """How the bot speaks to GitHub: as an App (`app_id`, `private_key_file`) or with a token.

    `write_pause` is in seconds, between two writes. `poll_minutes`: how often missed deliveries are looked for.
    """

    api: Address = "https://api.github.com"
    app_id: Annotated[int, Field(ge=0)] | None = None
    private_key_file: Path | None = None
    token_file: Path | None = None
    webhook_secret_file: Path | None = None
    write_pause: Annotated[float, Field(ge=0, le=3600)] = 1.0
    timeout: Annotated[float, Field(gt=0, le=3600)] = 30.0
    poll_minutes: Annotated[float, Field(gt=0, le=10_000)] = 10.0

    @model_validator(mode="after")
    def _one_way_in(self) -> GitHub:
        if (self.app_id is None) != (self.private_key_file is None):
            raise ValueError("app_id and private_key_file belong together")
        if self.app_id is not None and self.token_file is not None:
            raise ValueError("give an App (app_id, private_key_file) or a token_file, not both")
        return self


class Filing(_Table):
    """What may be said at GitHub without a person. With `moderation` issues wait for ``graphwarden queue approve``.

    Automatic filing keeps to `per_day` issues of a project, `per_component` a day for one conversion function, and
    pauses while the share of its closed issues that people closed as not planned or duplicate exceeds `refused_share`
    (of at least `refused_least`).
    """

    moderation: bool = True
    per_day: Annotated[int, Field(ge=0)] = 3
    per_component: Annotated[int, Field(ge=0)] = 1
    refused_share: Annotated[float, Field(ge=0, le=1)] = 0.3
    refused_least: Annotated[int, Field(ge=1)] = 5
    labels: tuple[Label, ...] = ()
    close: bool = True
    reopen: bool = True


class Project(_Table):
    """One repository and the compiler that is built from it. `compiler` is a name or a file (docs/revisions.md).

    `build_wait`: how long a check waits for a build of the commit before it turns neutral. `fetch`: the remote of the
    compiler's local repository that commits are fetched from ("": none, they are there). `old_days`: after so long
    without news a reported bug is run again. `formerly`: what the repository was called before, should it be renamed.
    `repository_id` is GitHub's id of it; without that the one counts that is seen first (`bot.same`).
    """

    name: str = ""
    repository: Repository
    formerly: tuple[Repository, ...] = ()
    repository_id: Annotated[int, Field(gt=0)] | None = None
    compiler: str
    branch: Branch = "main"
    suite: bool = True
    gate: bool = True
    budget: Duration = "10m"
    triage_budget: Duration = "15m"
    build_wait: Duration = "2h"
    fetch: Remote = "origin"
    sources: tuple[str, ...] = ("onnx_node",)
    slice: Annotated[int, Field(ge=0)] = 500
    tests: tuple[str, ...] = ()
    cases: Path | None = None
    jobs: Annotated[int, Field(ge=0)] = 0
    timeout: Annotated[float, Field(gt=0, le=86_400)] = 30.0
    memory: Annotated[int, Field(ge=64)] = 4096
    old_days: Annotated[int, Field(ge=1, le=36_500)] = 30
    filing: Filing = Filing()


class Hosts(_Table):
    """The machines behind a Dask scheduler, for schedules that say `hosts = true` (docs/scaling.md).

    With `tags` only those that offer them. The files of `tls_…` go together, as with ``graphwarden hunt``.
    """

    executor: Executor
    tags: tuple[Tag, ...] = ()
    tls_ca: Path | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None

    @model_validator(mode="after")
    def _whole_tls(self) -> Hosts:
        if len({file is None for file in (self.tls_ca, self.tls_cert, self.tls_key)}) > 1:
            raise ValueError("tls_ca, tls_cert and tls_key belong together")
        return self

    @property
    def tls(self) -> Tls:
        """How they are spoken with."""
        return Tls(self.tls_ca, self.tls_cert, self.tls_key)


class Schedule(_Table):
    """One regular campaign: a five-field cron expression (UTC), on the newest build of a project's compiler.

    Without a `name` it has its project's, from the second one of a project on with a number behind. `hosts`: its cases
    run on the machines of [hosts].
    """

    name: ScheduleName = ""
    project: str
    cron: Cron
    kind: Literal["hunt"] = "hunt"
    budget: Duration = "1h"
    sources: Annotated[tuple[Source, ...], Field(min_length=1)] = ("onnx_node",)
    hosts: bool = False


class Settings(_Table):
    """All of it. `source` is the file it was read from, `database` an SQLite file or a URL ``postgresql://…``."""

    source: Path = Path("graphwarden.toml")
    database: str = "graphwarden.db"
    reports: Path = Path("reports")
    server: Server = Server()
    github: GitHub = GitHub()
    projects: Mapping[str, Project]
    schedule: tuple[Schedule, ...] = ()
    hosts: Hosts | None = None

    @model_validator(mode="after")
    def _known_projects(self) -> Settings:
        for each in self.schedule:
            if each.project not in self.projects:
                raise ValueError(
                    f"schedule: there is no project {each.project!r} (projects: {', '.join(self.projects)})"
                )
            if each.hosts and self.hosts is None:
                raise ValueError(f"schedule: {each.name!r} wants hosts: add [hosts] with executor = 'dask://HOST:PORT'")
        names = [each.name for each in self.schedule]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"schedule: {twice[0]!r} is the name of two; give each a `name` of its own")
        return self

    def of_repository(self, repository: str) -> list[Project]:
        """The projects of a repository, by its name or a former one; GitHub's do not tell upper from lower case."""
        wanted, all_of_them = repository.lower(), self.projects.values()
        return [each for each in all_of_them if wanted in {one.lower() for one in (each.repository, *each.formerly)}]

    def hosts_of(self, schedule: str) -> Hosts | None:
        """The machines on which a schedule's campaigns run, None for this one."""
        return self.hosts if any(each.hosts and each.name == schedule for each in self.schedule) else None

    @cached_property
    def webhook_secret(self) -> bytes:
        """What GitHub signs deliveries with. Raises BadSettings where there is none."""
        return _secret(self.source, "github.webhook_secret_file", self.github.webhook_secret_file, SECRET_VARIABLE)

    @cached_property
    def token(self) -> str:
        """The plain token. Raises BadSettings where there is none."""
        return _secret(self.source, "github.token_file", self.github.token_file, TOKEN_VARIABLE).decode()


def load(path: Path) -> Settings:
    """The configuration in a file. Raises BadSettings: one line that names the file, the setting and what is wrong."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        hint = " (`graphwarden init` writes one)" if isinstance(error, FileNotFoundError) else ""
        raise BadSettings(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}{hint}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadSettings(f"{path}: no TOML: {error}") from error
    try:
        settings = Settings.model_validate(_scheduled(_named(told)) | {"source": path.resolve()})
    except ValidationError as error:
        raise BadSettings(f"{path}: {'; '.join(wrong_settings.told(error))}") from error
    if not settings.projects:
        raise BadSettings(f"{path}: [projects] names no project")
    return _placed(settings, path.resolve().parent)


def _named(told: dict[str, Any]) -> dict[str, Any]:
    """Projects know their names."""
    projects = told.get("projects")
    if not isinstance(projects, dict):
        return told
    named = {name: {**each, "name": name} if isinstance(each, dict) else each for name, each in projects.items()}
    return told | {"projects": named}


def _scheduled(told: dict[str, Any]) -> dict[str, Any]:
    """Schedules have names: people pause and cancel them by these."""
    schedule = told.get("schedule")
    if not isinstance(schedule, list) or not all(isinstance(each, dict) for each in schedule):
        return told
    seen: Counter[str] = Counter()
    named = []
    for each in schedule:
        project = str(each.get("project", ""))
        seen[project] += 1
        number = f"-{seen[project]}" if seen[project] > 1 else ""
        named.append({"name": f"{project}{number}", **each} if project else each)
    return told | {"schedule": named}


def _placed(settings: Settings, folder: Path) -> Settings:
    """The settings with paths that do not depend on where the bot is started."""

    def absolute(path: Path | None) -> Path | None:
        return None if path is None else (folder / path.expanduser()).absolute()

    database = settings.database if is_server(settings.database) else str(absolute(Path(settings.database)))
    github = settings.github.model_copy(
        update={
            name: absolute(getattr(settings.github, name))
            for name in ("private_key_file", "token_file", "webhook_secret_file")
        }
    )
    projects = {
        name: each.model_copy(update={"cases": absolute(each.cases), "compiler": placed(each.compiler, folder)})
        for name, each in settings.projects.items()
    }
    return settings.model_copy(
        update={
            "database": database,
            "reports": absolute(settings.reports),
            "github": github,
            "projects": projects,
            "schedule": tuple(_with_files(each, folder) for each in settings.schedule),
            "hosts": settings.hosts
            and settings.hosts.model_copy(
                update={name: absolute(getattr(settings.hosts, name)) for name in ("tls_ca", "tls_cert", "tls_key")}
            ),
        }
    )


def _with_files(schedule: Schedule, folder: Path) -> Schedule:
    """Files of instances count from the configuration's folder, too."""
    sources = (
        str((folder / Path(name).expanduser()).absolute()) if name.endswith(FILES) else name
        for name in schedule.sources
    )
    return schedule.model_copy(update={"sources": tuple(sources)})


def placed(name: str, folder: Path) -> str:
    """A compiler as a configuration in `folder` names it: by a name, or by a file that counts from that folder."""
    return str((folder / Path(name).expanduser()).absolute()) if name.endswith(".toml") else name


def _secret(source: Path, setting: str, file: Path | None, variable: str) -> bytes:
    if file is not None:
        try:
            found = file.read_bytes().strip()
        except OSError as error:
            raise BadSettings(f"{source}: {setting}: {file}: {error.strerror}") from error
    else:
        found = os.environ.get(variable, "").encode()
    if not found:
        raise BadSettings(f"{source}: {setting} names no file with something in it, and {variable} is not set")
    return found
