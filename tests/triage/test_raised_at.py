"""What one place behind the frontends raises is one bug, whatever led there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Frame, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import raised_at
from triage.lifecycle import State
from triage.records import Bug, NewFailure
from triage.signature import Signature
from triage.signing import Signer
from triage.store import Store, open_store

TVM = Target("tvm", Revision("0.27.0"))
CHECK = "power only applies to float"
STACK = (*(("relax/step.py", line) for line in range(5)), ("src/tirx/op.cc", 258))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def failure(
    name: str, places: Sequence[tuple[str, int]] = STACK, stage: Stage = Stage.COMPILE, target: Target = TVM
) -> Failure:
    frames = tuple(Frame(f"/opt/{name}/{file}", line, "f") for file, line in (("own/start.py", 1), *places))
    outcome = Outcome(Status.EXCEPTION, stage, error=Error("InternalError", CHECK, frames))
    case = Case("onnx", name.encode(), {"x": np.arange(3)}, Origin("test", name))
    return Failure(case, target, outcome, None, "crash", "exception:InternalError", CHECK)


def settled(store: Store, of: Failure, operator: str) -> Bug:
    store.record(0, (), [NewFailure(of, operator, f"convert_{operator}", (operator,), CHECK, "same")])
    made = next(found for found in store.bugs() if found.fingerprint == operator)
    for before, after in zip(
        (State.NEW, State.CONFIRMED, State.REDUCED), (State.CONFIRMED, State.REDUCED, State.LOCATED), strict=True
    ):
        store.advance(made.id, before, after)
    return store.bug(made.id)


def signed(message: str = CHECK) -> Signature:
    return Signature("tvm", "convert_norm", "conversion function", "exception:InternalError", message, "same")


def test_two_operators_that_end_in_one_check_by_one_stack_are_one_bug(store: Store) -> None:
    first, other = settled(store, failure("a"), "Pow"), settled(store, failure("b"), "norm")
    found = raised_at.twin(store, other, signed(), failure("b"))
    assert found is not None and found.id == first.id
    assert raised_at.why(found).startswith(f"same as bug {first.id} because one place")


@pytest.mark.parametrize(
    "other",
    [
        failure("b", stage=Stage.CONVERT),
        failure("b", (*STACK[:-1], ("src/tirx/op.cc", 300))),
        failure("b", (*STACK[:2], ("relax/step.py", 77), *STACK[3:])),
        failure("b", STACK[-3:]),
        failure("b", (*STACK[:-1], ("relax/last.py", 258))),
        failure("b", target=Target("tvm", Revision("0.26.0"))),
    ],
    ids=["frontend", "other check", "other way", "few frames", "no native place", "other build"],
)
def test_what_a_frontend_raises_or_another_stack_is_another_bug(store: Store, other: Failure) -> None:
    settled(store, failure("a"), "Pow")
    assert raised_at.twin(store, settled(store, other, "norm"), signed(), other) is None


def test_other_words_are_another_bug(store: Store) -> None:
    settled(store, failure("a"), "Pow")
    other = settled(store, failure("b"), "norm")
    assert raised_at.twin(store, other, signed("division only applies to float"), failure("b")) is None


def test_tvms_two_powers_of_integers_are_one_bug(store: Store) -> None:
    pytest.importorskip("tvm")
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["": 15]> g (int64[1] x, int64[1] y) => (int64[1] z) { z = Pow(x, y) }'
    )
    two = np.array([2], np.int64)
    tensor = b'{"dtype": "int64", "shape": [1], "values": [2]}'
    cases = [
        Case("onnx", model.SerializeToString(), {"x": two, "y": two}, Origin("test")),
        Case("instance", b'{"api": "torch.pow", "args": [%s, %s]}' % (tensor, tensor), {}, Origin("test")),
    ]
    with Runner(Limits(seconds=600), jobs=1) as runner:
        judge, sign = Judge(runner, catalogue.target("reference")), Signer(runner).sign
        first, second = (judge.examine(case, catalogue.target("tvm")).failure for case in cases)
        if first is None or second is None:
            pytest.skip("this TVM takes integers")
        store.record(0, (), [Signer(runner).describe(first), Signer(runner).describe(second)])
        one, other = store.bugs()
        for before, after in ((State.NEW, State.CONFIRMED), (State.CONFIRMED, State.REDUCED)):
            store.advance(one.id, before, after)
        store.advance(one.id, State.REDUCED, State.LOCATED)
        found = raised_at.twin(store, other, sign(second), second)
    assert found is not None and found.id == one.id
