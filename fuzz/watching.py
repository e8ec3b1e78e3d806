"""What the Python code of a confined build reaches for: noted inside the worker, told with the result.

The cage is what keeps it from getting there (`fuzz.confine`); this only says that it tried, so that somebody hears of
it even if the code catches the refusal. Native code is not seen, and code that knows of this can lie about it.

Standard library alone, in Python 3.8 syntax: it runs beside old versions of compilers.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Dict, List, Set, Tuple
from urllib.parse import unquote

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
#: Of an event, which arguments are places, and what is done to each. An entry itself is written (a link: not where it
#: leads to), or what lies there.
_PLACES: Dict[str, Tuple[Tuple[int, str], ...]] = {
    "os.remove": ((0, "entry"),),
    "os.mkdir": ((0, "entry"),),
    "os.rmdir": ((0, "entry"),),
    "os.rename": ((0, "entry"), (1, "entry")),
    "os.symlink": ((1, "entry"),),  # the first is only the text of the link
    "os.link": ((0, "reading"), (1, "entry")),
    "os.chmod": ((0, "writing"),),
    "os.chown": ((0, "writing"),),
    "os.utime": ((0, "writing"),),
    "os.truncate": ((0, "writing"),),
    "os.setxattr": ((0, "writing"),),
    "os.removexattr": ((0, "writing"),),
    "os.listdir": ((0, "reading"),),
    "os.scandir": ((0, "reading"),),
    "sqlite3.connect": ((0, "database"),),
}
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
#: Every program reads here, wherever a link there leads to: no confined build can have made it.
_PUBLIC = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/etc/", "/sys/", "/proc/sys/")
#: Devices, and what is open already; a link of that name leads to nothing new.
_DEVICE = r"(?:/dev/(?:fd/)?|/proc/(?:self|%d)/fd/)\w+"
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
    else:
        for index, what in _PLACES.get(event, ()):
            _touched(arguments[index], what)


def _touched(path: Any, what: str) -> None:
    if what == "database":
        _database(path)
    elif what == "reading":
        if not _read("." if path is None else path):  # a listing without a path
            _tried.add("reading")
    elif not _below(path, _writable, what == "entry"):
        _tried.add("writing")


def _database(path: Any) -> None:
    """SQLite makes and changes what it opens."""
    name = os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else ""
    if name.startswith("file:"):
        name = unquote(name[len("file:") :].partition("?")[0])
    if name and name != ":memory:":
        _touched(name, "writing")


def _opened(path: Any, mode: Any, flags: Any) -> None:
    if isinstance(flags, int) and flags & _WRITES:
        _touched(path, "writing")
    else:
        _touched(path, "reading")


def _read(path: Any) -> bool:
    """Whether every program may read this."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return True
    name = os.fsdecode(path)
    public = (name + "/").startswith(_PUBLIC) and ".." not in name.split("/")
    return public or _below(path, _readable)


def _below(path: Any, folders: List[str], entry: bool = False) -> bool:
    """Whether a path really lies in one of these folders, or with `entry` its last part; descriptors are no paths."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        return True
    name = os.fsdecode(path)
    if re.fullmatch(_DEVICE % os.getpid(), name):
        return True
    place = _place(name, entry)
    own = "/proc/%d/" % os.getpid()
    return place in _PUBLIC_FILES or (place + "/").startswith((own, *folders))


def _place(name: str, entry: bool) -> str:
    """Where a path leads, links and ``..`` followed as the system does."""
    folder, last = os.path.split(name.rstrip("/"))
    try:
        if entry and last not in ("", ".", ".."):
            return os.path.join(os.path.realpath(folder), last)
        return os.path.realpath(name)
    except (OSError, ValueError):  # the current folder is gone, or this is no path: what uses it will fail
        return name


def _inside(folder: str) -> str:
    return os.path.realpath(folder).rstrip("/") + "/"
