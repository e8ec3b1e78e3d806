"""Environments of revisions: built once, found again by their content, preflighted, collected (decision 010).

A folder below the root holds one environment: ``env/`` (a virtual environment), ``build.log``, and ``ready.json``,
written last. A folder without it was cut off in the middle and is built anew; a lock file beside it, which the system
releases when its holder dies, keeps two builders apart.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TypedDict

from filelock import BaseFileLock, FileLock, Timeout

from fuzz.case import Revision, Target, options_from
from fuzz.runner import Runner
from fuzz.zygote import BackendUnavailable
from triage.revisions import approvals, identity, leftovers, places, preflight, providers
from triage.revisions.config import Compiler
from triage.revisions.git import GitError
from triage.revisions.installing import create, install
from triage.revisions.recipe import CannotBuild, Recipe, Site
from triage.revisions.waiting import LOOK_SECONDS, GoesOn, tolerant, wanted
from triage.store import StoreError

#: Least recently used environments go when all of them together hold more (`GRAPHWARDEN_REVISIONS_GIB`).
DEFAULT_GIB = 30.0
#: What was used within this time stays, whatever it weighs: another process may be at work in it.
_RECENT_SECONDS = 3600.0


class Untestable(Exception):
    """A revision whose environment cannot be made or computes garbage. That is said of the environment, never of
    the compiler: it is no bug, no regression, no failure. `missing`: there is no build of it, or not yet. `passing`:
    the same may succeed later, on a machine that is less busy or reaches the package index again."""

    def __init__(
        self, revision: str, reason: str, log: str = "", *, missing: bool = False, passing: bool = False
    ) -> None:
        super().__init__(f"{revision} cannot be tested: {reason}")
        self.revision = revision
        self.reason = reason
        self.log = log
        self.missing = missing
        self.passing = passing


@dataclass(frozen=True)
class Ready:
    """What ``ready.json`` tells. `identity` hashes what is installed: equal ones are the same build.

    `problem` is why the environment must not be used. Unless it is `lasting`, the next one to ask has it looked at
    again: a machine may have been without what it needs, or, where it is `passing`, busy.
    """

    compiler: str
    revision: str
    identity: str
    mebibytes: float
    seconds: float
    problem: str = ""
    lasting: bool = True
    passing: bool = False


class _Look(TypedDict):
    """What a `Ready` says of how its environment works."""

    problem: str
    lasting: bool
    passing: bool


@dataclass(frozen=True)
class Environment:
    """One environment on disk, as the listing shows it."""

    folder: Path
    ready: Ready
    used: float  # seconds since the epoch


class Environments:
    """The environments below `root`. `runner` runs the preflight; it may be shared.

    `goes_on` is called every few seconds while one is made or waited for; what it raises ends that, and comes through.
    A database that cannot be used for some of these looks (StoreError) ends nothing.
    """

    def __init__(self, runner: Runner, root: Path | None = None, goes_on: GoesOn = wanted) -> None:
        self.root = root or places.root()
        self._runner = runner
        self._goes_on = tolerant(goes_on, StoreError)
        self._ready: dict[tuple[str, str], Ready] = {}

    def ensure(self, compiler: Compiler, revision: Revision, *, fresh: bool = False) -> Revision:
        """`revision` with its interpreter, its environment built if need be, or with `fresh` in any case.

        Raises Untestable.
        """
        try:
            if approvals.wanted(self.root, compiler, revision):
                command = f"`graphwarden revisions approve {compiler.name} {revision.version}`"
                raise CannotBuild(f"it may not be the project's own, so it needs a maintainer's word: {command}")
            recipe: Recipe = providers.load(compiler.provider).recipe(compiler, revision)
        except CannotBuild as refusal:
            raise _untestable(revision, refusal) from refusal
        except GitError as error:
            raise Untestable(revision.version, str(error)) from error
        folder = self._folder(compiler, recipe)
        runnable = replace(revision, python=str(folder / "env" / "bin" / "python"), untrusted=compiler.untrusted)
        ready = _read(folder)
        if fresh or ready is None or (ready.problem and not ready.lasting):
            with self._held(folder):
                ready = self._looked_at(compiler, runnable, recipe, folder, fresh)
        with contextlib.suppress(OSError):  # a cache that may only be read is good enough
            (folder / "used").touch()
        self._ready[compiler.name, revision.version] = ready
        if ready.problem:
            raise Untestable(revision.version, ready.problem, _site(folder, runnable).said, passing=ready.passing)
        return runnable

    def identity(self, compiler: Compiler, revision: Revision) -> str:
        """The hash of what is installed for an ensured revision: equal ones are the same build."""
        return self._ready[compiler.name, revision.version].identity

    def installed(self, compiler: Compiler) -> dict[str, Environment]:
        """The environments of a compiler by revision."""
        return {found.ready.revision: found for found in self._all() if found.ready.compiler == compiler.name}

    def collect(self, gibibytes: float | None = None) -> list[Environment]:
        """Remove the least recently used environments until all together hold at most `gibibytes`; tells which."""
        limit = _limit() if gibibytes is None else gibibytes
        found = sorted(self._all(), key=lambda environment: environment.used)
        held = sum(environment.ready.mebibytes for environment in found) / 1024
        removed = []
        for environment in found:
            if held <= limit or time.time() - environment.used < _RECENT_SECONDS:
                break
            self.remove(environment)
            held -= environment.ready.mebibytes / 1024
            removed.append(environment)
        return removed

    def remove(self, environment: Environment) -> None:
        """Remove one environment; a kill in the middle leaves a folder that counts as not built."""
        with self._held(environment.folder):
            (environment.folder / "ready.json").unlink(missing_ok=True)
            shutil.rmtree(environment.folder, ignore_errors=True)

    # ------------------------------------------------------------ building

    def _folder(self, compiler: Compiler, recipe: Recipe) -> Path:
        key = recipe.key(os.path.realpath(compiler.python or sys.executable))
        return self.root / f"{compiler.name}-{key}"

    @contextmanager
    def _held(self, folder: Path) -> Iterator[None]:
        locks = self.root / "locks"
        locks.mkdir(parents=True, exist_ok=True)
        lock = FileLock(locks / f"{folder.name}.lock")
        while not _acquired(lock):
            self._goes_on()
        try:
            yield
        finally:
            lock.release()

    def _looked_at(self, compiler: Compiler, revision: Revision, recipe: Recipe, folder: Path, fresh: bool) -> Ready:
        """What another process may have made meanwhile, a second look at what had a passing problem, or a new one."""
        known = None if fresh else _read(folder)
        if known is None:
            return self._made(compiler, revision, recipe, folder)
        if known.problem and not known.lasting:
            known = replace(known, **self._preflight(compiler, revision))
            places.write(folder / "ready.json", json.dumps(asdict(known)))
        return known

    def _made(self, compiler: Compiler, revision: Revision, recipe: Recipe, folder: Path) -> Ready:
        self.collect()
        started = time.monotonic()
        site = replace(_site(folder, revision), goes_on=self._goes_on)
        try:
            leftovers.end(folder)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            _install(compiler, recipe, site)
            if recipe.finish is not None:
                recipe.finish(site)
            seen = self._preflight(compiler, revision)
        except CannotBuild as refusal:
            if not refusal.lasting:
                shutil.rmtree(folder, ignore_errors=True)
                raise _untestable(revision, refusal) from refusal
            seen = _look(refusal.reason)
        except BaseException:  # nobody wants it any more: half a build is of no use
            shutil.rmtree(folder, ignore_errors=True)
            raise
        made = identity.of(site) if site.folder.joinpath("env").is_dir() else ""
        seconds = time.monotonic() - started
        size = round(places.mebibytes(folder), 1)
        ready = Ready(compiler.name, revision.version, made, size, round(seconds, 1), **seen)
        places.write(folder / "ready.json", json.dumps(asdict(ready)))
        return ready

    def _preflight(self, compiler: Compiler, revision: Revision) -> _Look:
        """How the environment works."""
        target = Target(compiler.backend, revision, options_from(dict(compiler.options)))
        try:
            said = preflight.problem(self._runner, target, self._goes_on)
        except BackendUnavailable as error:
            return _look(f"it cannot be imported: {error}", lasting=False, passing=not error.raised)
        finally:
            self._runner.forget(target)
        if said is None:
            return _look("")
        return _look(f"its environment is broken: {said.text}", lasting=said.lasting, passing=not said.lasting)

    def _all(self) -> Iterator[Environment]:
        for folder in sorted(self.root.glob("*-*")):
            ready = _read(folder)
            if ready is not None:
                yield Environment(folder, ready, _used(folder))


def _look(problem: str, *, lasting: bool = True, passing: bool = False) -> _Look:
    return {"problem": problem, "lasting": lasting, "passing": passing}


def _untestable(revision: Revision, refusal: CannotBuild) -> Untestable:
    return Untestable(revision.version, refusal.reason, refusal.log, missing=refusal.missing, passing=refusal.passing)


def _acquired(lock: BaseFileLock) -> bool:
    """Whether a lock is ours within a few seconds."""
    try:
        lock.acquire(timeout=LOOK_SECONDS)
    except Timeout:
        return False
    return True


def _limit() -> float:
    return float(os.environ.get("GRAPHWARDEN_REVISIONS_GIB", DEFAULT_GIB))


def _read(folder: Path) -> Ready | None:
    """What is told of a finished environment, None when it is not finished."""
    try:
        return Ready(**json.loads((folder / "ready.json").read_text(encoding="utf-8")))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError):  # written by another version: build it anew
        return None


def _used(folder: Path) -> float:
    stamp = folder / "used"
    return (stamp if stamp.exists() else folder / "ready.json").stat().st_mtime


def _site(folder: Path, revision: Revision) -> Site:
    return Site(folder, Path(revision.python), folder / "build.log")


def _install(compiler: Compiler, recipe: Recipe, site: Site) -> None:
    create(site, compiler.python or sys.executable)
    if recipe.requirements:
        install(site, list(recipe.requirements), recipe.as_of)
