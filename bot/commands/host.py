"""`graphwarden host`: this machine runs cases for campaigns elsewhere."""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated

import typer

from bot import hosts
from bot.commands.arguments import TlsCa, TlsCert, TlsKey
from bot.console import err
from bot.failures import ExitCode, Refusal
from bot.hosts import Tls
from fuzz import catalogue, registry
from fuzz.host import offered
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes

#: How often a resource may be used at once. Ours only say what a machine has; how much it does at once, threads say.
_PLENTY = 1_000_000
#: Seconds before a Dask worker is started again: doubled each time until the most; after a long life as at first.
_FIRST, _MOST, _LONG = 0.5, 10.0, 60.0
_PR_SET_PDEATHSIG = 1


def host(
    scheduler: Annotated[str, typer.Argument(metavar="dask://HOST:PORT", help="The Dask scheduler to work for.")],
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Workers at once; 0: one per core.")] = 0,
    backend: Annotated[
        list[str], typer.Option("--backend", help="A compiler to offer. Repeatable; all that work here without.")
    ] = [],  # noqa: B006
    tag: Annotated[
        list[str],
        typer.Option("--tag", metavar="WORD", help="Something else to be asked for (hunt --tag). Repeatable."),
    ] = [],  # noqa: B006
    folder: Annotated[
        Path | None, typer.Option("--folder", help="Where Dask keeps its own files; the temporary folder without.")
    ] = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
) -> None:
    """Run cases for campaigns on other machines: `graphwarden hunt --executor dask://HOST:PORT`.

    Finds out which compilers work here, and keeps a Dask worker running that offers them by version. Whoever can reach
    the scheduler can run any code here: keep its port closed to others, or use TLS on all sides.
    """
    tls = Tls(tls_ca, tls_cert, tls_key)
    place = hosts.address(scheduler, tls)
    hosts.require_dask("graphwarden host")
    for word in tag:
        _check_tag(word)
    sweep_stale_homes()
    tags = [*offered(_working(backend)), *tag]
    err.print(f"graphwarden: offers {', '.join(tags)}", markup=False, soft_wrap=True)
    if why := hosts.silent(place):
        err.print(f"graphwarden: {place}: {why}; waits for a scheduler there", markup=False, soft_wrap=True)
    _keep(_command(place, jobs or len(os.sched_getaffinity(0)), tags, folder, tls))


def _check_tag(word: str) -> None:
    if not hosts.is_tag(word):
        raise Refusal(f"--tag {word!r}: a tag has no space, comma, = or @")


def _working(names: list[str]) -> list[str]:
    """The backends, and the reference, that compute a tiny model rightly here. Raises Refusal where there is none."""
    unknown = sorted(set(names) - set(registry.names()))
    if unknown:
        raise Refusal(f"--backend {unknown[0]}: no such backend (there are: {', '.join(registry.names())})")
    wanted = [name for name in registry.names() if name in names or name == "reference" or not names]
    with Runner() as runner, err.status("trying each compiler"), ThreadPoolExecutor(runner.jobs) as pool:
        probes = list(pool.map(lambda name: catalogue.probe(runner, name), wanted))
    for probe in probes:
        if not probe.available:
            err.print(f"graphwarden: {probe.name} is not offered: {probe.reason}", markup=False, soft_wrap=True)
    working = [probe.name for probe in probes if probe.available]
    if not working:
        raise Refusal("no backend works here, so there is nothing to offer", ExitCode.ENVIRONMENT)
    return working


def _keep(command: list[str]) -> None:
    """Start the Dask worker whenever there is none: it ends with its scheduler's connection, and waits for another."""
    pause = _FIRST
    while True:
        began = time.monotonic()
        with subprocess.Popen(command, preexec_fn=_end_with_parent) as worker:
            try:
                worker.wait()
            finally:
                worker.terminate()
        pause = _FIRST if time.monotonic() - began > _LONG else min(2 * pause, _MOST)
        time.sleep(pause)


def _end_with_parent() -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _command(place: str, jobs: int, tags: list[str], folder: Path | None, tls: Tls) -> list[str]:
    """One process with a thread for each case: the threads share warm workers, and only wait for them.

    Dask's own limit of memory sees that process alone; ours (``hunt --memory``) sees the workers.
    """
    resources = ",".join(f"{tag}={_PLENTY}" for tag in tags)
    own = ["--nworkers", "1", "--nthreads", str(jobs), "--memory-limit", "0", "--no-dashboard"]
    where = ["--local-directory", str(folder)] if folder else []
    files = ["--tls-ca-file", str(tls.ca), "--tls-cert", str(tls.cert), "--tls-key", str(tls.key)] if tls.given else []
    return [sys.executable, "-m", "distributed.cli.dask_worker", place, *own, "--resources", resources, *where, *files]
