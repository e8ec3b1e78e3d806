"""Reading what several events hold, without trusting any of it: commits, numbers, times, heads to be checked."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bot import keys
from bot.events import Event, at, number, text
from bot.settings import Project
from triage.ledger.records import NewWork
from triage.records import clean

_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_LOGIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,99}")
#: Pull requests come first, then landed commits, then the rest.
GATE_PRIORITY, SUITE_PRIORITY = 10, 20
#: GitHub's largest numbers: of issues (32 bits), of ids (they fit a JavaScript number).
_NUMBER, _ID = 2**31 - 1, 2**53 - 1


def commit(payload: object, *path: str | int) -> str:
    """The full commit id at a path, "" where there is none or it is all zeros."""
    found = text(payload, *path)
    return found if _COMMIT.fullmatch(found) and found.strip("0") else ""


def issue_number(payload: object, *path: str | int) -> int | None:
    """The number of an issue or pull request at a path."""
    found = number(payload, *path)
    return found if found is not None and 0 < found <= _NUMBER else None


def identifier(payload: object, *path: str | int) -> int | None:
    """An id of GitHub's at a path."""
    found = number(payload, *path)
    return found if found is not None and 0 < found <= _ID else None


def login(payload: object, *path: str | int, programs: bool = False) -> str:
    """The name of an account at a path, "" for what cannot be one: it becomes part of an address.

    Names of `programs` end in ``[bot]``; they count only where they are asked for.
    """
    found = text(payload, *path)
    return found if _LOGIN.fullmatch(found.removesuffix("[bot]") if programs else found) else ""


def moment(payload: object, *path: str | int) -> str:
    """A time at a path as GitHub writes it (``2026-11-22T05:00:00Z``: later is greater), "" for anything else."""
    found = text(payload, *path)
    return found if re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found, re.ASCII) else ""


def line(found: str, most: int = 100) -> str:
    """Foreign text for a note or a log line."""
    return " ".join(clean(found).split())[:most]


def head(project: Project, payload: Mapping[str, Any], pull: int | None) -> NewWork:
    """The gate of a head: `payload` holds at least commit, base, base_ref and fork."""
    key = keys.gate(project.name, pull, payload["commit"])
    return NewWork("gate", key, project.name, {**payload, "pull": pull}, GATE_PRIORITY)


def again(event: Event, project: Project, commit_id: str, at: str, external_id: str = "") -> NewWork:
    """A person wants a check anew. Which pull request it belongs to the ledger knows: of forks GitHub does not tell.

    `at` is when the check was last done, which tells one wish from the next.
    """
    by = login(event.payload, "sender", "login")
    payload = {"commit": commit_id, "external_id": external_id, "by": by, "at": at}
    return NewWork("recheck", f"{project.name}@{commit_id}", project.name, payload, GATE_PRIORITY)


def wake(project: Project, commit_id: str) -> NewWork:
    """A build of a commit may be ready: what waits for it looks again."""
    return NewWork("wake", keys.commit(project.name, commit_id), project.name, {"commit": commit_id}, 0)


def flag(payload: object, *path: str | int) -> bool:
    """Whether a path holds true."""
    return at(payload, *path) is True
