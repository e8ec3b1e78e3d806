"""The tables, as SQLModel classes. Only `triage/store.py` uses them; everything else sees `triage.records`.

A change here needs a migration in `triage/migrations/versions`, and `SCHEMA` its name.
"""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import BigInteger, Index, text
from sqlmodel import Field, SQLModel

#: The migration that makes the tables below.
SCHEMA = "0010"
#: How a result ends that may show a failure; the migration's index has the same names in the same order.
SHOWING = ("exception", "flaky", "invalid", "oom", "signal", "timeout", "wrong")
_IS_SHOWING = text(f"status IN ({', '.join(repr(status) for status in SHOWING)})")

#: Written into the header of the SQLite file, so that no other program's database is taken for ours ("GWdn").
APPLICATION_ID = 0x4757646E

#: The minute of results that were recorded before minutes were.
UNKNOWN_MINUTE = -1

#: What a result adds to coverage that was recorded without that.
UNKNOWN_GAIN = -1


class CampaignRow(SQLModel, table=True):
    """One hunt; `parameters` is canonical JSON, `finished` is empty while it may be resumed.

    `name` is that of its schedule ("": begun by hand), `mark` what a person said of it (`triage.records.Mark`), `owner`
    the process that hunts and `seen` when that last said so.
    """

    __tablename__ = "campaign"
    __table_args__ = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    parameters: str
    started: datetime
    finished: datetime | None = None
    name: str = ""
    mark: str = ""
    marked_by: str = ""
    marked: datetime | None = None
    owner: str = ""
    seen: datetime | None = None


class ResultRow(SQLModel, table=True):
    """What one case did on one target in one campaign, in which minute of it. `origin` is JSON.

    `adds` is how many possibilities its case was the first to cover on that compiler.
    """

    __tablename__ = "result"
    # Three quarters of a result is its key; without row ids it is stored once instead of twice.
    # The few that may show a failure are found without a look at the others.
    __table_args__ = (
        Index(
            "ix_result_showing",
            *("campaign_id", "status", "case_id", "target_id", "minute"),
            sqlite_where=_IS_SHOWING,
            postgresql_where=_IS_SHOWING,
        ),
        {"sqlite_with_rowid": False},
    )

    campaign_id: int = Field(primary_key=True, foreign_key="campaign.id")
    case_id: str = Field(primary_key=True)
    target_id: str = Field(primary_key=True)
    origin: str
    status: str
    stage: str
    reason: str
    seconds: float
    peak_mb: float
    minute: int = UNKNOWN_MINUTE
    adds: int = UNKNOWN_GAIN


class TallyRow(SQLModel, table=True):
    """How many results of a campaign ended so in one of its minutes, and how many cases were seen for the first time.

    The sums over it are the campaign's numbers: nobody has to count a million results.
    """

    __tablename__ = "tally"
    __table_args__ = {"sqlite_with_rowid": False}

    campaign_id: int = Field(primary_key=True, foreign_key="campaign.id")
    minute: int = Field(primary_key=True)
    status: str = Field(primary_key=True)
    stage: str = Field(primary_key=True)
    results: int
    cases: int


class ReachedRow(SQLModel, table=True):
    """In which minute (-1: not known) a campaign first reached a part of the compilers (`triage.records.Reachable`)."""

    __tablename__ = "reached"
    __table_args__ = {"sqlite_with_rowid": False}

    campaign_id: int = Field(primary_key=True, foreign_key="campaign.id")
    part: str = Field(primary_key=True)
    name: str = Field(primary_key=True)
    minute: int


class CoveredRow(SQLModel, table=True):
    """A possibility (`triage.learnt`) that some campaign has run on a compiler."""

    __tablename__ = "covered"
    __table_args__ = {"sqlite_with_rowid": False}

    backend: str = Field(primary_key=True)
    possibility: int = Field(primary_key=True, sa_type=BigInteger)


class ExperienceRow(SQLModel, table=True):
    """How often cases of the same operators (a JSON list) ended how on a compiler, in all campaigns."""

    __tablename__ = "experience"
    __table_args__ = {"sqlite_with_rowid": False}

    backend: str = Field(primary_key=True)
    operators: str = Field(primary_key=True)
    passed: int = 0
    new: int = 0
    again: int = 0
    refused: int = 0


class PruningRow(SQLModel, table=True):
    """That so many rows were taken away by a rule (`triage.pruning`), of one campaign or of none."""

    __tablename__ = "pruning"

    id: int | None = Field(default=None, primary_key=True)
    at: datetime
    rule: str
    campaign_id: int | None = Field(default=None, foreign_key="campaign.id")
    removed: int


class CaseRow(SQLModel, table=True):
    """A case worth keeping, once: failing ones and what they were reduced to.

    `inputs` and `expected` are frames of `fuzz.wire`; `origin` is JSON.
    """

    __tablename__ = "case"

    id: str = Field(primary_key=True)
    kind: str
    model: bytes
    inputs: bytes
    expected: bytes | None = None
    origin: str


class FailureRow(SQLModel, table=True):
    """One case failing on one target. `target`, `outcome`, `reference` are JSON, `*_values` frames of `fuzz.wire`."""

    __tablename__ = "failure"
    __table_args__ = (Index("ix_failure_case_target", "case_id", "target_id", unique=True),)

    id: int | None = Field(default=None, primary_key=True)
    case_id: str = Field(foreign_key="case.id")
    target_id: str
    target: str
    fingerprint: str = Field(foreign_key="bug.fingerprint", index=True)
    oracle: str
    symptom: str
    detail: str
    outcome: str
    outcome_values: bytes | None = None
    reference: str | None = None
    reference_values: bytes | None = None


class BugRow(SQLModel, table=True):
    """One bug: all failures with one fingerprint. How many they are is counted, not stored.

    `target`, `operators`, `labels`, `judgement`, `location` and `bisected` are JSON; `target` is the one that the bug
    was first seen on. `perturb` is the byte that fresh memory must be filled with for the bug to show, `passes_with`
    the one difference between the reduced case and the largest passing one.
    """

    __tablename__ = "bug"
    # Reports name bugs by number: the number of a deleted one must not come back.
    __table_args__ = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    fingerprint: str = Field(unique=True)
    backend: str
    revision: str
    target: str
    state: str
    symptom: str
    conversion_function: str
    operators: str
    message: str
    why: str
    best_failure_id: int | None = None
    reduced_case_id: str | None = Field(default=None, foreign_key="case.id")
    nodes: int | None = None
    report_path: str | None = None
    title: str | None = None
    body: str | None = None
    script: str | None = None
    labels: str | None = None
    note: str = ""
    judgement: str | None = None
    location: str | None = None
    passes_with: str = ""
    perturb: int | None = None
    bisected: str | None = None
    created: datetime
    updated: datetime


class DecisionRow(SQLModel, table=True):
    """One decision of a person (`triage.decisions.Kind`), by fingerprints and, where one failure is meant, its keys."""

    __tablename__ = "decision"

    id: int | None = Field(default=None, primary_key=True)
    kind: str
    fingerprint: str
    other: str
    case_id: str = ""
    target_id: str = ""
    made: datetime


class ActRow(SQLModel, table=True):
    """What a person did (`triage.acts.Deed`), kept for good: who, when, to which bug or campaign, and in words."""

    __tablename__ = "act"
    __table_args__ = {"sqlite_autoincrement": True}

    id: int | None = Field(default=None, primary_key=True)
    at: datetime
    by: str
    deed: str
    bug_id: int | None = Field(default=None, index=True)
    campaign_id: int | None = Field(default=None, index=True)
    text: str
