"""A bug as the store gives it, for tests that need nothing of it but a few of its fields."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from fuzz.case import Revision, Target
from triage.lifecycle import State
from triage.records import Bug

MOMENT = datetime(2026, 1, 1, tzinfo=UTC)
_BUG = Bug(
    id=1,
    fingerprint="f-1",
    target=Target("tiny", Revision("1.0")),
    state=State.DRAFTED,
    symptom="wrong:values",
    conversion_function="",
    operators=("Sub",),
    message="values differ",
    why="",
    count=1,
    best_failure_id=1,
    reduced_case_id=None,
    nodes=1,
    report_path=None,
    title="Sub returns 2 instead of -2",
    note="",
    created=MOMENT,
    updated=MOMENT,
)


def bug(backend: str = "tiny", **changes: Any) -> Bug:
    """A drafted bug of the operator Sub on the first build of a compiler, with these fields changed."""
    return replace(_BUG, target=Target(backend, Revision("1.0")), **changes)
