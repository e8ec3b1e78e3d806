"""Reducing cases: with predicates in Python, and with a real compiler."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser
from onnx.reference import ReferenceEvaluator

import triage.passes
from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.wire import Value
from triage.interesting import recorded, same_signature
from triage.reduce import MOST_RUNS, ORDER, NotInteresting, elements, most_runs, reduce
from triage.signing import Signer
from triage.submodel import all_nodes, load, well_formed, with_model

JUNK = ("Relu", "Sigmoid", "Neg", "Abs", "Tanh", "Add", "Mul", "Sub")
Part = tuple[list[onnx.NodeProto], dict[str, np.ndarray], str]


def large(count: int, part: Callable[[str], Part], seed: int = 0) -> Case:
    """A valid graph of `count` random elementwise nodes on float[2,3,8] around the nodes of `part`."""
    rng = random.Random(seed)
    known, nodes, constants = ["left", "right"], [], dict[str, np.ndarray]()
    for at in range(count):
        op_type = rng.choice(JUNK)
        inputs = [rng.choice(known) for _ in range(2 if op_type in ("Add", "Mul", "Sub") else 1)]
        nodes.append(helper.make_node(op_type, inputs, [f"block{at}/{op_type}_output"], f"node_{at}"))
        known.append(nodes[-1].output[0])
        if at == count // 2:
            own, own_constants, result = part(rng.choice(known))
            nodes += own
            constants |= own_constants
            known.append(result)
    read = {name for node in nodes for name in node.input}
    shape = (2, 3, 8)
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in ("left", "right")]
    results = [name for node in nodes for name in node.output if name not in read]
    outputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name in results]
    initializers = [numpy_helper.from_array(value, name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "large", infos, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 23)], ir_version=10)
    draw = np.random.default_rng(seed)
    inputs_ = {info.name: draw.standard_normal(shape).astype(np.float32) for info in infos}
    return Case("onnx", model.SerializeToString(), inputs_, Origin("test", "large", seed=seed))


def relu_of_transpose(source: str) -> Part:
    nodes = [
        helper.make_node("Transpose", [source], ["turned"], perm=[0, 2, 1]),
        helper.make_node("Relu", ["turned"], ["cut"]),
        helper.make_node("Transpose", ["cut"], ["back"], perm=[0, 2, 1]),
    ]
    return nodes, {}, "back"


def integer_power(source: str) -> Part:
    nodes = [
        helper.make_node("Cast", [source], ["whole"], to=TensorProto.INT64),
        helper.make_node("Pow", ["whole", "exponent"], ["power"]),
        helper.make_node("Cast", ["power"], ["real"], to=TensorProto.FLOAT),
    ]
    return nodes, {"exponent": np.array(2.0, np.float32)}, "real"


def listed_shape(source: str) -> Part:
    constant = helper.make_node("Constant", [], ["shape"], value_ints=[2, 3, 8])
    return [constant, helper.make_node("Reshape", [source, "shape"], ["shaped"])], {}, "shaped"


def attention(source: str) -> Part:
    nodes = [
        helper.make_node("Reshape", [source, "four"], ["query"]),
        helper.make_node("Attention", ["query", "query", "query"], ["attended"]),
        helper.make_node("Reshape", ["attended", "three"], ["result"]),
    ]
    return nodes, {"four": np.array([1, 2, 3, 8]), "three": np.array([2, 3, 8])}, "result"


def record(case: Case) -> Mapping[str, Value]:
    try:
        found = ReferenceEvaluator(load(case)).run(None, dict(case.inputs), intermediate=True)
    except Exception:  # noqa: BLE001 - as the real recorder: what cannot be evaluated gives its inputs
        return dict(case.inputs)
    assert isinstance(found, dict)
    return found


def valid(case: Case) -> bool:
    try:
        onnx.checker.check_model(load(case), full_check=True)
        ReferenceEvaluator(load(case)).run(None, dict(case.inputs))
    except Exception:  # noqa: BLE001 - whatever the reference objects to makes a case invalid
        return False
    return True


def has_relu_of_transpose(case: Case) -> bool:
    makers = {name: node.op_type for node in load(case).graph.node for name in node.output}
    relus = [node for node in load(case).graph.node if node.op_type == "Relu"]
    return any(makers.get(node.input[0]) == "Transpose" for node in relus) and valid(case)


def op_types(case: Case) -> list[str]:
    return [node.op_type for node in load(case).graph.node]


# ---------------------------------------------------------------- the search


@pytest.mark.parametrize("count", [10, 30, 60])
def test_two_nodes_that_matter_are_found_among_many(count: int) -> None:
    case = large(count, relu_of_transpose, seed=count)
    reduction = reduce(case, has_relu_of_transpose, values=record, valid=valid)
    assert op_types(reduction.case) == ["Transpose", "Relu"]
    assert (reduction.nodes_before, reduction.nodes_after) == (count + 3, 2)
    assert reduction.elements_after == elements(reduction.case) <= 6
    assert reduction.finished
    assert reduction.case.origin.parents == (case.id,)


def _with_zeros_of_both_signs(count: int) -> Case:
    """A chain of `count` nodes, the reciprocal of -Relu of what it gives, and another chain behind it."""
    lines, name = list[str](), "x"
    for at, op_type in enumerate((["Tanh", "Sin", "Elu", "Atan"] * count)[:count]):
        lines, name = [*lines, f"a{at} = {op_type} ({name})"], f"a{at}"
    lines += [f"s = Sin ({name})", "r = Relu (s)", "z = Mul (r, m)", "q = Reciprocal (z)", "b = Max (q, l)"]
    lines, name = [*lines, f"c = Add ({name}, b)"], "c"
    for at, op_type in enumerate((["Tanh", "Sigmoid", "Elu", "Cos"] * count)[:count]):
        lines, name = [*lines, f"d{at} = {op_type} ({name})"], f"d{at}"
    text = (
        '<ir_version: 10, opset_import: ["": 20]> g (float[2,3] x) => (float[2,3] y)'
        f" <float m = {{-1.0}}, float l = {{-10.0}}> {{ {' '.join(lines)} y = Identity ({name}) }}"
    )
    given = np.float32([[1, -1, 2], [3, -4, 5]])
    return Case("onnx", parser.parse_model(text).SerializeToString(), {"x": given}, Origin("test"))


@pytest.mark.parametrize("count", [3, 4, 20])
def test_a_node_that_fails_on_certain_values_is_found_alone_though_a_bypass_has_hidden_it(count: int) -> None:
    """What feeds it in the place of dropped nodes has no minus zero; what was recorded has."""

    def divides_minus_zero(case: Case) -> bool:
        known = {**record(case), **case.inputs}
        read = [np.asarray(known[one.input[0]]) for one in load(case).graph.node if one.op_type == "Reciprocal"]
        return any(bool(np.any((value == 0) & np.signbit(value))) for value in read)

    case = _with_zeros_of_both_signs(count)
    reduction = reduce(case, divides_minus_zero, values=record, valid=valid, confirmed=False)
    assert op_types(reduction.case) == ["Reciprocal"] and reduction.runs <= 30


def test_the_last_node_is_asked_about_on_its_own_values_and_not_on_simple_ones_only() -> None:
    text = """<ir_version: 10, opset_import: ["": 20]> g (float[2,3] x) => (float[2,3] y)
        <float m = {200000.0}, float t = {10.0}, float h = {0.5}> {
        a = Tanh (x) b = Abs (a) c = Cos (b) d = Exp (c) e = Tanh (d) f = Mul (e, m) s = Selu (f) l = Less (s, t)
        w = Where (l, s, h) i = Sin (w) j = Neg (i) k = Atan (j) n = Tanh (k) o = Sin (n) y = Identity (o) }"""
    given = np.float32([[1, 2, 3], [4, 5, 6]])
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": given}, Origin("test"))

    def reads_large_numbers(case: Case) -> bool:
        known = {**record(case), **case.inputs}
        read = [np.asarray(known[one.input[0]]) for one in load(case).graph.node if one.op_type == "Selu"]
        return any(bool(np.any(np.abs(value) > 1e5)) for value in read)

    settings = {"simplifying": 4, "neighbours": 2}  # as where runs are dear: cuts are simplified before they are asked
    reduction = reduce(case, reads_large_numbers, values=record, valid=valid, confirmed=False, **settings)
    assert op_types(reduction.case) == ["Selu"]


def test_nodes_that_are_far_apart_are_found() -> None:
    def first_and_last(case: Case) -> bool:
        nodes = load(case).graph.node
        exp = {name for node in nodes if node.op_type == "Exp" for name in node.output}
        reached = set(exp)
        for node in nodes:
            if reached.intersection(node.input):
                reached.update(node.output)
        return any(node.op_type == "Log" and reached.intersection(node.input) for node in nodes) and valid(case)

    body = "\n".join(f"t{at} = Abs(t{at - 1})" for at in range(1, 21))
    text = f"g (float[4] x) => (float[4] y) {{ t0 = Exp(x) {body} y = Log(t20) }}"
    head = '<ir_version: 8, opset_import: ["": 17]>'
    case = Case(
        "onnx", parser.parse_model(head + text).SerializeToString(), {"x": np.ones(4, np.float32)}, Origin("test")
    )
    reduction = reduce(case, first_and_last, values=record, valid=valid)
    assert op_types(reduction.case) == ["Exp", "Log"]
    assert reduction.runs < 16


def unread_places(source: str) -> Part:
    nodes = [
        helper.make_node("TopK", [source, "three"], ["top", "places"], axis=1),
        helper.make_node("Exp", ["top"], ["result"]),
    ]
    return nodes, {"three": np.array([3])}, "result"


def strange(source: str) -> Part:
    nodes = [
        helper.make_node("Unheard", [source], ["heard"], domain="com.example"),
        helper.make_node("Softmax", ["heard"], ["result"]),
    ]
    return nodes, {}, "result"


def without_output(case: Case, name: str) -> Case:
    model = load(case)
    model.graph.output.remove(next(info for info in model.graph.output if info.name == name))
    return with_model(case, model)


def test_a_result_that_nobody_reads_can_be_what_matters() -> None:
    def needs(case: Case) -> bool:
        graph = load(case).graph
        read = {name for node in graph.node for name in node.input} | {info.name for info in graph.output}
        return any(node.op_type == "TopK" and node.output[1] not in read for node in graph.node)

    found = reduce(without_output(large(60, unread_places), "places"), needs, values=record, valid=valid)
    assert op_types(found.case) == ["TopK"] and found.runs < 30


def test_an_input_that_is_an_output_can_be_what_matters_and_goes_where_it_does_not() -> None:
    def passes_through(case: Case) -> bool:
        graph = load(case).graph
        return not {info.name for info in graph.input}.isdisjoint(info.name for info in graph.output)

    case = large(60, relu_of_transpose)
    model = load(case)
    model.graph.output.append(model.graph.input[0])
    case = with_model(case, model)
    found = reduce(case, passes_through, values=record, valid=valid)
    assert found.nodes_after == 1 and found.runs < 30
    assert not passes_through(reduce(case, has_relu_of_transpose, values=record, valid=valid).case)


def test_an_operator_that_the_reference_does_not_know_costs_neither_size_nor_validity() -> None:
    def is_there(case: Case) -> bool:
        assert well_formed(case)
        return "Softmax" in op_types(case)

    model = load(large(60, strange))
    model.opset_import.append(helper.make_opsetid("com.example", 1))
    found = reduce(with_model(large(60, strange), model), is_there, values=record, valid=valid)
    assert op_types(found.case) == ["Softmax"] and well_formed(found.case)


UNTAKEN = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
g (float[2] x, bool c) => (float[2] y, float[2] z) {
    a = Neg(x)
    y = If(c) <then_branch = t () => (float[2] p) { d = Abs(a) e = Softmax(d) f = Elu(e) p = Exp(f) },
               else_branch = e () => (float[2] q) { q = Tan(a) }>
    z = own.f(c, x) }
<domain: "own", opset_import: ["": 21]> f (c, p) => (r) {
    s = Sin(p)
    r = If(c) <then_branch = t () => (float[2] t) { u = Cos(s) v = Erf(u) w = Mish(v) t = Exp(w) },
               else_branch = e () => (float[2] u) { u = Tan(s) }> }"""


@pytest.mark.parametrize("pair", [("Softmax", "Elu"), ("Erf", "Mish")], ids=["main graph", "function"])
def test_a_bug_in_a_branch_that_is_not_taken_comes_out_of_it(pair: tuple[str, str]) -> None:
    def follows(case: Case) -> bool:
        makers = {name: node.op_type for node in all_nodes(load(case)) for name in node.output}
        return any(node.op_type == pair[1] and makers.get(node.input[0]) == pair[0] for node in all_nodes(load(case)))

    model = parser.parse_model(UNTAKEN).SerializeToString()
    case = Case("onnx", model, {"x": np.float32([1, 2]), "c": np.array(False)}, Origin("test"))
    found = reduce(case, follows, values=record, valid=valid)
    assert found.nodes_after == 2 and follows(found.case) and valid(found.case)


def test_a_case_that_is_not_interesting_is_refused_in_one_line() -> None:
    with pytest.raises(NotInteresting, match=r"^[^\n]+$"):
        reduce(large(3, relu_of_transpose), lambda case: False, values=record)


def test_a_case_that_needs_everything_comes_back_as_it_is() -> None:
    case = large(5, relu_of_transpose)
    reduction = reduce(case, lambda candidate: candidate.id == case.id, values=record)
    assert reduction.case is case
    assert reduction.finished


def test_no_candidate_is_tried_twice_and_every_run_is_counted() -> None:
    seen: list[str] = []

    def watched(case: Case) -> bool:
        seen.append(case.id)
        return has_relu_of_transpose(case)

    reduction = reduce(large(12, relu_of_transpose), watched, values=record, valid=valid, confirm=lambda case: True)
    assert len(seen) == len(set(seen))
    assert reduction.runs == len(seen) + 1  # the confirmation


def test_the_deadline_ends_the_search_with_the_best_so_far() -> None:
    now = iter(range(10_000))
    case = large(30, relu_of_transpose)
    reduction = reduce(case, has_relu_of_transpose, values=record, deadline=8, clock=lambda: float(next(now)))
    assert not reduction.finished
    assert reduction.nodes_after <= reduction.nodes_before
    assert has_relu_of_transpose(reduction.case)


def test_the_deadline_ends_a_search_that_never_comes_to_a_run() -> None:
    case, asked = large(30, relu_of_transpose), list[str]()

    def only_the_whole(candidate: Case) -> bool:
        asked.append(candidate.id)
        return candidate.id == case.id

    reduction = reduce(
        case, lambda _: True, values=record, valid=only_the_whole, deadline=9.0, clock=lambda: float(len(asked))
    )
    assert not reduction.finished and reduction.runs == 1
    assert len(asked) <= 10


def test_a_function_of_another_opset_does_not_keep_the_search_going_for_ever() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (float[2] x) => (float[2] y) { a = Exp(x) y = own.block(a) }
    <domain: "own", opset_import: ["": 18]> block (p) => (r) { q = Tanh(p) s = Neg(q) r = Abs(s) }"""
    case = Case(
        "onnx", parser.parse_model(text).SerializeToString(), {"x": np.array([1, 2], np.float32)}, Origin("test")
    )
    asked = list[str]()

    def calls(candidate: Case) -> bool:
        return bool(load(candidate).functions) and "block" in op_types(candidate)

    def counted(candidate: Case) -> bool:
        asked.append(candidate.id)
        return valid(candidate)

    reduction = reduce(case, calls, values=record, valid=counted, deadline=3000.0, clock=lambda: float(len(asked)))
    assert reduction.finished and op_types(reduction.case) == ["block"]


def test_the_cap_on_runs_ends_the_search() -> None:
    reduction = reduce(large(30, relu_of_transpose), has_relu_of_transpose, values=record, most_runs=7)
    assert reduction.runs <= 7
    assert not reduction.finished
    assert has_relu_of_transpose(reduction.case)


def test_a_lucky_hit_of_a_flaky_predicate_is_given_up_for_an_earlier_case() -> None:
    def lucky(case: Case) -> bool:
        return valid(case)  # accepts anything once

    reduction = reduce(large(12, relu_of_transpose), lucky, values=record, confirm=has_relu_of_transpose)
    assert has_relu_of_transpose(reduction.case)


def test_when_nothing_is_confirmed_the_original_stands() -> None:
    case = large(6, relu_of_transpose)
    assert reduce(case, valid, values=record, confirm=lambda candidate: False).case is case


def test_without_recorded_values_what_can_be_dropped_is_dropped() -> None:
    case = large(20, relu_of_transpose)
    reduction = reduce(case, has_relu_of_transpose, values=lambda case: {})
    assert reduction.nodes_after < reduction.nodes_before
    assert has_relu_of_transpose(reduction.case)


def needs_two_attributes(case: Case) -> bool:
    turned = [node for node in load(case).graph.node if node.op_type == "Transpose"]
    soft = [node for node in load(case).graph.node if node.op_type == "Softmax"]
    given = [a for node in [*turned, *soft] for a in node.attribute if list(a.ints) == [0, 2, 1] or a.i == 1]
    return len(turned) == len(soft) == 1 and len(given) == 2 and turned[0].output[0] == soft[0].input[0]


def turned_softmax() -> Case:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,2,2] x) => (float[2,2,2] y)
        { t = Transpose<perm = [0, 2, 1]>(x) y = Softmax<axis = 1>(t) }"""
    values = np.arange(1, 9, dtype=np.float32).reshape(2, 2, 2)
    return Case("onnx", parser.parse_model(text).SerializeToString(), {"x": values}, Origin("test"))


def test_where_runs_are_dear_few_go_into_what_only_attributes_are_left_to_say() -> None:
    stages: list[str] = []
    found = reduce(
        turned_softmax(),
        needs_two_attributes,
        values=record,
        valid=valid,
        simplifying=4,
        neighbours=2,
        progress=lambda name, runs: stages.append(name),
    )
    assert needs_two_attributes(found.case) and found.min_good is not None
    assert len([name for name in stages if name not in ("nodes", "neighbour")]) <= 2


def test_where_runs_are_dear_and_sizes_matter_the_rest_is_made_simpler_all_the_same() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[1,8,12,12] image) => (float[1,8,12,12] result)
        { result = Conv<group = 8, kernel_shape = [3, 3], pads = [1, 1, 1, 1]>(image, weights) }"""
    model = parser.parse_model(text)
    weights = np.linspace(-1, 1, 72, dtype=np.float32).reshape(8, 1, 3, 3)
    model.graph.initializer.append(numpy_helper.from_array(weights, "weights"))
    image = np.linspace(-2, 3, 8 * 144, dtype=np.float32).reshape(1, 8, 12, 12)
    case, stages = Case("onnx", model.SerializeToString(), {"image": image}, Origin("test")), list[str]()

    def needs(case: Case) -> bool:
        [node] = load(case).graph.node
        sizes = [dim.dim_value for dim in load(case).graph.input[0].type.tensor_type.shape.dim]
        grouped = any(each.name == "group" and each.i == 8 for each in node.attribute)
        return node.op_type == "Conv" and grouped and sizes[-1:] == [12]

    tell = lambda name, runs: stages.append(name)  # noqa: E731
    found = reduce(case, needs, values=record, valid=valid, simplifying=4, neighbours=2, fed=False, progress=tell)
    assert needs(found.case) and len([name for name in stages if name not in ("nodes", "neighbour")]) <= 3
    assert not np.array_equal(np.asarray(found.case.inputs["image"]), image)


def test_where_runs_are_dear_and_only_sizes_are_suspected_their_refusal_is_the_passing_neighbour() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[5,7] image) => (float[5,7] result)
        { result = Sigmoid(image) }"""
    image = np.linspace(-2, 3, 35, dtype=np.float32).reshape(5, 7)
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"image": image}, Origin("test"))
    stages = list[str]()

    def needs(case: Case) -> bool:
        return all(np.asarray(value).shape[-1] >= 5 for value in case.inputs.values())

    tell = lambda name, runs: stages.append(name)  # noqa: E731
    found = reduce(case, needs, values=record, valid=valid, simplifying=4, neighbours=2, fed=False, progress=tell)
    [(name, value)] = found.case.inputs.items()
    assert not np.array_equal(np.asarray(value), image) and len(stages) == 2
    assert found.min_good is not None and found.min_good.difference.startswith(f"shape of {name}: [5, 7] -> ")


def test_a_node_that_is_idle_on_plain_numbers_only_is_not_idle_for_a_command() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x) => (float[2,3] y)
        { t = Floor(x) u = Ceil(t) y = Neg(u) }"""
    values = np.array([[1.5, -2.5, 0.5], [2.25, 1.75, -0.5]], np.float32)
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": values}, Origin("test"))

    def needs(case: Case) -> bool:
        return {"Floor", "Neg"} <= {node.op_type for node in load(case).graph.node}

    asked: dict[bool, list[str]] = {True: [], False: []}
    for fed in asked:
        tell = asked[fed].append
        reduce(case, needs, values=record, valid=valid, fed=fed, progress=lambda name, runs, tell=tell: tell(name))
    assert "noops" in asked[True] and "noops" not in asked[False]


def test_what_one_change_opens_for_another_costs_no_run_of_its_own() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (int64 n, float[2] x) => (float[2] last, float[k,2] rows) {
        yes = Constant <value = bool {1}> ()
        last, rows = Loop(n, yes, x) <body = b (int64 i, bool go, float[2] v) => (bool more, float[2] w, float[2] row) {
            more = Identity(go) w = CumSum(v, axis) row = Abs(w) }> }"""
    model = parser.parse_model(text)
    model.graph.initializer.append(numpy_helper.from_array(np.array(0), "axis"))
    given = {"n": np.array(2), "x": np.array([1, 2], np.float32)}
    case = Case("onnx", model.SerializeToString(), dict(given), Origin("test"))
    stages: list[str] = []

    def sums(candidate: Case) -> bool:
        inner = [a.g for node in load(candidate).graph.node for a in node.attribute if node.op_type == "Loop"]
        return any(node.op_type == "CumSum" for body in inner for node in body.node)

    found = reduce(case, sums, values=record, valid=valid, neighbours=0, progress=lambda name, _: stages.append(name))
    assert found.nodes_after == 2
    assert len([name for name in stages if name not in ("nodes", "subgraphs", "branches", "copies")]) <= 1


def test_progress_tells_the_pass_and_the_runs() -> None:
    told: list[tuple[str, int]] = []
    reduce(
        large(6, relu_of_transpose),
        has_relu_of_transpose,
        values=record,
        progress=lambda name, runs: told.append((name, runs)),
    )
    assert {name for name, _ in told} <= {*ORDER, "nodes", "neighbour"}
    assert [runs for _, runs in told] == sorted(runs for _, runs in told)


def test_every_pass_file_has_its_place_in_the_order() -> None:
    folder = Path(triage.passes.__file__).parent
    assert sorted(ORDER) == sorted(path.stem for path in folder.glob("*.py") if not path.stem.startswith("_"))


def test_a_hang_gets_fewer_runs_than_an_exception() -> None:
    assert most_runs("hang") < most_runs("exception:ValueError") == MOST_RUNS


# ---------------------------------------------------------------- real failures


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as started:
        yield started


def failure_of(runner: Runner, case: Case, backend: str) -> tuple[Judge, Failure]:
    judge = Judge(runner, catalogue.target("reference"))
    verdict = judge.examine(case, catalogue.target(backend))
    if verdict.failure is None:
        pytest.skip(f"this build of {backend} does not fail here any more: {verdict.status} {verdict.reason}")
    return judge, verdict.failure


@pytest.mark.parametrize(
    ("part", "culprit"), [(integer_power, "Pow"), (listed_shape, "Constant"), (attention, "Attention")]
)
def test_an_exception_of_tvm_is_reduced_to_the_operator_that_it_names(
    runner: Runner, part: Callable[[str], Part], culprit: str
) -> None:
    judge, failure = failure_of(runner, large(30, part, seed=1), "tvm")
    signer, values = Signer(runner), recorded(runner, catalogue.target("reference"))
    reduction = reduce(failure.case, same_signature(judge, failure, signer.sign), values=values, suspects=[culprit])
    assert op_types(reduction.case) == [culprit]
    assert reduction.elements_after <= 12
    again = judge.examine(reduction.case, failure.target).failure
    assert again is not None
    assert (signer.sign(again).symptom, signer.sign(again).place) == (
        signer.sign(failure).symptom,
        signer.sign(failure).place,
    )


def test_a_reduced_case_is_still_valid(runner: Runner) -> None:
    judge, failure = failure_of(runner, large(10, attention, seed=2), "tvm")
    values = recorded(runner, judge.reference)
    reduction = reduce(failure.case, same_signature(judge, failure, Signer(runner).sign), values=values)
    assert valid(reduction.case)


def test_the_predicate_refuses_another_failure_of_the_same_compiler(runner: Runner) -> None:
    judge, failure = failure_of(runner, large(10, attention, seed=2), "tvm")
    _, other = failure_of(runner, large(10, integer_power, seed=2), "tvm")
    interesting = same_signature(judge, failure, Signer(runner).sign)
    assert interesting(failure.case)
    assert not interesting(other.case)


def test_an_instance_loses_what_its_failure_does_not_need() -> None:
    text = {
        "api": "torch.nn.functional.max_pool2d",
        "args": [{"tensor": 0}, 3],
        "kwargs": {"stride": 2, "padding": 1, "dilation": 2, "ceil_mode": True},
        "tensors": [{"dtype": "float16", "shape": [2, 3, 12, 12], "seed": 1}],
    }

    def ceil_mode_of_four_axes(case: Case) -> bool:
        document = json.loads(case.model)
        shapes = [tensor["shape"] for tensor in document["tensors"]]
        kernel = document["args"][1:] and document["args"][1]
        return bool(document.get("kwargs", {}).get("ceil_mode")) and bool(kernel) and len(shapes[0]) == 4

    case = Case("instance", json.dumps(text).encode(), {}, Origin("test"))
    reduction = reduce(case, ceil_mode_of_four_axes, values=lambda case: {})
    reduced = json.loads(reduction.case.model)
    assert reduced["kwargs"] == {"ceil_mode": True}
    assert reduced["args"] == [{"tensor": 0}, 1]
    [tensor] = reduced["tensors"]
    assert tensor["dtype"] == "float32" and max(tensor["shape"]) <= 3
    assert tensor["values"] == [float(number) for number in range(1, 1 + len(tensor["values"]))]
    assert reduction.elements_before == 864 and reduction.elements_after <= 16


def test_of_an_instance_the_last_row_may_be_what_fails_and_its_axis_follows() -> None:
    """The first row shows nothing, so that a cut that keeps it says nothing of one that keeps the last."""
    text = {
        "api": "torch.amax",
        "args": [{"tensor": 0}, 1],
        "tensors": [{"dtype": "float32", "shape": [2, 1], "values": [-8, {"float": "-inf"}]}],
    }

    def reduces_nothing_but_infinity(case: Case) -> bool:
        document = json.loads(case.model)
        values = document["tensors"][0].get("values", []) if document["tensors"] else []
        by_row = document["args"][1:] == [1] or len(values) == 1
        return by_row and {"float": "-inf"} in values

    case = Case("instance", json.dumps(text).encode(), {}, Origin("test"))
    reduced = json.loads(reduce(case, reduces_nothing_but_infinity, values=lambda case: {}).case.model)
    assert reduced["args"] == [{"tensor": 0}]
    assert reduced["tensors"] == [{"dtype": "float32", "shape": [1], "values": [{"float": "-inf"}]}]


def test_numbers_of_an_instance_that_need_each_other_become_simple_together() -> None:
    """Neither the window nor the padding can be smaller alone: with the other as it is the call is none."""
    text = {
        "api": "torch.nn.functional.max_pool2d_with_indices",
        "args": [{"tensor": 0}, 3],
        "kwargs": {"padding": 1, "stride": 1},
        "tensors": [{"dtype": "float32", "shape": [1, 2, 2]}],
    }

    def has_a_window(case: Case) -> bool:
        return len(json.loads(case.model)["args"]) > 1

    def fits(case: Case) -> bool:
        document = json.loads(case.model)
        padding = document.get("kwargs", {}).get("padding", 0)
        sizes = [size for tensor in document["tensors"] for size in tensor["shape"][-2:]]
        return all(0 < kernel <= min(sizes) + 2 * padding and padding <= kernel / 2 for kernel in document["args"][1:])

    case = Case("instance", json.dumps(text).encode(), {}, Origin("test"))
    assert fits(case)
    reduction = reduce(case, has_a_window, values=lambda case: {}, valid=fits)
    reduced = json.loads(reduction.case.model)
    assert reduced["args"] == [{"tensor": 0}, 1] and "kwargs" not in reduced


def leading(first: str, last: str) -> Callable[[Case], bool]:
    """Whether a path of a model leads from one operator to another."""

    def leads(case: Case) -> bool:
        behind: set[str] = set()
        for node in load(case).graph.node:
            if node.op_type == first or behind.intersection(node.input):
                behind.update(node.output)
                if node.op_type == last:
                    return True
        return False

    return leads


def test_what_lies_between_two_nodes_goes_though_the_type_is_another_then() -> None:
    """A Clip of integers behind a comparison needs neither: of floating-point numbers it fails as well."""
    model = parser.parse_model("""
        <ir_version: 10, opset_import: ["" : 20]> g (float[2,3] x, float[1] y) => (int32[2,3] z) {
            a = Relu (x)
            b = LessOrEqual (a, y)
            c = Cast <to = 6> (b)
            d = Neg (c)
            z = Clip (d)
        }
    """)
    given = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "y": np.ones(1, np.float32)}
    case = Case("onnx", model.SerializeToString(), given, Origin("test"))

    found = reduce(case, leading("Relu", "Clip"), values=record, valid=valid)
    assert [node.op_type for node in load(found.case).graph.node] == ["Relu", "Clip"]
    assert load(found.case).graph.output[0].type.tensor_type.elem_type == TensorProto.FLOAT
    assert list(found.case.inputs) == ["x"] and found.runs < 30


def test_what_goes_to_another_type_and_comes_back_leaves_a_path_together() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x) => (float[2,3] y)
        <float s = {0.5}, float t = {0.25}> {
        e = Exp(x) q = QuantizeLinear(e, s) d = DequantizeLinear(q, s)
        p = QuantizeLinear(d, t) b = DequantizeLinear(p, t) y = Softmax(b) }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": np.ones((2, 3), np.float32)}, Origin("t"))

    leads = leading("Exp", "Softmax")
    found = reduce(
        case,
        lambda case: leads(case) and valid(case),
        values=record,
        valid=valid,
        fed=False,
        simplifying=4,
        neighbours=2,
    )
    assert op_types(found.case) == ["Exp", "Softmax"]


FUNCTIONS = """<ir_version: 10, opset_import: ["": 21, "own": 1]> g (float[2,3] x) => (float[2,3] y) {
    a = own.idle (x) b = own.guilty (a) y = own.last (b) }
    <domain: "own", opset_import: ["": 21]> idle (p) => (r) { q = Neg (p) r = Exp (q) }
    <domain: "own", opset_import: ["": 21]> guilty (p) => (t) { q = Abs (p) r = Celu (q) s = Sinh (r) t = Atan (s) }
    <domain: "own", opset_import: ["": 21]> last (p) => (r) { q = Relu (p) r = Tanh (q) }"""


def test_functions_that_nothing_calls_any_more_cost_no_run() -> None:
    """Their nodes were searched one function after the other; then they were gone, and the search ended in an error."""
    case = Case(
        "onnx", parser.parse_model(FUNCTIONS).SerializeToString(), {"x": np.ones((2, 3), np.float32)}, Origin("t")
    )
    searched = []

    def pair_in_a_function(case: Case) -> bool:
        model = load(case)
        searched.append({function.name: len(function.node) for function in model.functions})
        called = {node.op_type for node in model.graph.node}
        return any(
            {"Celu", "Sinh"} <= {node.op_type for node in function.node} and function.name in called
            for function in model.functions
        )

    found = reduce(case, pair_in_a_function, values=record, valid=valid)
    [function] = load(found.case).functions
    assert [node.op_type for node in function.node] == ["Celu", "Sinh"]
    assert all(sizes.get("idle", 2) == sizes.get("last", 2) == 2 for sizes in searched)


def test_of_two_nodes_each_is_asked_about_alone_whatever_larger_parts_told() -> None:
    """More of one operator than of another: parts that hold both, or neither, say nothing of the one alone."""
    nodes = "a = Neg(x) b = Relu(a) c = Sqrt(b) d = Relu(c) e = Relu(d) f = Neg(e) y = Relu(f)"
    text = f'<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x) => (float[2,3] y) {{ {nodes} }}'
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": np.ones((2, 3), np.float32)}, Origin("t"))

    def more(case: Case) -> bool:
        operators = op_types(case)
        return operators.count("Relu") > operators.count("Neg")

    assert op_types(reduce(case, more, values=record, valid=valid).case) == ["Relu"]


def test_a_sequence_takes_the_place_of_a_dropped_one() -> None:
    text = """<ir_version: 10, opset_import: ["": 21]> g (float[2,3] x) => (float[2,3] y) <int64 first = {0}> {
        a = Abs(x) s = SequenceConstruct(a) t = SequenceInsert(s, x) y = SequenceAt(t, first) }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": np.ones((2, 3), np.float32)}, Origin("t"))

    found = reduce(case, leading("SequenceConstruct", "SequenceAt"), values=record, valid=valid)
    assert op_types(found.case) == ["SequenceConstruct", "SequenceAt"]
