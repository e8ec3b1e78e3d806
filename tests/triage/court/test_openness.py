"""What is open in a case excuses the elements that hang on it, and no others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, validity
from fuzz.case import Case, Origin
from fuzz.data import data_path
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import Ruling
from triage.court.hearing import Court
from triage.court.openness import open_masks

FLOAT, INT32 = TensorProto.FLOAT, TensorProto.INT32


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=2) as shared:
        yield shared


def case(
    nodes: Sequence[tuple[Any, ...]],
    inputs: dict[str, np.ndarray],
    output: int,
    shape: Sequence[int | str],
    opset: int = 13,
) -> Case:
    made = [helper.make_node(*node[:3], **(node[3] if len(node) > 3 else {})) for node in nodes]
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    graph = helper.make_graph(made, "g", infos, [helper.make_tensor_value_info("z", output, shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def masks(runner: Runner, subject: Case) -> Any:
    reference = catalogue.target("reference")
    [known] = validity.judge(runner, [subject], reference)
    recorded = validity.recorded(runner, subject, reference)
    found = open_masks(runner, reference, subject, recorded, [value for _, value in known.outcome.outputs])
    return None if found is None else found[0].tolist()


WILD = np.float32([1e20, 2, 3, 4])
CAST = ("Cast", ["x"], ["a"], {"to": INT32})
UNORDERED, ORDERED = np.float32([np.nan, 1, 5]), np.float32([1, 2, 3])
LINES = np.float32([[np.nan, 1, 5], [1, 2, 3]])
MATRICES = np.float32([[[np.inf, 1], [1, 2]], [[1, 2], [3, 4]]])
UNSORTED = np.where(np.isinf(MATRICES), np.nan, MATRICES)
TWICE = np.array([1, 3, -3])


def running(x: list[list[int]], **how: int) -> Case:
    given = {"x": np.array(x, np.int32), "n": np.array(1)}
    return case([("CumSum", ["x", "n"], ["z"], how)], given, INT32, [2, 3], 14)


OPEN: dict[str, tuple[Case, Any]] = {
    "the element itself": (case([("Cast", ["x"], ["z"], {"to": INT32})], {"x": WILD}, INT32, [4]), [1, 0, 0, 0]),
    "what is computed from it": (case([CAST, ("Add", ["a", "a"], ["z"])], {"x": WILD}, INT32, [4]), [1, 0, 0, 0]),
    "where it is moved to": (
        case([CAST, ("Gather", ["a", "i"], ["z"])], {"x": WILD, "i": np.array([3, 0])}, INT32, [2]),
        [0, 1],
    ),
    "all that it is summed into": (
        case([CAST, ("ReduceMax", ["a"], ["z"], {"keepdims": 0})], {"x": WILD}, INT32, []),
        1,
    ),
    "a maximum with NaN": (
        case([("Max", ["x", "y"], ["z"])], {"x": UNORDERED, "y": ORDERED}, FLOAT, [3]),
        [1, 0, 0],
    ),
    "a maximum of a line with NaN": (
        case([("ReduceMax", ["x"], ["z"], {"axes": [1], "keepdims": 0})], {"x": LINES}, FLOAT, [2]),
        [1, 0],
    ),
    "such a maximum whose axes are an input": (
        case([("ReduceMax", ["x", "n"], ["z"], {"keepdims": 0})], {"x": LINES, "n": np.array([1])}, FLOAT, [2], 18),
        [1, 0],
    ),
    "a window with NaN": (
        case([("MaxPool", ["x"], ["z"], {"kernel_shape": [2]})], {"x": UNORDERED[None, None]}, FLOAT, [1, 1, 2]),
        [[[1, 0]]],
    ),
    "the largest of a line with NaN": (
        case([("TopK", ["x", "n"], ["z", "w"])], {"x": LINES, "n": np.array([2])}, FLOAT, [2, 2]),
        [[1, 1], [0, 0]],
    ),
    "the places of these": (
        case([("TopK", ["x", "n"], ["v", "z"])], {"x": LINES, "n": np.array([2])}, TensorProto.INT64, [2, 2]),
        [[1, 1], [0, 0]],
    ),
    "a maximum of all that a channel holds": (
        case([("GlobalMaxPool", ["x"], ["z"])], {"x": LINES[None, :, None]}, FLOAT, [1, 2, 1, 1]),
        [[[[1]], [[0]]]],
    ),
    "a line with infinity that is exponentiated": (
        case([("Softmax", ["x"], ["z"])], {"x": np.float32([[np.inf, 1], [-np.inf, 1]])}, FLOAT, [2, 2]),
        [[1, 1], [0, 0]],
    ),
    "a line of an older Softmax, which is all that lies behind its axis": (
        case([("Softmax", ["x"], ["z"])], {"x": MATRICES}, FLOAT, [2, 2, 2], 11),
        [[[1, 1], [1, 1]], [[0, 0], [0, 0]]],
    ),
    "a line of an older Hardmax": (
        case([("Hardmax", ["x"], ["z"], {"axis": -2})], {"x": UNSORTED}, FLOAT, [2, 2, 2], 11),
        [[[1, 1], [1, 1]], [[0, 0], [0, 0]]],
    ),
    "a division by zero": (
        case(
            [("Div", ["x", "y"], ["z"])],
            {"x": np.array([4, 9], np.int32), "y": np.array([0, 2], np.int32)},
            INT32,
            [2],
        ),
        [1, 0],
    ),
    "an interpolated integer that is rounded": (
        case(
            [("Resize", ["x", "", "s"], ["z"], {"mode": "linear"})],
            {"x": np.array([[[[0, 255, 255, 3]]]], np.uint8), "s": np.float32([1, 1, 1, 2])},
            TensorProto.UINT8,
            [1, 1, 1, 8],
        ),
        [[[[0, 1, 1, 0, 0, 0, 0, 0]]]],
    ),
    "an integer that a bias moves too far": (
        case([("Shrink", ["x"], ["z"], {"bias": -100.0})], {"x": np.int8([-100, 0, 9])}, TensorProto.INT8, [3]),
        [1, 0, 0],
    ),
    "a norm whose squares overflow": (
        case(
            [("ReduceL2", ["x", "n"], ["z"], {"keepdims": 0})],
            {"x": np.array([[100000, 5], [3, 4]], np.int32), "n": np.array([1])},
            INT32,
            [2],
            18,
        ),
        [1, 0],
    ),
    "the element that two updates go to": (
        case([("ScatterElements", ["x", "i", "y"], ["z"])], {"x": WILD, "i": TWICE, "y": ORDERED}, FLOAT, [4]),
        [0, 1, 0, 0],
    ),
    "such an element of one line of several": (
        case(
            [("ScatterElements", ["x", "i", "y"], ["z"], {"axis": 1})],
            {"x": LINES, "i": np.array([[2, -1], [2, -2]]), "y": LINES[:, :2]},
            FLOAT,
            [2, 3],
        ),
        [[0, 0, 1], [0, 0, 0]],
    ),
    "the slice that two updates go to": (
        case(
            [("ScatterND", ["x", "i", "y"], ["z"])],
            {"x": MATRICES, "i": np.array([[0, 1], [-2, -1], [1, 0]]), "y": np.float32([[1, 2], [3, 4], [5, 6]])},
            FLOAT,
            [2, 2, 2],
        ),
        [[[0, 0], [1, 1]], [[0, 0], [0, 0]]],
    ),
    "an element whose largest update is no number": (
        case(
            [("ScatterElements", ["x", "i", "y"], ["z"], {"reduction": "max"})],
            {"x": np.float32([np.nan, 1, np.nan, 1]), "i": np.array([2, 1, 3]), "y": np.float32([1, 7, np.nan])},
            FLOAT,
            [4],
            18,
        ),
        [0, 0, 1, 1],
    ),
    "a number of a slice whose smallest update is no number": (
        case(
            [("ScatterND", ["x", "i", "y"], ["z"], {"reduction": "min"})],
            {"x": MATRICES, "i": np.array([[0, 1]]), "y": np.float32([[1, np.nan]])},
            FLOAT,
            [2, 2, 2],
            18,
        ),
        [[[0, 0], [0, 1]], [[0, 0], [0, 0]]],
    ),
    "a product of bytes that 32 bits do not hold": (
        case(
            [("MatMulInteger", ["x", "y"], ["z"])],
            {
                "x": np.stack([np.full(34000, 255, np.uint8), np.ones(34000, np.uint8)]),
                "y": np.full((34000, 1), 255, np.uint8),
            },
            INT32,
            [2, 1],
        ),
        [[1], [0]],
    ),
    "a running sum from where it overflows": (running([[1, 2**31 - 1, -5], [1, 2, 3]]), [[0, 1, 1], [0, 0, 0]]),
    "one that runs backwards": (running([[1, 5, 2**31 - 1], [1, 2, 3]], reverse=1), [[1, 1, 0], [0, 0, 0]]),
    "one that leaves out the element itself": (
        running([[2**31 - 1, 5, 0], [1, 2, 2**31 - 2]], exclusive=1),
        [[0, 0, 1], [0, 0, 0]],
    ),
    "an infinite weight on the padding": (
        case(
            [("Conv", ["x", "w"], ["z"], {"pads": [1, 0]})],
            {"x": np.float32([[[1, 2, 3]]]), "w": np.float32([[[np.inf, 1]], [[1, 1]]])},
            FLOAT,
            [1, 2, 3],
        ),
        [[[1, 0, 0], [0, 0, 0]]],
    ),
    "an infinite weight of one of two groups between what is spread": (
        case(
            [("ConvTranspose", ["x", "w"], ["z"], {"group": 2})],
            {"x": np.float32([[[1, 2], [3, 4]]]), "w": np.float32([[[np.inf, 1]], [[1, 1]]])},
            FLOAT,
            [1, 2, 3],
        ),
        [[[0, 0, 1], [0, 0, 0]]],
    ),
    "a sum that overflows": (
        case(
            [("ReduceSum", ["x", "n"], ["z"], {"keepdims": 0})],
            {"x": np.array([[2**31 - 1, 5], [1, 2]], np.int32), "n": np.array([1])},
            INT32,
            [2],
        ),
        [1, 0],
    ),
}


@pytest.mark.parametrize("name", OPEN)
def test_what_hangs_on_an_open_element_is_open_and_nothing_else(name: str, runner: Runner) -> None:
    subject, expected = OPEN[name]
    assert np.array_equal(masks(runner, subject), np.array(expected, bool))


def test_where_nobody_can_tell_the_elements_apart_all_of_them_are_open(runner: Runner) -> None:
    unique = case([("Unique", ["x"], ["z"])], {"x": UNORDERED}, FLOAT, ["n"])
    assert masks(runner, unique) is None


def fault(tmp_path: Path) -> str:
    """The faulty compiler of the calibration set, which is wrong in its last element, of integers too."""
    text = data_path("calibration", "faulty.py").read_text()
    path = tmp_path / "last.py"
    path.write_text(text.replace('if value.dtype.kind == "f" else value', "if value.size else value"))
    return str(path)


def test_a_wrong_element_beside_an_open_one_is_a_bug(runner: Runner, tmp_path: Path) -> None:
    subject = case([("Max", ["x", "y"], ["z"])], {"x": UNORDERED, "y": ORDERED}, FLOAT, [3])
    accused = catalogue.target(fault(tmp_path), {"fault": "one_element"})
    found = Court(runner, catalogue.target("reference")).hear(subject, accused)
    assert found.verdict is Ruling.COMPILER_BUG, found.reason
    assert any("elements that this does not touch differ, too" in each.sentence for each in found.evidence)


def test_a_wrong_element_beside_a_rounded_one_is_a_bug(runner: Runner, tmp_path: Path) -> None:
    subject, _ = OPEN["an interpolated integer that is rounded"]
    accused = catalogue.target(fault(tmp_path), {"fault": "tail"})
    found = Court(runner, catalogue.target("reference")).hear(subject, accused)
    assert found.verdict is Ruling.COMPILER_BUG, found.reason
    assert "wrong:values" in str(found.evidence)


def test_an_open_element_alone_is_no_bug(runner: Runner) -> None:
    subject = case([("Max", ["x", "y"], ["z"])], {"x": UNORDERED, "y": ORDERED}, FLOAT, [3])
    found = Court(runner, catalogue.target("reference")).hear(subject, catalogue.target("tvm"))
    assert found.verdict is Ruling.UNDEFINED, found.reason


def beside_random(wrong: bool) -> Case:
    """A random output, and beside it the maximum of two inputs or, for the compiler to be right, nothing but a copy."""
    subject = case([("Max", ["x", "y"], ["z"])], {"x": ORDERED, "y": ORDERED[::-1].copy()}, FLOAT, [3])
    model = onnx.load_model_from_string(subject.model)
    model.graph.node.append(helper.make_node("RandomUniformLike", ["x" if wrong else "z"], ["u"]))
    if not wrong:
        model.graph.node.append(helper.make_node("Sub", ["z", "u"], ["d"]))
        del model.graph.output[:]
    name = "u" if wrong else "d"
    model.graph.output.append(helper.make_tensor_value_info(name, FLOAT, [3]))
    return replace(subject, model=model.SerializeToString())


def test_a_wrong_output_beside_a_random_one_is_a_bug(runner: Runner, tmp_path: Path) -> None:
    accused = catalogue.target(fault(tmp_path), {"fault": "one_element"})
    found = Court(runner, catalogue.target("reference")).hear(beside_random(wrong=True), accused)
    assert found.verdict is Ruling.COMPILER_BUG, found.reason
    assert any("what does not hang on it differs, too" in each.sentence for each in found.evidence)
    assert found.evidence[0].figures["symptom"] == "wrong:values"


def test_a_random_output_is_no_bug(runner: Runner, tmp_path: Path) -> None:
    court = Court(runner, catalogue.target("reference"))
    accused = catalogue.target(fault(tmp_path), {"fault": "one_element"})
    for subject, target in ((beside_random(wrong=False), accused), (beside_random(wrong=True), "onnxruntime")):
        found = court.hear(subject, catalogue.target(target) if isinstance(target, str) else target)
        assert found.verdict is Ruling.NONDETERMINISTIC, found.reason


#: By what is done with random numbers: a case whose last element hangs on them, and whether the first one does.
DRAWN = {
    "put beside": (
        [("RandomUniformLike", ["x"], ["u"]), ("Concat", ["x", "u"], ["z"], {"axis": 0})],
        {"x": ORDERED},
        FLOAT,
        [6],
        False,
    ),
    "put beside what is open itself": (
        [
            ("Max", ["y", "x"], ["m"]),
            ("RandomUniformLike", ["x"], ["u"]),
            ("Concat", ["x", "m", "u"], ["z"], {"axis": 0}),
        ],
        {"x": ORDERED, "y": UNORDERED},
        FLOAT,
        [9],
        False,
    ),
    "sorted": (
        [("RandomUniformLike", ["x"], ["u"]), ("ArgMax", ["u"], ["z"])],
        {"x": ORDERED},
        TensorProto.INT64,
        [1],
        True,
    ),
    "added": ([("RandomUniformLike", ["x"], ["u"]), ("Add", ["x", "u"], ["z"])], {"x": ORDERED}, FLOAT, [3], True),
}


@pytest.mark.parametrize("name", DRAWN)
def test_random_numbers_excuse_the_elements_that_hang_on_them_and_no_others(name: str, runner: Runner) -> None:
    nodes, inputs, dtype, shape, reaches_first = DRAWN[name]
    subject = case(nodes, inputs, dtype, shape)
    first, last = slipped(runner, subject, "one more"), slipped(runner, subject, "one more", shape[0] - 1)
    assert first.verdict is (Ruling.NONDETERMINISTIC if reaches_first else Ruling.COMPILER_BUG), first.reason
    assert last.verdict in (Ruling.NONDETERMINISTIC, Ruling.UNDEFINED), last.reason


SLIPS = str(Path(__file__).with_name("slips.py"))
I8 = TensorProto.INT8
FULL = {"x": np.int8([100, 1]), "y": np.int8([100, 1])}
#: What is open or random in values alone: a slip in the form of the result is none of these.
FORMED = {
    "a sum that overflows": case([("Add", ["x", "y"], ["z"])], FULL, I8, [2], 14),
    "a cast out of range": case([("Cast", ["x"], ["z"], {"to": INT32})], {"x": WILD}, INT32, [4]),
    "a maximum with NaN": case([("Max", ["x", "y"], ["z"])], {"x": UNORDERED, "y": ORDERED}, FLOAT, [3]),
    "random numbers": case([("RandomNormalLike", ["x"], ["z"])], {"x": ORDERED}, FLOAT, [3]),
    "what is computed from open values": case(
        [CAST, ("Unsqueeze", ["a", "n"], ["z"])], {"x": WILD, "n": np.array([0])}, INT32, [1, 4]
    ),
}
#: What is open in its sizes, too, or decides those of a later result.
SIZED = {
    "Unique of NaN": case([("Unique", ["x"], ["z"])], {"x": UNORDERED}, FLOAT, ["n"]),
    "the places of open values": case(
        [("Add", ["x", "y"], ["a"]), ("NonZero", ["a"], ["z"])], FULL, TensorProto.INT64, [1, "n"], 14
    ),
    "as many as an open value says": case(
        [CAST, ("Cast", ["a"], ["b"], {"to": TensorProto.INT64}), ("Slice", ["y", "n", "b"], ["z"])],
        {"x": np.float32([1e20]), "y": ORDERED, "n": np.array([0])},
        FLOAT,
        ["n"],
    ),
    "what random numbers select": case(
        [("RandomNormalLike", ["x"], ["a"]), ("Unique", ["a"], ["z"])], {"x": ORDERED}, FLOAT, ["n"]
    ),
}


def slipped(runner: Runner, subject: Case, slip: str, at: int = 0) -> Any:
    accused = catalogue.target(SLIPS, {"slip": slip, "at": str(at)})
    return Court(runner, catalogue.target("reference")).hear(subject, accused)


@pytest.mark.parametrize("slip", ["one more axis", "other dtype"])
@pytest.mark.parametrize("name", FORMED)
def test_no_open_or_random_value_excuses_another_shape_or_dtype(name: str, slip: str, runner: Runner) -> None:
    found = slipped(runner, FORMED[name], slip)
    assert found.verdict is Ruling.COMPILER_BUG, found.reason
    assert any("has no part" in each.sentence or "have no part" in each.sentence for each in found.evidence)


@pytest.mark.parametrize("name", SIZED)
def test_where_an_open_value_decides_sizes_another_shape_is_no_bug_but_another_dtype_is(
    name: str, runner: Runner
) -> None:
    assert slipped(runner, SIZED[name], "one more axis").verdict in (Ruling.UNDEFINED, Ruling.NONDETERMINISTIC)
    assert slipped(runner, SIZED[name], "other dtype").verdict is Ruling.COMPILER_BUG


def unsorted(outputs: Sequence[str], reader: bool = False) -> Case:
    """The two largest of [1, 5, 3, 9] in any order; `outputs` of values and places."""
    x = np.float32([1, 5, 3, 9])
    subject = case(
        [("TopK", ["x", "n"], ["v", "w"], {"sorted": 0})], {"x": x, "n": np.array([2])}, TensorProto.INT64, [2]
    )
    model = onnx.load_model_from_string(subject.model)
    del model.graph.output[:]
    for name in outputs:
        model.graph.output.append(helper.make_tensor_value_info(name, FLOAT if name == "v" else TensorProto.INT64, [2]))
    if reader:
        model.graph.node.append(helper.make_node("Neg", ["v"], ["m"]))
        model.graph.output.append(helper.make_tensor_value_info("m", FLOAT, [2]))
    return replace(subject, model=model.SerializeToString())


@pytest.mark.parametrize("outputs", [["v", "w"], ["v"], ["w"]])
def test_the_largest_in_another_order_are_right_without_an_order_and_others_are_wrong(
    outputs: list[str], runner: Runner
) -> None:
    assert slipped(runner, unsorted(outputs), "backwards").verdict is Ruling.UNDEFINED
    assert slipped(runner, unsorted(outputs), "one less", 1).verdict is Ruling.COMPILER_BUG


def test_an_order_that_is_open_and_read_excuses_all_that_is_read(runner: Runner) -> None:
    assert slipped(runner, unsorted(["v"], reader=True), "one less", 1).verdict is Ruling.UNDEFINED


@pytest.mark.parametrize("name", ["the element that two updates go to", "a running sum from where it overflows"])
def test_an_open_element_excuses_no_element_that_nothing_open_touches(name: str, runner: Runner) -> None:
    subject, expected = OPEN[name]
    first, last = np.flatnonzero(expected)[0], np.size(expected) - 1
    assert slipped(runner, subject, "one more", first).verdict is Ruling.UNDEFINED
    assert slipped(runner, subject, "one more", last).verdict is Ruling.COMPILER_BUG
