"""What makes two environments the same build: what is installed in them, not what it is called.

The packages' own lists (RECORD) give a hash for each file. Files without one, and those that a provider has laid over
the packages, count by their content. A new version number on the same files is the same build.
"""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from triage.revisions.recipe import Site

#: Where a provider tells what it has laid over the packages, beside the environment.
_LAID = "overlaid"
#: Of these files, the version or the interpreter is told, and both differ between equal builds.
_SKIPPED = (".pyc", "/version.py", "_version.py")
_LONGEST_RECORD = 64 << 20
_CHUNK = 1 << 20


def of(site: Site) -> str:
    """16 hex digits, the same for environments with the same files."""
    digest = hashlib.sha256()
    for record in sorted(site.packages.glob("*.dist-info/RECORD")):
        for line in sorted(_lines(record, site.packages)):
            digest.update(line.encode() + b"\n")
    laid = site.folder / _LAID
    if laid.is_file():
        digest.update(laid.read_bytes())
    return digest.hexdigest()[:16]


def laid(site: Site, told: str) -> None:
    """Note what was laid over the packages of an environment: a text that is the same for the same files."""
    (site.folder / _LAID).write_text(hashlib.sha256(told.encode()).hexdigest())


def content(folder: Path) -> str:
    """The files below a folder, a line each: path and hash of the content."""
    files = sorted(path for path in folder.rglob("*") if not path.is_dir() and not str(path).endswith(_SKIPPED))
    return "\n".join(f"{path.relative_to(folder)}={_hash(path)}" for path in files)


def _lines(record: Path, packages: Path) -> Iterator[str]:
    """What a list says of the files that count."""
    for line in _text(record).splitlines():
        path, told, *_ = [*line.rsplit(",", 2), ""]
        script = path.startswith("../")  # names its interpreter, so it differs between equal builds
        if script or ".dist-info/" in path or path.endswith(_SKIPPED):
            continue
        yield line if told else f"{path},{_hash(packages / path)}"


def _hash(path: Path) -> str:
    """The hash of a plain file's content, "" of anything else."""
    handle = _opened(path)
    if handle is None:
        return ""
    digest = hashlib.sha256()
    with os.fdopen(handle, "rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def _text(path: Path) -> str:
    """What a plain file holds, "" for anything else."""
    handle = _opened(path)
    if handle is None:
        return ""
    with os.fdopen(handle, "rb") as file:
        return file.read(_LONGEST_RECORD).decode("utf-8", "replace")


def _opened(path: Path) -> int | None:
    """A plain file, opened. A build may have put anything there: a link, a pipe, a device that never ends."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (OSError, ValueError):
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None
