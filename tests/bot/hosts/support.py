"""A Dask scheduler and hosts as real processes, each in a process group of its own, so that it can die as a machine."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

from fuzz import catalogue, host
from tests import ports
from tests.bot.support import ROOT

REFERENCE = catalogue.target("reference")
#: What every host of the tests offers.
TAGS = (host.tag(REFERENCE),)
PATIENCE = 300.0
Host = subprocess.Popen[bytes]


@dataclass
class Cluster:
    """A scheduler on loopback and its hosts. Its address stays over restarts."""

    folder: Path
    more: tuple[str, ...] = ()
    host: str = "127.0.0.1"
    protocol: str = "tcp"
    before: tuple[str, ...] = ()  # what runs the scheduler, e.g. in another network namespace
    missed: int = 60  # seconds after which a silent host is taken for dead; a busy machine makes a live one silent
    port: int = field(default_factory=ports.unused)
    scheduler: Host | None = None
    hosts: list[Host] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"dask://{self.host}:{self.port}"

    def __enter__(self) -> Cluster:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for process in (*self.hosts, self.scheduler):
            if process is not None:
                kill(process)

    def start(self) -> None:
        own = ("--host", f"{self.protocol}://{self.host}", "--port", self.port, "--no-dashboard")
        self.scheduler = self._run("distributed.cli.dask_scheduler", (*own, *self.more), self.before)
        wait_until(self._listens, "the scheduler does not listen")

    def _listens(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex((self.host, self.port)) == 0

    def add(self, threads: int = 1, more: Sequence[object] = (), before: tuple[str, ...] = ()) -> Host:
        """A host that offers the reference, which every test's compiler stands on."""
        own = ("--jobs", threads, "--backend", "reference", "--folder", self.folder)
        return self._host("bot.cli", ("host", self.url, *own, *more), before)

    def add_worker(self, tags: Sequence[str], threads: int = 1) -> Host:
        """A Dask worker that somebody has started by hand, and that offers what it was told to."""
        resources = ",".join(f"{tag}=1000000" for tag in tags)
        own = ("--nworkers", 1, "--nthreads", threads, "--memory-limit", 0, "--no-dashboard", "--resources", resources)
        where = ("--local-directory", self.folder)
        address = f"{self.protocol}://{self.host}:{self.port}"
        return self._host("distributed.cli.dask_worker", (address, *own, *where, *self.more), ())

    def _host(self, what: str, arguments: Sequence[object], before: tuple[str, ...]) -> Host:
        process = self._run(what, arguments, before)
        self.hosts.append(process)
        return process

    def _run(self, what: str, arguments: Sequence[object], before: tuple[str, ...] = ()) -> Host:
        command = [*before, sys.executable, "-m", what, *map(str, arguments)]
        ttl = f"{self.missed}s"
        short = {"DASK_DISTRIBUTED__SCHEDULER__WORKER_TTL": ttl, "DASK_DISTRIBUTED__COMM__TIMEOUTS__TCP": "15s"}
        with (self.folder / f"{what}.log").open("ab") as log:
            return subprocess.Popen(
                command,
                env={**os.environ, **short, "PYTHONPATH": str(ROOT)},
                cwd=self.folder,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def restart(self) -> None:
        """The scheduler dies, and another one that knows nothing takes its place."""
        assert self.scheduler is not None
        kill(self.scheduler)
        self.start()


def kill(process: Host) -> None:
    """End a process and its whole group at once, as a power cut does: a nanny restarts nothing then."""
    for pid in _in_session(process.pid):
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue
    process.wait()


def members(process: Host) -> list[int]:
    """The processes of a host; those of our workers lie below them, in sessions of their own."""
    return _in_session(process.pid)


def workers(process: Host) -> list[int]:
    """The processes of a host that Dask's nanny started, not the nanny itself."""
    return [pid for pid in _in_session(process.pid) if pid != process.pid and b"spawn_main" in _command(pid)]


def _command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return b""


def _in_session(leader: int) -> list[int]:
    """The processes of the session that `leader` began."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text(errors="replace").rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(fields[3]) == leader:
            found.append(int(entry.parent.name))
    return found


def wait_until(holds: Callable[[], object], what: str) -> None:
    """Wait until a call tells something true."""
    until = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < until, what
        time.sleep(0.1)
