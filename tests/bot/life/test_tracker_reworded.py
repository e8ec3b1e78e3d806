"""The same bug in a person's words is found, and its neighbours are not taken for it: ten invented pairs."""

from __future__ import annotations

import pytest

from bot.life import tracker
from tests.bot.life.test_tracker import seen
from tests.triage import bugs
from triage.records import Bug

AXES = "Check 'axes_are_valid' failed at src/core/shape_inference/reduce.hpp: axis 3 is out of the tensor rank range"


def bug(backend: str, title: str, operator: str, symptom: str = "wrong:values", message: str = "values differ") -> Bug:
    return bugs.bug(backend, title=title, operators=(operator,), symptom=symptom, message=message)


IS_INF = bug("tvm", "[Bug][Relax][ONNX] IsInf ignores detect_positive=0: returns True instead of False", "IsInf")
RESIZE = bug(
    "tvm", "[Bug][Relax][ONNX] Resize with mode='cubic' and exclude_outside=1 returns 0.5 instead of 0.25", "Resize"
)
REDUCE = bug("openvino", "[Bug]: ReduceMin of an empty axis raises RuntimeError", "ReduceMin", "exception", AXES)
CUM_SUM = bug("onnxruntime", "CumSum with reverse=1 and exclusive=1 returns 3 instead of 0", "CumSum")
GRID = bug(
    "tvm", "[Bug][Relax][ONNX] Conversion of GridSample with padding_mode='reflection' crashes", "GridSample", "crash"
)

SAME = [
    (IS_INF, "[ONNX] detect_positive attribute is not respected by IsInf", "Positive infinities still give True."),
    (RESIZE, "Wrong output of cubic Resize when exclude_outside is set", "ORT differs: Resize, mode cubic."),
    (REDUCE, "OpenVINO cannot convert my model", f"RuntimeError: {AXES.replace('3', '1')}\n"),
    (CUM_SUM, "CumSum gives incorrect results for exclusive + reverse", "See the title."),
    (GRID, "Segfault importing GridSample (reflection padding_mode)", "The importer dies."),
]
OTHERS = [
    (IS_INF, "IsInf ignores detect_negative=0 and reports -inf", "With detect_negative=0 it is True."),
    (RESIZE, "Resize with coordinate_transformation_mode align_corners gives wrong values", "In linear mode."),
    (REDUCE, "ReduceMin of uint8 returns garbage for large inputs", "Wrong values."),
    (CUM_SUM, "Feature request: CumSum kernel for the GPU", "It would be great."),
    (GRID, "GridSample padding_mode border crashes", 'With padding_mode="border" the importer dies.'),
]


@pytest.mark.parametrize(("mine", "title", "body"), SAME)
def test_the_same_bug_in_other_words_is_known(mine: Bug, title: str, body: str) -> None:
    found = tracker.compared(mine, "issue:f-1", "bot[bot]", {5: seen(5, title, body=body)})
    assert found.same is not None and found.same.issue.number == 5


@pytest.mark.parametrize(("mine", "title", "body"), OTHERS)
def test_another_bug_of_the_same_operator_is_not_taken_for_it(mine: Bug, title: str, body: str) -> None:
    found = tracker.compared(mine, "issue:f-1", "bot[bot]", {5: seen(5, title, body=body)})
    assert found.same is None


@pytest.mark.parametrize("title", [title for _, title, _ in SAME + OTHERS])
def test_no_bug_is_taken_for_that_of_another_pair(title: str) -> None:
    mine = [one for one, told, _ in SAME + OTHERS if told == title]
    for other in (IS_INF, RESIZE, REDUCE, CUM_SUM, GRID):
        if other not in mine:
            assert tracker.compared(other, "issue:f-1", "bot[bot]", {5: seen(5, title)}).same is None


def test_one_option_of_several_is_alike_and_not_the_same() -> None:
    found = tracker.compared(RESIZE, "issue:f-1", "bot[bot]", {5: seen(5, "Wrong result of Resize with mode nearest")})
    assert found.same is None and [one.issue.number for one in found.alike] == [5]
