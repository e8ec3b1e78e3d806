"""Outcomes and bugs as JSON documents for scripts, and as lines for people."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict
from typing import Any

import numpy as np

from fuzz.case import Error, Outcome, Status
from fuzz.classes import classify
from fuzz.wire import Raw, Value, dtype_name
from triage.localize.location import Location
from triage.records import Bug


def outcome(found: Outcome, status: Status) -> dict[str, Any]:
    """The document of `graphwarden run --json`. `class` is null where the outcome proves nothing."""
    told = classify(status, found.stage)
    return {
        "status": str(status),
        "stage": str(found.stage),
        "class": str(told) if told else None,
        "seconds": round(found.seconds, 6),
        "peak_mb": round(found.peak_mb, 1),
        "outputs": [_output(name, value) for name, value in found.outputs],
        "error": _error(found.error) if found.error else None,
    }


def _error(error: Error) -> dict[str, Any]:
    return {
        "type": error.type,
        "message": error.message,
        "frames": [asdict(frame) for frame in error.frames],
        "signal": error.signal,
        "stderr": error.stderr,
    }


def _output(name: str, value: Value) -> dict[str, Any]:
    shape = list(value.shape) if isinstance(value, np.ndarray | Raw) else [len(value) if value else 0]
    return {"name": name, "dtype": dtype_name(value), "shape": shape, "sha256": digest(value)}


def digest(value: Value) -> str:
    """SHA-256 over a value's bytes in C order; strings as JSON, the items of a sequence one after another."""
    state = hashlib.sha256()
    _feed(state, value)
    return state.hexdigest()


def _feed(state: hashlib._Hash, value: Value) -> None:
    if isinstance(value, list):
        for item in value:
            _feed(state, item)
    elif isinstance(value, Raw):
        state.update(value.data)
    elif value is not None and value.dtype.kind == "O":
        state.update(json.dumps([str(text) for text in value.ravel().tolist()]).encode())
    elif value is not None:
        state.update(value.tobytes())


def _location(found: Location) -> dict[str, Any]:
    return {
        "stage": str(found.stage),
        "operator": found.operator,
        "pass": found.pass_,
        "conversion_function": found.conversion_function,
        "root_cause": found.root_cause,
        "evidence": list(found.evidence),
    }


def bug(found: Bug) -> dict[str, Any]:
    """One entry of `graphwarden bugs --json`."""
    return {
        "id": found.id,
        "backend": found.backend,
        "revision": found.revision,
        "options": dict(found.target.options),
        "state": str(found.state),
        "symptom": found.symptom,
        "conversion_function": found.conversion_function,
        "operators": list(found.operators),
        "message": found.message,
        "count": found.count,
        "nodes": found.nodes,
        "title": found.title,
        "why": found.why,
        "location": _location(found.location) if found.location else None,
        "bisected": {str(kind): asdict(each) for kind, each in found.bisected.items()},
        "note": found.note,
        "report": found.report_path,
    }
