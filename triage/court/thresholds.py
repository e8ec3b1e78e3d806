"""The numbers that the court goes by: ``data/court.toml``, loaded once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from fuzz.data import data_path


class ThresholdError(ValueError):
    """``data/court.toml`` does not have the form that its head describes."""


@dataclass(frozen=True)
class Thresholds:
    """The table ``thresholds``; errors are in multiples of the noise, times in seconds."""

    explained: float
    beyond: float
    ill_conditioned: float
    repeats: int
    perturbations: tuple[int, ...]
    seconds: float
    reserve: float
    slow_reference: float
    large_reference: float
    calibrated: str
    calibration_set: str


@dataclass(frozen=True)
class EnvironmentRule:
    """A failure of the machine, known by what an error or its last words say."""

    says: re.Pattern[str]
    reason: str


@dataclass(frozen=True)
class TieRule:
    """What the specification says of equal values under `operators`, from version `since` on.

    With an `attribute`, the words hold where it is given and not zero. `held` says whether a compiler that breaks
    them is accused; `reason` why it is not.
    """

    operators: tuple[str, ...]
    spec: str
    held: bool
    since: int = 1
    attribute: str = ""
    reason: str = ""

    def covers(self, operator: str, version: int, given: Mapping[str, Any]) -> bool:
        """Whether the words speak of this operator, in this version, with these attributes."""
        chosen = not self.attribute or bool(given.get(self.attribute))
        return operator in self.operators and version >= self.since and chosen


@cache
def thresholds() -> Thresholds:
    """The thresholds. Raises ThresholdError."""
    document = _document()
    try:
        table = dict(document["thresholds"])
        table["perturbations"] = tuple(table["perturbations"])
        return Thresholds(**table, calibrated=str(document["calibrated"]), calibration_set=document["calibration_set"])
    except (KeyError, TypeError) as error:
        raise ThresholdError(f"data/court.toml: [thresholds]: {error}") from error


@cache
def claims() -> dict[str, float]:
    """By the rule that decides (`weigh`): the claimed probability that the case is a bug worth a report."""
    return {str(rule): float(share) for rule, share in _document()["claims"].items()}


@cache
def environment_rules() -> tuple[EnvironmentRule, ...]:
    """The rules of ``[[environment]]``. Raises ThresholdError."""
    try:
        return tuple(EnvironmentRule(re.compile(e["says"]), e["reason"]) for e in _document()["environment"])
    except (KeyError, TypeError, re.error) as error:
        raise ThresholdError(f"data/court.toml: [[environment]]: {error}") from error


@cache
def tie_rules() -> tuple[TieRule, ...]:
    """The rules of ``[[ties]]``, the first that covers an operator counts. Raises ThresholdError."""
    try:
        return tuple(TieRule(**{**entry, "operators": tuple(entry["operators"])}) for entry in _document()["ties"])
    except (KeyError, TypeError) as error:
        raise ThresholdError(f"data/court.toml: [[ties]]: {error}") from error


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(data_path("court.toml").read_text("utf-8"))
