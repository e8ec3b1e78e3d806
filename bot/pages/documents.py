"""What the pages show, as JSON: the documents of version 1 of the interface under ``/api/v1`` (docs/pages.md)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import BaseModel, Field

from bot import describe
from triage.campaign_control import Line, Standing
from triage.ledger.records import Issue
from triage.life_picture import Event
from triage.lifecycle import State
from triage.records import Bug, CampaignInfo, Overview, StoredDraft


class BugEntry(BaseModel):
    """One bug in a list. Times are UTC; `count` is how many pairs of case and target fail so."""

    id: int
    state: State
    backend: str
    revision: str
    title: str = Field(description="Of the report; before there is one, the symptom.")
    symptom: str
    operators: list[str]
    conversion_function: str
    count: int
    nodes: int | None = Field(description="Operators of the smallest model that fails so; null before it is reduced.")
    created: datetime
    updated: datetime


class BugList(BaseModel):
    """A page of bugs, the newest first, and how many match in all."""

    total: int
    page: int
    pages: int
    bugs: list[BugEntry]


class Report(BaseModel):
    """A report as it could be filed: Markdown and the reproducer, a Python script."""

    title: str
    body: str
    script: str
    labels: list[str]


class Happened(BaseModel):
    """One thing in the life of a bug, in words. Times are UTC.

    `kind` is found, decided (by a person), reported, closed, reopened or other.
    """

    at: datetime
    kind: str
    text: str


class IssueLink(BaseModel):
    """The issue of a bug at GitHub."""

    repository: str
    number: int
    open: bool


class WholeBug(BugEntry):
    """All that is known of one bug."""

    options: dict[str, str]
    message: str
    why: str = Field(description="Why its failures are one bug.")
    note: str
    passes_with: str = Field(description="The one difference to the largest model that passes.")
    location: dict[str, Any] | None
    bisected: dict[str, Any]
    judgement: dict[str, Any] | None = Field(description="The court's verdict with its evidence.")
    report: Report | None
    issue: IssueLink | None
    history: list[Happened]


class Campaign(BaseModel):
    """A hunt. `finished` means that every case was run, `standing_by` is who paused or cancelled it."""

    id: int
    started: datetime
    finished: bool
    sources: list[str]
    targets: list[str]
    seed: int
    standing: str = Field(description="running, waiting (nobody is at it now), paused, done, cancelled, superseded")
    standing_by: str


class WholeCampaign(Campaign):
    """A hunt with its numbers: results are pairs of case and target, `statuses` counts them.

    `reached` counts the operators that compilers were given, and the functions that convert those.
    """

    cases: int
    statuses: dict[str, int]
    failures: int
    bugs: int
    drafts: int
    reached: dict[str, int]


class Problem(BaseModel):
    """Why there is no answer."""

    detail: str


def entry(bug: Bug) -> BugEntry:
    """One bug in a list."""
    return BugEntry(**_entry(bug))


def _entry(bug: Bug) -> dict[str, Any]:
    return {
        "id": bug.id,
        "state": bug.state,
        "backend": bug.backend,
        "revision": bug.revision,
        "title": bug.title or f"{', '.join(bug.operators)}: {bug.symptom}".removeprefix(": "),
        "symptom": bug.symptom,
        "operators": list(bug.operators),
        "conversion_function": bug.conversion_function,
        "count": bug.count,
        "nodes": bug.nodes,
        "created": utc(bug.created),
        "updated": utc(bug.updated),
    }


def whole(bug: Bug, draft: StoredDraft | None, issue: Issue | None, history: Sequence[Event]) -> WholeBug:
    """All of one bug."""
    told = describe.bug(bug)
    linked = IssueLink(repository=issue.repository, number=issue.number, open=issue.open) if issue else None
    return WholeBug(
        **_entry(bug),
        **{name: told[name] for name in ("options", "message", "why", "note", "location", "bisected")},
        passes_with=bug.passes_with,
        judgement=bug.judgement.document() if bug.judgement else None,
        report=_report(draft) if draft else None,
        issue=linked,
        history=[Happened(at=each.at, kind=each.kind, text=each.text) for each in history],
    )


def _report(draft: StoredDraft) -> Report:
    return Report(title=draft.title, body=draft.body, script=draft.script, labels=list(draft.labels))


def campaign(found: CampaignInfo, line: Line | None) -> Campaign:
    """One hunt in a list; `line` is how it stands, None for what a suite recorded."""
    return Campaign(**_campaign(found, line))


def _campaign(found: CampaignInfo, line: Line | None) -> dict[str, Any]:
    told, standing = found.parameters, Standing.WAITING if found.finished is None else Standing.DONE
    return {
        "id": found.id,
        "started": utc(found.started),
        "finished": found.finished is not None and not found.mark,
        "sources": list(told.get("sources", [])),
        "targets": list(told.get("targets", [])),
        "seed": int(told.get("seed", 0)),
        "standing": str(line.standing if line else standing),
        "standing_by": line.by if line and line.standing in (Standing.PAUSED, Standing.CANCELLED) else "",
    }


def whole_campaign(found: CampaignInfo, line: Line | None, told: Overview) -> WholeCampaign:
    """One hunt with its numbers."""
    counts = told.counts
    return WholeCampaign(
        **_campaign(found, line),
        cases=counts.cases,
        statuses={str(status): number for status, number in sorted(counts.statuses.items())},
        failures=counts.failures,
        bugs=counts.bugs,
        drafts=counts.drafts,
        reached={str(part): sum(minutes.values()) for part, minutes in told.reached.items()},
    )


def utc(moment: datetime) -> datetime:
    """SQLite keeps no zone; all times in a database are UTC."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
