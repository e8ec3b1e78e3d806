"""What a script and a test compare, executed: they fail on the wrong values and pass on the right ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzz.case import Case, Origin, Outcome, Stage, Status
from triage.checks import Checks, checks
from triage.layout import assemble

Arrays = list[np.ndarray[Any, Any]]


def float32(*values: Any) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


def made(want: Arrays, got: Arrays) -> Checks:
    case = Case("onnx", b"", {}, Origin("test"))
    wanted, gotten = (tuple((str(at), value) for at, value in enumerate(each)) for each in (want, got))
    wrong, right = Outcome(Status.WRONG, Stage.RUN, outputs=gotten), Outcome(Status.OK, Stage.RUN, outputs=wanted)
    return checks(case, wrong, right, "wrong:values")


def run(found: Checks, actual: Arrays) -> None:
    exec(assemble(["\n".join(found.lines(shown=True))]), {"actual": actual})


WANT = [float32(1, 2), float32(3, 4), float32(5)]


def test_several_wrong_outputs_are_compared_in_one_loop(capsys: pytest.CaptureFixture[str]) -> None:
    found = made(WANT, [WANT[0], float32(3, 9), float32(7)])
    assert found.loop == "for at, want in expected.items():"
    assert len(found.lines()) == 3 and not any("print" in line for line in found.lines())
    run(found, WANT)
    assert capsys.readouterr().out.count("expected:") == 2
    for wrong in ([WANT[0], float32(3, 9), WANT[2]], [*WANT[:2], float32(7)]):
        with pytest.raises(AssertionError):
            run(found, wrong)


def test_a_wrong_shape_of_one_of_them_is_checked_though_numpy_would_broadcast_it() -> None:
    found = made(WANT, [float32(1, 9), WANT[1], np.array(5, np.float32)])
    assert "    assert actual[at].shape == want.shape, actual[at].shape" in found.lines()
    run(found, WANT)
    with pytest.raises(AssertionError):
        run(found, [WANT[0], WANT[1], np.array(5, np.float32)])


def test_a_wrong_type_of_one_of_them_is_checked() -> None:
    found = made(WANT, [float32(1, 9), np.array([3, 4], np.float64), WANT[2]])
    assert "    assert actual[at].dtype == want.dtype, actual[at].dtype" in found.lines()
    with pytest.raises(AssertionError):
        run(found, [WANT[0], np.array([3, 4], np.float64), WANT[2]])


def test_outputs_that_are_compared_in_different_ways_have_statements_of_their_own() -> None:
    want, got = [float32(1), np.array([1])], [float32(2), np.array([2])]
    found = made(want, got)
    assert not found.loop and [line for line in found.lines() if line.startswith("expected_1 = ")]
    run(found, want)
    with pytest.raises(AssertionError):
        run(found, [want[0], got[1]])


def test_one_wrong_output_needs_no_loop() -> None:
    found = made(WANT, [WANT[0], float32(3, 9), WANT[2]])
    assert not found.loop and found.pairs == (("expected", "actual[1]"),)


def test_of_a_wrong_type_the_outputs_are_compared_whose_numbers_are_right() -> None:
    """Batch normalisation returned float32 for three outputs of float16, and another bug's numbers in two of these."""
    case = Case("instance", b'{"library": "torch", "api": "torch.relu", "args": []}', {}, Origin("test"))
    want = [np.float16([1, 2]), np.float16([3, 4]), np.float16([5, 6])]
    got = [want[0].astype(np.float32), float32(3, 9), float32(0, 0)]
    wanted, gotten = (tuple((str(at), value) for at, value in enumerate(each)) for each in (want, got))
    wrong, right = Outcome(Status.WRONG, Stage.RUN, outputs=gotten), Outcome(Status.OK, Stage.RUN, outputs=wanted)
    found = checks(case, wrong, right, "wrong:dtype")
    run(found, [want[0], got[1], got[2]])
    with pytest.raises(AssertionError):
        run(found, got)
