"""Campaigns on many machines: what stands behind ``--executor`` (docs/scaling.md, decision 021)."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bot.failures import ExitCode, Refusal

if TYPE_CHECKING:
    from bot.hosts.dask_hosts import DaskHosts

_SCHEME = "dask://"


@dataclass(frozen=True)
class Tls:
    """The files of mutual TLS, all three or none: who is trusted, our certificate, its key."""

    ca: Path | None = None
    cert: Path | None = None
    key: Path | None = None

    @property
    def given(self) -> bool:
        """Whether connections are to be encrypted. Raises Refusal for some of the files."""
        files = (self.ca, self.cert, self.key)
        if any(files) and not all(files):
            raise Refusal("--tls-ca, --tls-cert and --tls-key belong together")
        for file in files:
            if file and not file.is_file():
                raise Refusal(f"{file}: no such file (one of --tls-ca, --tls-cert, --tls-key)")
        return any(files)


def address(url: str, tls: Tls) -> str:
    """Dask's address of the scheduler that a URL ``dask://HOST:PORT`` names. Raises Refusal."""
    place = url.removeprefix(_SCHEME).rstrip("/")
    host, _, port = place.rpartition(":")
    if not url.startswith(_SCHEME) or not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise Refusal(f"{url}: not of the form dask://HOST:PORT, e.g. dask://127.0.0.1:8786")
    return f"{'tls' if tls.given else 'tcp'}://{place}"


def silent(place: str, seconds: float = 15.0) -> str:
    """Why nobody takes connections at Dask's address of a scheduler, "" where somebody does."""
    host, _, port = place.partition("://")[2].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), seconds).close()
    except OSError as error:
        return error.strerror or str(error)
    return ""


def is_tag(word: str) -> bool:
    """Whether a host may offer something by this name of its own."""
    return bool(word) and not set(word) & set(" ,=@")


def require_dask(what: str) -> None:
    """Raise Refusal where Dask is not installed."""
    try:
        import distributed  # noqa: F401
    except ImportError as error:
        told = f"{what} needs Dask, which is not installed: pip install 'graphwarden[dask]'"
        raise Refusal(told, ExitCode.ENVIRONMENT) from error


def connect(url: str, tls: Tls) -> DaskHosts:
    """The machines behind a URL. Raises Refusal where nobody answers there, or no machine is connected."""
    place = address(url, tls)
    require_dask("--executor")
    from bot.hosts.dask_hosts import DaskHosts

    return DaskHosts(place, tls)
