"""Between the plain values of `triage.records` and the columns of `triage.rows`. Pure; for `triage.store` alone."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from fuzz.case import Case, Failure
from triage import records
from triage.bisect import found
from triage.lifecycle import State
from triage.records import Bug, BugFields, NewFailure, Result
from triage.rows import UNKNOWN_GAIN, BugRow, CaseRow, FailureRow

Columns = dict[str, Any]


def _clean(columns: Columns) -> Columns:
    return {name: records.clean(value) if isinstance(value, str) else value for name, value in columns.items()}


def result_columns(campaign_id: int, result: Result, minute: int) -> Columns:
    return _clean(
        {
            "campaign_id": campaign_id,
            "case_id": result.case_id,
            "target_id": result.target_id,
            "origin": records.origin_json(result.origin),
            "status": result.status.value,
            "stage": result.stage.value,
            "reason": result.reason,
            "seconds": result.seconds,
            "peak_mb": result.peak_mb,
            "minute": minute,
            "adds": UNKNOWN_GAIN,
        }
    )


def case_columns(case: Case) -> Columns:
    return {
        "id": case.id,
        "kind": case.kind,
        "model": case.model,
        "inputs": records.pack_inputs(case.inputs),
        "expected": None if case.expected is None else records.pack_values(case.expected),
        "origin": records.origin_json(case.origin),
    }


def case_from(row: CaseRow) -> Case:
    expected = None if row.expected is None else records.unpack_values(row.expected)
    return Case(row.kind, row.model, records.unpack_inputs(row.inputs), records.origin_from(row.origin), expected)


def failure_columns(new: NewFailure) -> Columns:
    failure = new.failure
    outcome, outcome_values = records.outcome_parts(failure.outcome)
    reference, reference_values = records.outcome_parts(failure.reference) if failure.reference else (None, None)
    return _clean(
        {
            "case_id": failure.case.id,
            "target_id": failure.target.id,
            "target": records.target_json(failure.target),
            "fingerprint": new.fingerprint,
            "oracle": failure.oracle,
            "symptom": failure.symptom,
            "detail": failure.detail,
            "outcome": outcome,
            "outcome_values": outcome_values,
            "reference": reference,
            "reference_values": reference_values,
        }
    )


def failure_from(row: FailureRow, case: Case) -> Failure:
    return Failure(
        case,
        records.target_from(row.target),
        records.outcome_from(row.outcome, row.outcome_values),
        None if row.reference is None else records.outcome_from(row.reference, row.reference_values),
        row.oracle,
        row.symptom,
        row.detail,
    )


def new_bug_columns(new: NewFailure, state: State, now: datetime) -> Columns:
    target = new.failure.target
    return _clean(
        {
            "fingerprint": new.fingerprint,
            "backend": target.backend,
            "revision": target.revision.version,
            "target": records.target_json(target),
            "state": state.value,
            "symptom": new.failure.symptom,
            "conversion_function": new.conversion_function,
            "operators": records.dump(new.operators),
            "message": new.message,
            "why": new.why,
            "note": "",
            "created": now,
            "updated": now,
        }
    )


def bug_from(row: BugRow, count: int) -> Bug:
    assert row.id is not None  # it was read from the database
    return Bug(
        id=row.id,
        fingerprint=row.fingerprint,
        target=records.target_from(row.target),
        state=State(row.state),
        symptom=row.symptom,
        conversion_function=row.conversion_function,
        operators=tuple(json.loads(row.operators)),
        message=row.message,
        why=row.why,
        count=count,
        best_failure_id=row.best_failure_id,
        reduced_case_id=row.reduced_case_id,
        nodes=row.nodes,
        report_path=row.report_path,
        title=row.title,
        note=row.note,
        created=row.created,
        updated=row.updated,
        judgement=None if row.judgement is None else records.stored_judgement(row.judgement),
        perturb=row.perturb,
        location=None if row.location is None else records.location_from(row.location),
        passes_with=row.passes_with,
        bisected=found.loaded(row.bisected),
    )


def changed_columns(fields: BugFields) -> Columns:
    """The columns of a bug that `fields` sets; every value has its stored form."""
    columns: Columns = {name: value for name, value in fields.items() if name not in _COMPOSED}
    if "operators" in fields:
        columns["operators"] = records.dump(fields["operators"])
    if "target" in fields:
        columns["target"] = records.target_json(fields["target"])
    if "judgement" in fields:
        columns["judgement"] = records.judgement_json(fields["judgement"])
    if "location" in fields:
        columns["location"] = records.location_json(fields["location"])
    if "bisected" in fields:
        columns["bisected"] = found.dumped(fields["bisected"])
    if "reduced" in fields:
        columns["reduced_case_id"] = fields["reduced"].id
    if "draft" in fields:
        draft = fields["draft"]
        columns |= {"title": draft.title, "body": draft.body, "script": draft.script}
        columns["labels"] = records.dump(draft.labels)
    return _clean(columns)


#: Fields that are not columns as they are.
_COMPOSED = frozenset({"operators", "target", "reduced", "draft", "judgement", "location", "bisected"})
