"""Any build command in a checkout: its environment is kept by commit, its log beside it.

Settings: `repository`, `command` (a list; ``{python}``, ``{checkout}`` and ``{output}`` are replaced), `branch`,
`since`, `timeout` (seconds), `memory_mb`, `disk_mb`. The command runs confined in a fresh checkout, without network,
with the interpreter of the environment, into which `requires` were installed before. What it leaves in ``{output}``
is installed: wheels if there are any, else everything is copied into site-packages.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import stat
import subprocess
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from fuzz import confine
from fuzz.case import Revision
from triage.revisions import identity, kinds, leftovers, places, waiting
from triage.revisions.config import Compiler
from triage.revisions.git import GitError
from triage.revisions.installing import install
from triage.revisions.providers._commits import foreign, repository, resolve, revisions, word
from triage.revisions.recipe import CannotBuild, Recipe, Site

SETTINGS = {
    **dict.fromkeys(("repository", "branch", "since"), kinds.text),
    "command": kinds.texts,
    "timeout": kinds.positive,
    **dict.fromkeys(("memory_mb", "disk_mb"), kinds.whole),
}
NEEDED = ("repository", "command")
UNTRUSTED = True
__all__ = ["NEEDED", "SETTINGS", "UNTRUSTED", "foreign", "recipe", "resolve", "revisions", "word"]
_SECONDS, _MEMORY_MB, _DISK_MB = 7200, 16384, 20480
_FILE_BYTES = 4 << 30
#: Home and /tmp of a build lie in memory.
_SCRATCH_MB = 2048


def recipe(compiler: Compiler, revision: Revision) -> Recipe:
    """One environment a tree and command: commits with the same files share it. Raises CannotBuild."""
    tree = repository(compiler).tree(revision.commit, "")
    if not tree:
        raise CannotBuild(f"the repository has no commit {revision.commit}")
    packages = tuple(package for entry in compiler.requires for package in entry.packages)
    # Environments that older versions made ("command") do not tell builds apart that left no wheel.
    content = ("command, with content", tree, *compiler.texts("command"))
    return Recipe(packages, content=content, finish=partial(_build, compiler, revision))


def _build(compiler: Compiler, revision: Revision, site: Site) -> None:
    checkout, output = site.folder / "checkout", site.folder / "output"
    try:
        repository(compiler).export(revision.commit, "", checkout)
    except GitError as error:
        raise CannotBuild(str(error)) from error
    output.mkdir(exist_ok=True)
    _run(compiler, site, checkout, output)
    _check(output)
    wheels = sorted(output.glob("*.whl"))
    if wheels:
        install(site, [str(wheel) for wheel in wheels])
    elif any(output.iterdir()):
        _take(output, site)
    else:
        raise CannotBuild("its build left nothing in {output}", lasting=True)
    for folder in (checkout, output):
        shutil.rmtree(folder)


def _check(output: Path) -> None:
    """Only plain files and folders are taken: a link or a pipe would be read with our rights. Raises CannotBuild."""
    for place, folders, files in os.walk(output):
        for name in (*folders, *files):
            mode = os.lstat(os.path.join(place, name)).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                found = os.path.relpath(os.path.join(place, name), output)
                raise CannotBuild(f"its build left {found}, which is neither a file nor a folder", lasting=True)


def _take(output: Path, site: Site) -> None:
    identity.laid(site, identity.content(output))
    try:
        shutil.copytree(output, site.packages, dirs_exist_ok=True)
    except OSError as error:  # shutil.Error among them: a file where the environment has a folder
        raise CannotBuild(f"what its build left cannot be installed: {error}"[:600], lasting=True) from error


@dataclass(frozen=True)
class Limits:
    """What a build may spend: seconds of wall clock, MiB of memory a process, MiB of disk in all."""

    seconds: float
    memory_mb: int
    disk_mb: int


def _run(compiler: Compiler, site: Site, checkout: Path, output: Path) -> None:
    names = {"{python}": str(site.python), "{checkout}": str(checkout), "{output}": str(output)}
    program = [_filled(word, names) for word in compiler.texts("command")]
    limits = Limits(
        float(compiler.text("timeout", str(_SECONDS))),
        int(compiler.text("memory_mb", str(_MEMORY_MB))),
        int(compiler.text("disk_mb", str(_DISK_MB))),
    )
    home = site.folder / "home"
    home.mkdir(exist_ok=True)
    readable = confine.interpreter_folders(str(site.python))
    cage = confine.Cage(
        home,
        readable,
        (checkout, output),
        disk_mb=min(limits.disk_mb, _SCRATCH_MB),
        memory_mb=limits.memory_mb,
        processes=True,
        folder=checkout,
    )
    try:
        caged = confine.command(cage, program) if compiler.untrusted else program
        _wait(caged, site, _environment(home, site), limits)
    except OSError as error:
        raise CannotBuild(f"its build cannot be started: {error}", passing=True) from error


def _wait(program: list[str], site: Site, environment: dict[str, str], limits: Limits) -> None:
    """Run to the end or a limit; everything that was started ends with it. Raises CannotBuild."""
    with site.log.open("ab") as log:
        process = subprocess.Popen(
            program,
            cwd=site.folder / "checkout",
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
            preexec_fn=partial(_limit, limits.memory_mb),
        )
        try:
            _watch(process, site, limits)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    if process.returncode:
        reason = f"its build failed with {_ended(process.returncode)}: {_last_line(site)}"
        raise CannotBuild(reason, site.said, lasting=True)


def _watch(process: subprocess.Popen[bytes], site: Site, limits: Limits) -> None:
    """Wait for the end. Raises CannotBuild at the first limit that is passed, and what `site.goes_on` raises."""

    def look() -> None:
        site.goes_on()
        if places.mebibytes(site.folder) > limits.disk_mb:
            raise CannotBuild(f"its build wrote more than {limits.disk_mb} MiB", site.said, lasting=True)

    try:
        waiting.wait(process, limits.seconds, look)
    except subprocess.TimeoutExpired as error:
        raise CannotBuild(f"its build did not end within {limits.seconds:.0f} s", site.said, lasting=True) from error


def _limit(memory_mb: int) -> None:
    """In the child: memory of one process, size of one file, no core files."""
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    memory = memory_mb << 20 if hard == resource.RLIM_INFINITY else min(hard, memory_mb << 20)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_FILE_BYTES, _FILE_BYTES))


def _environment(home: Path, site: Site) -> dict[str, str]:
    return {
        "HOME": str(home),
        "PATH": f"{site.python.parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "CI": "true",
        "VIRTUAL_ENV": str(site.python.parent.parent),
        **leftovers.mark(site.folder),
    }


def _filled(word: str, names: dict[str, str]) -> str:
    for name, value in names.items():
        word = word.replace(name, value)
    return word


def _ended(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"


def _last_line(site: Site) -> str:
    lines = [line for line in site.said.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else "it printed nothing"
