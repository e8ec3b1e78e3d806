"""What the Python code of a confined build reaches for: noted inside the worker, told with the result.

The cage is what keeps it from getting there (`fuzz.confine`); this only says that it tried, so that somebody hears of
it even if the code catches the refusal. Native code is not seen, and code that knows of this can lie about it.

Standard library alone, in Python 3.8 syntax: it runs beside old versions of compilers.
"""

from __future__ import annotations

import os
import sys
from typing import Any, List, Set, Tuple

#: The variable that tells a worker that it is confined.
VARIABLE = "GRAPHWARDEN_CONFINED"
#: What can be told, in this order.
KINDS = ("network", "process", "reading", "writing")
_NETWORK = frozenset(
    ["socket.connect", "socket.bind", "socket.sendto", "socket.sendmsg", "socket.getaddrinfo", "socket.gethostbyname"]
)
_PROCESS = frozenset(
    ["os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec", "subprocess.Popen", "os.kill", "pty.spawn"]
)
_WRITING = frozenset(["os.remove", "os.rename", "os.mkdir", "os.rmdir", "os.symlink", "os.link", "os.chmod"])
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
#: Every program reads here; processes other than its own are below /proc and not below these.
_PUBLIC = ("/usr", "/bin", "/sbin", "/lib", "/etc", "/sys", "/dev", "/proc/self", "/proc/sys")
#: Beside its home, what a confined program may write. Not /tmp: its own temporary files lie in its home.
OWN = ("/dev",)
_PUBLIC_FILES = frozenset(["/proc/cpuinfo", "/proc/meminfo", "/proc/stat", "/proc/mounts", "/proc/loadavg"])

_tried: Set[str] = set()
_at_import: Set[str] = set()
_state = {"on": False, "installed": False}
_readable: List[str] = []
_writable: List[str] = []


def begin(backend: str = "") -> None:
    """From now on what is tried is noted, where this process is confined; `backend` is a file that may be read."""
    if VARIABLE not in os.environ or not hasattr(sys, "addaudithook"):
        return
    if not _state["installed"]:
        _state["installed"] = True
        own = [os.environ["HOME"], *OWN]
        _writable.extend(_inside(folder) for folder in own)
        seen = [
            *_PUBLIC,
            *own,
            sys.prefix,
            sys.base_prefix,
            os.path.dirname(os.path.abspath(__file__)),
            backend,
            *sys.path,
        ]
        _readable.extend(_inside(folder) for folder in seen if folder)
        sys.addaudithook(_hear)
    _state["on"] = True


def rest() -> None:
    """What the worker's own code does from here on is its business."""
    _state["on"] = False


def imported() -> None:
    """The import is over: what it tried is told with every job, since it did so for all of them."""
    rest()
    _at_import.update(_tried)
    _tried.clear()


def taken() -> List[str]:
    """What was tried since this was asked last, and in the import, of `KINDS`."""
    found = [kind for kind in KINDS if kind in _tried or kind in _at_import]
    _tried.clear()
    return found


def _hear(event: str, arguments: Tuple[Any, ...]) -> None:
    if not _state["on"]:
        return
    if event == "open":
        _opened(*arguments)
    elif event in _NETWORK:
        _tried.add("network")
    elif event in _PROCESS:
        _tried.add("process")
    elif event in _WRITING and not _below(arguments[0], _writable):
        _tried.add("writing")


def _opened(path: Any, mode: Any, flags: Any) -> None:
    if isinstance(flags, int) and flags & _WRITES:
        if not _below(path, _writable):
            _tried.add("writing")
    elif not _below(path, _readable):
        _tried.add("reading")


def _below(path: Any, folders: List[str]) -> bool:
    """Whether a path lies in one of these folders; descriptors are no paths."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return True
    place = os.path.abspath(os.fsdecode(path))
    own = "/proc/%d/" % os.getpid()
    return place in _PUBLIC_FILES or (place + "/").startswith((own, *folders))


def _inside(folder: str) -> str:
    return os.path.abspath(folder).rstrip("/") + "/"
