"""Past failures with labels, replayed before the court: how often is it right, and as sure as it should be?

A line of the file is a JSON object:

    id        a name
    label     "bug" (of the compiler, or of the reference) or "not-a-bug"
    backend   a name, or the path of a backend file relative to the JSONL file
    options   {key: value} of the backend (optional)
    case      the path of an ONNX model or operator instance relative to the JSONL file, or instead
    model     an ONNX model as text (onnx.parser), or
    instance  an operator instance (docs/instances.md)
    inputs    {name: tensor} of a model, a tensor being written as in an operator instance:
              {"dtype", "shape", "values" or "seed", "low", "high"}
    note      anything (optional)
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
from google.protobuf.message import DecodeError

from fuzz import catalogue, instance, registry
from fuzz.case import Case, Origin, Target
from fuzz.instance_values import read_tensor, value_of
from triage.court.evidence import FILED, Judgement

BUG, NO_BUG = "bug", "not-a-bug"
#: Bounds of the reliability table's rows, in claimed probability.
BANDS = (0.0, 0.1, 0.5, 0.9, 0.97, 1.0)
#: What the value of a key may be, and how that is told.
_KINDS: Mapping[str, tuple[tuple[type, ...], str]] = {
    "id": ((str, int, float), "a name"),
    "backend": ((str,), "a backend's name or file"),
    "options": ((dict,), "an object"),
    "case": ((str,), "the path of a file"),
    "model": ((str,), "a model as text"),
    "instance": ((dict,), "an object"),
    "inputs": ((dict,), "an object"),
}
_KEYS = frozenset({"id", "label", "backend", "options", "case", "model", "instance", "inputs", "note"})


class CalibrationError(ValueError):
    """A file or line that cannot be used: what, where and how to mend it."""


@dataclass(frozen=True)
class Labelled:
    """One line: a case on a target, and whether it is a bug."""

    id: str
    case: Case
    target: Target
    is_bug: bool


@dataclass(frozen=True)
class Heard:
    """A labelled case and what the court says of it."""

    labelled: Labelled
    judgement: Judgement

    @property
    def filed(self) -> bool:
        """Whether the court holds it for a bug."""
        return self.judgement.verdict in FILED


def read(path: Path) -> list[Labelled]:
    """The lines of a file; blank ones are passed over. Raises CalibrationError."""
    try:
        text = path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        told = error.strerror if isinstance(error, OSError) else "is not UTF-8 text"
        raise CalibrationError(f"{path}: {told}") from error
    found = [(at, _line(path, at, line)) for at, line in enumerate(text.splitlines(), 1) if line.strip()]
    if not found:
        raise CalibrationError(f"{path}: holds no labelled case")
    return [labelled for _, labelled in _distinct(path, found)]


def _distinct(path: Path, found: Sequence[tuple[int, Labelled]]) -> Iterator[tuple[int, Labelled]]:
    """The numbered lines; verdicts are told by the id, so no two may have the same."""
    seen: dict[str, int] = {}
    for at, labelled in found:
        first = seen.setdefault(labelled.id, at)
        if first != at:
            raise CalibrationError(f"{path}, line {at}: the id {labelled.id!r} stands in line {first} already")
        yield at, labelled


def _line(path: Path, at: int, line: str) -> Labelled:
    try:
        return _labelled(path.parent, json.loads(line))
    except RecursionError as error:
        raise CalibrationError(f"{path}, line {at}: is nested too deeply") from error
    except (KeyError, TypeError, ValueError, OSError, DecodeError, onnx.parser.ParseError) as error:
        said = (
            f"lacks {error}" if isinstance(error, KeyError) else (str(error).strip().splitlines() or [repr(error)])[0]
        )
        raise CalibrationError(f"{path}, line {at}: {said}") from error


def _labelled(folder: Path, entry: Any) -> Labelled:
    if not isinstance(entry, dict):
        raise ValueError("is not a JSON object")
    unknown = entry.keys() - _KEYS
    if unknown:
        raise ValueError(f"has unknown keys {', '.join(sorted(unknown))} (known: {', '.join(sorted(_KEYS))})")
    for key, (kinds, told) in _KINDS.items():
        if key in entry and not isinstance(entry[key], kinds):
            raise ValueError(f"{key} must be {told}")
    if entry["label"] not in (BUG, NO_BUG):
        raise ValueError(f"label {entry['label']!r} must be {BUG!r} or {NO_BUG!r}")
    name = str(entry["id"])
    target = catalogue.target(_backend(folder, entry["backend"]), entry.get("options", {}))
    case = _case(folder, name, entry)
    if case.kind not in registry.backend(target.backend).kinds:
        raise ValueError(f"{entry['backend']} does not take this kind of case")
    return Labelled(name, case, target, entry["label"] == BUG)


def _backend(folder: Path, name: str) -> str:
    return str(folder / name) if name.endswith(".py") else name


def _case(folder: Path, name: str, entry: Mapping[str, Any]) -> Case:
    given = [key for key in ("case", "model", "instance") if key in entry]
    if len(given) != 1:
        raise ValueError("must have one of case, model and instance")
    origin = Origin("calibration", name)
    inputs = {key: value_of(read_tensor(tensor, key)) for key, tensor in entry.get("inputs", {}).items()}
    if given == ["instance"]:
        return Case("instance", instance.canonical(instance.parse(json.dumps(entry["instance"]))), {}, origin)
    if given == ["model"]:
        return Case("onnx", onnx.parser.parse_model(entry["model"]).SerializeToString(), inputs, origin)
    data = (folder / entry["case"]).read_bytes()
    if entry["case"].endswith(".json"):
        return Case("instance", instance.canonical(instance.parse(data)), {}, origin)
    onnx.load_model_from_string(data)
    return Case("onnx", data, inputs, origin)


@dataclass(frozen=True)
class Band:
    """One row of the reliability table: cases whose claimed probability lies in (low, high]."""

    low: float
    high: float
    cases: int
    claimed: float
    observed: float


def bands(heard: Sequence[Heard]) -> Iterator[Band]:
    """The rows that have cases: mean claimed probability beside the observed share of bugs."""
    for low, high in itertools.pairwise(BANDS):
        inside = [each for each in heard if low < each.judgement.confidence <= high]
        if inside:
            claimed = sum(each.judgement.confidence for each in inside) / len(inside)
            observed = sum(each.labelled.is_bug for each in inside) / len(inside)
            yield Band(low, high, len(inside), claimed, observed)


def summary(heard: Sequence[Heard]) -> dict[str, Any]:
    """The answer of `graphwarden calibrate --json`. A case that does not fail here counts apart."""
    judged = [each for each in heard if each.judgement.verdict is not None]
    bugs = [each for each in judged if each.labelled.is_bug]
    filed = [each for each in judged if each.filed]
    right = [each for each in filed if each.labelled.is_bug]
    return {
        "cases": len(heard),
        "judged": len(judged),
        "bugs": len(bugs),
        "precision": _share(len(right), len(filed)),
        "recall": _share(len(right), len(bugs)),
        "false_alarms": [each.labelled.id for each in filed if not each.labelled.is_bug],
        "missed": [each.labelled.id for each in bugs if not each.filed],
        "not_failing": [each.labelled.id for each in heard if each.judgement.verdict is None],
        "reliability": [
            {
                "claimed_from": band.low,
                "claimed_to": band.high,
                "cases": band.cases,
                "claimed": round(band.claimed, 3),
                "observed": round(band.observed, 3),
            }
            for band in bands(judged)
        ],
        "verdicts": {each.labelled.id: str(each.judgement.verdict) for each in judged},
    }


def _share(part: int, whole: int) -> float | None:
    """None where there is nothing to take a part of."""
    return round(part / whole, 4) if whole else None
