"""What `graphwarden doctor` looks at, one function a question. Each answers with what it found, or raises."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from bot import builds, cron, hosts, same, suitefile
from bot.failures import Refusal
from bot.github.auth import Access
from bot.github.errors import GitHubError
from bot.settings import Hosts, Project, Schedule, Settings
from fuzz import confine, generators, native, registry
from triage.ledger import Ledger
from triage.revisions import listing
from triage.revisions.git import GitError, Repository
from triage.revisions.index import IndexUnreachable
from triage.store import StoreError, open_store
from triage.store_place import is_server

#: Providers whose revisions are commits of a local repository.
_OF_COMMITS = ("overlay", "command")


@dataclass(frozen=True)
class Finding:
    """One question and its answer. `good` is None where something is only worth knowing."""

    about: str
    good: bool | None
    told: str


class Bad(Exception):
    """The answer to a question is a problem; the text says which and how to mend it."""


def findings(settings: Settings) -> Iterator[Finding]:
    """All questions, answered one after the other."""
    yield _asked("webhook secret", lambda: _secret(settings))
    yield _asked("database", lambda: _database(settings))
    yield _asked("reports", lambda: _reports(settings.reports))
    identity = _asked("GitHub", lambda: _identity(settings))
    yield identity
    for project in settings.projects.values():
        found = _asked(f"{project.name}: repository", partial(_repository, settings, project))
        yield found if found.told != identity.told else replace(found, told="cannot be asked for: see GitHub")
        yield _asked(f"{project.name}: compiler", partial(_compiler, project))
        yield _asked(f"{project.name}: suite", partial(_suite, project))
    if settings.schedule:
        yield _asked("schedule", partial(_schedule, settings))
    if settings.hosts:
        yield _asked("hosts", partial(_hosts, settings.hosts))
    means, told = _confinement()
    yield Finding("confinement", means, told)
    yield _native_stacks()


def _asked(about: str, question: Callable[[], str]) -> Finding:
    try:
        return Finding(about, True, question())
    except (Bad, Refusal, StoreError, GitHubError, GitError, IndexUnreachable) as problem:
        return Finding(about, False, " ".join(str(problem).split()))


def _secret(settings: Settings) -> str:
    secret = settings.webhook_secret
    if len(secret) < 16:
        raise Bad(f"has {len(secret)} characters: take at least 16, e.g. from `openssl rand -hex 32`")
    file = settings.github.webhook_secret_file
    if file is not None and _others_may_read(file):
        raise Bad(f"{file} can be read by others: chmod 600 {file}")
    return "set"


def _database(settings: Settings) -> str:
    with open_store(settings.database, create=True) as store:
        ledger = Ledger(store)
        stopped = ledger.switches.stopped()
        if stopped:
            raise Bad(
                f"the emergency stop is on ({stopped}): nothing is said at GitHub; `graphwarden stop --off` ends it"
            )
        return f"{store.place}: {len(store.bugs())} bugs"


def _reports(folder: Path) -> str:
    nearest = next(place for place in (folder, *folder.parents) if place.exists())
    if not nearest.is_dir() or not os.access(nearest, os.W_OK):
        raise Bad(f"{folder} cannot be written")
    return str(folder)


def _identity(settings: Settings) -> str:
    key = settings.github.private_key_file
    access = Access(settings)
    if key is not None and _others_may_read(key):
        raise Bad(f"{key} can be read by others: chmod 600 {key}")
    mend = "github.app_id and github.private_key_file belong to one App" if key else "give another token"
    with _mending(f"{mend}; github.api is where it is"):
        return f"{access.login()} at {settings.github.api}"


def _repository(settings: Settings, project: Project) -> str:
    access = Access(settings)
    with _mending(f"install the App in {project.repository} (in its settings), or mend `repository`"):
        missing = access.missing(project.repository)
        client = access.client(project.repository)
        branch, name = ("", "") if missing else (client.default_branch(), client.name())
        found = None if missing else client.identifier()
    if name.lower() not in ("", project.repository.lower()):
        raise Bad(f"{project.repository} is called {name} now: write that as `repository`")
    if found is not None and (wanted := _noted_id(settings, project)) not in (None, found):
        raise Bad(same.another(project.repository, found, wanted))
    if missing:
        lacking = ", ".join(f"{name}: {level}" for name, level in missing.items())
        raise Bad(f"{project.repository}: the App lacks the permission {lacking}: give it in the App's settings")
    noted = "" if branch == project.branch else f" (its default branch is {branch}, watched is {project.branch})"
    return f"{project.repository}{noted}"


def _noted_id(settings: Settings, project: Project) -> int | None:
    """The id that the repository had when the bot first saw it; None where it never did."""
    if not is_server(settings.database) and not Path(settings.database).is_file():
        return project.repository_id
    with open_store(settings.database, create=False) as store:
        return same.known(Ledger(store), project)


def _compiler(project: Project) -> str:
    compiler = builds.compiler(project.compiler)
    if compiler.provider == "release" and (project.suite or project.gate):
        raise Bad(
            f"{compiler.name} knows releases only, so no commit can be tested: write a configuration with the provider "
            "overlay, command or wheel (docs/revisions.md), or set suite = false and gate = false"
        )
    if compiler.provider in _OF_COMMITS:
        local = Repository(compiler.path("repository"))
        head = local.resolve(compiler.text("branch") or "HEAD")
        if head is None:
            raise Bad(f"{local.folder}: is no git repository with a commit: clone {project.repository} there")
        newest = head.id[:12] + _fetched(project, local)
    else:
        known = listing.revisions(compiler)
        if not known:
            raise Bad(f"{compiler.name} has no revisions ({compiler.source})")
        newest = known[-1].version
    kinds = ", ".join(registry.backend(compiler.backend).kinds)
    return f"{compiler.name}, builds by {compiler.provider}, newest {newest}, takes {kinds}"


def _fetched(project: Project, local: Repository) -> str:
    """What is worth knowing of where commits come from: whoever commits into that very repository needs no remote."""
    if not project.fetch or project.fetch in local.remotes() or "/" in project.fetch:
        return ""
    return f" (no remote {project.fetch!r} there, so commits must come by themselves: `fetch` names another)"


def _suite(project: Project) -> str:
    if project.cases is not None and not any(
        path.suffix in suitefile.SUFFIXES for path in project.cases.rglob("*") if path.is_file()
    ):
        raise Bad(f"cases: {project.cases} holds no case (*.onnx, *.json)")
    _known(project.sources)
    suitefile.check_tests(project.tests)
    return f"{project.cases or ', '.join(project.tests or project.sources)}, for {project.budget}"


def _known(sources: Sequence[str]) -> None:
    for name in sources:
        try:
            generators.load(name)
        except generators.UnknownGenerator as problem:
            raise Bad(f"sources: {problem}") from problem
        if name.endswith(generators.FILES) and not Path(name).is_file():
            raise Bad(f"sources: {name}: there is no such file")


def _schedule(settings: Settings) -> str:
    for each in settings.schedule:
        _known(each.sources)
        if not cron.comes(each.cron):
            raise Bad(f"cron {each.cron!r} names no day that ever comes")
    return "; ".join(map(_due, settings.schedule))


def _due(each: Schedule) -> str:
    following = cron.following(each.cron, datetime.now(UTC))
    where = " on hosts" if each.hosts else ""
    return f"{each.kind} of {each.project}{where} at {each.cron} ({each.name}), next {following:%Y-%m-%d %H:%M} UTC"


def _hosts(wanted: Hosts) -> str:
    with closing(hosts.connect(wanted.executor, wanted.tls)) as found:
        if lacking := [tag for tag in wanted.tags if tag not in found.offered]:
            raise Bad(
                f"hosts.tags: no host of {wanted.executor} offers {lacking[0]}: start one with --tag {lacking[0]}"
            )
        return f"{wanted.executor}: {found.slots} workers, {', '.join(sorted(found.offered))}"


@contextmanager
def _mending(how: str) -> Iterator[None]:
    """What GitHub refuses is told with what to do about it."""
    try:
        yield
    except GitHubError as problem:
        raise Bad(f"{problem}: {how}") from problem


def _confinement() -> tuple[bool | None, str]:
    means = confine.means()
    if means:
        return True, f"builds and workers of pull requests run in {means}"
    return False, "pull requests cannot be tested: install bubblewrap (apt install bubblewrap)"


def _native_stacks() -> Finding:
    """Without them crashes are told apart by operator alone; nothing fails."""
    if native.program():
        return Finding("native stacks", True, "py-spy takes them of workers that die")
    return Finding("native stacks", None, "not taken: crashes are told by their operators (pip install py-spy)")


def _others_may_read(file: Path) -> bool:
    return bool(file.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))
