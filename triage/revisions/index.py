"""The package index: which files it has of a package, and which of them an interpreter can install.

The index is the one that pip is configured for (PIP_INDEX_URL, pip.conf), else PyPI. This is the only file below `bot`
that fetches anything: builds are made here, and whoever bisects has no bot.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path

import requests
from packaging.tags import Tag, compatible_tags, cpython_tags, sys_tags
from pypi_simple import PYPI_SIMPLE_ENDPOINT, PyPISimple, UnsupportedContentTypeError, UnsupportedRepoVersionError

from triage.revisions import places

_log = logging.getLogger(__name__)
_SECONDS = 60.0


class IndexUnreachable(RuntimeError):
    """The package index does not answer, or does not know the package, and nothing was remembered of it; or a file
    cannot be fetched."""


@dataclass(frozen=True)
class File:
    """One file of a package on the index; `date` is ISO 8601 or ""."""

    name: str
    date: str
    withdrawn: bool


def files(package: str) -> tuple[File, ...]:
    """The files of a package. What the index said last is used, with a warning, when it does not answer."""
    remembered = places.root() / "listings" / f"{package}.json"
    try:
        found = _asked(package)
    except (requests.RequestException, UnsupportedContentTypeError, UnsupportedRepoVersionError) as error:
        if not remembered.is_file():
            raise IndexUnreachable(f"the package index says nothing of {package!r}: {error}") from error
        _log.warning("the package index does not answer (%s); its last list of %s is used", error, package)
        return tuple(File(**entry) for entry in json.loads(remembered.read_text()))
    with contextlib.suppress(OSError):  # a cache that may only be read is good enough
        remembered.parent.mkdir(parents=True, exist_ok=True)
        places.write(remembered, json.dumps([asdict(file) for file in found]))
    return found


@cache
def _asked(package: str) -> tuple[File, ...]:
    with PyPISimple(pip_settings().get("index-url", PYPI_SIMPLE_ENDPOINT)) as client:
        if certificate := pip_settings().get("cert"):
            client.s.verify = certificate
        page = client.get_project_page(package, timeout=_SECONDS)
    return tuple(
        File(entry.filename, entry.upload_time.isoformat() if entry.upload_time else "", entry.is_yanked)
        for entry in page.packages
    )


def fetch(url: str, file: Path, largest: int) -> None:
    """Write what is at `url` into `file`. Raises IndexUnreachable, also when it is longer than `largest` bytes."""
    try:
        verify = pip_settings().get("cert") or True
        with requests.get(url, stream=True, timeout=_SECONDS, verify=verify) as answer, file.open("wb") as out:
            answer.raise_for_status()
            for block in answer.iter_content(1 << 20):
                if out.tell() > largest:
                    raise IndexUnreachable(f"{url} is larger than {largest >> 30} GiB")
                out.write(block)
    except requests.RequestException as error:
        raise IndexUnreachable(f"{url} cannot be fetched: {error}") from error


@cache
def tags(python: str) -> frozenset[Tag]:
    """The wheel tags that an interpreter installs ("": our own). Raises OSError, subprocess.SubprocessError."""
    if not python:
        return frozenset(sys_tags())
    asked = [python, "-I", "-c", "import sys; print(*sys.version_info[:2])"]
    told = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=_SECONDS).stdout.split()
    version = (int(told[0]), int(told[1]))
    found: Iterable[Tag] = (*cpython_tags(version), *compatible_tags(version, f"cp{told[0]}{told[1]}"))
    return frozenset(found)


@cache
def pip_settings() -> dict[str, str]:
    """pip's own settings (``index-url``, ``extra-index-url``, ``find-links``, ``cert``), file and environment."""
    asked = [sys.executable, "-m", "pip", "--disable-pip-version-check", "config", "list"]
    told = subprocess.run(asked, capture_output=True, text=True, check=False, timeout=_SECONDS).stdout
    found: dict[str, str] = {}
    for line in told.splitlines():
        key, separator, value = line.partition("=")
        name = key.rpartition(".")[2]
        if separator and name:
            found[name] = value.strip().strip("'\"")
    return found


def installer_environment() -> dict[str, str]:
    """The environment of `uv`: where pip looks, uv looks too; nothing else of ours but the place of its cache."""
    settings = pip_settings()
    renamed = {
        "UV_DEFAULT_INDEX": settings.get("index-url", ""),
        "UV_INDEX": settings.get("extra-index-url", ""),
        "UV_INDEX_STRATEGY": "unsafe-best-match",  # the best of all indexes, as pip does
        "UV_FIND_LINKS": settings.get("find-links", "").replace(" ", ","),
        "SSL_CERT_FILE": settings.get("cert", ""),
    }
    kept = ("HOME", "PATH", "LANG", "UV_CACHE_DIR", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY", "SSL_CERT_DIR")
    own = {key: os.environ[key] for key in kept if key in os.environ}
    return {**own, **{key: value for key, value in renamed.items() if value}}
