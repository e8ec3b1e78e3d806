"""Unpacks what git archives, which anybody may have written: nothing lands outside, no link leads out."""

from __future__ import annotations

import os
import tarfile
from pathlib import Path


def unpack(archive: tarfile.TarFile, target: Path) -> None:
    """Write the archive's files, folders and links into `target`. Raises tarfile.TarError for what would leave it."""
    if hasattr(tarfile, "data_filter"):
        archive.extractall(target, filter="data")
        return
    # Python before 3.11.4 has no such filter; Debian 12 has 3.11.2.
    root = os.path.realpath(target)
    for member in archive:
        _check(member, root)
        archive.extract(member, target)


def _check(member: tarfile.TarInfo, root: str) -> None:
    place = os.path.realpath(os.path.join(root, member.name))
    ends = [place]
    if member.issym():
        ends.append(os.path.realpath(os.path.join(os.path.dirname(place), member.linkname)))
    elif not (member.isreg() or member.isdir()):
        raise tarfile.ExtractError(f"{member.name!r} is neither file nor folder nor link")
    if any(os.path.commonpath([root, end]) != root for end in ends):
        raise tarfile.ExtractError(f"{member.name!r} leads out of the repository")
