"""The screen: rules that hold on real disagreements, and near misses on which they must keep quiet."""

import json
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from ml_dtypes import int4
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from fuzz import catalogue, validity
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.oracles import undefined
from fuzz.oracles.undefined import DECLARATION, PREDICATES, Kind, nondeterministic, rules, screen
from fuzz.runner import Runner

NAN, INF = np.nan, np.inf


def squeezed(text):
    return " ".join((text or "").split())


def onnx_documentation(source):
    """All texts of an operator's schema: its newest version, or the one asked for (``Mod-10``)."""
    name, _, version = source.partition("-")
    schema = onnx.defs.get_schema(name, int(version)) if version else onnx.defs.get_schema(name)
    parts = [*schema.attributes.values(), *schema.inputs, *schema.outputs]
    return squeezed(" ".join([schema.doc or "", *(part.description for part in parts)]))


def specification(operator, source):
    if operator == DECLARATION:
        comments = (Path(onnx.__file__).parent / source).read_text("utf-8").replace("//", " ")
        return squeezed(comments)
    return onnx_documentation(source or operator)


@pytest.mark.parametrize("rule", [r for r in rules() if r.library == "onnx" and r.spec], ids=lambda r: r.operators[0])
def test_every_onnx_quotation_stands_in_the_installed_specification(rule):
    # what an open value is called differs from operator to operator, a precondition is stated for each
    operators = rule.operators if rule.kind is Kind.VIOLATION else rule.operators[:1]
    for operator in operators:
        assert squeezed(rule.spec) in specification(operator, rule.source)


@pytest.mark.parametrize("rule", [r for r in rules() if r.library == "torch" and r.spec], ids=lambda r: r.operators[0])
def test_every_torch_quotation_stands_in_the_installed_docstring(rule):
    import torch

    holder = torch
    for part in (rule.source or rule.operators[0]).split(".")[1:]:
        holder = getattr(holder, part)
    assert squeezed(rule.spec) in squeezed(holder.__doc__)


def test_every_operator_and_api_of_the_rules_exists():
    import torch

    for rule in rules():
        for name in rule.operators:
            if rule.library == "onnx":
                assert name == DECLARATION or onnx.defs.has(name), name
            else:
                holder = torch
                for part in name.split(".")[1:]:
                    holder = getattr(holder, part)


def test_every_predicate_is_used_and_every_gap_says_what_was_measured():
    assert {rule.when for rule in rules()} == set(PREDICATES)
    assert all(rule.spec or rule.measured for rule in rules())


def test_only_random_operators_and_decompositions_are_objected_to_whatever_their_values():
    always = {rule.operators[0] for rule in rules() if rule.when == "always" and rule.kind is not Kind.NONDETERMINISTIC}
    assert always == {"torch.linalg.svd", "torch.linalg.eigh"}


@pytest.mark.parametrize("change", [{"when": "never"}, {"kind": "odd"}, {"spec": ""}, {"colour": "red"}])
def test_a_malformed_rule_is_refused_with_its_operators(change):
    entry = {
        "operators": ["Relu"],
        "library": "onnx",
        "kind": "undefined",
        "when": "always",
        "reason": "r",
        "spec": "s",
    }
    with pytest.raises(undefined.RuleError, match="Relu"):
        undefined._rule({**entry, **change})


# ---------------------------------------------------------------- single nodes


def single(op_type, inputs, opset=22, output=TensorProto.FLOAT, outputs=1, **attributes):
    """A model of one node; `inputs` are arrays, None for an absent one."""
    names = ["" if value is None else f"i{at}" for at, value in enumerate(inputs)]
    results = [f"o{at}" for at in range(outputs)]
    node = helper.make_node(op_type, names, results, name="it", **attributes)
    declared = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in zip(names, inputs, strict=True)
        if value is not None
    ]
    codes = [output, TensorProto.INT64, TensorProto.INT64, TensorProto.INT64]
    infos = [helper.make_tensor_value_info(name, codes[at], None) for at, name in enumerate(results)]
    graph = helper.make_graph([node], "g", declared, infos)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    feeds = {name: value for name, value in zip(names, inputs, strict=True) if value is not None}
    return model, feeds


def objection(op_type, inputs, **options):
    model, feeds = single(op_type, inputs, **options)
    return screen("onnx", model.SerializeToString(), feeds)


def a(values, dtype="float32"):
    return np.array(values, dtype=dtype)


def i64(values):
    return a(values, "int64")


def u8(shape):
    """Nothing but the largest byte."""
    return np.full(shape, 255, np.uint8)


INT8, INT32, INT64, STRING = TensorProto.INT8, TensorProto.INT32, TensorProto.INT64, TensorProto.STRING

PAST = np.ones((1, 1, 1, 2), "float32")
#: what is left open, and beside it the nearest thing that is defined: operator, inputs, near miss, options
PAIRS = {
    "float out of range": ("Cast", [a([3e9])], [a([2e9])], {"to": INT32, "output": INT32}),
    "NaN to integer": ("Cast", [a([NAN])], [a([127.9])], {"to": INT8, "output": INT8}),
    "-1.5 to unsigned": ("Cast", [a([-1.5])], [a([-0.5])], {"to": TensorProto.UINT8, "output": TensorProto.UINT8}),
    "2.7 to uint4": ("Cast", [a([2.7])], [a([3])], {"to": TensorProto.UINT4, "output": TensorProto.UINT4}),
    "-0.5 to int2": ("Cast", [a([-0.5])], [a([-0.4])], {"to": 26, "output": 26, "opset": 25}),
    "8 to int4": ("Cast", [a([8.0])], [a([-8.0])], {"to": TensorProto.INT4, "output": TensorProto.INT4}),
    "2^63 to int64": ("Cast", [a([2.0**63])], [a([-(2.0**63)])], {"to": INT64, "output": INT64}),
    "integer out of range wraps": ("Cast", [a([300.0])], [a([300], "int32")], {"to": INT8, "output": INT8}),
    "a word to float": ("Cast", [a(["hello"], object)], [a(["1e3"], object)], {"to": TensorProto.FLOAT}),
    "a fraction to integer": ("Cast", [a(["2.718"], object)], [a(["-2"], object)], {"to": INT32, "output": INT32}),
    "NaN to string": ("Cast", [a([NAN])], [a([0.5])], {"to": STRING, "output": STRING}),
    "digits of a string": ("Cast", [a([3.14], "float64")], [a([0.5])], {"to": STRING, "output": STRING}),
    "two values to one place": (
        "MaxUnpool",
        [a([[[5, 7]]]), i64([[[1, 1]]])],
        [a([[[5, 5]]]), i64([[[1, 1]]])],
        {"kernel_shape": [2], "strides": [2]},
    ),
    "a mean of ignored losses": (
        "NegativeLogLikelihoodLoss",
        [a([[1, 2]]), i64([0])],
        [a([[1, 2]]), i64([1])],
        {"ignore_index": 0},
    ),
    "a whole number to string": ("Cast", [a([1.0])], [a([1], "int32")], {"to": STRING, "output": STRING}),
    "int32 product": (
        "MatMul",
        [a([[2**30, 2**30]], "int32"), a([[1], [1]], "int32")],
        [a([[2**30, 2**30]], "int32"), a([[1], [0]], "int32")],
        {"output": INT32},
    ),
    "32 bits of a product of bytes": (
        "MatMulInteger",
        [u8((1, 34000)), u8((34000, 1))],
        [u8((1, 33000)), u8((33000, 1))],
        {"output": INT32},
    ),
    "32 bits with zero points": (
        "QLinearMatMul",
        [u8((1, 34000)), a(1), a(0, "uint8"), u8((34000, 1)), a(1), a(0, "uint8"), a(1), a(0, "uint8")],
        [u8((1, 34000)), a(1), a(0, "uint8"), u8((34000, 1)), a(1), u8(()), a(1), a(0, "uint8")],
        {"output": TensorProto.UINT8},
    ),
    "32 bits of a convolution": (
        "ConvInteger",
        [u8((1, 1, 34000)), u8((1, 1, 34000))],
        [u8((1, 1, 34000)), u8((1, 1, 34000)), a(100, "uint8")],
        {"output": INT32},
    ),
    "int32 Gemm": (
        "Gemm",
        [a([[2**30], [2**30]], "int32"), a([[1], [1]], "int32")],
        [a([[2**30], [2**30]], "int32"), a([[1], [-1]], "int32")],
        {"output": INT32, "transA": 1},
    ),
    "int32 Einsum": (
        "Einsum",
        [a([2**30, 2**30], "int32"), a([1, 1], "int32")],
        [a([2**30, 2**30], "int32"), a([1, -3], "int32")],
        {"output": INT32, "equation": "i,i"},
    ),
    "running sum": (
        "CumSum",
        [a([100, 27, 1, -9], "int32") * 2**24, a(0, "int32")],
        [a([100, 27, 0, -9], "int32") * 2**24, a(0, "int32")],
        {"output": INT32},
    ),
    "sum of a mean": (
        "ReduceMean",
        [a([2**31 - 1, 1], "int32"), i64([0])],
        [a([2**31 - 1, 0], "int32"), i64([0])],
        {"output": INT32},
    ),
    "sign of NaN": ("Sign", [a([NAN])], [a([-INF])], {}),
    "exchanged bounds": ("Clip", [a([1.0]), a(5), a(2)], [a([1.0]), a(2), a(2)], {"opset": 12}),
    "reflection beyond the data": (
        "Pad",
        [a([1, 2, 3]), i64([0, 3])],
        [a([1, 2, 3]), i64([0, 2])],
        {"mode": "reflect"},
    ),
    "negative to e8m0": ("Cast", [a([-1.0])], [a([1.0])], {"to": 24, "output": 24, "opset": 24}),
    "cast like": ("CastLike", [a([3e9]), a([0], "int32")], [a([3e9]), a([0], "float64")], {"output": INT32}),
    "integer / 0": ("Div", [a([7], "int32"), a([0], "int32")], [a([7]), a([0])], {"output": INT32}),
    "integer % 0": (
        "Mod",
        [a([7], "int32"), a([0], "int32")],
        [a([-7, 0], "int32"), a([-3, 3], "int32")],
        {"output": INT32},
    ),
    "smallest / -1": (
        "Div",
        [a([-(2**31)], "int32"), a([-1], "int32")],
        [a([-(2**31) + 1], "int32"), a([-1], "int32")],
        {"output": INT32},
    ),
    "int8 sum": ("Add", [a([100], "int8"), a([28], "int8")], [a([100], "int8"), a([27], "int8")], {"output": INT8}),
    "uint8 difference": ("Sub", [a([1], "uint8"), a([2], "uint8")], [a([2], "uint8"), a([2], "uint8")], {"output": 2}),
    "negated minimum": ("Neg", [a([-128], "int8")], [a([-127], "int8")], {"output": INT8}),
    "float infinity is defined": ("Mul", [a([2**30], "int32"), a([2], "int32")], [a([1e38]), a([1e38])], {}),
    "reduced sum": (
        "ReduceSum",
        [a([[2**31 - 1, 5], [0, 0]], "int32"), i64([1])],
        [a([[2**31 - 1, 5], [0, 0]], "int32"), i64([0])],
        {"output": INT32},
    ),
    "norm": (
        "ReduceL2",
        [a([[46341, 0], [0, 1]], "int32"), i64([1])],
        [a([[46340, 0], [0, 1]], "int32"), i64([1])],
        {"output": INT32},
    ),
    "slope": (
        "PRelu",
        [a([-(2**30), 5], "int32"), a([4], "int32")],
        [a([-(2**29), 2**30], "int32"), a([4], "int32")],
        {"output": INT32},
    ),
    "weighed integers": (
        "Gemm",
        [a([[2**30]], "int32"), a([[1]], "int32"), a([0], "int32")],
        [a([[2**30]], "int32"), a([[1]], "int32"), a([0], "int32")],
        {"output": INT32, "alpha": 2.0, "near": {"alpha": -2.0}},
    ),
    "weighed addend": (
        "Gemm",
        [a([[-1]], "int32"), a([[1]], "int32"), a([2**30], "int32")],
        [a([[-1]], "int32"), a([[1]], "int32"), a([2**30], "int32")],
        {"output": INT32, "beta": 3.0, "near": {"beta": 1.0}},
    ),
    "integers weighed by a fraction": (
        "Gemm",
        [a([[3]], "int32"), a([[1]], "int32")],
        [a([[3]], "int32"), a([[1]], "int32")],
        {"output": INT32, "alpha": 0.5, "near": {"beta": 0.5, "alpha": 2.0}},
    ),
    "power too large": ("Pow", [a([10], "int32"), i64([12])], [a([10], "int32"), i64([9])], {"output": INT32}),
    "negative power": ("Pow", [a([2], "int32"), i64([-1])], [a([-1], "int32"), i64([-3])], {"output": INT32}),
    "causal mask over past keys": (
        "Attention",
        [np.ones((1, 1, 1, 2), "float32"), *[np.ones((1, 1, 2, 2), "float32")] * 2, None, *[PAST] * 2],
        [np.ones((1, 1, 1, 2), "float32"), *[np.ones((1, 1, 2, 2), "float32")] * 2],
        {"is_causal": 1, "opset": 24},
    ),
    "NaN clipped": ("Clip", [a([1, NAN]), a(0), a(2)], [a([1, INF]), a(0), a(2)], {}),
    "wide shift": (
        "BitShift",
        [a([1], "uint8"), a([8], "uint8")],
        [a([1], "uint8"), a([7], "uint8")],
        {"output": 2, "direction": "LEFT"},
    ),
    "unsorted": (
        "TopK",
        [a([1, 5, 3]), i64([2])],
        [a([3, 3, 3]), i64([2])],
        {"outputs": 2, "sorted": 0, "near": {"sorted": 1}},
    ),
    "NaN among numbers": ("TopK", [a([1, NAN, 3]), i64([1])], [a([1, INF, 3]), i64([1])], {"outputs": 2}),
    "NaN maximum": ("ArgMax", [a([1, NAN])], [a([1, 1])], {"output": INT64, "axis": 0}),
    "scattered twice": (
        "ScatterElements",
        [a([0, 0, 0]), i64([1, -2]), a([5, 6])],
        [a([0, 0, 0]), i64([1, -1]), a([5, 6])],
        {},
    ),
    "scattered NaN": (
        "ScatterElements",
        [a([0, 0, 0]), i64([1, 2]), a([5, NAN])],
        [a([0, 0, NAN]), i64([1, 0]), a([5, 6])],
        {"reduction": "max"},
    ),
    "a number scattered over NaN": (
        "ScatterND",
        [a([0, NAN, 0]), i64([[1]]), a([5])],
        [a([0, NAN, 0]), i64([[1]]), a([5])],
        {"reduction": "min", "near": {"reduction": "add"}},
    ),
    "same value twice": (
        "ScatterND",
        [a([0, 0, 0]), i64([[1], [1]]), a([5, 6])],
        [a([0, 0, 0]), i64([[1], [1]]), a([5, 5])],
        {},
    ),
    "added twice": (
        "ScatterND",
        [a([0, 0, 0]), i64([[1], [-2]]), a([5, 6])],
        [a([0, 0, 0]), i64([[1], [-2]]), a([5, 6])],
        {"near": {"reduction": "add"}},
    ),
    "repeated axis": (
        "Slice",
        [a([[1, 2]]), i64([0, 0]), i64([1, 1]), i64([1, -1])],
        [a([[1, 2]]), i64([0, 0]), i64([1, 1]), i64([0, -1])],
        {},
    ),
    "mean of nothing": (
        "ReduceMean",
        [np.zeros((0, 2), "float32"), i64([0])],
        [np.zeros((0, 2), "float32"), i64([1])],
        {},
    ),
    "log-sum of nothing": (
        "ReduceLogSum",
        [np.zeros((0, 2), "int32"), i64([0])],
        [np.zeros((0, 2), "float32"), i64([0])],
        {},
    ),
    "quantized infinity": ("QuantizeLinear", [a([INF]), a(0.1)], [a([1e9]), a(0.1)], {"output": 2}),
    "grid of NaN": (
        "GridSample",
        [np.ones((1, 1, 2, 2), "float32"), np.full((1, 1, 1, 2), NAN, "float32")],
        [np.ones((1, 1, 2, 2), "float32"), np.full((1, 1, 1, 2), 9, "float32")],
        {},
    ),
    "maximum of a region": (
        "RoiAlign",
        [np.ones((1, 1, 4, 4), "float32"), a([[0, 0, 2, 2]]), i64([0])],
        [np.ones((1, 1, 4, 4), "float32"), a([[0, 0, 2, 2]]), i64([0])],
        {"mode": "max", "near": {"mode": "avg"}},
    ),
    "case of a letter": (
        "StringNormalizer",
        [a(["İ"], object)],
        [a(["I"], object)],
        {"output": STRING, "case_change_action": "LOWER"},
    ),
    "elu of NaN": ("Elu", [a([NAN, 1])], [a([INF, 1])], {}),
    "threshold of NaN": ("ThresholdedRelu", [a([NAN, 1])], [a([1, 1])], {}),
    "slope of NaN": ("PRelu", [a([NAN, 1]), a(0.5)], [a([1, 1]), a(NAN)], {}),
    "softmax of nothing": ("Softmax", [a([[-INF, -INF], [1, 2]])], [a([[-INF, 1], [1, 2]])], {}),
    "window of padding": (
        "AveragePool",
        [np.ones((1, 1, 2), "float32")],
        [np.ones((1, 1, 2), "float32")],
        {"kernel_shape": [1], "pads": [2, 2], "near": {"kernel_shape": [3]}},
    ),
    "region beyond the picture": (
        "RoiAlign",
        [np.ones((1, 1, 4, 4), "float32"), a([[0, 0, 5, 2]]), i64([0])],
        [np.ones((1, 1, 4, 4), "float32"), a([[0, 0, 4, 2]]), i64([0])],
        {},
    ),
    "softmax of infinity": ("Softmax", [a([[INF, 1]])], [a([[-INF, 1], [NAN, -INF]])], {}),
    "platform's dividend": (
        "Mod",
        [a([0], "int32"), a([3], "int32")],
        [a([1], "int32"), a([3], "int32")],
        {"opset": 10},
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_a_rule_holds_on_what_is_open_and_not_on_the_nearest_thing_that_is_defined(name):
    op_type, inputs, near_inputs, options = PAIRS[name]
    near_options = options.get("near", {})
    options = {key: value for key, value in options.items() if key != "near"}
    found = objection(op_type, inputs, **options)
    assert found is not None
    assert (found.operator, found.node_name) == (op_type, "it")
    assert found.reason
    assert objection(op_type, near_inputs, **{**options, **near_options}) is None


@pytest.mark.parametrize(
    ("op_type", "inputs", "options"),
    [
        ("TopK", [a([3, 3, 1]), i64([1])], {"outputs": 2}),
        ("ArgMax", [a([3, 3])], {"axis": 0, "output": INT64}),
        ("Hardmax", [a([[3, 3]])], {}),
        ("Trilu", [np.ones((2, 2), "float32"), i64(9)], {}),
        ("OneHot", [i64([9]), i64(3), a([0, 1])], {}),
        ("Cast", [a([NAN])], {"to": TensorProto.BOOL, "output": TensorProto.BOOL}),
        ("Sqrt", [a([-1])], {}),
        ("Log", [a([-1, 0])], {}),
        ("Div", [a([1]), a([0])], {}),
        ("Clip", [a([1]), a(5), a(2)], {}),
        ("BitShift", [a([1], "uint8"), a([8], "uint8")], {"output": 2, "direction": "LEFT", "opset": 28}),
        ("Mod", [a([0], "int32"), a([3], "int32")], {"output": INT32, "opset": 13}),
        ("ReduceSum", [a([[1, 2]], "int32"), i64([1])], {"output": INT32}),
        ("Add", [a([7], int4), a([-8], int4)], {"output": TensorProto.INT4}),
    ],
)
def test_what_the_specification_defines_is_never_objected_to(op_type, inputs, options):
    assert objection(op_type, inputs, **options) is None


def test_values_that_are_not_known_raise_no_objection():
    model, _ = single("Div", [a([7], "int32"), a([0], "int32")], output=INT32)
    assert screen("onnx", model.SerializeToString(), {}) is None


# ---------------------------------------------------------------- real disagreements


def by_onnxruntime(model, feeds):
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)


DISAGREEMENTS = {
    "pow": ("Pow", [a([10], "int32"), a([12], "int32")], {"output": INT32}),
    "sum": ("ReduceSum", [a([2**31 - 1, 5], "int32"), i64([0])], {"output": INT32, "opset": 13}),
    "order": ("TopK", [a([1, NAN, 3, 2]), i64([2])], {"outputs": 2}),
    "unsorted": ("TopK", [a([1, 3, 5, 2, 4]), i64([3])], {"outputs": 2, "sorted": 0}),
    "quantize": ("QuantizeLinear", [a([INF]), a(0.1), a(3, "uint8")], {"output": 2}),
    "empty": ("ReduceMean", [np.zeros((0, 2), "float32"), i64([0])], {"opset": 18}),
    "spelling": ("Cast", [a([NAN])], {"to": STRING, "output": STRING}),
    "digits": ("Cast", [a([3.14])], {"to": STRING, "output": STRING}),
    "norm": ("ReduceL2", [a([100000, 100000, 7], "int32"), i64([0])], {"output": INT32, "opset": 18}),
    "mean": ("ReduceMean", [a([2**31 - 1, 2**31 - 1], "int32"), i64([0])], {"output": INT32}),
}


@pytest.mark.parametrize("name", DISAGREEMENTS)
def test_implementations_really_disagree_where_a_rule_holds(name):
    op_type, inputs, options = DISAGREEMENTS[name]
    model, feeds = single(op_type, inputs, **options)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the mean of nothing
        values = ReferenceEvaluator(model).run(None, feeds, intermediate=True)
    results = by_onnxruntime(model, feeds)
    first = [np.asarray(values[output.name]).tolist() for output in model.graph.output]
    assert repr(first) != repr([np.asarray(result).tolist() for result in results])
    assert screen("onnx", model.SerializeToString(), {**feeds, **values}) is not None


def test_implementations_agree_on_ties_which_the_specification_orders():
    model, feeds = single("TopK", [a([1, 3, 3, 2]), i64([2])], outputs=2)
    reference = ReferenceEvaluator(model).run(None, feeds)
    for one, other in zip(reference, by_onnxruntime(model, feeds), strict=True):
        np.testing.assert_array_equal(one, other)


# ---------------------------------------------------------------- whole models


def graph_model(nodes, inputs, outputs, functions=(), initializers=()):
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info(name, code, None) for name, code in inputs],
        [helper.make_tensor_value_info(name, code, None) for name, code in outputs],
        list(initializers),
    )
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10, functions=list(functions))
    return model.SerializeToString()


F = TensorProto.FLOAT
RANDOM = helper.make_node("RandomNormalLike", ["x"], ["r"], name="dice")


def test_a_random_operator_is_found_without_any_values():
    found = nondeterministic("onnx", graph_model([RANDOM], [("x", F)], [("r", F)]))
    assert found is not None
    assert (found.operator, found.node_name, found.kind) == ("RandomNormalLike", "dice", Kind.NONDETERMINISTIC)


def test_a_random_operator_that_reaches_no_output_does_not_matter():
    relu = helper.make_node("Relu", ["x"], ["y"])
    model = graph_model([RANDOM, relu], [("x", F)], [("y", F)])
    assert nondeterministic("onnx", model) is None


def test_an_objection_counts_only_for_the_outputs_that_it_can_reach():
    div = helper.make_node("Div", ["n", "d"], ["q"])
    relu = helper.make_node("Relu", ["x"], ["y"])
    model = graph_model([div, relu], [("n", INT32), ("d", INT32), ("x", F)], [("q", INT32), ("y", F)])
    values = {"n": a([1], "int32"), "d": a([0], "int32"), "x": a([1])}
    assert screen("onnx", model, values, {"y"}) is None
    assert screen("onnx", model, values, {"q"}) is not None
    assert screen("onnx", model, values) is not None


def test_a_random_operator_in_a_branch_or_a_function_is_found():
    branch = helper.make_graph([RANDOM], "b", [], [helper.make_tensor_value_info("r", F, None)])
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    assert nondeterministic("onnx", graph_model([chosen], [("c", TensorProto.BOOL), ("x", F)], [("y", F)]))
    body = helper.make_function("local", "Noise", ["x"], ["r"], [RANDOM], [helper.make_opsetid("", 21)])
    call = helper.make_node("Noise", ["x"], ["y"], domain="local")
    assert nondeterministic("onnx", graph_model([call], [("x", F)], [("y", F)], [body]))


def test_a_random_operator_read_only_by_a_branch_is_found():
    relu = helper.make_node("Relu", ["r"], ["z"])
    branch = helper.make_graph([relu], "b", [], [helper.make_tensor_value_info("z", F, None)])
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    assert nondeterministic("onnx", graph_model([RANDOM, chosen], [("c", TensorProto.BOOL), ("x", F)], [("y", F)]))


def test_a_function_that_calls_itself_ends_the_search():
    call = helper.make_node("Noise", ["x"], ["r"], domain="local")
    body = helper.make_function("local", "Noise", ["x"], ["r"], [call], [helper.make_opsetid("local", 1)])
    assert nondeterministic("onnx", graph_model([call], [("x", F)], [("r", F)], [body])) is None


def dropout(mode, ratio=0.5):
    constants = [helper.make_tensor("ratio", F, [], [ratio])]
    if mode is not None:
        constants.append(helper.make_tensor("mode", TensorProto.BOOL, [], [mode]))
    inputs = [("x", F)] if mode is not None else [("x", F), ("mode", TensorProto.BOOL)]
    node = helper.make_node("Dropout", ["x", "ratio", "mode"], ["y"])
    return graph_model([node], inputs, [("y", F)], initializers=constants)


def test_dropout_is_random_only_when_it_trains():
    assert nondeterministic("onnx", dropout(True)) is not None
    assert nondeterministic("onnx", dropout(False)) is None
    assert nondeterministic("onnx", dropout(True, ratio=0.0)) is None
    unknown = dropout(None)
    assert nondeterministic("onnx", unknown) is not None
    assert nondeterministic("onnx", unknown, {"mode": np.array(False)}) is None


def test_a_name_that_a_body_shadows_is_not_taken_for_the_outer_value():
    """Inside the branch, ``d`` is another tensor than the zero divisor outside."""
    inner = [
        helper.make_node("Identity", ["n"], ["d"]),
        helper.make_node("Div", ["n", "d"], ["q"]),
    ]
    branch = helper.make_graph(inner, "b", [], [helper.make_tensor_value_info("q", INT32, None)])
    chosen = helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch)
    model = graph_model([chosen], [("c", TensorProto.BOOL), ("n", INT32)], [("y", INT32)])
    assert screen("onnx", model, {"n": a([1], "int32"), "d": a([0], "int32")}) is None


def test_an_unreadable_model_raises_instead_of_passing_the_screen():
    with pytest.raises(Exception, match=r"(?i)pars|decod"):
        screen("onnx", b"\xff\xff not a model", {})


@pytest.mark.parametrize(("number", "is_open"), [(np.nan, True), (1.0, False)])
def test_the_bits_of_nan_are_open_and_those_of_numbers_are_not(number, is_open):
    """A division by zero gives either sign, and a compiler may fold it to another payload."""
    model, feeds = single("BitCast", [a([1.0])], opset=26, output=INT32, to=INT32)
    feeds = {name: a([number]) for name in feeds}
    recorded = {**feeds, "o0": feeds["i0"].view(np.int32)}
    assert (screen("onnx", model.SerializeToString(), recorded) is not None) == is_open


# ---------------------------------------------------------------- PyTorch instances


def instance(api, *args, tensors=(), **kwargs):
    listed = [{"dtype": dtype, "shape": list(np.shape(values)), "values": values} for dtype, values in tensors]
    document = {"library": "torch", "version": "2.13.0", "api": api, "args": args, "kwargs": kwargs, "tensors": listed}
    return json.dumps(document).encode()


T0, T1, T2 = {"tensor": 0}, {"tensor": 1}, {"tensor": 2}
X = ("float32", [1.0, 2.0, 3.0])
TIES = ("float32", [3.0, 1.0, 3.0])
MATRIX = ("float32", [[1.0, 2.0], [3.0, 4.0]])
MASKED, HALF_MASKED = ("bool", [[False, False], [True, True]]), ("bool", [[False, True], [True, True]])
LOWEST = ("float32", [[{"float": "-inf"}, {"float": "-inf"}], [0.0, 0.0]])
TWICE, ONCE = ("int64", [1, 1]), ("int64", [1, 0])
PAIR = ("float32", [5.0, 6.0])

TORCH_PAIRS = {
    "bernoulli": (instance("torch.bernoulli", T0, tensors=[X]), instance("torch.relu", T0, tensors=[X])),
    "dropout": (
        instance("torch.nn.functional.dropout", T0, tensors=[X]),
        instance("torch.nn.functional.dropout", T0, training=False, tensors=[X]),
    ),
    "dropout that drops nothing": (
        instance("torch.nn.functional.dropout", T0, 1.0, tensors=[X]),
        instance("torch.nn.functional.dropout", T0, 0.0, True, tensors=[X]),
    ),
    "rrelu": (
        instance("torch.nn.functional.rrelu", T0, training=True, tensors=[X]),
        instance("torch.nn.functional.rrelu", T0, tensors=[X]),
    ),
    "topk": (instance("torch.topk", T0, 1, tensors=[TIES]), instance("torch.topk", T0, 1, tensors=[X])),
    "amin of NaN": (
        instance("torch.amin", T0, tensors=[("float32", [{"float": "nan"}, 1.0])]),
        instance("torch.minimum", T0, {"tensor": 1}, tensors=[("float32", [{"float": "nan"}, 1.0]), X]),
    ),
    "sign of NaN": (
        instance("torch.sign", T0, tensors=[("float32", [{"float": "nan"}, 1.0])]),
        instance("torch.sign", T0, tensors=[X]),
    ),
    "relu of NaN": (
        instance("torch.relu", T0, tensors=[("float32", [{"float": "nan"}, 1.0])]),
        instance("torch.abs", T0, tensors=[("float32", [{"float": "nan"}, 1.0])]),
    ),
    "clamp to NaN": (
        instance("torch.clamp", T0, T1, tensors=[X, ("float32", [{"float": "nan"}, 1.0, 1.0])]),
        instance("torch.clamp", T0, T1, tensors=[X, X]),
    ),
    "attention to nothing": (
        instance("torch.nn.functional.scaled_dot_product_attention", T0, T0, T0, T1, tensors=[MATRIX, MASKED]),
        instance("torch.nn.functional.scaled_dot_product_attention", T0, T0, T0, T1, tensors=[MATRIX, HALF_MASKED]),
    ),
    "attention to minus infinity": (
        instance(
            "torch.nn.functional.scaled_dot_product_attention", T0, T0, T0, attn_mask=T1, tensors=[MATRIX, LOWEST]
        ),
        instance("torch.nn.functional.scaled_dot_product_attention", T0, T0, T0, attn_mask=T0, tensors=[MATRIX]),
    ),
    "mean of nothing": (
        instance("torch.mean", T0, 1, tensors=[("float32", [[], []])]),
        instance("torch.sum", T0, 1, tensors=[("float32", [[], []])]),
    ),
    "variance of one": (
        instance("torch.var", T0, tensors=[("float32", [1.0])]),
        instance("torch.var", T0, correction=0, tensors=[("float32", [1.0])]),
    ),
    "deviation of one in a line": (
        instance("torch.std", T0, 1, tensors=[("float32", [[1.0], [2.0]])]),
        instance("torch.std", T0, 0, tensors=[("float32", [[1.0], [2.0]])]),
    ),
    "variance of one, biased": (
        instance("torch.var", T0, True, tensors=[("float32", [1.0])]),
        instance("torch.var", T0, False, tensors=[("float32", [1.0])]),
    ),
    "variance of one in a line, biased": (
        instance("torch.var", T0, 1, True, tensors=[("float32", [[1.0], [2.0]])]),
        instance("torch.var", T0, 1, False, tensors=[("float32", [[1.0], [2.0]])]),
    ),
    "variance along no axis, which is along all": (
        instance("torch.var", T0, [], tensors=[("float32", [[1.0]])]),
        instance("torch.var", T0, [], tensors=[("float32", [[1.0], [2.0]])]),
    ),
    "whole numbers by zero": (
        instance("torch.floor_divide", T0, T1, tensors=[("int32", [1, 2]), ("int32", [0, 1])]),
        instance("torch.floor_divide", T0, T1, tensors=[("float32", [1, 2]), ("float32", [0, 1])]),
    ),
    "whole numbers by zero, rounded": (
        instance("torch.div", T0, 0, rounding_mode="trunc", tensors=[("int32", [1, 2])]),
        instance("torch.div", T0, 0, tensors=[("int32", [1, 2])]),
    ),
    "searching for NaN": (
        instance("torch.bucketize", T0, T1, tensors=[("float32", [{"float": "nan"}, 1.0]), X]),
        instance("torch.bucketize", T0, T1, tensors=[("float32", [0.5, 1.0]), X]),
    ),
    "boundaries that go down": (
        instance("torch.bucketize", T0, T1, tensors=[X, TIES]),
        instance("torch.bucketize", T0, T1, tensors=[TIES, X]),
    ),
    "a sequence that goes down": (
        instance("torch.searchsorted", T0, T1, tensors=[TIES, X]),
        instance("torch.searchsorted", T0, T1, sorter=T2, tensors=[TIES, X, ("int64", [1, 0, 2])]),
    ),
    "ties in different lines": (
        instance("torch.topk", T0, 1, 1, tensors=[("float32", [[3.0, 3.0], [1.0, 2.0]])]),
        instance("torch.topk", T0, 1, 1, tensors=[("float32", [[3.0, 1.0], [3.0, 1.0]])]),
    ),
    "sort": (instance("torch.sort", T0, tensors=[TIES]), instance("torch.sort", T0, stable=True, tensors=[TIES])),
    "median": (instance("torch.median", T0, 0, tensors=[TIES]), instance("torch.median", T0, tensors=[TIES])),
    "scatter": (
        instance("torch.Tensor.scatter_", T0, 0, T1, T2, tensors=[X, TWICE, PAIR]),
        instance("torch.Tensor.scatter_", T0, 0, T1, T2, tensors=[X, ONCE, PAIR]),
    ),
    "scatter of one value": (
        instance("torch.scatter", T0, 0, T1, T2, tensors=[X, TWICE, PAIR]),
        instance("torch.scatter", T0, 0, T1, 7.0, tensors=[X, TWICE]),
    ),
    "index_put": (
        instance("torch.index_put", T0, [T1], T2, tensors=[X, TWICE, PAIR]),
        instance("torch.index_put", T0, [T1], T2, True, tensors=[X, TWICE, PAIR]),
    ),
    "cast": (
        instance("torch.Tensor.to", T0, {"dtype": "int8"}, tensors=[("float32", [300.0])]),
        instance("torch.Tensor.to", T0, {"dtype": "int16"}, tensors=[("float32", [300.0])]),
    ),
    "long": (
        instance("torch.Tensor.int", T0, tensors=[("float32", [3e9])]),
        instance("torch.Tensor.long", T0, tensors=[("float32", [3e9])]),
    ),
    "cast before a sum": (
        instance("torch.sum", T0, tensors=[("float32", [1e10, -5.0])], dtype={"dtype": "int32"}),
        instance("torch.sum", T0, tensors=[("float32", [1e10, -5.0])], dtype={"dtype": "int64"}),
    ),
    "wide shift": (
        instance("torch.bitwise_left_shift", T0, T1, tensors=[("int32", [100, 3]), ("int32", [32, 1])]),
        instance("torch.bitwise_left_shift", T0, T1, tensors=[("int32", [100, 3]), ("int32", [31, 1])]),
    ),
    "negative shift": (
        instance("torch.Tensor.__rshift__", T0, -1, tensors=[("int8", [100, 3])]),
        instance("torch.Tensor.__rshift__", T0, 7, tensors=[("int8", [100, 3])]),
    ),
    "interpolated bytes": (
        instance("torch.nn.functional.interpolate", T0, 4, None, "linear", tensors=[("uint8", [[[0, 255]]])]),
        instance("torch.nn.functional.interpolate", T0, 4, tensors=[("uint8", [[[0, 255]]])]),
    ),
    "interpolated numbers": (
        instance("torch.nn.functional.interpolate", T0, tensors=[("uint8", [[[0, 255]]])], size=4, mode="linear"),
        instance("torch.nn.functional.interpolate", T0, tensors=[("float32", [[[0, 255]]])], size=4, mode="linear"),
    ),
    "svd": (
        instance("torch.linalg.svd", T0, tensors=[("float32", [[1.0]])]),
        instance("torch.linalg.svdvals", T0, tensors=[("float32", [[1.0]])]),
    ),
}


@pytest.mark.parametrize("name", TORCH_PAIRS)
def test_a_torch_rule_holds_on_what_is_open_and_not_beside_it(name):
    open_case, defined_case = TORCH_PAIRS[name]
    assert screen("instance", open_case, {}) is not None
    assert screen("instance", defined_case, {}) is None


def test_ties_of_a_torch_call_are_no_random_operator():
    ties = TORCH_PAIRS["topk"][0]
    assert nondeterministic("instance", ties) is None
    assert nondeterministic("instance", TORCH_PAIRS["bernoulli"][0]) is not None


def _quantized(x: list[float], scale: float) -> tuple[bytes, dict[str, np.ndarray]]:
    node = helper.make_node("QuantizeLinear", ["x", "y_scale", "zero"], ["y"])
    graph = helper.make_graph(
        [node],
        "g",
        [
            helper.make_tensor_value_info("x", TensorProto.FLOAT, [len(x)]),
            helper.make_tensor_value_info("y_scale", TensorProto.FLOAT, []),
            helper.make_tensor_value_info("zero", TensorProto.UINT8, []),
        ],
        [helper.make_tensor_value_info("y", TensorProto.UINT8, [len(x)])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    values = {"x": np.array(x, np.float32), "y_scale": np.array(scale, np.float32), "zero": np.array(0, np.uint8)}
    return model.SerializeToString(), values


def test_a_quotient_within_rounding_error_of_a_tie_excuses_a_quantized_value():
    objection = undefined.screen("onnx", *_quantized([0.5], 5 / 255))
    assert objection is not None
    assert objection.operator == "QuantizeLinear"


def test_an_exact_tie_is_defined_and_excuses_nothing():
    assert undefined.screen("onnx", *_quantized([1.25, 0.75], 0.5)) is None


def test_attention_to_nothing_is_open_in_one_of_several_batches_for_which_there_is_one_query():
    keys, masks = ("float32", [[[1.0, 2.0]], [[3.0, 4.0]]]), ("bool", [[[False]], [[True]]])
    tensors = [("float32", [[[1.0, 2.0]]]), keys, masks]
    api = "torch.nn.functional.scaled_dot_product_attention"
    open_case = instance(api, T0, T1, T1, {"tensor": 2}, tensors=tensors)
    found = undefined.open_elements_of_call(open_case, (2, 1, 2))
    assert found is not None and found.tolist() == [[[True, True]], [[False, False]]]


def test_elements_that_cannot_be_worked_out_are_not_told():
    """No library computes heads that do not fit each other; the screen reads such a call all the same."""
    api, batches = "torch.nn.functional.scaled_dot_product_attention", [[[1.0, 2.0]]] * 3
    tensors = [("float32", batches), ("float32", batches[:2]), ("bool", [[[False]]])]
    assert undefined.open_elements_of_call(instance(api, T0, T1, T1, {"tensor": 2}, tensors=tensors), (3, 1, 2)) is None


def test_a_half_by_the_luck_of_rounding_excuses_a_quantized_value():
    assert np.float32(0.05) / np.float32(0.1) == 0.5
    assert undefined.screen("onnx", *_quantized([0.05], 0.1)) is not None


def test_an_absent_optional_is_one_however_the_evaluator_tells_it():
    text = "g () => (float[1] y) { o = Optional<type = float[1]>() y = OptionalGetElement(o) }"
    model = onnx.parser.parse_model('<ir_version: 9, opset_import: ["": 18]>\n' + text)
    assert undefined.refusable("onnx", model.SerializeToString(), {"o": [None]}) is not None
    assert undefined.refusable("onnx", model.SerializeToString(), {"o": [np.ones(1)]}) is None


def test_a_quotient_away_from_ties_excuses_nothing():
    assert undefined.screen("onnx", *_quantized([1.3, 7.1], 0.5)) is None


@pytest.mark.parametrize(("x", "is_open"), [([0.0, -0.0], True), ([0.0, 1.5], False)])
def test_dynamic_quantization_of_nothing_but_zeros_divides_by_zero(x, is_open):
    node = helper.make_node("DynamicQuantizeLinear", ["x"], ["y", "scale", "zero"])
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [node], "g", [info("x", TensorProto.FLOAT, [len(x)])], [info("scale", TensorProto.FLOAT, [])]
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    objection = undefined.screen("onnx", model.SerializeToString(), {"x": np.array(x, np.float32)})
    assert (objection is not None) is is_open


@pytest.mark.parametrize(
    ("x", "bias", "is_open"),
    [
        (np.array([1, 3], np.int64), 0.5, True),
        (np.array([1, 3], np.int64), 2.0, False),
        (np.array([0, 0], np.int64), 0.5, False),
        (np.array([1, 3], np.float32), 0.5, False),
    ],
)
def test_integers_less_a_fraction_are_rounded_in_no_certain_way(x, bias, is_open):
    assert (undefined.screen("onnx", *_one("Shrink", {"x": x}, 9, bias=bias)) is not None) is is_open


@pytest.mark.parametrize(
    ("x", "bias", "is_open"), [([-100], -100.0, True), ([100], -28.0, True), ([-100, 100, 0], 5.0, False)]
)
def test_integers_that_a_bias_moves_out_of_their_type_are_open(x, bias, is_open):
    found = undefined.screen("onnx", *_one("Shrink", {"x": np.array(x, np.int8)}, 9, bias=bias, lambd=0.5))
    assert (found is not None) is is_open


STRETCH = {"formal": ["X", "", "scales"], "mode": "linear"}
BYTES = np.array([[[[0, 255]]]], np.uint8)


@pytest.mark.parametrize(
    ("x", "scale", "options", "is_open"),
    [
        (BYTES, 2, {}, True),  # 63.75
        (BYTES, 2, {"mode": "nearest"}, False),
        (BYTES.astype(np.float32), 2, {}, False),
        (BYTES * 4, 2, {}, False),  # 252 / 4 is whole
        (BYTES, 3, {}, True),  # 85, but by a third, which nobody has exactly
        (BYTES, 1, {}, False),
        (BYTES * 4, 2, {"mode": "cubic"}, True),  # goes below 0
    ],
)
def test_interpolated_integers_are_open_where_they_are_rounded(x, scale, options, is_open):
    inputs = {"X": x, "scales": np.array([1, 1, 1, scale], np.float32)}
    found = undefined.screen("onnx", *_one("Resize", inputs, 13, **(STRETCH | options)))
    assert (found is not None) is is_open


@pytest.mark.parametrize(("place", "is_open"), [(0.5, False), (0.3, True), (-0.5, False)])
def test_sampled_integers_are_open_where_they_are_rounded(place, is_open):
    inputs = {"X": BYTES * 4, "grid": np.array([[[[place, 0.0]]]], np.float32)}
    found = undefined.screen("onnx", *_one("GridSample", inputs, 20, mode="linear", align_corners=1))
    assert (found is not None) is is_open


INFINITE = np.array([[[INF, 1]]], np.float32)


@pytest.mark.parametrize(
    ("op_type", "weights", "options", "is_open"),
    [
        ("Conv", INFINITE, {"pads": [1, 0]}, True),
        ("Conv", INFINITE * NAN, {"auto_pad": "SAME_LOWER"}, True),
        ("Conv", INFINITE, {}, False),
        ("Conv", INFINITE, {"pads": [0, 1]}, False),  # the weight on the padding is 1
        ("Conv", np.ones_like(INFINITE), {"pads": [1, 1]}, False),
        ("ConvTranspose", INFINITE, {}, True),  # the last place, where the first weight has nothing to multiply
        ("ConvTranspose", INFINITE, {"pads": [0, 1]}, False),
        ("ConvTranspose", INFINITE, {"strides": [2]}, True),  # between the data, too
    ],
)
def test_weights_that_are_no_numbers_are_open_where_they_stand_on_no_data(op_type, weights, options, is_open):
    model, known = _one(op_type, {"X": np.ones((1, 1, 3), np.float32), "W": weights}, 11, **options)
    with np.errstate(all="ignore"):
        values = ReferenceEvaluator(model).run(None, known, intermediate=True)
    assert (undefined.screen("onnx", model, {**known, **values}) is not None) is is_open


def test_where_the_sizes_are_not_known_nothing_is_said_of_interpolated_integers():
    model, known = _one("Resize", {"X": BYTES, "scales": np.array([1, 1, 1, 2], np.float32)}, 13, **STRETCH)
    assert undefined.screen("onnx", model, {"X": known["X"]}) is None


def _one(op_type: str, inputs: dict[str, np.ndarray], opset: int, **attributes: object) -> tuple[bytes, dict]:
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    names = [name if name in inputs else "" for name in attributes.pop("formal", list(inputs))]
    node = helper.make_node(op_type, names, ["out"], **attributes)
    output = helper.make_tensor_value_info("out", TensorProto.FLOAT, None)
    graph = helper.make_graph([node], "g", infos, [output])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return model.SerializeToString(), dict(inputs)


def test_unpooling_into_another_shape_than_inferred_is_disputed_and_into_the_same_is_not():
    x, index = np.ones((1, 1, 2, 2), np.float32), np.array([[[[0, 3], [9, 12]]]], np.int64)
    options = {"kernel_shape": [2, 2], "strides": [2, 2]}
    wider = {"X": x, "I": index, "output_shape": np.array([1, 1, 5, 5], np.int64)}
    same = {"X": x, "I": index, "output_shape": np.array([1, 1, 4, 4], np.int64)}
    assert undefined.screen("onnx", *_one("MaxUnpool", wider, 11, **options)) is not None
    assert undefined.screen("onnx", *_one("MaxUnpool", same, 11, **options)) is None


@pytest.mark.parametrize(("scale", "open_to_choice"), [(0.6, True), (0.5, False)])
def test_aligned_corners_are_open_only_where_the_scale_gives_a_fraction_of_a_pixel(scale, open_to_choice):
    inputs = {"X": np.ones((1, 1, 2, 4), np.float32), "scales": np.array([1, 1, 1, scale], np.float32)}
    options = {"formal": ["X", "", "scales"], "coordinate_transformation_mode": "align_corners", "mode": "linear"}
    assert (undefined.screen("onnx", *_one("Resize", inputs, 13, **options)) is not None) == open_to_choice


@pytest.mark.parametrize(("right", "overflows"), [(151, True), (100, False)])
def test_integer_overflow_excuses_a_torch_sum(right, overflows):
    model = json.dumps(
        {
            "library": "torch",
            "api": "torch.add",
            "args": [{"tensor": 0}, {"tensor": 1}],
            "kwargs": {"alpha": 2},
            "tensors": [
                {"dtype": "uint8", "shape": [1], "values": [1]},
                {"dtype": "uint8", "shape": [1], "values": [right]},
            ],
        }
    ).encode()
    assert (undefined.screen("instance", model, {}) is not None) == overflows


def _bytes(*values: object) -> tuple[str, object]:
    return "int8", list(values)


INTEGER_CALLS = {
    "in place": ("torch.Tensor.add_", [T0, T1], {}, [_bytes(100), _bytes(27)], [_bytes(100), _bytes(28)]),
    "operator": ("torch.Tensor.__rsub__", [T0, 100], {}, [_bytes(-27)], [_bytes(-28)]),
    "power": ("torch.Tensor.__rpow__", [T0, T1], {}, [_bytes(6), _bytes(2)], [_bytes(7), _bytes(2)]),
    "product": ("torch.bmm", [T0, T1], {}, [_bytes([[11]]), _bytes([[11]])], [_bytes([[12]]), _bytes([[11]])]),
    "chain": (
        "torch.linalg.multi_dot",
        [[T0, T1]],
        {},
        [_bytes(1, 2), _bytes(3, 4)],
        [_bytes(10, 10), _bytes(10, 10)],
    ),
    "weighed product": (
        "torch.addmm",
        [T0, T1, T2],
        {"alpha": 2, "beta": 3},
        [_bytes([[1]]), _bytes([[5]]), _bytes([[5]])],
        [_bytes([[40]]), _bytes([[5]]), _bytes([[5]])],
    ),
    "weighed elements": (
        "torch.addcmul",
        [T0, T1, T2],
        {"value": 3},
        [_bytes(1), _bytes(5), _bytes(5)],
        [_bytes(1), _bytes(7), _bytes(7)],
    ),
    "negative": ("torch.neg", [T0], {}, [_bytes(-127)], [_bytes(-128)]),
    "method": ("torch.Tensor.__neg__", [T0], {}, [_bytes(-127)], [_bytes(-128)]),
    "absolute": ("torch.Tensor.absolute_", [T0], {}, [_bytes(-127)], [_bytes(-128)]),
    "square": ("torch.square", [T0], {}, [_bytes(11)], [_bytes(12)]),
    "sum": ("torch.sum", [T0], {"dtype": {"dtype": "int8"}}, [_bytes(100, 27)], [_bytes(100, 28)]),
    "sum of a row": (
        "torch.sum",
        [T0, [0]],
        {"dtype": {"dtype": "int8"}},
        [_bytes([100, 100], [27, 27])],
        [_bytes([100, 1], [28, 1])],
    ),
    "sum on the way": (
        "torch.sum",
        [T0, -1, True],
        {"dtype": {"dtype": "int8"}},
        [_bytes(100, -100, 100)],
        [_bytes(100, 100, -100)],
    ),
    "sum in another type": (
        "torch.cumsum",
        [T0, 0],
        {"dtype": {"dtype": "int8"}},
        [("int32", [300, 27])],  # 300 wraps to 44 as it is cast
        [("int32", [300, 127])],
    ),
    "wide sum": ("torch.sum", [T0], {}, [_bytes(100, 100)], [("int64", [2**62, 2**62])]),
    "product of all": ("torch.prod", [T0], {}, [_bytes(100, 100)], [("int64", [2**32, 2**31])]),
    "running product": ("torch.cumprod", [T0, 0], {}, [_bytes(100, 100)], [("int64", [2**32, 2**31, 0])]),
    "contraction": (
        "torch.einsum",
        ["ij,jk->ik", T0, T1],
        {},
        [_bytes([100, 3]), _bytes([1], [9])],
        [_bytes([100, 3]), _bytes([1], [10])],
    ),
    "listed contraction": (
        "torch.einsum",
        ["i,i", [T0, T1]],
        {},
        [_bytes(100, 3), _bytes(1, 9)],
        [_bytes(100, 3), _bytes(1, 10)],
    ),
    "tensordot": (
        "torch.tensordot",
        [T0, T1],
        {"dims": [[1], [0]]},
        [_bytes([100, 3]), _bytes([1], [9])],
        [_bytes([100, 3]), _bytes([1], [10])],
    ),
    "tensordot by number": (
        "torch.tensordot",
        [T0, T1, 1],
        {},
        [_bytes(100, 3), _bytes(1, 9)],
        [_bytes(100, 3), _bytes(1, 10)],
    ),
    "kron": ("torch.kron", [T0, T1], {}, [_bytes(100, 3), _bytes(1, 0)], [_bytes(100, 3), _bytes(2, 0)]),
    "inner": ("torch.inner", [T0, T1], {}, [_bytes(100, 3), _bytes(1, 9)], [_bytes(100, 3), _bytes(1, 10)]),
    "differences": ("torch.diff", [T0], {}, [_bytes(-100, 27)], [_bytes(-100, 28)]),
    "differences with what is put before": (
        "torch.diff",
        [T0, 1, -1, T1],
        {},
        [_bytes(27), _bytes(-100)],
        [_bytes(28), _bytes(-100)],
    ),
    "differences with what is put behind": (
        "torch.diff",
        [T0],
        {"append": T1},
        [_bytes(-100), _bytes(27)],
        [_bytes(-100), _bytes(28)],
    ),
    "reflected product": (
        "torch.Tensor.__rmatmul__",
        [T0, T1],
        {},
        [_bytes([1], [9]), _bytes([100, 3])],
        [_bytes([1], [10]), _bytes([100, 3])],
    ),
    "twice the differences": ("torch.diff", [T0, 2], {}, [_bytes(0, 63, 0)], [_bytes(0, 65, 0)]),
    "powers of a matrix": ("torch.matrix_power", [T0, 2], {}, [_bytes([11])], [_bytes([12])]),
    "outer": (
        "torch.addr",
        [T0, T1, T2],
        {},
        [_bytes([0]), _bytes(9), _bytes(9)],
        [_bytes([9]), _bytes(11), _bytes(11)],
    ),
}


@pytest.mark.parametrize("name", INTEGER_CALLS)
def test_whole_numbers_that_leave_their_type_excuse_a_torch_call_and_no_others(name):
    api, args, kwargs, fit, leave = INTEGER_CALLS[name]
    assert screen("instance", instance(api, *args, tensors=fit, **kwargs), {}) is None
    found = screen("instance", instance(api, *args, tensors=leave, **kwargs), {})
    assert found is not None and "does not fit" in found.reason


def test_no_overflow_is_seen_where_a_number_is_real_or_the_exponent_negative():
    reals = [("float32", [200.0]), ("int8", [100])]
    assert screen("instance", instance("torch.mul", T0, T1, tensors=reals), {}) is None
    assert screen("instance", instance("torch.mul", T0, 2.5, tensors=[_bytes(100)]), {}) is None
    assert screen("instance", instance("torch.pow", T0, T1, tensors=[_bytes(100), _bytes(-2)]), {}) is None


@pytest.mark.parametrize(("hidden", "broken"), [(1, True), (2, False)])
def test_recurrent_weights_must_have_the_size_that_hidden_size_says(hidden, broken):
    inputs = {
        "X": np.ones((1, 1, 3), np.float32),
        "W": np.ones((1, 2, 3), np.float32),
        "R": np.ones((1, 2, 2), np.float32),
    }
    assert (undefined.violation("onnx", *_one("RNN", inputs, 14, hidden_size=hidden)) is not None) == broken


@pytest.mark.parametrize(("dtype", "broken"), [("float32", True), ("bool", True), ("int64", False)])
@pytest.mark.parametrize("api", ["gather", "scatter", "scatter_add", "scatter_reduce"])
def test_indices_are_integers_where_there_are_none_too(api, dtype, broken):
    """Eager PyTorch takes any type of an empty tensor; a compiler need not."""
    data = [] if api == "gather" else [T2]
    data += ["sum"] if api == "scatter_reduce" else []
    model = instance(f"torch.{api}", T0, 0, T1, *data, tensors=[X, (dtype, []), ("float32", [])])
    assert (undefined.violation("instance", model, {}) is not None) == broken


# ---------------------------------------------------------------- bodies that ran


HEAD = '<ir_version: 10, opset_import: ["": 21, "local": 1]>\n'
BRANCH = """g (bool c, int8[2] a) => (int8[2] y) {
  y = If (c) <
    then_branch = t () => (int8[2] r) { n = Neg(a) r = Sub(n, a) },
    else_branch = e () => (int8[2] q) { q = Identity(a) }
  >
}"""
ITERATIONS = """g (int64 n, bool c, int8 s) => (int8 f) {
  f = Loop (n, c, s) <body = b (int64 at, bool go, int8 v) => (bool on, int8 z) { on = Identity(go) z = Add(v, v) }>
}"""
SCANNED = """g (int8 s, int8[3] x) => (int8 f, int8[3] y) {
  f, y = Scan <
    num_scan_inputs: int = 1, body = b (int8 v, int8 e) => (int8 w, int8 z) { w = Add(v, e) z = Identity(w) }
  > (s, x)
}"""
CALLED = """g (int8[2] x) => (int8[2] y) { y = local.Twice(x) }
<domain: "local", opset_import: ["": 21]> Twice (v) => (w) { k = Identity(v) w = Add(k, v) }"""
DEAD = """g (bool c, int8[2] a) => (int8[2] y) {
  y = If (c) <
    then_branch = t () => (int8[2] r) { n = Neg(a) m = Sub(n, a) r = Identity(n) },
    else_branch = e () => (int8[2] q) { q = Identity(a) }
  >
}"""
BODIES = {
    "a branch": (BRANCH, {"c": np.array(True), "a": a([100, 3], "int8")}, {"a": a([10, 3], "int8")}),
    "an iteration": (ITERATIONS, {"n": np.int64(3), "c": np.array(True), "s": a(20, "int8")}, {"n": np.int64(2)}),
    "a scan": (SCANNED, {"s": a(100, "int8"), "x": a([20, 20, 20], "int8")}, {"x": a([20, -20, 20], "int8")}),
    "a function": (CALLED, {"x": a([100, 3], "int8")}, {"x": a([10, 3], "int8")}),
}


def screened(text, inputs):
    """What the screen objects to, with all that the reference computes on its way."""
    case = Case("onnx", onnx.parser.parse_model(HEAD + text).SerializeToString(), inputs, Origin("test"))
    with Runner(Limits(seconds=60), jobs=1) as runner:
        return screen("onnx", case.model, validity.recorded(runner, case, catalogue.target("reference")))


@pytest.mark.parametrize("name", BODIES)
def test_what_is_computed_inside_a_body_that_ran_is_known(name):
    text, leaves, fits = BODIES[name]
    found = screened(text, leaves)
    assert found is not None and "does not fit" in found.reason
    assert screened(text, {**leaves, **fits}) is None


def test_a_value_of_a_body_that_reaches_none_of_its_outputs_excuses_nothing():
    text, inputs, _ = BODIES["a branch"]
    assert screened(text, inputs) is not None
    assert screened(DEAD, inputs) is None


def test_a_node_of_a_function_with_an_attribute_of_the_caller_is_not_judged_by_the_default():
    body = '<domain: "local", opset_import: ["": 11]> Sums <axes> (v) => (w) { w = ReduceSum <axes: ints = @axes> (v) }'
    text = f"g (int8[2,1] x) => (int8[2,1] y) {{ y = local.Sums <axes = [1]> (x) }}\n{body}"
    assert screened(text, {"x": a([[100], [100]], "int8")}) is None
