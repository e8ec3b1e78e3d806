"""What passes between machines arrives as it was sent, whatever is in it; what nobody can have meant is refused."""

import numpy as np
import pytest

from fuzz import parcels, wire
from fuzz.case import Case, Error, Frame, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.limits import Limits
from fuzz.parcels import Request, Unreadable
from fuzz.pools import Ran
from fuzz.zygote import BackendUnavailable

TARGET = Target("tvm", Revision("0.27.0", "/opt/python", "abc", untrusted=True), (("opt", "3"), ("threads", "1")))
INPUTS: dict[str, wire.Value] = {
    "x": np.arange(6, dtype=np.float32).reshape(2, 3)[:, ::2],
    "": np.array(["ü", "\ud800", ""], dtype=object),
    "input:y": [np.float32([1.5]), None, [np.zeros((0, 3), np.int8)]],
    "z": wire.Raw("bfloat16", (2,), b"\x00\x01\x02\x03"),
}
CASE = Case("onnx", b"\x00model\xff", INPUTS, Origin("onnx_node", "a\ud800b", seed=7, parents=("p",)), expected=(None,))


def same(one: wire.Value, other: wire.Value) -> bool:
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    if one is None or isinstance(one, wire.Raw):
        return other is None if one is None else wire.nbytes(other) == wire.nbytes(one)
    return bool(np.array_equal(np.asarray(one), np.asarray(other)))


def test_a_request_arrives_with_every_kind_of_value() -> None:
    # A lone surrogate among input values is all that changes: no wire has a form for it.
    fine = Case("onnx", CASE.model, {**INPUTS, "": np.array(["ü", ""], dtype=object)}, CASE.origin, CASE.expected)
    sent = Request(
        "alone", TARGET, Limits(2.5, 64), (fine, fine), perturb=170, own=Limits(9, 9), kind="onnx", file="ab"
    )
    got = parcels.request_from(sent.pack())
    assert (got.op, got.target, got.limits, got.own) == (sent.op, sent.target, sent.limits, sent.own)
    assert (got.perturb, got.kind, got.file, len(got.cases)) == (170, "onnx", "ab", 2)
    case = got.cases[1]
    assert (case.id, case.kind, case.model, case.origin, case.expected) == (
        fine.id, fine.kind, fine.model, fine.origin, fine.expected
    )  # fmt: skip
    assert list(case.inputs) == list(fine.inputs)
    assert all(same(fine.inputs[name], case.inputs[name]) for name in fine.inputs)


def test_a_question_needs_no_case() -> None:
    sent = Request("ask", TARGET, Limits(), question={"op": "converters", "operators": [["", "Relu", 17]]})
    assert parcels.request_from(sent.pack()) == sent


def test_outcomes_arrive_with_their_errors_outputs_and_the_cases_before_them() -> None:
    error = Error("ValueError", "bad \udcff axis", (Frame("a.py", 3, "f"),), "SIGSEGV", "said", "Relu", "convert")
    died = Outcome(Status.SIGNAL, Stage.RUN, 0.5, 12.0, error=error, tried=("network",))
    went = Outcome(Status.OK, Stage.RUN, outputs=(("y", np.float32([1, np.nan])), ("y", None)))
    plain = Case("instance", b"{}", {}, Origin("docs"))
    got = parcels.ran_from(parcels.pack_ran([Ran(died, (plain, plain)), Ran(went)]))
    assert got[0] == Ran(died, (plain, plain)) and got[0].outcome.tried == ("network",)
    assert [name for name, _ in got[1].outcome.outputs] == ["y", "y"]
    assert np.isnan(np.asarray(got[1].outcome.values[0])[1]) and got[1].outcome.values[1] is None


def test_a_backend_that_does_not_work_there_is_told_with_its_reason() -> None:
    told = parcels.pack_problem(BackendUnavailable("no such library", raised=True))
    for read in (parcels.ran_from, parcels.document_from):
        with pytest.raises(BackendUnavailable, match="no such library") as problem:
            read(told)
        assert problem.value.raised


@pytest.mark.parametrize("data", [b"", b"garbage", b"GWf1", wire.pack({}, {}), wire.pack({"status": "fine"}, {})])
def test_an_answer_that_makes_no_sense_is_refused(data: bytes) -> None:
    for read in (parcels.ran_from, parcels.document_from):
        with pytest.raises(Unreadable):
            read(data)


@pytest.mark.parametrize("data", [b"", b"garbage", wire.pack({}, {}), wire.pack({"op": "batch", "target": 7}, {})])
def test_a_request_that_makes_no_sense_is_refused(data: bytes) -> None:
    with pytest.raises(Unreadable):
        parcels.request_from(data)
