"""What goes into the ledger and comes out of it: plain frozen values (issue 6). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class DeliveryState(StrEnum):
    """How far a webhook delivery has come."""

    NEW = "new"  # stored and acknowledged
    HANDLED = "handled"  # turned into work
    IGNORED = "ignored"  # nothing to do; the note says why
    FAILED = "failed"  # cannot be read; the note says why


@dataclass(frozen=True)
class NewDelivery:
    """A delivery as it came. `id` is GitHub's (``X-GitHub-Delivery``); a redelivery has the same."""

    id: str
    event: str
    body: bytes


@dataclass(frozen=True)
class Delivery:
    """A stored delivery; `received` is UTC, `attempts` counts how often somebody began to handle it."""

    id: str
    event: str
    body: bytes
    received: datetime
    state: DeliveryState = DeliveryState.NEW
    attempts: int = 0
    note: str = ""


@dataclass(frozen=True)
class Settled:
    """How the handling of a delivery ended (`state` is not NEW), with the work that follows from it."""

    id: str
    state: DeliveryState
    note: str = ""
    works: tuple[NewWork, ...] = ()


class WorkState(StrEnum):
    """How far a piece of work has come."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"  # gave up; the note says why
    CANCELLED = "cancelled"  # superseded, or a person's wish


#: States in which a piece of work is still going to happen.
OPEN = frozenset({WorkState.QUEUED, WorkState.RUNNING})


@dataclass(frozen=True)
class NewWork:
    """Work to be done. One open piece of work a `kind` and `key`: the same again replaces what waits.

    `kind` names a file of `bot/kinds`; `payload` is a JSON document. Lower `priority` comes first. `not_before` is UTC.
    """

    kind: str
    key: str
    project: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: int = 50
    not_before: datetime | None = None


@dataclass(frozen=True)
class Work:
    """Work as stored. `note` says how it goes or how it ended."""

    id: int
    kind: str
    key: str
    project: str
    payload: Mapping[str, Any]
    state: WorkState
    priority: int
    attempts: int
    note: str
    created: datetime
    updated: datetime
    not_before: datetime | None = None


class OutKind(StrEnum):
    """What can be sent to GitHub, and what a moderator alone is told."""

    ISSUE = "issue"  # {title, body, labels, file?: the key of the FILE that `body` links, without_file?: else the body}
    COMMENT = "comment"  # {body}
    EDIT_COMMENT = "edit_comment"  # {body}; the comment with this key, made if it is not there
    STATE = "state"  # {open: bool, reason: completed|not_planned|duplicate|reopened, duplicate_of?}
    LABELS = "labels"  # {add: [...], remove: [...]}
    CHECK = "check"  # {head_sha, name, external_id, status, conclusion?, title, summary, text?, annotations?, actions?}
    FILE = "file"  # {branch, path, content_base64, message}
    NOTICE = "notice"  # {body}; for whoever moderates, never sent: it is held, and once approved counts as read


#: Kinds whose newest content is all that matters: the same key again replaces what was said before.
REPLACED = frozenset({OutKind.EDIT_COMMENT, OutKind.CHECK, OutKind.LABELS})


class OutState(StrEnum):
    """How far something outgoing has come."""

    HELD = "held"  # waits for a moderator
    READY = "ready"
    SENDING = "sending"  # may have arrived: look before sending it again
    SENT = "sent"
    REJECTED = "rejected"  # by a moderator
    WITHDRAWN = "withdrawn"  # by the bot: it is not true any more, or a person forbade it
    FAILED = "failed"  # GitHub will never take it; the note says why


@dataclass(frozen=True)
class NewOutgoing:
    """Something to be sent. `key` is unique for ever: the hidden marker and the idempotency key.

    Within one `stream` things are sent strictly in order. `number` is the issue or pull request; where it is None
    and `bug_id` is given, it is that bug's issue at the time of sending. `note` is for a moderator to read.
    """

    kind: OutKind
    key: str
    repository: str
    payload: Mapping[str, Any]
    stream: str
    number: int | None = None
    bug_id: int | None = None
    held: bool = False
    note: str = ""


@dataclass(frozen=True)
class Counted:
    """What a decision within a limit has counted: things of one kind and repository with keys that begin so.

    `ids` are those that were put in `since` a moment (UTC). The decision holds only while there are no others.
    """

    kind: OutKind
    repository: str
    prefix: str
    since: datetime
    ids: frozenset[int]


@dataclass(frozen=True)
class Outgoing:
    """Something outgoing as stored. `version` grows whenever the payload is replaced; `result` is what GitHub gave."""

    id: int
    kind: OutKind
    key: str
    repository: str
    payload: Mapping[str, Any]
    stream: str
    state: OutState
    number: int | None
    bug_id: int | None
    attempts: int
    version: int
    note: str
    result: Mapping[str, Any]
    created: datetime
    updated: datetime


@dataclass(frozen=True)
class Issue:
    """The issue that a bug has at GitHub.

    `ours`: the bot opened it; else `linked_by` is the login of who linked it by command. `open` is what is known of it.
    `human` holds what people decided and the bot respects, e.g. ``{"closed": "not_planned", "by": "login"}``.
    `fixed_by` is the revision whose fix closed it.
    """

    bug_id: int
    repository: str
    number: int
    ours: bool
    linked_by: str = ""
    open: bool = True
    human: Mapping[str, Any] = field(default_factory=dict)
    fixed_by: str = ""


@dataclass(frozen=True)
class Check:
    """The check run of one head commit. `external_id` is ours and unique, `run_id` GitHub's once it is known.

    `state`: queued, waiting (for a build or a word), running, done, cancelled. `conclusion` as GitHub names it, ""
    until it is over. `fork`: the head lies elsewhere, as far as is known. `newest`: the pull request is at this head.
    """

    repository: str
    head_sha: str
    external_id: str
    project: str
    pull: int | None = None
    base: str = ""
    run_id: int | None = None
    state: str = "waiting"
    conclusion: str = ""
    since: datetime | None = None
    fork: bool = True
    newest: bool = False


@dataclass(frozen=True)
class Planned:
    """A regular campaign as the configuration has it. `cron` is in UTC."""

    name: str
    project: str
    cron: str
    budget: str
    sources: tuple[str, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """A regular campaign as stored. `rung` is when it was last due, `marked_by` and `marked` who paused it and when."""

    planned: Planned
    paused: bool = False
    marked_by: str = ""
    marked: datetime | None = None
    rung: datetime | None = None
