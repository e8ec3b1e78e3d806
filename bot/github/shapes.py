"""What GitHub tells, as values: only the fields that the bot looks at. Pure.

Readers raise KeyError, TypeError or ValueError for what they cannot read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class IssueSeen:
    """An issue or pull request as it is now. `id` is what `duplicate_of` needs; times are UTC."""

    number: int
    id: int
    title: str
    body: str
    open: bool
    reason: str
    author: str
    labels: tuple[str, ...]
    url: str
    is_pull: bool
    created: datetime
    updated: datetime


@dataclass(frozen=True)
class CommentSeen:
    """A comment of an issue or pull request."""

    id: int
    author: str
    body: str
    url: str


@dataclass(frozen=True)
class CheckSeen:
    """A check run; `annotations` is how many it has."""

    id: int
    external_id: str
    name: str
    head_sha: str
    status: str
    conclusion: str
    url: str
    annotations: int


@dataclass(frozen=True)
class PullSeen:
    """A pull request. `fork`: its commits come from another repository (or from one that is gone)."""

    number: int
    open: bool
    draft: bool
    merged: bool
    head_sha: str
    head_ref: str
    base_sha: str
    base_ref: str
    fork: bool


@dataclass(frozen=True)
class Comparison:
    """How `head` stands to `base`: identical, ahead, behind or diverged; `commits` are those that base lacks."""

    status: str
    merge_base: str
    commits: tuple[str, ...]
    files: tuple[str, ...]


@dataclass(frozen=True)
class FileSeen:
    """A file on a branch; `sha` is the blob's."""

    path: str
    sha: str
    url: str


@dataclass(frozen=True)
class Installation:
    """Where the App is installed, with the permissions it was granted there."""

    id: int
    permissions: Mapping[str, str]


@dataclass(frozen=True)
class DeliverySeen:
    """An attempt to deliver a webhook; `guid` is ``X-GitHub-Delivery``, which redeliveries keep."""

    id: int
    guid: str
    event: str
    delivered: datetime
    redelivery: bool
    status_code: int


def time(text: str) -> datetime:
    """A time of GitHub's, UTC."""
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(f"a time without a zone: {text!r}")
    return found


def issue(data: Any) -> IssueSeen:
    return IssueSeen(
        number=int(data["number"]),
        id=int(data["id"]),
        title=data["title"] or "",
        body=data.get("body") or "",
        open=data["state"] == "open",
        reason=data.get("state_reason") or "",
        author=_login(data.get("user")),
        labels=tuple(each if isinstance(each, str) else each["name"] for each in data.get("labels") or ()),
        url=data["html_url"],
        is_pull="pull_request" in data,
        created=time(data["created_at"]),
        updated=time(data["updated_at"]),
    )


def comment(data: Any) -> CommentSeen:
    return CommentSeen(
        id=int(data["id"]), author=_login(data.get("user")), body=data.get("body") or "", url=data["html_url"]
    )


def check(data: Any) -> CheckSeen:
    return CheckSeen(
        id=int(data["id"]),
        external_id=data.get("external_id") or "",
        name=data["name"],
        head_sha=data["head_sha"],
        status=data["status"],
        conclusion=data.get("conclusion") or "",
        url=data.get("html_url") or "",
        annotations=int(data["output"]["annotations_count"]),
    )


def pull(data: Any) -> PullSeen:
    head, base = data["head"], data["base"]
    return PullSeen(
        number=int(data["number"]),
        open=data["state"] == "open",
        draft=bool(data.get("draft")),
        merged=bool(data.get("merged_at")),
        head_sha=head["sha"],
        head_ref=head["ref"],
        base_sha=base["sha"],
        base_ref=base["ref"],
        fork=head.get("repo") is None or head["repo"]["id"] != base["repo"]["id"],
    )


def comparison(data: Any) -> Comparison:
    return Comparison(
        status=data["status"],
        merge_base=data["merge_base_commit"]["sha"],
        commits=tuple(each["sha"] for each in data["commits"]),
        files=tuple(each["filename"] for each in data.get("files") or ()),
    )


def file(data: Any) -> FileSeen:
    if data["type"] != "file":
        raise ValueError(f"a {data['type']}, not a file")
    return FileSeen(path=data["path"], sha=data["sha"], url=data.get("html_url") or "")


def installation(data: Any) -> Installation:
    return Installation(id=int(data["id"]), permissions={str(k): str(v) for k, v in data["permissions"].items()})


def delivery(data: Any) -> DeliverySeen:
    return DeliverySeen(
        id=int(data["id"]),
        guid=data["guid"],
        event=data["event"],
        delivered=time(data["delivered_at"]),
        redelivery=bool(data["redelivery"]),
        status_code=int(data["status_code"]),
    )


def _login(user: Any) -> str:
    """The login, "" for an account that is gone."""
    return str(user["login"]) if user else ""
