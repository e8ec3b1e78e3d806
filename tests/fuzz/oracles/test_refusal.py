"""How a model with one deliberate violation must be refused: what passes, what fails, and what it is called."""

from __future__ import annotations

import pytest

from fuzz.case import Error, Frame, Origin, Outcome, Stage, Status
from fuzz.oracles import refusal

PLACE = (Frame("frontend.py", 7, "convert"),)


def raised(kind: str, message: str) -> Outcome:
    return Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error(kind, message, PLACE))


@pytest.mark.parametrize(
    "clear",
    [
        raised("ValueError", "axis 9 is out of range for rank 2"),
        raised("TypeError", "Add expects operands of one data type, but got float32 and int64"),
        raised("AssertionError", "only 4D inputs are supported"),
        raised("RuntimeError", "Check 'axis < rank' failed at src/concat.cpp:12:\nAxis 9 must be below the rank 2."),
        raised("onnxruntime.capi.onnxruntime_pybind11_state.Fail", "Type Error: Type 'tensor(bool)' is invalid."),
        raised("tvm.error.InternalError", "Check failed: (a) is false: power only applies to floats, given (int8)"),
        raised("tvm.error.InternalError", "Check failed: d.size() == 3 (2 vs. 3) : 3 dilations expected, given (1, 1)"),
        raised("tvm.error.OpAttributeUnImplemented", "auto_pad is not supported"),
        Outcome(Status.UNSUPPORTED, Stage.CONVERT, error=Error("NotImplementedError", "Tan of bool")),
        Outcome(Status.SKIPPED, Stage.START, error=Error("CannotFeed", "no such values")),
    ],
)
def test_a_clear_error_passes(clear: Outcome) -> None:
    assert refusal.symptom(clear, "dtype") == ""


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("tvm.error.InternalError", "Check failed: (a == b) is false:"),
        ("KeyError", "'axis'"),
        ("IndexError", "list index out of range"),
        ("AttributeError", "'NoneType' object has no attribute 'value'"),
        ("TypeError", "object of type 'NoneType' has no len()"),
        ("TypeError", "unsupported operand type(s) for +: 'int' and 'NoneType'"),
        ("ValueError", "too many values to unpack (expected 4)"),
        ("tvm.error.InternalError", "Check failed: axes.size() == rank (1 vs. 3) : "),
        ("AssertionError", ""),
        ("RuntimeError", "vector::_M_range_check: __n (which is 3) >= this->size() (which is 2)"),
        ("RuntimeError", "Check 'i < shape.size()' failed at src/core/shape.cpp:81:\n"),
        ("onnxruntime.capi.onnxruntime_pybind11_state.RuntimeException", "node.cc:9 Get i < size_ was false.\n"),
    ],
)
def test_an_error_that_nobody_raised_on_purpose_fails(kind: str, message: str) -> None:
    assert refusal.symptom(raised(kind, message), "rank") == f"asserts-on-invalid:{kind}"


@pytest.mark.parametrize(
    ("outcome", "symptom"),
    [
        (Outcome(Status.SIGNAL, Stage.RUN, error=Error(signal="SIGSEGV")), "dies-on-invalid:crash:SIGSEGV"),
        (Outcome(Status.SIGNAL, Stage.RUN, error=Error(signal="SIGABRT")), "dies-on-invalid:crash:SIGABRT"),
        (Outcome(Status.TIMEOUT, Stage.COMPILE), "dies-on-invalid:hang"),
        (Outcome(Status.OK, Stage.RUN), "accepts-invalid:rank"),
    ],
)
def test_to_die_and_to_say_nothing_fails(outcome: Outcome, symptom: str) -> None:
    assert refusal.symptom(outcome, "rank") == symptom


def test_only_cases_that_say_so_break_something() -> None:
    assert refusal.broken(Origin("hirgen_disruptive", "3", refusal.variant("shape"))) == "shape"
    assert refusal.broken(Origin("hirgen", "3")) == ""
