"""The numbers that the court goes by: ``data/court.toml``, loaded once."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import PurePath
from typing import Any

from fuzz.case import Error
from fuzz.data import data_path

#: How many of the innermost frames tell where an error comes from.
_DEPTH = 4


class ThresholdError(ValueError):
    """``data/court.toml`` does not have the form that its head describes."""


@dataclass(frozen=True)
class Thresholds:
    """The table ``thresholds``; errors are in multiples of the noise, times in seconds."""

    explained: float
    beyond: float
    outnumbered: float
    ill_conditioned: float
    repeats: int
    perturbations: tuple[int, ...]
    seconds: float
    reserve: float
    patience: float
    slow_reference: float
    large_reference: float
    calibrated: str
    calibration_set: str


@dataclass(frozen=True)
class EnvironmentRule:
    """A failure of the machine, known by what an error says; with `last_words`, by what the process printed last, too.

    Where `exception` or `frame` is given, the class of the exception (without its module) and one of the innermost
    frames (``file.py:function``) must match from their start.
    """

    says: re.Pattern[str]
    reason: str
    last_words: bool = True
    exception: re.Pattern[str] | None = None
    frame: re.Pattern[str] | None = None

    def matches(self, error: Error) -> bool:
        """Whether this rule recognises the error."""
        text = f"{error.message}\n{error.stderr}" if self.last_words else error.message
        return self.says.search(text) is not None and self._is_class(error) and self._is_raised(error)

    def _is_class(self, error: Error) -> bool:
        return self.exception is None or self.exception.fullmatch(error.type.rpartition(".")[2]) is not None

    def _is_raised(self, error: Error) -> bool:
        sites = (f"{PurePath(frame.file).name}:{frame.function}" for frame in error.frames[-_DEPTH:])
        return self.frame is None or any(self.frame.match(site) for site in sites)


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


@dataclass(frozen=True)
class PrecisionRule:
    """A compiler that computes `types` in another type (names of onnx.TensorProto), in words, and where it says so.

    It holds for targets whose options have the values of `options`, by default or not.
    """

    backend: str
    options: Mapping[str, str]
    types: tuple[str, ...]
    computes_in: str
    reason: str
    source: str


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
        return tuple(map(_environment_rule, _document()["environment"]))
    except (KeyError, TypeError, re.error) as error:
        raise ThresholdError(f"data/court.toml: [[environment]]: {error}") from error


def _environment_rule(entry: Mapping[str, Any]) -> EnvironmentRule:
    patterns = {name: re.compile(entry[name]) for name in ("says", "exception", "frame") if name in entry}
    return EnvironmentRule(**{**entry, **patterns})


@cache
def tie_rules() -> tuple[TieRule, ...]:
    """The rules of ``[[ties]]``, the first that covers an operator counts. Raises ThresholdError."""
    try:
        return tuple(TieRule(**{**entry, "operators": tuple(entry["operators"])}) for entry in _document()["ties"])
    except (KeyError, TypeError) as error:
        raise ThresholdError(f"data/court.toml: [[ties]]: {error}") from error


@cache
def precision_rules() -> tuple[PrecisionRule, ...]:
    """The rules of ``[[precision]]``. Raises ThresholdError."""
    try:
        return tuple(PrecisionRule(**{**entry, "types": tuple(entry["types"])}) for entry in _document()["precision"])
    except (KeyError, TypeError) as error:
        raise ThresholdError(f"data/court.toml: [[precision]]: {error}") from error


@cache
def _document() -> dict[str, Any]:
    return tomllib.loads(data_path("court.toml").read_text("utf-8"))
