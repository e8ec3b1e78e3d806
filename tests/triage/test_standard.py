"""Reports quote the specification word for word, where it speaks of what is wrong, and not at all where it does not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from fuzz.case import Case, Origin, Outcome, Stage, Status
from fuzz.generators import onnx_node
from fuzz.wire import Value
from triage.conditions import Condition
from triage.schemas import attribute_text, schema_of
from triage.standard import Quotation, quotations, sentences
from triage.variants import relations

FLOAT = onnx.TensorProto.FLOAT


def case_of(op_type: str, inputs: Sequence[str], outputs: Sequence[str], opset: int, **attributes: Any) -> Case:
    node = helper.make_node(op_type, inputs, outputs, **attributes)
    given, made = (
        [helper.make_tensor_value_info(one, FLOAT, None) for one in side if one] for side in (inputs, outputs)
    )
    graph = helper.make_graph([node], "g", given, made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    return Case("onnx", model.SerializeToString(), {}, Origin("test"))


def results(outputs: Sequence[str], wrong: str, want: Value, got: Value) -> tuple[Outcome, Outcome]:
    """What a compiler and the reference gave: they differ in the output `wrong`."""
    given = tuple((name, got if name == wrong else want) for name in outputs)
    right = tuple((name, want) for name in outputs)
    return Outcome(Status.WRONG, Stage.RUN, outputs=given), Outcome(Status.OK, Stage.RUN, outputs=right)


ONE, TWO = np.zeros(2, np.float32), np.ones(2, np.float32)


def quoted(case: Case, symptom: str, wrong: str, *conditions: Condition, got: Value = TWO) -> tuple[Quotation, ...]:
    outputs = [info.name for info in onnx.load_model_from_string(case.model).graph.output]
    return quotations(case, *results(outputs, wrong, ONE, got), symptom, conditions)


def needs(kind: str, text: str) -> Condition:
    return Condition(kind, text, "It passes without.", True)


def test_the_sentence_on_the_attributes_very_value_is_quoted_with_its_address() -> None:
    case = case_of("Resize", ["X", "", "s"], ["Y"], 19, mode="linear", antialias=1)
    [found] = quoted(case, "wrong:values", "Y", needs("attribute", "antialias=1"))
    words = 'If set to 1, "linear" and "cubic" interpolation modes will use an antialiasing filter when downscaling.'
    assert found.text == words
    assert found.where == "Resize-19, attribute `antialias`"
    assert found.url == "https://onnx.ai/onnx/operators/onnx__Resize.html#l-onnx-op-resize-19"


def test_a_flag_has_the_sentence_on_true_where_nothing_speaks_of_the_operator() -> None:
    case = case_of("ReduceL2", ["x"], ["y"], 18, noop_with_empty_axes=1)
    [said] = quoted(case, "wrong:values", "y", needs("attribute", "noop_with_empty_axes=1"))
    assert said.text.startswith("If true, reduction happens over an empty set of axes")


@pytest.mark.parametrize("delimiter", ["*", "a(", "\\"])
def test_a_value_of_signs_is_no_pattern(delimiter: str) -> None:
    case = case_of("StringSplit", ["x"], ["y", "n"], 20, delimiter=delimiter)
    assert quoted(case, "wrong:values", "y", needs("attribute", f"delimiter={delimiter}")) is not None


def test_the_sentence_on_the_very_operator_comes_before_what_is_said_of_all_of_them() -> None:
    case = case_of("ReduceLogSum", ["x"], ["y"], 18, noop_with_empty_axes=1)
    [said] = quoted(case, "wrong:values", "y", needs("attribute", "noop_with_empty_axes=1"))
    assert said.text.startswith("Thus, ReduceLogSum returns the Log of input tensor")


def test_an_older_version_of_an_operator_is_quoted_as_it_stood_then() -> None:
    case = case_of("Resize", ["X", "", "s"], ["Y"], 18, mode="cubic")
    [found] = quoted(case, "wrong:values", "Y", needs("attribute", "mode other than nearest"))
    assert found.where.startswith("Resize-18") and '"cubic" mode' in found.text


@pytest.mark.parametrize("inverse", [0, 1])
def test_what_is_said_of_the_output_must_fit_the_attributes(inverse: int) -> None:
    case = case_of("DFT", ["x", "", "axis"], ["y"], 20, onesided=1, inverse=inverse)
    first, *_ = quoted(case, "wrong:shape", "y", got=np.zeros((2, 1), np.float32))
    assert first.text.startswith("For IRFFT" if inverse else "For RFFT") and first.where == "DFT-20, output `output`"


def test_a_shape_that_an_attribute_changes_is_not_quoted_as_it_is_without() -> None:
    case = case_of("LSTM", ["X", "W", "R"], ["Y"], 22, hidden_size=1, layout=1)
    assert quoted(case, "wrong:shape", "Y", got=np.zeros(3, np.float32)) == ()
    [found] = quoted(case, "wrong:shape", "Y", needs("attribute", "layout=1"), got=np.zeros(3, np.float32))
    assert found.text.startswith("If 1, the following shapes are expected: X.shape = [batch_size, seq_length")


def test_an_optional_input_and_an_empty_tensor_have_their_sentences() -> None:
    lstm = case_of("LSTM", ["X", "W", "R", "", "", "", "", "P"], ["Y"], 22, hidden_size=1)
    [found] = quoted(lstm, "wrong:values", "Y", needs("input", "optional input P"))
    assert (found.text, found.where) == ("The weight tensor for peepholes.", "LSTM-22, input `P`")
    product = case_of("ReduceProd", ["data"], ["reduced"], 18)
    [found] = quoted(product, "wrong:values", "reduced", needs("value", "empty data"))
    assert found.text == "Reduction over an empty set of values yields 1."


def test_numbers_below_zero_have_their_sentences() -> None:
    gather = case_of("Gather", ["data", "indices"], ["y"], 13)
    [found] = quoted(gather, "wrong:values", "y", needs("value", "negative indices"))
    assert found.text == "All index values are expected to be within bounds [-s, s-1] along axis of size s."
    split = case_of("Split", ["input"], ["a", "b"], 18, axis=-1, num_outputs=2)
    [found] = quoted(split, "wrong:values", "a", needs("attribute", "axis=-1"))
    assert found.text.startswith("A negative value means counting dimensions from the back.")


def test_fractions_have_their_sentence_where_they_are_cut_off() -> None:
    one_hot = case_of("OneHot", ["indices", "depth", "values"], ["y"], 11)
    [found] = quoted(one_hot, "wrong:values", "y", needs("value", "fractional indices"))
    assert "non-integer type, the values will be casted to int64 before use" in found.text
    assert quoted(one_hot, "wrong:values", "y") == ()  # "a one-hot tensor based on inputs" says nothing


def test_a_limit_of_zero_has_the_sentence_on_what_is_equal_to_it() -> None:
    case = case_of("NonMaxSuppression", ["b", "s", "m", "i"], ["y"], 11)
    [said, *_] = quoted(case, "wrong:shape", "y", needs("value", "zero iou_threshold"))
    assert said.text == "Boxes with IoU strictly greater than this threshold are suppressed."


def test_the_equation_of_a_second_output_is_quoted() -> None:
    case = case_of("BatchNormalization", ["X", "s", "b", "m", "v"], ["Y", "mean", "var"], 15, training_mode=1)
    [found] = quoted(case, "wrong:values", "var")
    assert found.text == "running_var = input_var * momentum + current_var * (1 - momentum)"


def test_the_formula_of_the_only_output_is_quoted() -> None:
    case = case_of("QuantizeLinear", ["x", "s", "z"], ["q"], 21)
    [found] = quoted(case, "wrong:values", "q", needs("value", "non-zero y_zero_point"))
    assert found.text == "The quantization formula is `y = saturate((x / y_scale) + y_zero_point)`."


def test_what_the_compiler_does_not_look_at_is_quoted_alone() -> None:
    case = case_of("Resize", ["X", "", "s"], ["Y"], 19, mode="cubic", exclude_outside=1)
    ignored = Condition("attribute", "exclude_outside=1", "", True, ignored=True)
    [found] = quoted(case, "wrong:values", "Y", needs("attribute", "mode=cubic"), ignored)
    assert found.where.endswith("attribute `exclude_outside`")


@pytest.mark.parametrize(
    ("case", "conditions"),
    [
        (case_of("Resize", ["X", "", "s"], ["y"], 19), (needs("value", "fractional scales"),)),  # "Resize the input"
        (case_of("RMSNormalization", ["x", "w"], ["y"], 23), ()),  # "as described in the paper"
        (case_of("LSTM", ["X", "W", "R"], ["y"], 22, hidden_size=1), ()),
        (case_of("NoSuchOperator", ["x"], ["y"], 14), (needs("attribute", "axis=1"),)),
    ],
)
def test_nothing_is_quoted_where_nothing_fits(case: Case, conditions: tuple[Condition, ...]) -> None:
    assert quoted(case, "wrong:values", "y", *conditions) == ()


@pytest.mark.parametrize(
    ("case", "conditions", "words"),
    [
        (case_of("IsInf", ["x"], ["y"], 20), (), "Map infinity to true and other values to false."),
        (
            case_of("Expand", ["x", "s"], ["y"], 13),
            (needs("input", "non-constant shape"),),
            "Broadcast the input tensor following the given shape and the broadcast rule.",
        ),
        (
            case_of("Cast", ["x"], ["y"], 21, to=FLOAT),
            (needs("value", "NaN input"),),
            "The operator casts the elements of a given input tensor to a data type",
        ),
    ],
)
def test_where_nothing_speaks_of_the_condition_what_the_operator_computes_is_quoted(
    case: Case, conditions: tuple[Condition, ...], words: str
) -> None:
    [found] = quoted(case, "wrong:values", "y", *conditions)
    assert found.text.startswith(words) and found.where.endswith(", summary")


def test_what_becomes_of_a_value_at_the_limit_is_quoted() -> None:
    case = case_of("NonMaxSuppression", ["b", "s", "m", "t"], ["y"], 11)
    [found] = quoted(case, "wrong:values", "y", needs("value", "a value equal to iou_threshold"))
    assert "exactly equal to the threshold are kept" in found.text
    case = case_of("ThresholdedRelu", ["x"], ["y"], 22)
    [found] = quoted(case, "wrong:values", "y", needs("value", "a value equal to alpha"))
    assert "y = x for x > alpha" in found.text


def test_an_input_that_is_not_looked_at_is_quoted_with_its_default() -> None:
    ignored = Condition("input", "optional input axis", "", True, ignored=True)
    [found] = quoted(case_of("DFT", ["x"], ["y"], 20), "wrong:values", "y", ignored)
    assert found.text == "The axis as a scalar on which to perform the DFT. Default is `-2` (last signal axis)."


def test_the_only_type_of_an_output_is_quoted() -> None:
    case = case_of("Dropout", ["x"], ["y", "mask"], 13)
    [found] = quoted(case, "wrong:dtype", "mask", got=np.zeros(2, np.int8))
    assert (found.text, found.where) == (
        "Constrain output 'mask' types to boolean tensors.",
        "Dropout-13, type constraint `T2`",
    )


def test_what_is_said_of_empty_tensors_is_quoted_where_the_report_speaks_of_one() -> None:
    case = case_of("ReduceMax", ["x"], ["y"], 20)
    sentence = "With no infinity in `x` the same model passes, but with an empty `x` it fails as well."
    refuted = Condition("value", "infinite data", sentence, False, refuted=True)
    first, second = quoted(case, "wrong:inf", "y", refuted)
    assert first.text.startswith("Computes the max of the input tensor's elements")  # of what is not empty here
    assert second.text.startswith("Reduction over an empty set of values yields minus infinity")
    [other] = quoted(case, "wrong:inf", "y")
    assert other.text.startswith("Computes the max of the input tensor's elements")


def test_integers_that_are_off_by_one_quote_the_rounding() -> None:
    case = case_of("QuantizeLinear", ["x", "s", "z"], ["y"], 21)
    right, wrong = np.array([1, 2], np.uint8), np.array([2, 2], np.uint8)
    first, *_ = quotations(case, *results(["y"], "y", right, wrong), "wrong:values", ())
    assert "rounds to the nearest even" in first.text
    far = quotations(case, *results(["y"], "y", right, right + np.uint8(9)), "wrong:values", ())
    assert all("rounds" not in one.text for one in far)


def test_windows_that_do_not_count_are_quoted_where_sizes_are_rounded_up() -> None:
    case = case_of("MaxPool", ["x"], ["y"], 22, kernel_shape=[1], strides=[2], ceil_mode=1)
    conditions = (needs("attribute", "ceil_mode=1"), needs("attribute", "strides"))
    found = [one.text for one in quoted(case, "wrong:shape", "y", *conditions, got=np.zeros(3, np.float32))]
    assert "Sliding windows that would start in the right padded region are ignored." in found
    assert "Stride along each spatial axis." not in found  # says nothing


def test_a_refused_model_quotes_the_words_that_allow_it() -> None:
    raised = Outcome(Status.EXCEPTION, Stage.CONVERT)
    resize = case_of("Resize", ["X", "", "s"], ["Y"], 19, antialias=1)
    [found] = quotations(resize, raised, None, "exception:ValueError", (needs("attribute", "antialias=1"),))
    assert found.where == "Resize-19, attribute `antialias`"
    power = case_of("Pow", ["x", "y"], ["z"], 15)
    one, two = quotations(power, raised, None, "exception:TypeError", (needs("types", "inputs of different types"),))
    assert (one.where, two.where) == ("Pow-15, type constraint `T`", "Pow-15, type constraint `T1`")
    axis = case_of("RMSNormalization", ["x", "w"], ["y"], 23)
    [found] = quotations(axis, raised, None, "exception:InternalError", (needs("relation", "axis=0"),))
    assert "allowed range is [-r, r)" in found.text
    assert quotations(resize, raised, None, "exception:ValueError", ()) == ()
    eye = case_of("EyeLike", ["x"], ["y"], 22, dtype=1)
    [found] = quotations(eye, raised, None, "exception:ValueError", (needs("types", "dtype other than that of input"),))
    assert found.where == "EyeLike-22, attribute `dtype`"
    reduced = case_of("ReduceMax", ["data"], ["y"], 20)
    [found] = quotations(reduced, raised, None, "exception:RuntimeException", (needs("value", "empty data"),))
    assert found.text.startswith("Reduction over an empty set of values yields")
    attention = case_of("Attention", ["q", "k", "v", "m"], ["y"], 24)
    shorter = needs("relation", "attn_mask shorter than K")
    [found] = quotations(attention, raised, None, "exception:Fail", (shorter,))
    assert "The last dimension can also be shorter than" in found.text


def test_what_a_compiler_takes_for_another_value_is_quoted() -> None:
    case = case_of("Cast", ["x"], ["y"], 25, to=17)
    like = Condition("likeness", "saturate were 0 instead of 1", "…", needed=False)
    where = [one.where for one in quoted(case, "wrong:nan", "y", needs("value", "large input"), like)]
    assert where[0] == "Cast-25, attribute `saturate`"


def test_a_death_quotes_nothing() -> None:
    case = case_of("Resize", ["X", "", "s"], ["Y"], 19, antialias=1)
    died = Outcome(Status.SIGNAL, Stage.COMPILE)
    assert quotations(case, died, None, "crash:SIGSEGV", (needs("attribute", "antialias=1"),)) == ()


def test_code_blocks_and_tables_are_no_sentences() -> None:
    text = "The first. The `second`:\n```\nx = 1. Y.\n```\n| a | b |\n\nA third"
    assert list(sentences(text)) == ["The first.", "The `second`", "A third"]


def test_every_quotation_stands_in_the_installed_specification() -> None:
    """Over the node tests that onnx ships, with each attribute in turn as what the bug hangs on."""
    met = 0
    for case in onnx_node.cases(0):
        if not isinstance(case, Case):
            continue
        model = onnx.load_model_from_string(case.model)
        schema = schema_of(model.graph.node[0], model) if len(model.graph.node) == 1 else None
        if schema is None or schema.domain:
            continue
        node = model.graph.node[0]
        told = [schema.doc or "", *(one.description for one in schema.attributes.values())]
        told += [one.description for one in (*schema.inputs, *schema.outputs, *schema.type_constraints)]
        plain = " ".join(" ".join(told).split())
        conditions = [needs("attribute", attribute_text(one)) for one in node.attribute if attribute_text(one)]
        names = [name for name in node.output if name]
        for symptom, got in (
            ("wrong:values", TWO),
            ("wrong:shape", np.zeros(3, np.float32)),
            ("wrong:dtype", TWO.astype(np.float16)),
        ):
            for found in quotations(case, *results(names, names[-1], ONE, got), symptom, conditions):
                met += 1
                assert found.text in plain, (node.op_type, found)
    assert met > 400


def test_of_a_wrong_type_what_is_said_of_the_output_comes_before_which_types_inputs_may_have() -> None:
    case = case_of("OneHot", ["indices", "depth", "values"], ["output"], 11)
    mixed = needs(relations.TYPES, "int64 indices and int32 values")
    [found] = quoted(case, "wrong:dtype", "output", mixed, got=TWO.astype(np.int64))
    assert found.where == "OneHot-11, output `output`"
    assert found.text.endswith("is the same as the type of input 'values' is used.")
