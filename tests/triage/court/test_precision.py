"""A compiler that says in which type it computes: what follows from that is no bug, anything else is one."""

from __future__ import annotations

from collections.abc import Iterator
from types import SimpleNamespace

import ml_dtypes
import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import Judgement, Ruling, find
from triage.court.hearing import Court
from triage.court.kinds import precision
from triage.court.thresholds import precision_rules


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


def heard(runner: Runner, text: str, backend: str = "openvino", **inputs: np.ndarray) -> Judgement:
    model = parser.parse_model('<ir_version: 8, opset_import: ["": 17]>\n' + text)
    case = Case("onnx", model.SerializeToString(), inputs, Origin("test"))
    return Court(runner, catalogue.target("reference")).hear(case, catalogue.target(backend))


def test_every_rule_says_where_the_compiler_says_so() -> None:
    assert precision_rules()
    assert all(rule.source.startswith("https://") and rule.reason for rule in precision_rules())


@pytest.mark.parametrize(
    ("options", "excused"),
    [({}, True), ({"engine": "plugin"}, True), ({"engine": "interpreter"}, False), ({"device": "GPU"}, False)],
)
def test_what_the_cpu_plugin_computes_in_excuses_nothing_else(options: dict[str, str], excused: bool) -> None:
    values = {"actual": [np.array([0, 1])], "expected": [np.array([2**40, 1])], "compares_values": True}
    case = Case("instance", b"{}", {}, Origin("test"))
    found = precision.gather(SimpleNamespace(case=case, target=catalogue.target("openvino", options), **values))  # type: ignore[arg-type]
    assert (found is not None) is excused


def test_a_remainder_of_doubles_that_float32_cannot_hold_is_no_bug(runner: Runner) -> None:
    text = "g (double[2] a, double[1] b) => (double[2] c) { c = Mod<fmod=1>(a, b) }"
    found = heard(runner, text, a=np.array([11013.2, 81377.4]), b=np.array([1.0]))
    assert found.verdict is Ruling.NOISE, found.reason
    assert "with float32 in the place of float64 the reference has its result" in found.reason


def test_a_half_that_is_never_rounded_to_is_no_bug(runner: Runner) -> None:
    text = "g (float[2] a) => (int64[2] c) { b = Cast<to=10>(a) c = Cast<to=7>(b) }"
    found = heard(runner, text, a=np.array([1.9999806, 3.5], np.float32))
    assert found.verdict is Ruling.NOISE, found.reason


def test_whole_numbers_that_int32_does_not_hold_are_not_supported(runner: Runner) -> None:
    text = "g (int64[3] x, int64[3] z) => (int64[3] y) { y = Add(x, z) }"
    found = heard(runner, text, x=np.array([2**40, 5, -(2**33)]), z=np.array([1, 2, 3]))
    assert found.verdict is Ruling.UNSUPPORTED, found.reason
    assert "only numbers that int32 does not hold are wrong" in found.reason


def test_a_call_with_such_whole_numbers_is_not_supported_either(runner: Runner) -> None:
    text = b'{"api": "torch.add", "args": [{"dtype": "int64", "values": [1099511627776]}, 3]}'
    court = Court(runner, catalogue.target("reference"))
    found = court.hear(Case("instance", text, {}, Origin("test")), catalogue.target("openvino"))
    assert found.verdict is Ruling.UNSUPPORTED, found.reason


def test_a_number_that_int32_holds_is_no_excuse_for_being_wrong(runner: Runner) -> None:
    text = "g (int64[2] x, int64 v) => (int64[4] y) <int64[2] p = {1, 1}> { y = Pad(x, p, v) }"
    found = heard(runner, text, x=np.array([2**40, 3]), v=np.array(7))
    assert found.verdict is Ruling.COMPILER_BUG, found.reason


def test_a_long_sum_of_bfloat16_is_no_bug(runner: Runner) -> None:
    numbers = np.random.default_rng(1).uniform(0, 1, 4000).astype(ml_dtypes.bfloat16)
    found = heard(runner, "g (bfloat16[4000] x) => (bfloat16[1] y) { y = ReduceSum(x) }", x=numbers)
    assert found.verdict is Ruling.NOISE, found.reason


def test_doubles_beyond_the_range_of_float32_are_no_bug(runner: Runner) -> None:
    found = heard(runner, "g (double[2] x) => (double[2] y) { y = Exp(x) }", x=np.array([200.0, 1.0]))
    assert found.verdict is Ruling.NOISE, found.reason
    text = "g (double[2] x) => (float[2] y) { y = Cast<to: int = 1>(x) }"
    found = heard(runner, text, x=np.array([1e300, 1.0]))
    assert found.verdict is Ruling.NOISE, found.reason


def test_what_is_wrong_in_any_type_is_a_bug(runner: Runner) -> None:
    """A value of padding that is no constant is taken for zero."""
    text = "g (double[2] x, double v) => (double[4] y) <int64[2] p = {1, 1}> { y = Pad(x, p, v) }"
    found = heard(runner, text, x=np.array([2.0, 3.0]), v=np.array(1.0))
    assert found.verdict is Ruling.COMPILER_BUG, found.reason
    assert find(found.evidence, "precision") is None
