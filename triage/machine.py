"""What a report says of the machine it was made on, and what it must not say."""

from __future__ import annotations

import contextlib
import getpass
import importlib.metadata
import os
import platform
import re
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

from triage.revisions import places


def version(package: str) -> str:
    """The installed version of a distribution, "" where it is not installed."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def machine() -> dict[str, str]:
    """Operating system, processor, Python and what NVIDIA's driver lists, by the names that a report gives them."""
    return {
        "OS": _distribution(),
        "CPU": f"{platform.machine()}{_cpu_model()}",
        "Python": platform.python_version(),
        **({"GPU": gpus} if (gpus := _gpu_models()) else {}),
    }


def _gpu_models() -> str:
    """As ``nvidia-smi`` names them, with the driver's version; "" where there is none."""
    asked = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
    try:
        told = subprocess.run(asked, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""
    return "; ".join(dict.fromkeys(line.replace(", ", ", driver ") for line in told.splitlines()))


def _distribution() -> str:
    try:
        name = platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        name = platform.system()
    return f"{name}, Linux {platform.release().split('-')[0]}" if platform.system() == "Linux" else name


def _cpu_model() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        return ""
    found = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return f", {found.group(1)}" if found else ""


def private_folders() -> tuple[str, ...]:
    """Folders of this machine whose names nobody else needs to know: where Graphwarden lies, runs and keeps things."""
    found = [Path(__file__).resolve().parent.parent, Path(sys.prefix), Path(tempfile.gettempdir())]
    for folder in (Path.home, Path.cwd, places.root):
        with contextlib.suppress(OSError, RuntimeError):  # a container's user may have no home
            found.append(folder())
    return tuple(dict.fromkeys(str(one) for one in found if str(one) not in _EVERYWHERE))


#: Folders that every machine has.
_EVERYWHERE = frozenset({"/", "/usr", "/usr/local"})


def private_words() -> tuple[str, ...]:
    """Host and user names, which no report may hold; words too short to be told from others stay."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container may have no name for its user
        user = os.environ.get("USER", "")
    return tuple(word for word in (platform.node(), user) if len(word) > 3)
