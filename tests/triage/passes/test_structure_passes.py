"""Passes for what is left of bodies, functions and the nodes that feed others."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

from fuzz.case import Case, Origin
from tests.triage.passes.test_onnx_passes import case_of, model_of, op_types, propose, ramp, run, works
from tests.triage.test_reduce import record, valid
from triage.passes import outputs, parameters, results
from triage.reduce import reduce
from triage.submodel import all_nodes, free_names, load

CHOICE = """g (bool c, float[2] x) => (float[2] y) {
    y = If(c) <then_branch = t () => (float[2] p) { a = Tanh(x) p = Exp(a) },
               else_branch = e () => (float[2] q) { d = Abs(x) q = Neg(d) }> }"""
LOOP = """g (int64 n, float[2] x) => (float[2] last) {
    yes = Constant <value = bool {1}> ()
    last, unread, again = Loop(n, yes, x) <body = b (int64 i, bool go, float[2] v)
        => (bool more, float[2] w, float[2] row, float[2] copy) {
        more = Identity(go) f = Constant <value = float[2] {1, 2}> () w = Mul(v, f)
        row = Exp(w) copy = Identity(w) }> }"""
SCAN = """g (float[n, 2] x) => (float[2] last, float[n, 2] rows) {
    start = Constant <value = float[2] {0, 0}> ()
    last, rows, unread = Scan <body = b (float[2] v, float[2] row) => (float[2] w, float[2] more, float[2] other)
        <float[2] nobody = {1, 2}> { w = Add(v, row) more = Neg(row) other = Exp(row) }, num_scan_inputs = 1> (start, x)
    }"""
CALL = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
g (float[2] x, float[2] z) => (float[2] y) <float[2] w = {1, 2}> {
    a = Neg(x) y = own.block <k = 1.0, l = 2.0>(z, a, w) }
<domain: "own", opset_import: ["": 21]> block <k, l>(p, q, r) => (s) { t = Elu <alpha: float = @l>(q) s = Abs(t) }"""
UNREAD = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
g (float[2] x) => (float[2] y) { y, a, b = own.outer (x) }
<domain: "own", opset_import: ["": 21]> inner (p) => (q, r) { q = Neg(p) r = Exp(p) }
<domain: "own", opset_import: ["": 21, "own": 1]> outer (p) => (s, t, u) { s, t = own.inner (p) u = Abs(t) }"""
X = np.array([1, -2], np.float32)


def choice(condition: bool) -> Case:
    return case_of(CHOICE, c=np.array(condition), x=X)


def body(case: Case, name: str) -> onnx.GraphProto:
    found: list[onnx.GraphProto] = [a.g for node in model_of(case).graph.node for a in node.attribute if a.name == name]
    return found[0]


@pytest.mark.parametrize(("condition", "first"), [(True, "else_branch"), (False, "then_branch")])
def test_the_branch_that_is_not_taken_is_the_first_to_be_emptied(condition: bool, first: str) -> None:
    proposed = propose("branches", choice(condition))
    assert len(proposed) == 2 and [node.op_type for node in body(proposed[0], first).node] == ["Constant"]
    np.testing.assert_array_equal(run(proposed[0])[0], run(choice(condition))[0])
    assert all(works(case) for case in proposed)
    assert propose("branches", proposed[0]) == []


def test_a_branch_of_an_if_in_a_loop_is_emptied_too() -> None:
    text = """g (int64 n, bool c, float[2] x) => (float[2] y) {
        y = Loop(n, c, x) <body = b (int64 i, bool go, float[2] v) => (bool more, float[2] w) {
            more = Identity(go)
            w = If(go) <then_branch = t () => (float[2] p) { p = Mul(v, v) },
                        else_branch = e () => (float[2] q) { q = Neg(v) }> }> }"""
    found = propose("branches", case_of(text, n=np.array(2), c=np.array(True), x=X))
    held = [{node.op_type for node in all_nodes(model_of(each))} for each in found]
    assert all(works(each) for each in found) and [one & {"Mul", "Neg"} for one in held] == [{"Neg"}, {"Mul"}]


def test_a_branch_of_open_sizes_is_emptied_to_those_of_most_tensors() -> None:
    text = """g (int64 n, bool c, float[2] x, float[1, 3] z) => (float[2] last, float[1, 3] u) {
        u = Abs(z) s = Neg(x) last = Loop(n, c, s) <body = b (int64 i, bool go, float[k] v) => (bool go, float[k] w) {
            w = If(go) <then_branch = t () => (float[k] p) { p = Mul(v, v) },
                        else_branch = e () => (float[k] q) { q = Neg(v) }> }> }"""
    inputs = {"n": np.array(2), "c": np.array(True), "x": X, "z": np.ones((1, 3), np.float32)}
    found = propose("branches", case_of(text, **inputs))
    made = [node for node in all_nodes(model_of(found[0])) if node.op_type == "Constant"]
    assert len(found) == 2 and [list(node.attribute[0].t.dims) for node in made] == [[2]]
    assert all(works(case) for case in found)


def test_a_bug_in_a_branch_is_left_alone_with_its_node() -> None:
    def has_neg(case: Case) -> bool:
        graphs = [a.g for node in load(case).graph.node for a in node.attribute if a.HasField("g")]
        return any(node.op_type == "Neg" for graph in graphs for node in graph.node)

    found = reduce(choice(False), has_neg, values=record, valid=valid)
    assert found.nodes_after == 2 and valid(found.case)


def test_results_that_nobody_reads_copies_and_constant_nodes_leave_a_body() -> None:
    case = case_of(LOOP, n=np.array(2), x=X)
    everything, *_ = propose("bodies", case)
    inner = body(everything, "body")
    assert [node.op_type for node in inner.node] == ["Mul"] and [info.name for info in inner.output] == ["go", "w"]
    np.testing.assert_array_equal(run(everything)[0], run(case)[0])
    assert all(works(candidate) for candidate in propose("bodies", case))


def test_a_copy_that_is_a_result_and_read_besides_is_read_from_its_source() -> None:
    text = """g (int64 n, bool more, float[2] x) => (float[2] y, float[k, 2] c) {
        y, c = Loop(n, more, x) <body = b (int64 i, bool go, float[2] s) => (bool go, float[2] t, float[2] w)
                             { t = Identity(s) w = Identity(t) }> }"""
    case = case_of(text, n=np.array(2), more=np.array(True), x=X)
    everything, *_ = propose("bodies", case)
    inner = body(everything, "body")
    assert [list(node.input) for node in inner.node] == [["s"]]
    assert [info.name for info in inner.output] == ["go", "s", "w"]
    np.testing.assert_array_equal(run(everything)[1], run(case)[1])


def test_a_result_of_an_if_that_is_read_stays_and_so_does_one_of_several() -> None:
    text = """g (bool c, float[2] x) => (float[2] y) {
        u, v = If(c) <then_branch = t () => (float[2] p, float[2] q) { p = Tanh(x) q = Exp(x) },
                      else_branch = e () => (float[2] r, float[2] s) { r = Abs(x) s = Neg(x) }> y = Relu(v) }"""
    case = case_of(text, c=np.array(True), x=X)
    shorter, *_ = propose("bodies", case)
    assert [node.op_type for node in body(shorter, "then_branch").node] == ["Exp"]
    np.testing.assert_array_equal(run(shorter)[0], run(case)[0])
    assert propose("bodies", shorter) == []


def test_what_a_scan_collects_for_nobody_goes_and_so_do_constants_that_nobody_reads() -> None:
    case = case_of(SCAN, x=np.ones((3, 2), np.float32))
    everything, *_ = propose("bodies", case)
    inner = body(everything, "body")
    assert [node.op_type for node in inner.node] == ["Add", "Neg"] and not inner.initializer
    assert len(load(everything).graph.node[-1].output) == len(inner.output) == 2
    np.testing.assert_array_equal(run(everything)[0], run(case)[0])
    assert all(works(candidate) for candidate in propose("bodies", case))


def test_a_scan_that_says_where_its_results_go_keeps_them_all() -> None:
    text = SCAN.replace("num_scan_inputs = 1", "num_scan_inputs = 1, scan_output_axes = [0, 0]")
    shorter, *_ = propose("bodies", case_of(text, x=np.ones((3, 2), np.float32)))
    assert len(load(shorter).graph.node[-1].output) == 3


def test_a_node_whose_result_is_its_input_goes() -> None:
    text = """g (float[2] x, float[2, 1] z) => (float[2] y) {
        a = Cast <to = 1> (x) s = Shape(a) b = Relu(a) r = Reshape(b, s) c = Identity(r) n = Neg(c) y = Identity(n) }"""
    case = case_of(text, x=np.abs(X), z=np.ones((2, 1), np.float32))
    everything, *single = propose("noops", case)
    assert op_types(everything) == ["Shape", "Neg"] and len(single) == 5
    assert all(len(load(one).graph.node) == 6 and works(one) for one in single)
    np.testing.assert_array_equal(run(everything)[0], run(case)[0])


def test_a_copy_of_an_input_that_is_a_result_stays_and_so_does_the_only_node() -> None:
    assert propose("noops", case_of("g (float[2] x) => (float[2] y) { y = Relu(x) }", x=np.abs(X))) == []
    copied = "g (float[2] x) => (float[2] y, float[2] z) { y = Identity(x) z = Neg(y) }"
    assert propose("noops", case_of(copied, x=X)) == []


def test_results_of_functions_that_nobody_reads_go_with_the_nodes_that_made_them() -> None:
    case = Case("onnx", parser.parse_model(UNREAD).SerializeToString(), {"x": X}, Origin("test"))
    everything, *single = results.candidates(case, {})
    inner, outer = model_of(everything).functions
    assert [node.op_type for node in inner.node] == ["Neg"] and list(outer.output) == ["s"]
    assert [len(model_of(each).functions[1].output) for each in single] == [2, 2]
    for each in (everything, *single):
        onnx.checker.check_model(model_of(each), full_check=True)
        np.testing.assert_array_equal(run(each)[0], run(case)[0])
    assert list(results.candidates(everything, {})) == []


def test_parameters_that_a_function_does_not_read_go_with_what_they_were_given() -> None:
    given = {"x": X, "z": X}
    case = Case("onnx", parser.parse_model(CALL).SerializeToString(), dict(given), Origin("test"))
    [shorter] = parameters.candidates(case, {})
    model = model_of(shorter)
    assert list(model.functions[0].input) == ["q"] and list(model.functions[0].attribute) == ["l"]
    assert list(model.graph.node[1].input) == ["a"] and [a.name for a in model.graph.node[1].attribute] == ["l"]
    assert list(shorter.inputs) == ["x"] and not model.graph.initializer
    onnx.checker.check_model(model, full_check=True)
    assert list(parameters.candidates(shorter, {})) == []


def test_a_source_becomes_a_constant_where_an_input_would_hide_the_bug() -> None:
    text = "g (float[2,2] x) => (float[2,2] y) { a = Sin(x) b = Round(a) y = Sign(b) }"

    def computed(case: Case) -> bool:
        graph = load(case).graph
        rounded = [node for node in graph.node if node.op_type == "Round"]
        followed = any(node.op_type == "Sign" and node.input[0] == r.output[0] for node in graph.node for r in rounded)
        return followed and all(node.input[0] not in {info.name for info in graph.input} for node in rounded)

    found = reduce(case_of(text, x=ramp(2, 2)), computed, values=record, valid=valid)
    assert op_types(found.case) == ["Round", "Sign"]


def test_what_is_computed_from_constants_becomes_an_input_where_a_constant_would_hide_the_bug() -> None:
    """A scalar that is no constant: a Cast of a constant stayed, since a cut gives its result as a constant."""
    text = "g (float[2,2] x) => (float[2,2] z) <int64 two = {2}> { s = Cast<to = 1>(two) r = Sqrt(s) z = Div(x, r) }"

    def computed(case: Case) -> bool:
        graph = load(case).graph
        constants = {tensor.name for tensor in graph.initializer}
        return any(node.op_type == "Sqrt" and node.input[0] not in constants for node in graph.node)

    found = reduce(case_of(text, x=ramp(2, 2)), computed, values=record, valid=valid, fed=False)
    assert op_types(found.case) == ["Sqrt"] and list(found.case.inputs) == ["s"]


def test_two_nodes_are_not_asked_whether_one_could_be_a_constant() -> None:
    assert propose("sources", case_of("g (float[2] x) => (float[2] y) { a = Sin(x) y = Neg(a) }", x=X)) == []


@pytest.mark.parametrize(
    ("node", "numbers"),
    [("Tile(x, r)", [7, 6, 4]), ("Pad(x, r)", [5, 0, 4, 9, 0, 1]), ("Reshape(x, r)", [-1, 0, 4])],
)
def test_numbers_that_mean_extents_become_small_and_the_result_fits(node: str, numbers: list[int]) -> None:
    listed = ",".join(map(str, numbers))
    case = case_of(
        f"g (float[3,2,8] x) => (float[a,b,c] y) <int64[{len(numbers)}] r = {{{listed}}}> {{ y = {node} }}",
        x=ramp(3, 2, 8),
    )
    first, *_ = propose("extents", case)
    [tensor] = model_of(first).graph.initializer
    lowered = numpy_helper.to_array(tensor).tolist()
    assert all(abs(number) <= 3 for number in lowered) and works(first)
    assert [np.sign(number) for number in lowered] == [np.sign(number) for number in numbers]


def test_a_repeat_that_is_declared_comes_down_with_the_declaration() -> None:
    text = "g (float[3,5,2,4] x) => (float[21,30,8,8] y) <int64[4] r = {7,6,4,2}> { y = Tile(x, r) }"
    case = case_of(text, x=ramp(3, 5, 2, 4))

    def repeats(candidate: Case) -> bool:
        tensors = [numpy_helper.to_array(tensor) for tensor in load(candidate).graph.initializer]
        return op_types(candidate) == ["Tile"] and any(bool((tensor >= 2).all()) for tensor in tensors)

    found = reduce(case, repeats, values=record, valid=valid)
    [tensor] = load(found.case).graph.initializer
    assert set(numpy_helper.to_array(tensor).tolist()) == {2} and valid(found.case)


def test_indices_and_data_are_no_extents() -> None:
    text = "g (float[9] x, int64[2] d) => (float[2] y, int64[2] z) <int64[2] i = {7,8}> { y = Gather(x, i) z = Neg(d) }"
    assert propose("extents", case_of(text, x=ramp(9), d=np.array([50, 60]))) == []


NESTED = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
g (float[2] x) => (float[2] y) { a = own.outer(x) y = Abs(a) }
<domain: "own", opset_import: ["": 21, "own": 1]> outer (p) => (r) { q = Exp(p) s = own.core(q) r = Neg(s) }
<domain: "own", opset_import: ["": 21]> core (p) => (r) { q = Sqrt(p) s = Log(q) r = Tanh(s) }"""


def test_a_function_in_a_function_needs_no_other_around_it() -> None:
    def logarithms(case: Case) -> bool:
        model = load(case)
        called = {node.op_type for part in (model.graph, *model.functions) for node in part.node}
        held = [[node.op_type for node in f.node] for f in model.functions if f.name in called]
        return any("Sqrt" in names and "Log" in names for names in held)

    case = Case("onnx", parser.parse_model(NESTED).SerializeToString(), {"x": X}, Origin("test"))
    found = reduce(case, logarithms, values=record, valid=valid)
    assert [f.name for f in load(found.case).functions] == ["core"] and found.nodes_after == 3


def test_the_last_state_of_a_loop_takes_the_place_of_what_it_collects() -> None:
    text = """g (int64 n, bool c, float[2] x) => (float[rows, 2] again) {
        last, again = Loop(n, c, x) <body = b (int64 i, bool go, float[2] v)
            => (bool more, float[2] w, float[2] copy) { more = Identity(go) w = Neg(v) copy = Identity(w) }> }"""
    found = propose("outputs", case_of(text, n=np.array(3), c=np.array(True), x=X))
    assert [[info.name for info in model_of(each).graph.output] for each in found] == [["last"]]
    assert works(found[0]) and list(outputs.candidates(found[0], {"last": X})) == []


def test_what_a_scan_goes_along_for_nobody_goes_with_its_direction() -> None:
    text = """g (float[2] start, float[n, 2] x, float[n, 2] y, float[n, 2] z) => (float[2] last) {
        last = Scan <body = a_graph_of_a_long_name (float[2] v, float[2] r, float[2] s, float[2] t) => (float[2] w) {
            w = Add(v, s) }, num_scan_inputs = 3, scan_input_directions = [0, 0, 0]> (start, x, y, z) }"""
    rows = np.arange(4, dtype=np.float32).reshape(2, 2)
    case = case_of(text, start=X, x=rows, y=rows, z=rows)
    everything, *_ = propose("bodies", case)
    [scan] = load(everything).graph.node
    told = {attribute.name: onnx.helper.get_attribute_value(attribute) for attribute in scan.attribute}
    assert (list(scan.input), told["num_scan_inputs"], told["scan_input_directions"]) == (["start", "y"], 1, [0])
    np.testing.assert_array_equal(run(everything)[0], run(case)[0])
    assert body(propose("names", everything)[0], "body").name == "body"


CAPTURES = """g (float[2] start, float[n, 2] x, float[2] a, int64[2] shape) => (float[2] last) {
    last, rows = Scan <body = b (float[2] v, float[2] row) => (float[2] w, float[2] more) {
        w = Add(v, row) more = Neg(row)
        p = Mul(w, a) q = Expand(p, shape) r = Abs(q) }, num_scan_inputs = 1> (start, x) }"""


def captures() -> Case:
    shape = np.array([3, 2], np.int64)
    return case_of(CAPTURES, start=X, x=np.float32([[1, 2], [3, 4]]), a=X, shape=shape)


def test_unread_nodes_of_a_body_become_copies_of_what_they_read_from_outside() -> None:
    """A compiler may count what a body reads from outside, whatever it makes of that."""
    [proposed, *more] = propose("captured", captures())
    nodes = body(proposed, "body").node
    assert [(node.op_type, list(node.input)) for node in nodes[2:]] == [("Identity", ["a"]), ("Identity", ["shape"])]
    assert works(proposed) and not more
    np.testing.assert_array_equal(run(proposed)[0], run(captures())[0])
    assert propose("captured", proposed) == []


def test_a_body_with_many_nodes_is_searched_again_when_all_else_is_simple() -> None:
    """Its casts are needed only until all is of one type."""
    text = """g (float16[2, 2] start, float[n, 2, 2] x, int64[3] a, int64[1] b) => (float16[2, 2] last) {
        last, rows = Scan <body = body (float16[2, 2] v, float[2, 2] row) => (float16[2, 2] w, float[2, 2] more) {
            f = Cast <to = 1> (v) s = Add(f, row) w = Cast <to = 10> (s) more = Neg(row)
            t = Transpose(s) p = Expand(t, a) q = Reshape(p, b) r = Abs(q) }, num_scan_inputs = 1> (start, x) }"""
    start, x = np.float16([[1, 2], [3, 4]]), np.arange(8, dtype=np.float32).reshape(2, 2, 2)
    case = case_of(text, start=start, x=x, a=np.int64([3, 2, 2]), b=np.int64([12]))

    def interesting(one: Case) -> bool:
        scans = [node for node in model_of(one).graph.node if node.op_type == "Scan"]
        given = {info.name for info in model_of(one).graph.input}
        return bool(scans) and len(free_names(body(one, "body")) & given) == 2

    found = reduce(case, interesting, values=record, valid=valid)
    assert op_types(found.case) == ["Scan"]
    assert {node.op_type for node in body(found.case, "body").node} == {"Identity"}
