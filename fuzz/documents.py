"""Origins, targets and outcomes as JSON documents and back: for databases and for other machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from fuzz.case import Error, Frame, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.wire import Value

Document = Mapping[str, Any]


def origin_from(document: Document) -> Origin:
    """An origin from what `dataclasses.asdict` makes of it."""
    return Origin(**dict(document, parents=tuple(document["parents"])))


def target_from(document: Document) -> Target:
    """A target from what `dataclasses.asdict` makes of it."""
    options = tuple((key, value) for key, value in document["options"])
    return Target(document["backend"], Revision(**document["revision"]), options)


def outcome_document(outcome: Outcome) -> dict[str, Any]:
    """All of an outcome but the values of its outputs, and what it reached for."""
    return {
        "status": outcome.status,
        "stage": outcome.stage,
        "seconds": outcome.seconds,
        "peak_mb": outcome.peak_mb,
        "names": [name for name, _ in outcome.outputs],
        "error": asdict(outcome.error) if outcome.error else None,
    }


def outcome_from(document: Document, values: Sequence[Value] | None) -> Outcome:
    """The outcome of a document; without outputs where their values are None."""
    error = document["error"]
    if error is not None:
        error = Error(**dict(error, frames=tuple(Frame(**each) for each in error["frames"])))
    outputs = zip(document["names"], values, strict=True) if values is not None else ()
    return Outcome(
        Status(document["status"]),
        Stage(document["stage"]),
        document["seconds"],
        document["peak_mb"],
        tuple(outputs),
        error,
    )
