"""Models of HirGen (`fuzz.hirgen`): strict ones, disruptive ones, and such with functions. No compiler is asked here.

Ma et al., "Fuzzing Deep Learning Compilers with HirGen", ISSTA 2023. A guided model depends on what those before it
have covered, and on the file of coverage that a campaign begins with. `Generated.rejected` counts insertions that were
taken back.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from fuzz.generators.models import Generated, Parameters, UnusableParameters
from fuzz.hirgen.coverage import USUAL, VIOLATION, Coverage, CoverageError
from fuzz.hirgen.disruptive import NothingToBreak
from fuzz.hirgen.workflow import DISRUPTIVE, FORMS, MODES, PLAIN, HirGen, Made, Settings, forms

#: Options of this generator alone, by name: what they may say (None: anything), the default first.
OPTIONS: dict[str, tuple[str, ...] | None] = {
    "mode": MODES,
    "unguided": ("no", "yes"),
    "form": FORMS,
    "criteria": None,
    "coverage": None,
}


def check(parameters: Parameters) -> None:
    """Raises UnusableParameters."""
    own = dict(parameters.own)
    if own.get("mode") == DISRUPTIVE and own.get("form", PLAIN) != PLAIN:
        raise UnusableParameters(f"--form {own['form']}: a disruptive model has no functions; leave one of them out")
    try:
        _begun(parameters)
        if own.get("mode") == DISRUPTIVE:
            hirgen(parameters, 0, _coverage(parameters)).make(0)
    except (CoverageError, NothingToBreak) as error:
        raise UnusableParameters(str(error)) from error


def hirgen(parameters: Parameters, seed: int, coverage: Coverage) -> HirGen:
    """HirGen with these parameters. Raises UnusableParameters."""
    own = dict(parameters.own)
    settings = Settings(
        parameters.operators(),
        parameters.low,
        parameters.high,
        own.get("mode", MODES[0]),
        own.get("unguided") != "yes",
        parameters.opset,
        parameters.ir_version,
        parameters.limits,
        parameters.all_outputs,
    )
    return HirGen(settings, seed, coverage)


def _coverage(parameters: Parameters) -> Coverage:
    """An empty one. Raises CoverageError."""
    own = dict(parameters.own)
    if own.get("mode") == DISRUPTIVE:
        return Coverage((VIOLATION,))
    return Coverage(own["criteria"].split(",") if own.get("criteria") else USUAL)


def _begun(parameters: Parameters) -> Coverage:
    """What earlier campaigns have covered. Raises CoverageError."""
    coverage, path = _coverage(parameters), dict(parameters.own).get("coverage")
    if path:
        coverage.load(Path(path))
    return coverage


def series(parameters: Parameters, seed: int, count: int) -> Iterator[Generated]:
    """The first `count` models; what they cover is written when all are made. Raises UnusableParameters."""
    path, form = dict(parameters.own).get("coverage"), dict(parameters.own).get("form", PLAIN)
    try:
        made = hirgen(parameters, seed, _begun(parameters))
        for index in range(count):
            yield _generated(made.make(index), form, seed, index)
        if path:
            made.coverage.save(Path(path))
    except NothingToBreak as error:
        raise UnusableParameters(str(error)) from error
    except OSError as error:
        raise UnusableParameters(f"--coverage {path}: {error.strerror}; name another file") from error


def generate(parameters: Parameters, seed: int, index: int) -> Generated:
    """The model of that index. Raises UnusableParameters."""
    *_, last = series(parameters, seed, index + 1)
    return last


def _generated(made: Made, form: str, seed: int, index: int) -> Generated:
    notes: dict[str, object] = {"new": made.gain}
    model = made.model
    if made.violation is not None:
        broken = made.violation
        notes["violation"] = {
            "kind": str(broken.kind),
            "operator": broken.operator,
            "where": broken.where,
            "valid": broken.valid,
            "given": broken.given,
            "rule": broken.rule,
        }
    if form != PLAIN:
        found = forms(made.model, seed, index)
        model, notes["form"] = found.get(form, model), form if form in found else PLAIN
    return Generated(model, made.inputs, made.nodes, made.rejected, notes)
