"""The npm package `emulate` as a stateful GitHub: users, repositories, issues, comments, labels, files, an App.

One process for a test session; tests keep apart by having a repository each.
"""

from __future__ import annotations

import ctypes
import itertools
import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from tests.github.node import node, package
from tests.ports import unused

#: The account that owns the repositories, and people. `MAINTAINER` gets write permission, `STRANGER` none.
OWNER, MAINTAINER, STRANGER = "acme", "maintainer", "stranger"
APP_ID, SLUG, INSTALLATION = 4711, "graphwarden", 100
#: Tokens a person.
TOKENS = 20
_TURNS = itertools.count()
PERMISSIONS = {
    "actions": "read",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "read",
}


@dataclass(frozen=True)
class Emulator:
    """A running emulator. `url` is where it listens; in its answers it calls itself what it was told."""

    url: str
    key_file: Path

    def ask(self, login: str, verb: str, path: str, body: Any = None) -> Any:
        """What a person's request gives; not seen by the proxy. Raises requests.HTTPError."""
        # In turns, since the emulator counts 5,000 requests an hour for each token.
        headers = {"Authorization": f"Bearer {token(login, next(_TURNS) % TOKENS)}"}
        answer = requests.request(verb, self.url + path, json=body, headers=headers, timeout=600)
        answer.raise_for_status()
        return answer.json() if answer.content else None


def token(login: str, number: int = 0) -> str:
    """One of a person's tokens."""
    return f"token_{number}_of_{login}"


@contextmanager
def running(folder: Path, called: str) -> Iterator[Emulator]:
    """The emulator, as long as the block runs. `called` is the URL under which others reach it."""
    key_file = folder / "app.pem"
    key_file.write_bytes(_key())
    seed = folder / "seed.json"
    seed.write_text(json.dumps(_seed(key_file.read_text())))
    port = unused()
    command = [node(), package("emulate", "dist/index.js"), "start", "--service", "github", "--port", str(port)]
    with (folder / "emulator.log").open("wb") as log:
        process = subprocess.Popen(
            [*map(str, command), "--seed", str(seed), "--base-url", called],
            stdout=log,
            stderr=log,
            cwd=folder,
            preexec_fn=_end_with_parent,
        )
        try:
            _wait(process, port, folder / "emulator.log")
            yield Emulator(f"http://localhost:{port}", key_file)
        finally:
            process.kill()
            process.wait()


def _seed(key: str) -> dict[str, Any]:
    logins = [OWNER, MAINTAINER, STRANGER]
    return {
        "tokens": {
            token(login, number): {"login": login, "scopes": ["repo", "user"]}
            for login in logins
            for number in range(TOKENS)
        },
        "github": {
            "users": [{"login": login} for login in logins],
            "apps": [
                {
                    "app_id": APP_ID,
                    "slug": SLUG,
                    "name": "Graphwarden",
                    "private_key": key,
                    "permissions": PERMISSIONS,
                    "events": ["issues", "issue_comment", "pull_request", "push"],
                    "installations": [
                        {"installation_id": INSTALLATION, "account": OWNER, "repository_selection": "all"}
                    ],
                }
            ],
        },
    }


def _key() -> bytes:
    private = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    return private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.TraditionalOpenSSL, serialization.NoEncryption()
    )


def _end_with_parent() -> None:
    """Tests that are killed leave no emulator behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    for _ in range(6000):
        assert process.poll() is None, f"the emulator ended: {log.read_text()}"
        with socket.socket() as door:
            if door.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise AssertionError(f"the emulator does not answer: {log.read_text()}")
