"""What a machine does for a campaign that runs elsewhere: requests in, answers out, workers as for any campaign.

`perform` is all that is called from outside. Whatever calls it (Dask, a process pool) sees bytes alone.
"""

from __future__ import annotations

import atexit
import functools
import hashlib
import os
import platform
import threading
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from fuzz import catalogue, parcels, registry
from fuzz.case import Target
from fuzz.limits import Limits
from fuzz.local import LocalPool
from fuzz.parcels import Request
from fuzz.pools import Ran
from fuzz.zygote import BackendUnavailable

_starting = threading.Lock()


def perform(data: bytes) -> bytes:
    """Do what a request of `fuzz.parcels` asks for; the answer. Raises fuzz.parcels.Unreadable."""
    request = parcels.request_from(data)
    try:
        return _answer(replace(request, target=_here(request)))
    except (BackendUnavailable, registry.UnknownBackend) as problem:
        reason = problem if isinstance(problem, BackendUnavailable) else BackendUnavailable(str(problem))
        return parcels.pack_problem(reason)


def _answer(request: Request) -> bytes:
    pool = _pool(request.limits)
    if request.op == "ask":
        return parcels.pack_document(pool.ask(request.target, request.question or {}, request.kind))
    if request.op == "alone":
        [case] = request.cases
        return parcels.pack_ran([Ran(pool.alone(case, request.target, request.perturb, request.own))])
    return parcels.pack_ran(list(pool.batch(request.cases, request.target)))


@functools.cache
def _ready(limits: Limits) -> LocalPool:
    pool = LocalPool(limits)
    atexit.register(pool.close)
    return pool


def _pool(limits: Limits) -> LocalPool:
    """The one pool of this process under these limits: warm workers are shared by all requests."""
    with _starting:
        return _ready(limits)


def _here(request: Request) -> Target:
    """The target as this machine has it. Raises BackendUnavailable where it has another build, or none."""
    wanted = request.target
    if request.file and digest(wanted.backend) != request.file:
        raise BackendUnavailable(f"{platform.node()} has no {wanted.backend}, or one with other contents")
    mine = catalogue.target(wanted.backend, dict(wanted.options)).revision
    if mine.version == wanted.revision.version:
        return replace(wanted, revision=replace(wanted.revision, python=mine.python))
    if wanted.revision.python and os.access(wanted.revision.python, os.X_OK):
        return wanted  # a build in an environment of its own, which lies at the same place here
    raise BackendUnavailable(
        f"{platform.node()} has {wanted.backend} {mine.version}, not {wanted.revision.version} as the campaign: "
        "install the same there, or start that host without it"
    )


def digest(backend: str) -> str:
    """What tells two backend files apart, "" for a registered name or where there is no such file."""
    path = Path(backend)
    if path.suffix != ".py" or not path.is_file():
        return ""
    return hashlib.sha256(path.read_bytes()).hexdigest()


# ---------------------------------------------------------------- what a machine offers


def tag(target: Target) -> str:
    """What a machine must offer to be sent a target: backend and version; "" for a backend that is a file."""
    return "" if target.backend.endswith(".py") else f"{target.backend}@{target.revision.version}"


def offered(names: Iterable[str]) -> list[str]:
    """What this machine offers, its backends being those: their installed versions, and what its processors can do."""
    builds = [f"{name}@{version}" for name in names for version in sorted(_versions(name))]
    return [*builds, *sorted(_isa()), *(["gpu"] if any(_GPUS.glob("*")) else [])]


def _versions(name: str) -> set[str]:
    known = registry.backend(name)
    settings: list[dict[str, str]] = [{}, *(dict([key.split("=", 1)]) for key in known.packages_with)]
    return {found for each in settings if (found := catalogue.version(name, each))}


#: Abilities of processors on which results of compilers may depend.
_ISA = frozenset({"avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_tile", "amx_bf16", "asimd", "sve", "bf16"})
_GPUS = Path("/proc/driver/nvidia/gpus")


def _isa() -> set[str]:
    for line in Path("/proc/cpuinfo").read_text(errors="replace").splitlines():
        name, _, value = line.partition(":")
        if name.strip() in ("flags", "Features"):
            return {f"isa:{flag}" for flag in _ISA & set(value.split())}
    return set()
