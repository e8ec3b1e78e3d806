"""The parent's end of `fuzz.worker`: starts the zygote of a backend, clones it, has it fork workers."""

from __future__ import annotations

import array
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuzz import confine, watching
from fuzz.worker import descendants, furnish, is_readable

WORKER = Path(__file__).with_name("worker.py")
START_SECONDS = 120.0
_TOLD_BYTES = 2000
#: Passed on to workers; everything else of our environment (keys, tokens, paths) stays here.
_PASSED_ON = ("LD_LIBRARY_PATH", "CUDA_HOME", "CUDA_VISIBLE_DEVICES", "MALLOC_ARENA_MAX")
_THREAD_COUNTS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "TVM_NUM_THREADS",
    "TORCHINDUCTOR_COMPILE_THREADS",
)


class BackendUnavailable(RuntimeError):
    """The backend cannot be imported or cannot compile here; the message says why.

    `raised`: its import ended with an exception of its own, as it would again; it was neither killed nor too slow.
    """

    def __init__(self, reason: str, *, raised: bool = False) -> None:
        super().__init__(reason)
        self.raised = raised


class ZygoteGone(RuntimeError):
    """The process that forks workers has ended or does not answer; a new one can be started."""


@dataclass(frozen=True)
class Exit:
    """A worker's end as wait4(2) reports it."""

    pid: int
    status: int
    peak_mb: float


class Zygote:
    """One control connection to a zygote process or to a clone of it. Not thread-safe: one owner.

    `untrusted` is the process that was started for code that may be anybody's: what it calls its worker must lie below
    it, since workers are killed by their ids, and with our rights.
    """

    def __init__(self, control: socket.socket, untrusted: int | None = None) -> None:
        self.control = control
        self._untrusted = untrusted
        self._exits: list[Exit] = []

    def clone(self) -> Zygote:
        """A second zygote forked from this one, for another thread: nothing is imported again."""
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._send({"op": "clone"}, [theirs.fileno()])
        return Zygote(ours, self._untrusted)

    def fork_worker(self, fds: list[int], memory_mb: int, stands: bool = False) -> int:
        """Fork a worker that uses `fds` (requests, results, stderr, heartbeat); returns its pid.

        One that `stands` stands still when it dies, to be looked at (`fuzz.standing`); untrusted code never does.
        """
        stands = stands and self._untrusted is None
        self._send({"op": "worker", "limits": {"memory_mb": memory_mb, "stands": stands}}, fds)
        while True:
            message = self._receive(START_SECONDS)
            if "pid" in message:
                return self._own(message["pid"])

    def _own(self, pid: object) -> int:
        if not isinstance(pid, int) or pid <= 1:
            raise ZygoteGone("the worker's parent process names no process")
        if self._untrusted is not None and not _is_below(pid, self._untrusted):
            raise ZygoteGone("the worker's parent process names a process that is not below it")
        return pid

    def exits(self) -> list[Exit]:
        """Workers that ended since the last call. Does not block. Raises ZygoteGone."""
        while is_readable(self.control):
            self._receive(0)
        found, self._exits = self._exits, []
        return found

    def close(self) -> None:
        """Hang up: the zygote kills its workers and ends."""
        self.control.close()

    def _send(self, message: dict[str, object], fds: list[int]) -> None:
        ancillary = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", fds).tobytes())]
        try:
            self.control.sendmsg([json.dumps(message).encode()], ancillary)
        except OSError as error:
            raise ZygoteGone(f"the worker's parent process is gone ({error})") from error

    def _receive(self, timeout: float) -> dict[str, Any]:
        if not is_readable(self.control, timeout):
            raise ZygoteGone(f"the worker's parent process did not answer within {timeout:.0f} s")
        try:
            data = self.control.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        if not data:
            raise ZygoteGone("the worker's parent process is gone")
        message = _parsed(data)
        if "exit" in message:
            self._exits.append(Exit(message["exit"], message["status"], message["peak_kb"] / 1024))
        return message


def _is_below(pid: int, ancestor: int) -> bool:
    """Whether a process descends from `ancestor`. Asked upwards: lists of children miss some while others end."""
    while pid > 1:
        if pid == ancestor:
            return True
        try:
            status = Path(f"/proc/{pid}/stat").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return False
        pid = int(status.rpartition(")")[2].split()[1])
    return False


def _parsed(data: bytes) -> dict[str, Any]:
    """A message from a process that may run anybody's code. Raises ZygoteGone at anything unexpected."""
    try:
        message = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ZygoteGone("the worker's parent process talks nonsense") from error
    numbers = ("exit", "status", "peak_kb") if isinstance(message, dict) and "exit" in message else ()
    if not isinstance(message, dict) or not all(isinstance(message.get(key), int) for key in numbers):
        raise ZygoteGone("the worker's parent process talks nonsense")
    return message


class BaseZygote:
    """The process that has imported one backend under one interpreter; hands out clones.

    Raises BackendUnavailable when the backend cannot be imported.
    """

    def __init__(self, backend_source: str, python: str = "", kind: str = "", confined: bool = False) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="graphwarden-"))
        self._lock = threading.Lock()
        ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        program = [python or sys.executable, "-B", str(WORKER)]
        try:
            if confined:
                program = confine.command(_cage(self.home, program[0], backend_source), program)
            watched = {watching.VARIABLE: "yes"} if confined else {}
            self._process = self._started(theirs, program, [backend_source, kind], watched)
        except OSError as error:
            ours.close()
            shutil.rmtree(self.home, ignore_errors=True)
            said = error.strerror or str(error)
            raise BackendUnavailable(f"its interpreter {python} cannot be started: {said}") from error
        self._zygote = Zygote(ours, self._process.pid if confined else None)
        self._finalizer = weakref.finalize(self, _end, self._zygote, self._process, self.home)
        self._await_ready()

    def _started(
        self, theirs: socket.socket, program: list[str], what: list[str], watched: dict[str, str]
    ) -> subprocess.Popen[bytes]:
        with theirs, (self.home / "start.log").open("wb") as log:
            return subprocess.Popen(
                [*program, str(theirs.fileno()), *what, str(self.home)],
                pass_fds=[theirs.fileno()],
                env={**private_environment(self.home), **watched},
                cwd=self.home / "work",
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,  # Ctrl-C is for the campaign, which ends its workers in order
            )

    def _await_ready(self) -> None:
        try:
            message = self._zygote._receive(START_SECONDS)
        except ZygoteGone as error:
            log = self._said()
            hangs = not _hung_up(self._zygote.control)
            for pid in descendants(self._process.pid):  # an import that hangs cannot end them itself
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            self.close()
            how = f"its import does not end within {START_SECONDS:.0f} s" if hangs else self._died_how()
            raise BackendUnavailable(f"{how}\n{log}".strip()) from error
        if message.get("ready") is not True:
            self.close()
            raise BackendUnavailable(str(message.get("reason", "it talks nonsense")).strip(), raised=True)

    def _said(self) -> str:
        """The end of what the import has printed, which may be gigabytes."""
        with (self.home / "start.log").open("rb") as log:
            log.seek(max(0, log.seek(0, os.SEEK_END) - _TOLD_BYTES))
            return log.read(_TOLD_BYTES).decode(errors="replace").strip()

    def _died_how(self) -> str:
        status = self._process.returncode
        died = f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
        return f"its import ended the process with {died}"

    def clone(self) -> Zygote:
        """A control connection of one's own. Safe to call from several threads."""
        with self._lock:
            return self._zygote.clone()

    def close(self) -> None:
        """End the process, all clones and workers, and remove its private home folder."""
        self._finalizer()


def _cage(home: Path, python: str, backend_source: str) -> confine.Cage:
    """What an untrusted worker sees: its interpreter, this package and the backend's file, if it is one."""
    own = [Path(backend_source)] if backend_source.endswith(".py") else []
    return confine.Cage(home, read=(*confine.interpreter_folders(python), WORKER.parent, *own))


def _hung_up(control: socket.socket) -> bool:
    return is_readable(control)


def _end(zygote: Zygote, process: subprocess.Popen[bytes], home: Path) -> None:
    zygote.close()
    try:
        process.wait(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(home, ignore_errors=True)


def private_environment(home: Path) -> dict[str, str]:
    """A worker's whole environment: a private home, no pip, no telemetry, one native thread."""
    furnish(str(home))
    environment = {key: os.environ[key] for key in _PASSED_ON if key in os.environ}
    environment |= dict.fromkeys(_THREAD_COUNTS, "1")
    environment |= {
        "PATH": f"{home / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(home),
        "TMPDIR": str(home / "tmp"),
        "LANG": "C.UTF-8",
        "CI": "true",
        "PYTHONHASHSEED": "0",
        "PYTHONNOUSERSITE": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        # PyTorch asks the driver's library for GPUs: after asking CUDA itself, no forked process could use one.
        "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
        # Compiling allocates and frees thousands of small blocks: glibc's own cache of seven of each size
        # is too small, and a larger one makes a small model an eighth faster (`benchmarks/isolation.py`).
        "GLIBC_TUNABLES": "glibc.malloc.tcache_count=500",
    }
    return environment


def sweep_stale_homes() -> None:
    """Remove private homes whose zygote is gone (a campaign that was killed cannot clean up)."""
    in_use = {_cwd(pid).parent for pid in Path("/proc").glob("[0-9]*")}
    for home in Path(tempfile.gettempdir()).glob("graphwarden-*"):
        if home not in in_use and _is_left(home):
            shutil.rmtree(home, ignore_errors=True)


def _is_left(home: Path) -> bool:
    """Whether a folder is an old home of this user's, still there: others may remove or close theirs at any time."""
    try:
        status = home.stat()
        old = time.time() - status.st_mtime > START_SECONDS
        return old and status.st_uid == os.getuid() and (home / "start.log").exists()
    except OSError:
        return False


def _cwd(process: Path) -> Path:
    with contextlib.suppress(OSError):
        return (process / "cwd").readlink()
    return Path("/nonexistent/x")
