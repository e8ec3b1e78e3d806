"""From evidence to a verdict: every rule, and which of two that speak against each other is heard."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from triage.court.evidence import Evidence, Judgement, Ruling, Side, judgement_from
from triage.court.thresholds import claims
from triage.court.weigh import RULES, weigh


def charge(symptom: str = "wrong:values", kind: str = "onnx", near: bool = False) -> Evidence:
    figures = {"symptom": symptom, "backend": "tvm", "near": near, "kind": kind}
    return Evidence("charge", Side.AGAINST, "two elements differ", figures)


def repeats(same: int = 3, vary: bool = False, whole: bool = False) -> Evidence:
    figures = {"runs": 3, "same": same, "values_vary": vary, "whole": whole}
    return Evidence("repeats", Side.AGAINST, f"{same} of 3", figures)


def float64(excess: float | None, reference: float | None = 0.1, systematic: bool = False) -> Evidence:
    explained = excess is not None and excess <= 1
    side = Side.FOR if explained else Side.NEUTRAL if reference is None or reference > 1 else Side.AGAINST
    figures = {"excess": excess, "reference_excess": reference, "systematic": systematic}
    return Evidence("float64", side, f"off by {excess}", figures)


def votes(
    reference: Sequence[str] = (), compiler: Sequence[str] = (), recent: bool = False, neither: Sequence[str] = ()
) -> Evidence:
    sides = {"reference": list(reference), "compiler": list(compiler), "neither": list(neither), "abstained": []}
    return Evidence("votes", Side.NEUTRAL, "votes", {**sides, "recent_opset": recent})


def ties(breaks: bool) -> Evidence:
    return Evidence("ties", Side.AGAINST, "takes another than it must", {"operator": "ArgMax", "breaks": breaks})


def second(compiler: bool) -> Evidence:
    side = Side.FOR if compiler else Side.AGAINST
    return Evidence("second", side, "by the words", {"compiler": True} if compiler else {})


AGREES = Evidence("second", Side.AGAINST, "other code agrees", {"agree": ["LayerNormalization"], "differ": []})
DIFFERS = Evidence("second", Side.NEUTRAL, "other code differs", {"agree": [], "differ": ["GRU"]})
MEMORY = Evidence("memory", Side.AGAINST, "reads uninitialised memory", {"depends": True})
UNDEFINED = Evidence("undefined", Side.FOR, "open", {}, Ruling.UNDEFINED)
BOTH = ("onnxruntime", "openvino")

CASES: dict[str, tuple[list[Evidence], Ruling, str]] = {
    "what settles the case alone does": ([charge(), UNDEFINED], Ruling.UNDEFINED, "settled"),
    "far beyond rounding": ([charge(), repeats(), float64(5e4), votes(BOTH)], Ruling.COMPILER_BUG, "proven"),
    "far beyond rounding, nobody else": ([charge(), repeats(), float64(5e4), votes()], Ruling.COMPILER_BUG, "alone"),
    "beyond any noise": ([charge(), repeats(), float64(None), votes()], Ruling.COMPILER_BUG, "alone"),
    "far beyond rounding in other code, too": (
        [charge(), float64(5e4), AGREES, votes()],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "far from a library that defines it": (
        [charge(kind="instance"), float64(5e4), votes()],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "three results, and nothing but the reference's own code": (
        [charge(), float64(5e4), votes(neither=["tvm"])],
        Ruling.UNDEFINED,
        "scattered",
    ),
    "three results of a comparison": (
        [charge(), float64(None, None), AGREES, votes(neither=BOTH)],
        Ruling.UNDEFINED,
        "scattered",
    ),
    "three results, and other code agrees with the reference": (
        [charge(), float64(5e4), AGREES, votes(neither=["tvm"])],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "reference and compiler are wrong by the words": (
        [charge(), repeats(), float64(249, 4295), DIFFERS, votes(neither=["openvino"])],
        Ruling.COMPILER_BUG,
        "wrong_by_the_words",
    ),
    "wrong by our reading of the words, but two others do the same": (
        [charge(), repeats(), float64(249, 4295), DIFFERS, votes((), ["openvino"])],
        Ruling.REFERENCE_BUG,
        "outvoted_reference",
    ),
    "within the noise, but every element errs alike and nobody else does": (
        [charge(), float64(0.5, 1e-3, systematic=True), AGREES, votes(BOTH)],
        Ruling.COMPILER_BUG,
        "systematic",
    ),
    "every element errs alike, and so does the reference": (
        [charge(), float64(0.5, 0.4, systematic=True), AGREES, votes(BOTH)],
        Ruling.NOISE,
        "rounding",
    ),
    "every element errs alike, and only one other does not": (
        [charge(), float64(0.5, 1e-3, systematic=True), AGREES, votes(["tvm"])],
        Ruling.NOISE,
        "rounding",
    ),
    "a little beyond, confirmed": ([charge(), float64(3), votes(["tvm"])], Ruling.COMPILER_BUG, "proven"),
    "a little beyond, unconfirmed": ([charge(), float64(3), votes()], Ruling.NOISE, "doubtful"),
    "a place that no order explains, where noise is endless": (
        [charge(), float64(0.0), ties(breaks=True), votes(BOTH)],
        Ruling.COMPILER_BUG,
        "misplaced",
    ),
    "such a place in which two others agree": (
        [charge(), float64(0.0), ties(breaks=True), votes((), BOTH)],
        Ruling.NOISE,
        "rounding",
    ),
    "by the specification's words, against all votes": (
        [charge(), repeats(), float64(5e4), second(compiler=True), votes(BOTH)],
        Ruling.REFERENCE_BUG,
        "by_the_words",
    ),
    "other code agrees with the reference": (
        [charge(), repeats(), float64(5e4), second(compiler=False), votes(BOTH)],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "within rounding, against all votes": ([charge(), float64(0.9), votes(BOTH)], Ruling.NOISE, "rounding"),
    "a death that repeats": ([charge("crash:SIGSEGV"), repeats()], Ruling.COMPILER_BUG, "died"),
    "a death that does not": ([charge("crash:SIGSEGV"), repeats(1)], Ruling.NONDETERMINISTIC, "unsteady"),
    "other values each time": (
        [charge(), repeats(3, True), float64(5e4)],
        Ruling.NONDETERMINISTIC,
        "unsteady",
    ),
    "other values each time, all far off, and all others right": (
        [charge(), repeats(3, True), float64(5e4), votes(BOTH)],
        Ruling.COMPILER_BUG,
        "erratic",
    ),
    "other whole numbers each time, and all others right": (
        [charge(), repeats(3, True, whole=True), votes(["openvino"])],
        Ruling.COMPILER_BUG,
        "erratic",
    ),
    "other whole numbers each time, and nobody else was asked": (
        [charge(), repeats(3, True, whole=True), votes()],
        Ruling.NONDETERMINISTIC,
        "unsteady",
    ),
    "other whole numbers each time, of which one is right": (
        [charge(), repeats(2, True, whole=True), votes(["openvino"])],
        Ruling.NONDETERMINISTIC,
        "unsteady",
    ),
    "other values each time within what rounding nearly reaches": (
        [charge(), repeats(3, True), float64(3.0), votes(BOTH)],
        Ruling.NONDETERMINISTIC,
        "unsteady",
    ),
    "other values each time, of which one is right": (
        [charge(), repeats(2, True), float64(5e4), votes(BOTH)],
        Ruling.NONDETERMINISTIC,
        "unsteady",
    ),
    "other values each time, as another compiler": (
        [charge(), repeats(3, True), float64(5e4), votes(BOTH, ["mnn"])],
        Ruling.NONDETERMINISTIC,
        "unsteady",
    ),
    "other values each time, from memory": ([charge(), repeats(2, True), MEMORY], Ruling.COMPILER_BUG, "uninitialised"),
    "two against the reference": (
        [charge(), float64(5e4), votes((), ["openvino"])],
        Ruling.REFERENCE_BUG,
        "outvoted_reference",
    ),
    "two that may not know the newest operators": (
        [charge(), float64(5e4), votes((), ["openvino"], recent=True)],
        Ruling.COMPILER_BUG,
        "alone",
    ),
    "one sides with each": (
        [charge(), float64(5e4), votes(["openvino"], ["onnxruntime"])],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "most side with the compiler": (
        [charge(), float64(5e4), votes(["openvino"], ["onnxruntime", "inductor"])],
        Ruling.UNDEFINED,
        "split",
    ),
    "float64 agrees with the compiler": (
        [charge(), float64(0.5, 1e5), votes()],
        Ruling.REFERENCE_BUG,
        "contradicted_reference",
    ),
    "float64 agrees with the compiler, others do not": (
        [charge(), float64(0.5, 1e5), votes(BOTH)],
        Ruling.NOISE,
        "rounding",
    ),
    "the reference is further off": ([charge(), float64(5, 50), votes()], Ruling.NOISE, "reference_off"),
    "no float64, others confirm": ([charge("wrong:shape"), votes(BOTH)], Ruling.COMPILER_BUG, "outvoted_compiler"),
    "on a new operator nobody but the reference, which float64 contradicts": (
        [charge(), repeats(), float64(2e6, 3e6), AGREES, votes(compiler=BOTH, recent=True)],
        Ruling.UNDEFINED,
        "undecided",
    ),
    "on a new operator nobody but the reference, which float64 confirms": (
        [charge(), repeats(), float64(2e6), votes(compiler=BOTH, recent=True)],
        Ruling.COMPILER_BUG,
        "alone",
    ),
    "on a new operator two others with the compiler's shape": (
        [charge("wrong:shape"), repeats(), votes(compiler=BOTH, recent=True)],
        Ruling.COMPILER_BUG,
        "alone",
    ),
    "nobody can tell": ([charge("wrong:dtype"), repeats(), votes()], Ruling.COMPILER_BUG, "alone"),
    "near the tolerance and clear": (
        [charge(near=True), repeats(), float64(1e4), votes(BOTH)],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "near the tolerance and beyond rounding, outnumbered": (
        [charge(near=True), repeats(), float64(3), votes(BOTH)],
        Ruling.COMPILER_BUG,
        "proven",
    ),
    "near the tolerance and beyond rounding, one against one": (
        [charge(near=True), repeats(), float64(3), votes(BOTH[:1])],
        Ruling.NOISE,
        "near_miss",
    ),
    "near the tolerance and hardly beyond rounding, outnumbered": (
        [charge(near=True), repeats(), float64(1.5), votes(BOTH)],
        Ruling.NOISE,
        "near_miss",
    ),
    "near the tolerance, nobody else": (
        [charge(near=True), repeats(), float64(1e4), votes()],
        Ruling.NOISE,
        "near_miss",
    ),
    "a library defines its own functions": (
        [charge("wrong:dtype", "instance"), votes((), ["openvino", "tvm"])],
        Ruling.COMPILER_BUG,
        "alone",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_verdict_follows_from_the_evidence(name: str) -> None:
    evidence, verdict, rule = CASES[name]
    found = weigh(evidence)
    assert (found.verdict, found.rule) == (verdict, rule)
    assert found.evidence == tuple(evidence) and found.reason


def test_every_rule_is_tried_and_has_a_claim() -> None:
    names = {rule.__name__.strip("_") for rule in RULES}
    assert {rule for _, _, rule in CASES.values()} == names == set(claims())


def test_the_project_whose_bug_it_is_is_named() -> None:
    def project(*evidence: Evidence) -> str:
        return weigh(evidence).project

    assert project(charge(), float64(5e4)) == "tvm"
    assert project(charge(), float64(5e4), votes((), ["openvino"])) == "onnx (reference evaluator)"
    assert project(charge(), float64(0.5)) == ""


def test_evidence_without_a_charge_cannot_be_weighed() -> None:
    with pytest.raises(ValueError, match="no judgement without a charge"):
        weigh([repeats()])


def test_a_judgement_survives_its_json_form() -> None:
    before = weigh([charge(), repeats(), float64(None), votes(BOTH)])
    document: dict[str, Any] = before.document()
    assert judgement_from(document) == before
    assert judgement_from(Judgement(None, "passes").document()) == Judgement(None, "passes")
