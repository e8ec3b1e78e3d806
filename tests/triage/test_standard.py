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
        (case_of("Relu", ["x"], ["y"], 14), ()),
        (case_of("Expand", ["x", "s"], ["y"], 13), (needs("input", "non-constant shape"),)),
        (
            case_of("Pad", ["x", "p"], ["y"], 21, mode="edge"),
            (needs("attribute", "mode=edge"),),
        ),  # only a list of words
        (case_of("Cast", ["x"], ["y"], 21, to=FLOAT), (needs("value", "NaN input"),)),
        (case_of("IsInf", ["x"], ["y"], 20), (Condition("attribute", "detect_positive=0", "", False),)),
        (case_of("NoSuchOperator", ["x"], ["y"], 14), (needs("attribute", "axis=1"),)),
    ],
)
def test_nothing_is_quoted_where_nothing_fits(case: Case, conditions: tuple[Condition, ...]) -> None:
    assert quoted(case, "wrong:values", "y", *conditions) == ()


def test_a_failure_that_is_no_wrong_result_quotes_nothing() -> None:
    case = case_of("Resize", ["X", "", "s"], ["Y"], 19, antialias=1)
    raised = Outcome(Status.EXCEPTION, Stage.CONVERT)
    assert quotations(case, raised, None, "exception:ValueError", (needs("attribute", "antialias=1"),)) == ()


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
        told += [one.description for one in (*schema.inputs, *schema.outputs)]
        plain = " ".join(" ".join(told).split())
        conditions = [needs("attribute", attribute_text(one)) for one in node.attribute if attribute_text(one)]
        names = [name for name in node.output if name]
        for symptom, got in (("wrong:values", TWO), ("wrong:shape", np.zeros(3, np.float32))):
            for found in quotations(case, *results(names, names[-1], ONE, got), symptom, conditions):
                met += 1
                assert found.text in plain, (node.op_type, found)
    assert met > 400
