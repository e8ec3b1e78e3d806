"""Where environments, listings and logs are kept, and how files there are replaced."""

from __future__ import annotations

import contextlib
import os
import tempfile
from pathlib import Path


def root() -> Path:
    """The cache folder: GRAPHWARDEN_REVISIONS, else ``graphwarden/revisions`` in the user's cache."""
    own = os.environ.get("GRAPHWARDEN_REVISIONS")
    if own:
        return Path(own).expanduser().absolute()
    cache = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(cache).expanduser().absolute() / "graphwarden" / "revisions"


def mebibytes(folder: Path) -> float:
    """What the files below a folder occupy in MiB, those that vanish meanwhile left out."""
    total = 0
    for place, _, names in os.walk(folder):
        for name in names:
            with contextlib.suppress(OSError):
                total += os.lstat(os.path.join(place, name)).st_blocks * 512
    return total / 2**20


def write(path: Path, text: str) -> None:
    """Replace a file at once: a reader, or a kill in the middle, sees the old text or the new one."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    os.replace(name, path)
