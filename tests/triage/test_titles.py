"""Titles name what is broken, and nothing that was not seen to matter."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, parser

from fuzz.case import Case, Error, Origin, Outcome, Stage, Status
from fuzz.wire import Value
from triage import titles
from triage.conditions import Condition
from triage.effect import effect, rough


def array(*values: Any, dtype: Any = np.float32) -> np.ndarray[Any, Any]:
    return np.array(values, dtype)


SQUARE = array([1, 2], [3, 4])


@pytest.mark.parametrize(
    ("want", "got", "words"),
    [
        (array(1, 2), array(1, 2), ""),
        (array(1, 2), array(1, 5), "returns 5 instead of 2"),
        (array(np.nan), array(480), "returns 480 instead of NaN"),
        (array(1, 2, 3), array(np.nan, np.nan, 3), "returns NaN instead of numbers"),
        (array(np.inf, np.inf), array(1, 2), "returns numbers instead of inf"),
        (array(1, 2), array(np.inf, -np.inf), "returns infinities instead of numbers"),
        (array(1, 2, 3), array(0, 0, 0), "returns zeros"),
        (array(1, 2), array(7, 9), "returns its input x unchanged"),
        (array(1, 2, 3), array(-1, -2, -3), "returns the wrong sign"),
        (SQUARE, SQUARE.T, "returns the last two axes swapped"),
        (array(1, 2, 3), array(1.5, 2.25, 3), "returns wrong values (off by up to 0.5)"),
        (array(0, 1, np.nan), array(0.25, 1, 480), "returns wrong values (480 for NaN)"),
        (array(0, 1, 5), array(0.25, 1, np.inf), "returns wrong values (inf for 5)"),
        (array(1, 2, 3, dtype=np.int8), array(4, 6, 3, dtype=np.int8), "returns wrong values (4 instead of 1 at [0])"),
        (array(1, 2), array([1, 2]), "returns shape (1, 2) instead of (2,)"),
        (array(2), np.array(0, np.float32), "returns 0 of shape () instead of numbers of shape (1,)"),
        (array(2, 0), array([0, 0]), "returns zeros of shape (1, 2) instead of numbers of shape (2,)"),
        (array(0, 0), array([0, 0]), "returns shape (1, 2) instead of (2,)"),
        (array(1, dtype=np.int64), array(1, dtype=np.int32), "returns int32 instead of int64"),
        (array(dtype=np.int64), array(1), "returns float32 of shape (1,) instead of int64 of shape (0,)"),
        (array(True, False, dtype=bool), array(True, True, dtype=bool), "returns True instead of False"),
        (array(1, dtype=ml_dtypes.bfloat16), array(3, dtype=ml_dtypes.bfloat16), "returns 3 instead of 1"),
        (array("a", dtype=object), array("b", dtype=object), "returns b instead of a"),
        ([array(1)], [array(1), array(2)], "returns a sequence of 2 instead of 1"),
        ([array(1)], [array(2)], "returns 2 instead of 1"),
        (None, array(1), "returns a float32 tensor instead of nothing"),
    ],
)
def test_a_wrong_result_is_told_by_what_is_wrong_with_it(want: Value, got: Value, words: str) -> None:
    assert effect(want, got, {"x": array(7, 9)}) == words


def test_an_input_that_is_called_input_is_named_once() -> None:
    assert effect(array(1, 2), array(7, 9), {"input": array(7, 9)}) == "returns its input unchanged"


def case_of(op_type: str, taken: int, given: int, **attributes: Any) -> Case:
    node = helper.make_node(op_type, ["x"], ["y"], **attributes)
    infos = [[helper.make_tensor_value_info(name, kind, [1])] for name, kind in (("x", taken), ("y", given))]
    model = helper.make_model(helper.make_graph([node], "g", *infos), opset_imports=[helper.make_opsetid("", 25)])
    return Case("onnx", model.SerializeToString(), {}, Origin("test"))


@pytest.mark.parametrize(
    ("case", "words"),
    [
        (case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT), "Relu"),
        (case_of("Relu", TensorProto.INT8, TensorProto.INT8), "Relu (int8)"),
        (case_of("Cast", TensorProto.FLOAT, TensorProto.FLOAT8E4M3FN, to=17), "Cast (float32 to float8e4m3fn)"),
        (case_of("Cast", TensorProto.FLOAT, TensorProto.BOOL, to=9), "Cast (float32 to bool)"),
        (case_of("IsNaN", TensorProto.FLOAT, TensorProto.BOOL), "IsNaN"),
    ],
)
def test_unusual_types_are_part_of_the_subject(case: Case, words: str) -> None:
    assert titles.subject(case, [words.partition(" ")[0]]) == words


@pytest.mark.parametrize(
    ("kind", "words"), [("bool", "Where (bool)"), ("float", "Where"), ("double", "Where (float64)")]
)
def test_the_type_of_an_operator_is_that_of_its_first_input_that_may_have_several(kind: str, words: str) -> None:
    text = (
        f'<ir_version: 8, opset_import: ["": 16]> g (bool[1] c, {kind}[1] x) => ({kind}[1] y) {{ y = Where (c, x, x) }}'
    )
    assert (
        titles.subject(Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("test")), ["Where"])
        == words
    )


def condition(kind: str, text: str, needed: bool = True) -> Condition:
    return Condition(kind, text, "…", needed)


def test_a_type_that_does_not_matter_is_left_out() -> None:
    case = case_of("Relu", TensorProto.INT8, TensorProto.INT8)
    assert titles.subject(case, ["Relu"], [condition("dtype", "int8", needed=False)]) == "Relu"
    assert titles.subject(case, ["Relu"], [condition("dtype", "int8")]) == "Relu (int8)"


def test_of_two_conditions_on_one_input_the_closer_one_is_told() -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)
    given = [condition("input", "optional input min"), condition("input", "constant min")]
    assert titles.subject(case, ["Relu"], given) == "Relu with constant min"
    other = [condition("input", "optional input max"), condition("input", "constant min")]
    assert titles.subject(case, ["Relu"], other) == "Relu with optional input max and constant min"
    twice = [condition("attribute", "dim=[]"), condition("value", "empty dim")]
    assert titles.subject(case, ["Relu"], twice) == "Relu with dim=[]"


def test_a_flag_that_cannot_be_left_out_is_told_where_nothing_else_is() -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)
    setting = Condition("setting", "onesided=1", "", needed=False)
    assert titles.subject(case, ["DFT"], [setting]) == "DFT with onesided=1"
    numbers = condition("value", "zero input")
    assert titles.subject(case, ["DFT"], [setting, numbers]) == "DFT with zero input"
    refuted = Condition("value", "zero input", "…", needed=False, refuted=True)
    assert titles.subject(case, ["DFT"], [setting, refuted]) == "DFT"


def test_a_type_that_several_nodes_need_is_named() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["a"]), helper.make_node("Neg", ["a"], ["y"])]
    infos = [[helper.make_tensor_value_info(name, TensorProto.DOUBLE, [1])] for name in ("x", "y")]
    case = Case("onnx", helper.make_model(helper.make_graph(nodes, "g", *infos)).SerializeToString(), {}, Origin("t"))
    assert titles.subject(case, ["Relu", "Neg"], [condition("dtype", "float64")]) == "Relu + Neg (float64)"
    assert titles.subject(case, ["Relu", "Neg"], [condition("dtype", "float64", needed=False)]) == "Relu + Neg"
    kin = Condition("dtype", "float8e5m2", "…", needed=False, also=("float8e4m3fn", "float8e4m3fnuz", "float8e5m2fnuz"))
    named = "Relu + Neg (float8e5m2, also float8e4m3fn and 2 more)"
    assert titles.subject(case, ["Relu", "Neg"], [kin]) == named


def test_a_condition_that_is_not_enough_is_said_to_be_some() -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)

    def told(kind: str, text: str) -> str:
        return titles.subject(case, ["Relu"], [Condition(kind, text, "…", needed=True, partly=True)])

    assert told("value", "fractional scales") == "Relu with some fractional scales"
    assert told("input", "non-constant shape") == "Relu with non-constant shape on some inputs"
    assert told("attribute", "mode=same_as_others") == "Relu with mode=same_as_others on some inputs"
    both = [condition("attribute", "a=1"), Condition("attribute", "b=2", "…", needed=True, partly=True)]
    assert titles.subject(case, ["Relu"], both) == "Relu with a=1 and b=2 on some inputs"


def test_a_cast_keeps_its_types_though_others_fail_as_well() -> None:
    case = case_of("Cast", TensorProto.FLOAT8E5M2, TensorProto.FLOAT16, to=10)
    types = [
        Condition("dtype", "float8e5m2", "…", needed=False, also=("float8e4m3fn", "float8e5m2fnuz")),
        condition("dtype", "float16", needed=False),
    ]
    words = "Cast (float8e5m2 to float16, also float8e4m3fn and float8e5m2fnuz)"
    assert titles.subject(case, ["Cast"], types) == words
    assert titles.subject(case, ["Cast"], types[1:]) == "Cast (float8e5m2 to float16)"


def test_what_is_read_before_any_operator_is_told_by_its_own_type() -> None:
    text = (
        '<ir_version: 10, opset_import: ["": 21]> g (float16[3] z) => (float[3] y) <int4[3] x = {1, -1, 2}>'
        " { y = Cast <to = 1> (x) }"
    )
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("test"))
    also = [Condition("dtype", "int4", "…", needed=False, also=("uint4",))]
    assert titles.subject(case, ["initializer"], also) == "an initializer (int4, also uint4)"
    assert titles.subject(case, ["graph input"]) == "a graph input (float16)"


def test_a_type_that_matters_is_named_beside_one_that_does_not() -> None:
    case = case_of("DequantizeLinear", TensorProto.FLOAT8E5M2, TensorProto.FLOAT16)
    types = [condition("dtype", "float8e5m2"), condition("dtype", "float16", needed=False)]
    assert titles.subject(case, ["DequantizeLinear"], types) == "DequantizeLinear (float8e5m2 to float16)"
    assert titles.subject(case, ["DequantizeLinear"], types[1:]) == "DequantizeLinear"


def test_an_operator_in_a_body_is_told_with_what_stands_there() -> None:
    """TVM's Sigmoid is right: within a body it is given both results of Dropout."""
    text = """<ir_version: 8, opset_import: ["" : 16]> g (bool c, float[2] x) => (float[2] y) { y = If (c) <
        then_branch: graph = t () => (float[2] a) { d = Dropout (x)  s = Sigmoid (d)  a = Identity (s) },
        else_branch: graph = e () => (float[2] b) { b = Neg (x) }> }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("test"))
    assert titles.subject(case, ["Sigmoid"]) == "Dropout + Sigmoid in a body of If"
    assert titles.subject(case, ["If"]) == "If"


def test_what_a_body_only_copies_is_no_operator_of_the_bug() -> None:
    """OpenVINO's Scan is wrong about a result that is the same in every round, whatever else the body does."""
    text = """<ir_version: 10, opset_import: ["" : 21]> g (float[3,2] x) => (float[3,2] y, int64[3,1] z) {
        y, z = Scan (x) <body: graph = b (float[2] r) => (float[2] s, int64[1] t) <int64[1] t = {1}> {
            s = Identity (r) }, num_scan_inputs = 1> }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("test"))
    assert titles.subject(case, ["Scan", "Identity"]) == "Scan"
    assert titles.subject(case, ["Identity"]) == "Identity"
    outside = case_of("Identity", TensorProto.FLOAT, TensorProto.FLOAT)
    assert titles.subject(outside, ["Identity"]) == "Identity"


def test_a_condition_that_does_not_hold_is_told_though_it_has_no_words() -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)
    outcome = Outcome(Status.EXCEPTION, Stage.RUN, error=Error("RuntimeError", "u0 <= 100"))
    title = titles.happening(case, outcome, None, "exception:RuntimeError", "Relu")
    assert title == "Running Relu fails with RuntimeError: u0 <= 100"


def test_inputs_of_different_types_have_no_type_of_their_own() -> None:
    case = case_of("Relu", TensorProto.INT64, TensorProto.INT64)
    assert titles.subject(case, ["Relu"], [condition("types", "inputs of different types")]) == (
        "Relu with inputs of different types"
    )


def test_a_list_that_is_not_looked_at_is_named_without_its_numbers() -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)
    ignored = Condition("attribute", "output_shape=[10, 8]", "…", needed=True, ignored=True)
    assert titles.subject(case, ["Relu"], [ignored]) == "Relu ignores output_shape"


def test_what_stands_in_brackets_stands_in_one_pair() -> None:
    case = case_of("Cast", TensorProto.DOUBLE, TensorProto.FLOAT, to=1)
    found = [condition("dtype", "float64"), condition("siblings", "also Ceil and 3 more", needed=False)]
    assert titles.subject(case, ["Cast"], found) == "Cast (float64 to float32; also Ceil and 3 more)"


@pytest.mark.parametrize(
    ("operator", "error", "words"),
    [
        ("Attention", "'num_heads'", ": 'num_heads', no attribute of Attention-23"),
        ("Softmax", "'axis'", ": 'axis', which Softmax-13 may lack"),
        ("Relu", "'a b'", ""),  # no name at all
        ("NoSuchOperator", "'axis'", ": 'axis'"),
    ],
)
def test_a_key_that_is_looked_up_in_vain_is_told_with_what_the_specification_says(
    operator: str, error: str, words: str
) -> None:
    node = helper.make_node(operator, ["x"], ["y"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in "xy"]
    model = helper.make_model(
        helper.make_graph([node], "g", infos[:1], infos[1:]), opset_imports=[helper.make_opsetid("", 23)]
    )
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("KeyError", error))
    told = titles.happening(case, outcome, None, "exception:KeyError", operator)
    assert told == f"Converting {operator} fails with KeyError{words}"


def test_zeros_are_worth_a_word_where_they_are_no_places() -> None:
    assert effect(array([0, 1]), array([0], dtype=np.float32).reshape(1, 1), {}).startswith("returns 0 of shape")
    places = effect(np.array([[0, 0], [0, 1]]), np.array([[0, 0]]), {})
    assert places == "returns shape (1, 2) instead of (2, 2)"


def test_conditions_are_named_as_long_as_there_is_room() -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)
    found = [condition("attribute", "a=1"), condition("value", "NaN X"), condition("input", "constant Y")]
    assert titles.subject(case, ["Relu"], found) == "Relu with a=1 and NaN X"
    found = [condition("attribute", "a=" + "9" * 90), condition("attribute", "b=2", needed=False), found[1]]
    assert titles.subject(case, ["Relu"], found) == "Relu with NaN X"


def test_one_of_several_outputs_is_named_as_the_specification_does() -> None:
    x = array([1, 2])
    node = helper.make_node("LayerNormalization", ["x", "s"], ["", "m"])
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "s", "m")]
    graph = helper.make_graph([node], "g", infos[:2], infos[2:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    case = Case("onnx", model.SerializeToString(), {"x": x, "s": x[0]}, Origin("test"))
    wrong = Outcome(Status.WRONG, Stage.RUN, outputs=(("m", array(1)),))
    right = Outcome(Status.OK, Stage.RUN, outputs=(("m", array(1.5)),))
    assert titles.wrong(case, wrong, right) == "returns 1 instead of 1.5 for output Mean"


def test_several_outputs_that_are_wrong_in_different_ways_are_named_in_few_words() -> None:
    node = helper.make_node("BatchNormalization", [*"xsbmv"], ["y", "mean", "var"], training_mode=1)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in [*"xsbmv", "y", "mean", "var"]]
    graph = helper.make_graph([node], "g", infos[:5], infos[5:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 15)])
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    y, right = ("y", array(1)), (("mean", array(1, 2)), ("var", array(3, 4)))
    reference = Outcome(Status.OK, Stage.RUN, outputs=(y, *right))
    wrong = Outcome(Status.WRONG, Stage.RUN, outputs=(y, ("mean", array(5, 7)), ("var", array(3, 9))))
    assert titles.wrong(case, wrong, reference) == "returns wrong running_mean and running_var"
    alike = Outcome(Status.WRONG, Stage.RUN, outputs=(y, ("mean", array(0, 0)), ("var", array(0, 0))))
    assert titles.wrong(case, alike, reference) == "returns zeros for outputs running_mean and running_var"


@pytest.mark.parametrize(
    ("message", "words"),
    [
        ("Check 'a && b' failed at mod.cpp:27:\nFrontEnd API failed with OpFailure:\nSet it to 1", "Set it to 1"),
        ("Check failed: (n.defined()) is false: Found null pointer", "Found null pointer"),
        ("Check failed: (arr_size == nbytes) is false: ", "Check failed: (arr_size == nbytes) is false:"),
        ("no such thing\nmore", "no such thing"),
        (
            "Check failed: (tensor_ty) is false: shape_of expects a tensor input, but received R.Shape(ndim=2); "
            "use MatchCast if necessary",
            "shape_of expects a tensor input, but received R.Shape(ndim=2)",
        ),
    ],
)  # fmt: skip
def test_an_exception_is_told_in_its_author_s_words(message: str, words: str) -> None:
    case = case_of("Relu", TensorProto.FLOAT, TensorProto.FLOAT)
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error(type="x.InternalError", message=message))
    told = titles.happening(case, outcome, None, "exception:x.InternalError", "Relu")
    assert told == f"Converting Relu fails with InternalError: {words}"


def test_the_type_that_a_call_needs_is_named() -> None:
    case = Case("instance", b'{"api": "torch.logsumexp", "args": []}', {}, Origin("test"))
    needed = Condition("dtype", "bool", "In float32 instead of bool the same call passes.", needed=True)
    assert titles.subject(case, ("torch.logsumexp",), [needed]) == "torch.logsumexp (bool)"
    assert titles.subject(case, ("torch.baddbmm (aten.mul)",), [needed]) == "torch.baddbmm (aten.mul; bool)"
    assert titles.subject(case, ("torch.logsumexp",), [replace(needed, needed=False)]) == "torch.logsumexp"


def test_a_long_title_does_without_the_core_operator_rather_than_without_its_end() -> None:
    call = "torch.nn.functional.batch_norm (aten._native_batch_norm_legit_no_training; bfloat16)"
    assert titles.title("[Bug][Relax][PyTorch]", f"{call} returns float32 instead of bfloat16") == (
        "[Bug][Relax][PyTorch] torch.nn.functional.batch_norm (bfloat16) returns float32 instead of bfloat16"
    )
    plain = f"torch.nn.functional.unfold (aten.index) with {'a' * 60} fails with ValueError"
    assert "aten" not in titles.title("[Bug][Relax][PyTorch]", plain)
    assert "(aten.index)" in titles.title("[Bug]", "torch.take (aten.index) returns 0")


def test_a_long_title_tells_what_is_wrong_rather_than_where_a_function_lies_and_which_result_it_is() -> None:
    call = "torch.nn.functional.max_pool2d_with_indices (also max_pool1d_with_indices and max_pool3d_with_indices)"
    found = titles.title("[Bug][Relax][PyTorch]", f"{call} returns float32 0 instead of int64 1 for output 1")
    assert found.endswith("returns float32 0 instead of int64 1") and len(found) <= titles.LONGEST
    assert titles.tells_of(found, "torch.nn.functional.max_pool3d_with_indices")
    longer = f"{call} returns float32 0.12345 instead of int64 12345 for output 1"
    found = titles.title("[Bug][Relax][PyTorch]", longer)
    assert found.endswith("(also max_pool1d_with_indices and 1 more) returns float32 0.12345 instead of int64 12345")


def test_an_input_whose_name_says_constant_is_told_in_other_words() -> None:
    needed = Condition("input", "non-constant constant_value", "", True)
    case = case_of("Abs", TensorProto.FLOAT, TensorProto.FLOAT)
    assert titles.subject(case, ["Pad"], [needed]) == "Pad with constant_value as an input"
    also = Condition("input", "optional input constant_value", "", True)
    assert titles.subject(case, ["Pad"], [also, needed]) == "Pad with constant_value as an input"
    other = Condition("input", "non-constant shape", "", True)
    assert titles.subject(case, ["Reshape"], [other]) == "Reshape with non-constant shape"


def test_of_the_outputs_of_a_call_the_first_wrong_one_says_how() -> None:
    case = Case("instance", b"{}", {}, Origin("test"))
    right = Outcome(Status.OK, Stage.RUN, outputs=(("0", array([2])), ("1", array([1], dtype=np.int64))))
    wrong = Outcome(Status.WRONG, Stage.RUN, outputs=(("0", array(2)), ("1", array(0, dtype=np.int32))))
    assert titles.wrong(case, wrong, right) == (
        "returns shape (1,) instead of (1, 1) for output 0 and a wrong output 1"
    )


@pytest.mark.parametrize(
    ("size", "told"), [(1000.0, "1000"), (0.123, "0.12"), (5.0, "5"), (123456.0, "120000"), (3.4e38, "3.4e+38")]
)
def test_a_distance_is_written_as_people_do(size: float, told: str) -> None:
    assert rough(size) == told


def test_what_a_cast_behind_another_node_makes_is_told_where_it_matters() -> None:
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (bool[2] y) { a = Abs (x) y = Cast <to = 9> (a) }'
    )
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    found = (Condition("attribute", "to=bool", "", True), Condition("input", "constant W", "", True))
    assert titles.subject(case, ["Abs", "Cast"], found) == "Abs + Cast to bool with constant W"
    refuted = (replace(found[0], needed=False, refuted=True), found[1])
    assert titles.subject(case, ["Abs", "Cast"], refuted) == "Abs + Cast with constant W"


def test_of_two_casts_the_type_is_told_that_matters() -> None:
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (bool[2] y)'
        "{ a = Cast <to = 6> (x) b = Abs (a) y = Cast <to = 9> (b) }"
    )
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    found = (Condition("attribute", "to=int32", "", True),)
    assert titles.subject(case, ["Cast", "Abs"], found) == "Cast to int32 + Abs"


def test_an_input_of_a_node_that_is_not_named_is_told_with_its_operator() -> None:
    text = """
        <ir_version: 10, opset_import: ["" : 20]> g (float[3] x, int64[1] s, int64[1] e, int64[1] i) => (int64[1] y) {
            a = Slice (x, s, e)
            b = Shape (a)
            y = Gather (b, i)
        }
    """
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {}, Origin("test"))
    ends = (Condition("input", "non-constant ends", "", True),)
    assert titles.subject(case, ["Gather"], ends) == "Gather with non-constant ends of Slice"
    assert titles.subject(case, ["Slice", "Gather"], ends) == "Slice + Gather with non-constant ends"
    indices = (Condition("input", "constant indices", "", True),)
    assert titles.subject(case, ["Gather"], indices) == "Gather with constant indices"


def test_a_long_expression_is_cut_where_names_part() -> None:
    whole = "Converting X fails with E: " + "a" * 60 + "::" + "b" * 80
    found = titles.title("[Bug]", whole)
    assert found.endswith("a …") and len(found) <= titles.LONGEST


def test_integer_types_that_all_fail_are_named_together() -> None:
    def subject(text: str, *also: str) -> str:
        found = Condition("dtype", text, "In float32 the same call passes.", needed=True, also=also)
        return titles.subject(
            Case("instance", b'{"library": "torch", "api": "torch.exp"}', {}, Origin("t")), ["torch.exp"], (found,)
        )

    assert subject("int64", "int32", "uint8", "int8") == "torch.exp (integers)"
    assert subject("bool", "int64", "uint8") == "torch.exp (bool, also integers)"
    assert subject("int64", "int32") == "torch.exp (int64, also int32)"
    others = "torch.exp (types other than float32)"
    assert subject("int64", "int32", "uint8", "int8", "float64", "float16") == others
    assert subject("float64", "float16", "bfloat16", "int64") == others
    assert subject("float64", "float16", "bfloat16") == "torch.exp (float64, also float16 and bfloat16)"
