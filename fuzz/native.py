"""The native stack of a worker that stands still over a fatal signal, as text that `triage.traces` reads.

py-spy takes it: a program of its own that needs no debugger, reads the tables by which exceptions unwind, and knows
exported names. A function without a name is told by its library, where in that file the frame is, and where the
function begins (`fuzz/unwind.py`), which is the same for one build only. Where the stack cannot be taken there is no
text, and the death is what it is without.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from fuzz import unwind

HEADING = "Native stack, innermost first:"
#: Frames of a longer stack (of a recursion without end) that are kept: the inner ones.
MOST_FRAMES = 40
#: Taking a stack lasts 0.2 s; what lasts longer than this has gone wrong, and the worker waits no more.
_SECONDS = 10.0
_LONGEST_NAME = 300
#: The signal's own way through the C library and faulthandler; unnamed, in these libraries, are only their insides.
_DYING = re.compile(r"pause|raise|gsignal|faulthandler_\w+|__restore_rt|_{0,2}pthread_kill\w*")
#: Around it stands the frame that the signal met; around all others those that called them.
_HANDLED = "__restore_rt"
_SYSTEM = re.compile(
    r"(?:libc|libm|libpthread|libstdc\+\+|libgcc_s|libffi|ld-linux[\w-]*|libpython[\d.]*|python[\d.]*)"
    r"(?:\.so[\d.]*|-[\d.]+\.so)?"
)


def program() -> str:
    """Where py-spy is: beside our interpreter, or on the PATH; "" where it is missing."""
    own = str(Path(sys.executable).parent)
    return shutil.which("py-spy", path=own) or shutil.which("py-spy") or ""


def taken(pid: int, thread: int) -> str:
    """The native frames of a thread up to its first frame of Python, one a line; "" where they cannot be taken."""
    command = [program(), "dump", "--native", "--json", "--pid", str(pid)]
    if not command[0]:
        return ""
    try:
        maps = Path(f"/proc/{pid}/maps").read_text(errors="replace")
        done = subprocess.run(command, capture_output=True, timeout=_SECONDS, check=True)
        threads = json.loads(done.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    found: list[Any] = next((each["frames"] for each in threads if each["os_thread_id"] == thread), [])
    lines = [f"#{at}  {frame}" for at, frame in enumerate(islice(_written(found, _mapped(maps)), MOST_FRAMES))]
    return "\n".join(["", HEADING, *lines, ""]) if lines else ""


def _written(frames: Sequence[Mapping[str, Any]], mapped: Sequence[tuple[int, int, int]]) -> Iterator[str]:
    """Frames as gdb writes them, without arguments and folders: ``ns::f from library.so``."""
    returns = 0  # the frame that died is at the instruction itself; an address around it is behind a call
    for frame in frames:
        if not frame["module"]:
            return  # Python's, which faulthandler has told
        library, name = Path(frame["module"]).name, frame["name"][:_LONGEST_NAME]
        unnamed = name.startswith("0x")
        if (unnamed and _SYSTEM.fullmatch(library)) or _DYING.fullmatch(name):
            returns = 0 if name == _HANDLED else 1
            continue
        where = _where(Path(frame["module"]), int(name, 16), returns, mapped) if unnamed else ""
        returns = 1
        yield f"?? from {library}{where}" if unnamed else f"{name} from {library}"


def _where(file: Path, address: int, returns: int, mapped: Sequence[tuple[int, int, int]]) -> str:
    """``+0x1a2b (in +0x1a00)``: where in its file an address lies, and where its function begins, if that is known.

    "" where it lies in no file (generated code). `returns` is 1 for an address behind a call, which may be the last
    instruction of its function.
    """
    offset = next((address - start + at for start, end, at in mapped if start <= address < end), None)
    if offset is None:
        return ""
    begins = unwind.beginning(file, offset - returns)
    return f"+{offset:#x}" + (f" (in +{begins:#x})" if begins is not None else "")


def _mapped(maps: str) -> list[tuple[int, int, int]]:
    """(first address, end, place in the file) of each mapped part of a file, from ``/proc/PID/maps``."""
    found: list[tuple[int, int, int]] = []
    for line in maps.splitlines():
        addresses, _, place, _, _, *path = line.split(maxsplit=5)
        if path and path[0].startswith("/"):
            start, _, end = addresses.partition("-")
            found.append((int(start, 16), int(end, 16), int(place, 16)))
    return found
