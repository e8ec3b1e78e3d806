"""The child process that runs cases, so that nothing a compiler does can take the campaign down.

Run as a program (``python worker.py FD BACKEND``) this is a *zygote*: it imports one backend, never
compiles or runs anything, and forks on request. A forked *worker* reads jobs from a pipe, runs them
and writes results; when it dies, the zygote reports how. Forking an imported-only process costs
milliseconds where importing TVM costs seconds, and it is safe where forking a warm one hangs
(docs/architecture.md, "The worker").

It uses the standard library, numpy, `fuzz.jobs`, `fuzz.wire` and one backend file, in Python 3.8 syntax: older
compiler versions live in environments that have nothing else.
"""

from __future__ import annotations

import ctypes
import faulthandler
import fcntl
import gc
import importlib
import importlib.util
import json
import os
import resource
import select
import shutil
import signal
import socket
import struct
import sys
import time
import traceback
import types
from typing import Any, Callable, Dict, Iterable, List, Set, Tuple

HERE = os.path.dirname(os.path.abspath(__file__))
#: Automatic collections at Python's own threshold cost a tenth of a small case. Instead garbage is
#: collected rarely, and after jobs that have used much memory.
_COLLECT_AFTER = 20_000
#: Kept back from the memory limit, so that a failed allocation can still be described.
_RESERVE_BYTES = 64 << 20
_LARGEST_FILE = 1 << 30

_PR_SET_PDEATHSIG, _PR_SET_CHILD_SUBREAPER = 1, 36
_PR_SET_PTRACER, _ANY_PTRACER = 0x59616D61, ctypes.c_ulong(-1)
_CLONE_NEWNET, _CLONE_NEWUSER = 0x40000000, 0x10000000
_IOLBF = 1

_libc = ctypes.CDLL(None, use_errno=True)


def _load_project(backend: str) -> Tuple[Any, types.ModuleType]:
    """Import `fuzz.jobs` and the backend without putting the project's folder on the path.

    In an installed project that folder is a site-packages with another numpy and another compiler.
    """
    package = types.ModuleType("fuzz")
    package.__path__ = [HERE]
    sys.modules["fuzz"] = package
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != HERE]
    jobs = importlib.import_module("fuzz.jobs")
    if not backend.endswith(".py"):
        return jobs, importlib.import_module("fuzz.backends." + backend)
    name = "fuzz.backends." + os.path.basename(backend)[:-3]
    spec = importlib.util.spec_from_file_location(name, backend)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return jobs, module


# ---------------------------------------------------------------- the worker: the process that jobs run in


def _become_worker(jobs: Any, backend: types.ModuleType, fds: List[int], limits: Dict[str, int]) -> None:
    """In the freshly forked child: own session, limits, pipes, then serve. Never returns."""
    zygote = os.getppid()
    os.setsid()
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    if os.getppid() != zygote:
        os._exit(1)
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)
    requests, results, errors, beat = fds
    os.dup2(errors, 1)
    os.dup2(errors, 2)
    os.close(errors)
    sys.stdout = os.fdopen(1, "w", buffering=1, errors="backslashreplace")
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    # What native code prints before it dies must not die in a buffer of C's stdio.
    _libc.setvbuf(ctypes.c_void_p.in_dll(_libc, "stdout"), None, _IOLBF, 0)
    if limits.get("stands"):
        _stand_still_when_dying()
    faulthandler.enable(file=2, all_threads=False)
    faulthandler.register(signal.SIGUSR1, file=2, all_threads=True)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    ceiling = _data_bytes() + limits["memory_mb"] * (1 << 20)
    resource.setrlimit(resource.RLIMIT_DATA, (ceiling, ceiling + _RESERVE_BYTES))
    home = os.environ["HOME"]
    furnish(home)
    os.chdir(os.path.join(home, "work"))
    gc.freeze()
    gc.set_threshold(_COLLECT_AFTER)
    jobs.Worker(backend, [requests, results, beat]).serve()


def _stand_still_when_dying() -> None:
    """Have a fatal signal end in pause(2), so that the parent can take the native stack (`fuzz.standing`).

    Before `faulthandler.enable`, which prints its frames, puts back what it found and raises the signal again. The
    handler is libc's own function: nothing of Python runs in a process that is dying. Where only an ancestor may look
    at a process (Yama), any process of our user may look at this one.
    """
    _libc.prctl(_PR_SET_PTRACER, _ANY_PTRACER)
    _libc.signal.argtypes, _libc.signal.restype = [ctypes.c_int, ctypes.c_void_p], ctypes.c_void_p
    for number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGABRT):
        _libc.signal(number, ctypes.cast(_libc.pause, ctypes.c_void_p))


def furnish(home: str) -> None:
    """Make a private home complete: folders, no telemetry, a pip that refuses. Idempotent.

    Done again for every worker, because a case may delete or change what it finds there.
    """
    for folder in ("work", "tmp", "bin", "intel"):
        os.makedirs(os.path.join(home, folder), exist_ok=True)
    with open(os.path.join(home, "intel", "openvino_telemetry"), "w") as choice:
        choice.write("0")
    for name in ("pip", "pip3"):  # importing some packages installs others behind the user's back
        refusal = os.path.join(home, "bin", name)
        if not os.access(refusal, os.X_OK):
            with open(refusal, "w") as script:
                script.write("#!/bin/sh\necho 'pip is not available to workers' >&2\nexit 1\n")
            os.chmod(refusal, 0o755)


def _data_bytes() -> int:
    with open("/proc/self/status") as status:
        for line in status:
            if line.startswith("VmData:"):
                return int(line.split()[1]) * 1024
    return 0


# ---------------------------------------------------------------- the zygote: forks workers


class Zygote:
    """Serves one control socket. Each message is one JSON object with file descriptors.

    The base forks clones, a clone forks one worker at a time. Whatever else it parents is what a
    dead child of its own has left behind.
    """

    def __init__(self, control: socket.socket, jobs: Any, backend: types.ModuleType, base: bool) -> None:
        self.control, self.jobs, self.backend, self.base = control, jobs, backend, base
        self.children: Set[int] = set()
        self.wake_read, self.wake_write = os.pipe()
        os.set_blocking(self.wake_read, False)
        os.set_blocking(self.wake_write, False)

    def serve(self) -> None:
        """Fork on request and report deaths, until the parent hangs up; then kill what is left."""
        signal.signal(signal.SIGCHLD, lambda *_: None)
        signal.set_wakeup_fd(self.wake_write, warn_on_full_buffer=False)
        poll = select.poll()
        poll.register(self.control, select.POLLIN)
        poll.register(self.wake_read, select.POLLIN)
        while True:
            ready = {fd for fd, _ in poll.poll()}
            if self.wake_read in ready:
                os.read(self.wake_read, 4096)
                self._report_deaths()
            if self.control.fileno() in ready and not self._obey():
                kill_descendants(os.getpid())
                return

    def _obey(self) -> bool:
        try:
            message, fds = _receive(self.control)
        except OSError:
            return False
        if not message:
            return False
        request = json.loads(message)
        if request["op"] == "clone":
            self._fork(lambda: _serve_clone(socket.socket(fileno=fds[0]), self.jobs, self.backend))
        else:
            pid = self._fork(lambda: _become_worker(self.jobs, self.backend, fds, request["limits"]))
            self._send({"pid": pid})
        for fd in fds:
            os.close(fd)
        return True

    def _fork(self, child: Callable[[], None]) -> int:
        pid = os.fork()
        if pid:
            self.children.add(pid)
            return pid
        status = 70
        try:
            os.close(self.wake_read)
            os.close(self.wake_write)
            self.control.close()
            child()
            status = 0
        except BaseException:  # noqa: BLE001 a forked child must never return into its parent's code
            traceback.print_exc()
        finally:  # printing fails, too, where a case has closed stderr
            os._exit(status)

    def _report_deaths(self) -> None:
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if not pid:
                return
            if pid in self.children:
                self.children.discard(pid)
                if not self.base:  # nobody reads the deaths of clones, and unread reports would block us
                    self._send({"exit": pid, "status": status, "peak_kb": usage.ru_maxrss})
                kill_descendants(os.getpid(), self.children)

    def _send(self, message: Dict[str, Any]) -> None:
        try:
            self.control.send(json.dumps(message).encode())
        except OSError:
            os._exit(0)  # the parent is gone; PDEATHSIG takes the workers with us


def _serve_clone(control: socket.socket, jobs: Any, backend: types.ModuleType) -> None:
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    Zygote(control, jobs, backend, base=False).serve()


def kill_descendants(pid: int, spared: Iterable[int] = ()) -> None:
    """SIGKILL everything below `pid`, however deep, until nothing is left that could fork again.

    The children `spared` and what is below them are left alone.
    """
    for _ in range(200):
        found = descendants(pid, spared)
        if not found:
            return
        for child in found:
            try:
                os.kill(child, signal.SIGKILL)
            except ProcessLookupError:
                continue
            try:
                os.waitpid(child, os.WNOHANG)
            except ChildProcessError:
                continue
        time.sleep(0.002)


def descendants(pid: int, spared: Iterable[int] = ()) -> List[int]:
    """Ids of all processes below `pid`, zombies included, without the children `spared` and theirs."""
    found = [child for child in _children(pid) if child not in spared]
    for parent in found:  # grows as it goes: breadth first
        found += _children(parent)
    return found


def _children(pid: int) -> List[int]:
    found: List[int] = []
    try:
        for task in os.listdir("/proc/%d/task" % pid):
            with open("/proc/%d/task/%s/children" % (pid, task)) as children:
                found += [int(child) for child in children.read().split()]
    except (FileNotFoundError, ProcessLookupError):
        pass  # it ended while we looked
    return found


def _receive(control: socket.socket) -> Tuple[bytes, List[int]]:
    """One message with its descriptors (socket.recv_fds needs Python 3.9)."""
    size = struct.calcsize("i")
    message, ancillary, _, _ = control.recvmsg(1 << 16, socket.CMSG_LEN(8 * size))
    fds: List[int] = []
    for level, kind, data in ancillary:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds += struct.unpack("%di" % (len(data) // size), data[: len(data) - len(data) % size])
    return message, fds


def _leave_network() -> None:
    """Enter an empty network namespace where the system lets us; a compiler needs no network."""
    user, group = os.getuid(), os.getgid()
    if _libc.unshare(_CLONE_NEWNET) == 0 or _libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET) != 0:
        return
    mapped = {"setgroups": "deny", "uid_map": "%d %d 1" % (user, user), "gid_map": "%d %d 1" % (group, group)}
    for name, line in mapped.items():  # so that the user's files still look like their own
        with open("/proc/self/" + name, "w") as file:
            file.write(line)


def is_readable(end: socket.socket, seconds: float = 0.0) -> bool:
    """Whether bytes wait, or the other side hung up; by poll, since select knows no descriptor beyond 1023.

    A hunt on hundreds of compilers has more.
    """
    poll = select.poll()
    poll.register(end, select.POLLIN)
    return bool(poll.poll(seconds * 1000))


def _end_with_the_parent(control: socket.socket, armed: bool) -> None:
    """While armed, SIGIO ends this process when the parent hangs up, even during an import that hangs.

    (PR_SET_PDEATHSIG would also fire when only the thread ends that started us.)
    """
    fcntl.fcntl(control, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(control, fcntl.F_GETFL)
    fcntl.fcntl(control, fcntl.F_SETFL, flags | os.O_ASYNC if armed else flags & ~os.O_ASYNC)
    if armed and is_readable(control):  # it hung up before
        os._exit(1)


def main(control_fd: int, backend_name: str, kind: str, home: str) -> None:
    """Import the backend, and what it needs for a `kind` of case, say so, then serve.

    The first message tells whether the import worked. When the parent has hung up, for whatever reason,
    the private `home` that it made is removed.
    """
    control = socket.socket(fileno=control_fd)
    resource.setrlimit(resource.RLIMIT_FSIZE, (_LARGEST_FILE, _LARGEST_FILE))  # an import may print for ever
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1)
    _leave_network()
    _end_with_the_parent(control, True)
    try:
        jobs, backend = _load_project(backend_name)
        jobs.watching.begin(os.path.abspath(backend_name))
        backend.warm()
        if kind:
            getattr(backend, "warm_" + kind)()
    except BaseException as error:  # noqa: BLE001 whatever an import raises is the reason to show
        reason = traceback.format_exception_only(type(error), error)[-1].strip()
        _end_with_the_parent(control, False)
        control.send(json.dumps({"ready": False, "reason": reason[:8000]}).encode())
        return
    jobs.watching.imported()
    _end_with_the_parent(control, False)  # from here on, traffic on the socket is expected
    control.send(json.dumps({"ready": True}).encode())
    gc.freeze()
    Zygote(control, jobs, backend, base=True).serve()
    shutil.rmtree(home, ignore_errors=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4])
