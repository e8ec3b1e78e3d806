"""What other implementations say of the same case: a second and a third opinion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import onnx

from fuzz import catalogue, judge, registry
from fuzz.case import Case, Outcome, Status
from fuzz.operators.graph import bodies
from fuzz.oracles import differential
from fuzz.wire import Value
from fuzz.zygote import BackendUnavailable
from triage.court import measure
from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing
from triage.projects import project
from triage.schemas import needed_opset
from triage.wording import enumerated

SYMPTOMS = ("wrong", "death")
#: Asked in this order, the quick ones first; the accused is left out.
VOTERS = ("onnxruntime", "openvino", "tvm", "xla", "inductor")
#: What takes a minute for its first kernel is asked only where fewer than this many have an opinion.
RECENT_OPSETS = 5
SLOW = frozenset({"inductor"})
ENOUGH = 1
#: No voter is waited for longer.
VOTE_SECONDS = 40.0
OWN_EXPECTATION = "the test's own expectation"


def gather(hearing: Hearing) -> Evidence:
    """One vote for each project, and one for what the source test itself expects."""
    sides: dict[str, list[str]] = {"reference": [], "compiler": [], "words": [], "neither": [], "abstained": []}
    if hearing.case.expected is not None and hearing.manner == "wrong":
        sides[_side(hearing, list(hearing.case.expected))].append(OWN_EXPECTATION)
    for name in _voters(hearing):
        enough = name in SLOW and len(sides["reference"] + sides["compiler"]) >= ENOUGH
        outcome = None if enough or hearing.hurried() else _asked(hearing, name)
        sides[_vote(hearing, outcome)].append(name)
    figures = {**sides, "recent_opset": _is_recent(hearing.case)}
    return Evidence("votes", _leaning(sides), _sentence(hearing, sides), figures)


def _is_recent(case: Case) -> bool:
    """Whether the model needs a version of an operator that compilers may take for an older one."""
    if case.kind != "onnx":
        return False
    return needed_opset(onnx.load_model_from_string(case.model)) > onnx.defs.onnx_opset_version() - RECENT_OPSETS


def _voters(hearing: Hearing) -> list[str]:
    accused = registry.backend(hearing.target.backend).name
    known = [name for name in VOTERS if name in registry.names() and name != accused]
    return [name for name in known if hearing.case.kind in registry.backend(name).kinds]


def _asked(hearing: Hearing, name: str) -> Outcome | None:
    """The voter's outcome; asked again with an older opset where it refuses the model as it is."""
    try:
        target, limits = catalogue.target(name), hearing.limits(VOTE_SECONDS)
        outcome = hearing.runner.run_fresh(hearing.case, target, limits=limits)
        older = _older(hearing.case) if outcome.status in (Status.UNSUPPORTED, Status.EXCEPTION) else None
        return outcome if older is None else hearing.runner.run_fresh(older, target, limits=limits)
    except BackendUnavailable:
        return None


def _older(case: Case) -> Case | None:
    """The same model with the oldest opset that means the same; None where there is no older one."""
    if case.kind != "onnx":
        return None
    model = onnx.load_model_from_string(case.model)
    plain = not model.functions and {entry.domain for entry in model.opset_import} <= {"", "ai.onnx"}
    if not plain or any(True for node in model.graph.node for _ in bodies(node)):
        return None
    version = needed_opset(model)
    if version >= model.opset_import[0].version:
        return None
    model.opset_import[0].version = version
    model.ir_version = onnx.helper.find_min_ir_version_for(model.opset_import, ignore_unknown=True)
    return replace(case, model=model.SerializeToString())


def _vote(hearing: Hearing, outcome: Outcome | None) -> str:
    if outcome is None or outcome.status in (Status.UNSUPPORTED, Status.SKIPPED):
        return "abstained"
    if hearing.manner == "death":
        return "reference" if outcome.status is Status.OK else "neither"
    return _side(hearing, judge.values(hearing.heard_of(outcome))) if outcome.status is Status.OK else "abstained"


def _side(hearing: Hearing, values: list[Value]) -> str:
    """Who is nearer. To side with the compiler, a voter must have its result, and not just one on that side of it.

    Where the values are open, dtypes and shapes alone tell; else the outputs of which the case complains.
    """
    if hearing.formal:
        alike = measure.comparable(values, hearing.expected), measure.comparable(values, hearing.actual)
        return "reference" if alike[0] else "compiler" if alike[1] else "neither"
    at = _accused(hearing) if len(values) == len(hearing.expected) else range(max(len(values), len(hearing.expected)))
    vote, actual, expected = (_those(at, each) for each in (values, hearing.actual, hearing.expected))
    side = {1: "compiler", -1: "reference", 0: "neither"}[measure.nearer(vote, actual, expected)]
    if side == "reference" or not hearing.compares_values or not measure.comparable(vote, expected):
        return side
    if side == "compiler" and _agrees(hearing, values, hearing.actual, at):
        return side
    widened = hearing.widened
    by_words = widened is not None and widened.second and _agrees(hearing, values, widened.truth, at)
    return "words" if by_words else "neither"


def _accused(hearing: Hearing) -> Sequence[int]:
    """The outputs that differ: of another one a voter may think as it likes; all where the results cannot be paired."""
    if len(hearing.actual) != len(hearing.expected):
        return range(len(hearing.actual))
    pairs = enumerate(zip(hearing.actual, hearing.expected, strict=True))
    found = [at for at, (one, other) in pairs if differential.compare([one], [other]) is not None]
    return found or range(len(hearing.actual))


def _those(at: Sequence[int], values: Sequence[Value]) -> list[Value]:
    return [values[each] for each in at if each < len(values)]


def _agrees(hearing: Hearing, values: Sequence[Value], other: Sequence[Value], at: Sequence[int]) -> bool:
    widened, where = hearing.widened, measure.parted(hearing.actual, hearing.expected)
    noise = widened.noise if widened is not None and len(widened.noise) == len(values) else [None] * len(values)
    return measure.agrees(_those(at, values), _those(at, other), [where[each] for each in at], _those(at, noise))


def _leaning(sides: dict[str, list[str]]) -> Side:
    if sides["compiler"]:
        return Side.FOR if len(sides["compiler"]) >= len(sides["reference"]) else Side.NEUTRAL
    return Side.AGAINST if sides["reference"] else Side.NEUTRAL


def _sentence(hearing: Hearing, sides: dict[str, list[str]]) -> str:
    if hearing.manner == "death":
        able, unable = sides["reference"], sides["neither"]
        parts = [
            f"{_listed(able)} {_verb('run', able)} the case" if able else "",
            f"{_listed(unable)} {_verb('fail', unable)} on it too" if unable else "",
        ]
    else:
        words = {
            "reference": "with the reference",
            "compiler": "with the compiler",
            "words": "with what the specification's words give in float64",
            "neither": "with neither of the two",
        }
        sided = ((sides[side], whom) for side, whom in words.items() if sides[side])
        parts = [f"{_listed(names)} {_verb('agree', names)} {whom}" for names, whom in sided]
    return "; ".join(part for part in parts if part) or "none of the other compilers asked runs this model"


def _listed(names: list[str]) -> str:
    return enumerated(list(map(project, names)))


def _verb(verb: str, names: list[str]) -> str:
    return verb if len(names) > 1 else verb + "s"
