"""What the single passes propose for ONNX cases."""

from __future__ import annotations

import importlib
from collections.abc import Mapping

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from fuzz.wire import Value
from triage.reduce import ORDER
from triage.submodel import all_nodes, inner_tensors, load

HEAD = '<ir_version: 10, opset_import: ["": 21]>\n'


def case_of(text: str, **inputs: Value) -> Case:
    return Case("onnx", parser.parse_model(HEAD + text).SerializeToString(), inputs, Origin("test"))


def model_of(case: Case) -> onnx.ModelProto:
    return onnx.load_model_from_string(case.model)


def record(case: Case) -> Mapping[str, Value]:
    found = ReferenceEvaluator(model_of(case)).run(None, dict(case.inputs), intermediate=True)
    assert isinstance(found, dict)
    return found


def propose(name: str, case: Case) -> list[Case]:
    module = importlib.import_module(f"triage.passes.{name}")
    return list(module.candidates(case, record(case)))


def run(case: Case) -> list[np.ndarray]:
    onnx.checker.check_model(model_of(case), full_check=True)
    return list(ReferenceEvaluator(model_of(case)).run(None, dict(case.inputs)))


def works(case: Case) -> bool:
    try:
        run(case)
    except Exception:  # noqa: BLE001 - whatever the reference objects to makes a case invalid
        return False
    return True


def op_types(case: Case) -> list[str]:
    return [node.op_type for node in model_of(case).graph.node]


def ramp(*shape: int) -> np.ndarray:
    return np.arange(1, 1 + int(np.prod(shape)), dtype=np.float32).reshape(shape)


@pytest.mark.parametrize("name", [name for name in ORDER if not name.startswith("instance_")])
def test_no_pass_stumbles_over_the_smallest_model_or_proposes_it_again(name: str) -> None:
    case = case_of("g (float x) => (float y) { y = Neg(x) }", x=np.array(0, np.float32))
    assert case.id not in {candidate.id for candidate in propose(name, case)}


@pytest.mark.parametrize("name", [name for name in ORDER if not name.startswith("instance_")])
def test_no_pass_stumbles_over_a_model_without_inputs_or_with_strings(name: str) -> None:
    words = np.array(["b", "a"], dtype=object)
    constant = case_of("g () => (int64[2] y) { y = Constant <value_ints = [1, 2]> () }")
    for case in (constant, case_of("g (string[2] x) => (string[2] y) { y = Identity(x) }", x=words)):
        assert case.id not in {candidate.id for candidate in propose(name, case)}


@pytest.mark.parametrize("name", [name for name in ORDER if not name.startswith("instance_")])
def test_no_pass_stumbles_over_empty_tensors_and_sequences(name: str) -> None:
    empty = case_of("g (float[0,3] x) => (float[0,3] y) { y = Neg(x) }", x=np.zeros((0, 3), np.float32))
    text = "g (seq(float[2]) s) => (int64 n) { n = SequenceLength(s) }"
    for case in (empty, case_of(text, s=[ramp(2), ramp(2)])):
        assert case.id not in {candidate.id for candidate in propose(name, case)}


def test_an_output_that_a_node_reads_need_not_be_one_and_no_node_goes() -> None:
    text = "g (float[2] x) => (float[2] a, float[2] b, float[2] c) { a = Neg(x) b = Abs(a) c = Exp(a) }"
    found = propose("outputs", case_of(text, x=ramp(2)))
    assert [[info.name for info in model_of(candidate).graph.output] for candidate in found] == [["b", "c"]]
    assert op_types(found[0]) == ["Neg", "Abs", "Exp"] and works(found[0])


def test_a_local_function_is_written_out() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (float[2] x) => (float[2] y) { y = own.twice(x) }
    <domain: "own", opset_import: ["": 21]> twice (a) => (b) { n = Neg(a) b = Sub(a, n) }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": ramp(2)}, Origin("test"))
    inlined = propose("functions", case)[-1]
    assert op_types(inlined) == ["Neg", "Sub"] and not model_of(inlined).functions
    np.testing.assert_array_equal(run(inlined)[0], run(case)[0])


def test_the_taken_branch_takes_the_place_of_the_if_and_then_the_other_one() -> None:
    text = """g (float[2] x, bool flag) => (float[2] y) {
        y = If(flag) < then_branch = t () => (float[2] a) { a = Neg(x) },
                       else_branch = e () => (float[2] b) { c = Abs(x) b = Exp(c) } >
    }"""
    for flag, expected in ((True, ["Neg", "Identity"]), (False, ["Abs", "Exp", "Identity"])):
        case = case_of(text, x=ramp(2), flag=np.array(flag))
        taken, other = propose("subgraphs", case)
        assert op_types(taken) == expected
        np.testing.assert_array_equal(run(taken)[0], run(case)[0])
        assert op_types(other) != expected and works(other)


def test_one_iteration_takes_the_place_of_a_loop() -> None:
    text = """g (int64 n, float[2] start) => (float[2] last) {
        cond = Constant <value = bool {1}> ()
        last = Loop(n, cond, start) <body = b (int64 i, bool go, float[2] v) => (bool more, float[2] w) {
            more = Identity(go)  w = Add(v, v) }>
    }"""
    case = case_of(text, n=np.array(3), start=ramp(2))
    [candidate] = propose("subgraphs", case)
    assert "Loop" not in op_types(candidate) and "Add" in op_types(candidate)
    assert any(np.array_equal(value, 2 * ramp(2)) for value in run(candidate))


def test_the_first_slices_take_the_place_of_a_scan() -> None:
    text = """g (float[2] start, float[3,2] rows) => (float[2] last, float[3,2] sums) {
        last, sums = Scan <num_scan_inputs = 1, body = b (float[2] v, float[2] row) => (float[2] w, float[2] s) {
            w = Add(v, row)  s = Identity(w) }> (start, rows)
    }"""
    [candidate] = propose("subgraphs", case_of(text, start=ramp(2), rows=ramp(3, 2)))
    assert op_types(candidate) == ["Add", "Identity"]
    assert all(np.array_equal(value, 2 * ramp(2)) for value in run(candidate)[-2:])


def test_a_branch_takes_the_place_of_an_if_in_a_body_and_in_a_function() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (int64 n, bool c, float[2] x) => (float[2] y, float[2] z) {
        y = Loop(n, c, x) <body = b (int64 i, bool go, float[2] v) => (bool more, float[2] w) {
            more = Identity(go)
            w = If(go) <then_branch = t () => (float[2] p) <float[2] two = {2, 2}> { p = Mul(v, two) },
                        else_branch = e () => (float[2] q) { q = Neg(v) }> }>
        z = own.choose(c, x) }
    <domain: "own", opset_import: ["": 21]> choose (c, p) => (r) {
        r = If(c) <then_branch = t () => (float[2] s) { s = Exp(p) },
                   else_branch = e () => (float[2] u) { u = Tan(p) }> }"""
    model = parser.parse_model(text).SerializeToString()
    case = Case("onnx", model, {"n": np.array(2), "c": np.array(True), "x": ramp(2)}, Origin("test"))
    inner = [each for each in propose("subgraphs", case) if "Loop" in op_types(each)]
    assert len(inner) == 4 and all(works(each) for each in inner)
    held = [{node.op_type for node in all_nodes(model_of(each))} for each in inner]
    assert [len(one & {"Mul", "Neg", "Exp", "Tan"}) for one in held] == [3] * 4
    assert all(np.array_equal(one, other) for one, other in zip(run(inner[0]), run(case), strict=True))


def test_a_tensor_that_the_evaluator_takes_for_a_list_stays_declared_as_a_tensor() -> None:
    case = case_of("g (float[2] x) => (float[2] y) { y = Neg(x) }", x=ramp(2))
    module = importlib.import_module("triage.passes.declarations")
    assert list(module.candidates(case, {"y": [ramp(2)]})) == []


def test_names_that_come_out_of_bodies_do_not_clash() -> None:
    text = """g (float[2] x, bool c) => (float[2] y) {
        y = If(c) <then_branch = t () => (float[2] a) { body0_a = Neg(x) a = Exp(body0_a) },
                   else_branch = e () => (float[2] a) { a = Abs(x) }>
    }"""
    case = case_of(text, x=ramp(2), c=np.array(True))
    taken = propose("subgraphs", case)[0]
    np.testing.assert_array_equal(run(taken)[0], run(case)[0])


def test_a_constant_node_becomes_an_initializer() -> None:
    text = "g (float[2,3] x) => (float[N,M] y) { s = Constant <value_ints = [3, 2]> () y = Reshape(x, s) }"
    candidate = propose("constants", case_of(text, x=ramp(2, 3)))[0]
    assert op_types(candidate) == ["Reshape"]
    assert numpy_helper.to_array(model_of(candidate).graph.initializer[0]).tolist() == [3, 2]
    assert works(candidate)


def test_optional_inputs_and_outputs_go_and_needed_ones_stay() -> None:
    text = "g (float[2,2] a, float[2,2] b, float[2] c) => (float[2,2] y) { y = Gemm(a, b, c) }"
    found = propose("optional", case_of(text, a=ramp(2, 2), b=ramp(2, 2), c=ramp(2)))
    assert {tuple(model_of(candidate).graph.node[0].input) for candidate in found} == {("a", "b")}
    dropout = "g (float[2] x) => (float[2] y) { y, mask = Dropout(x) }"
    assert [list(model_of(c).graph.node[0].output) for c in propose("optional", case_of(dropout, x=ramp(2)))] == [["y"]]


def test_a_variadic_input_list_shrinks_to_its_minimum() -> None:
    text = "g (float[1] a, float[1] b, float[1] c) => (float[N] y) { y = Concat <axis = 0> (a, b, c) }"
    found = propose("optional", case_of(text, a=ramp(1), b=ramp(1), c=ramp(1)))
    lists = [list(model_of(candidate).graph.node[0].input) for candidate in found]
    assert ["a"] in lists and ["a", "c"] in lists and [] not in lists


def test_equal_sizes_shrink_together() -> None:
    text = "g (float[4,6] a, float[6,5] b) => (float[4,5] y) { y = MatMul(a, b) }"
    case = case_of(text, a=ramp(4, 6), b=ramp(6, 5))
    valid = [candidate for candidate in propose("shapes", case) if works(candidate)]
    sizes = [tuple(array.shape for array in run_inputs(candidate)) for candidate in valid]
    assert sizes[0] == ((2, 3), (3, 2))
    assert ((4, 2), (2, 5)) in sizes and ((1, 1), (1, 1)) in sizes


def run_inputs(case: Case) -> list[np.ndarray]:
    return [value for value in case.inputs.values() if isinstance(value, np.ndarray)]


def test_numbers_that_mean_a_size_follow_it() -> None:
    text = "g (float[4,6] x) => (float[6,4] y) <int64[2] s = {6, 4}> { y = Reshape(x, s) }"
    found = [candidate for candidate in propose("shapes", case_of(text, x=ramp(4, 6))) if works(candidate)]
    assert [value.shape for value in run(found[0])] == [(3, 2)]
    kernel = "g (float[1,1,5,5] x, float[1,1,3,3] w) => (float[1,1,3,3] y) { y = Conv <kernel_shape = [3, 3]> (x, w) }"
    convolutions = propose("shapes", case_of(kernel, x=ramp(1, 1, 5, 5), w=ramp(1, 1, 3, 3)))
    shapes = [candidate.inputs["w"].shape for candidate in convolutions if works(candidate)]  # type: ignore[union-attr]
    assert (1, 1, 2, 2) in shapes or (1, 1, 3, 3) in shapes


def test_small_sizes_stay_as_long_as_a_person_can_read_the_tensor() -> None:
    assert propose("shapes", case_of("g (float[2,3] x) => (float[2,3] y) { y = Neg(x) }", x=ramp(2, 3))) == []
    long = case_of("g (float[2,3,3] x) => (float[2,3,3] y) { y = Neg(x) }", x=ramp(2, 3, 3))
    assert next(run_inputs(candidate)[0].shape for candidate in propose("shapes", long)) == (2, 2, 2)


def test_the_last_elements_are_tried_as_well_as_the_first() -> None:
    case = case_of("g (float[4] x) => (float[4] y) { y = Neg(x) }", x=ramp(4))
    kept = [candidate.inputs["x"].tolist() for candidate in propose("shapes", case)]  # type: ignore[union-attr]
    assert kept[:2] == [[1.0, 2.0], [3.0, 4.0]] and [4.0] in kept


def test_an_axis_of_size_one_goes() -> None:
    text = "g (float[1,3] a, float[1,3] b) => (float[1,3] y) { y = Add(a, b) }"
    found = propose("ranks", case_of(text, a=ramp(1, 3), b=ramp(1, 3)))
    assert [run(candidate)[0].shape for candidate in found] == [(3,), (1,)]


def test_no_axis_goes_from_a_vector() -> None:
    assert propose("ranks", case_of("g (float[1] x) => (float[1] y) { y = Neg(x) }", x=ramp(1))) == []


def test_attributes_are_dropped_all_at_once_first_and_then_made_simpler() -> None:
    text = """g (float[1,1,9,9] x) => (float[1,1,3,3] y) {
        y = MaxPool <kernel_shape = [3, 3], strides = [3, 3], pads = [1, 0, 1, 0], ceil_mode = 1> (x) }"""
    found = propose("attributes", case_of(text, x=ramp(1, 1, 9, 9)))
    attributes = [{a.name: a for a in model_of(candidate).graph.node[0].attribute} for candidate in found]
    assert attributes[0] == {}
    assert any(set(names) == {"kernel_shape", "strides", "pads"} for names in attributes)
    assert any(list(names["kernel_shape"].ints) == [1, 1] for names in attributes if "kernel_shape" in names)
    assert any(works(candidate) for candidate in found)


def test_a_size_takes_its_multiples_along() -> None:
    text = """g (float[1,2,5] x, float[1,20,5] w, float[1,20,5] r) => (float[N,D,B,H] y) {
        y = LSTM <hidden_size = 5> (x, w, r) }"""
    case = case_of(text, x=ramp(1, 2, 5), w=ramp(1, 20, 5), r=ramp(1, 20, 5))
    shapes = [candidate.inputs["w"].shape for candidate in propose("shapes", case)]  # type: ignore[union-attr]
    assert (1, 8, 2) in shapes


def test_a_count_never_becomes_zero() -> None:
    text = "g (float[1,8,2] x, float[8,2,1] w) => (float[1,8,2] y) { y = Conv <group = 4, pads = [2, 2]> (x, w) }"
    found = propose("attributes", case_of(text, x=ramp(1, 8, 2), w=ramp(8, 2, 1)))
    groups = {a.i for candidate in found for a in model_of(candidate).graph.node[0].attribute if a.name == "group"}
    assert groups == {1, 4}


def test_values_are_offered_from_the_most_telling_form_on_and_never_less_simple_than_they_are() -> None:
    case = case_of("g (float[3] x) => (float[3] y) { y = Neg(x) }", x=np.array([0.123456, -2.7, 31], np.float32))
    found = [candidate.inputs["x"].tolist() for candidate in propose("values", case)]  # type: ignore[union-attr]
    assert found[:3] == [[1, 2, 3], [0, -3, 9], [0, -3, 31]]
    assert found[-2:] == [[1, 1, 1], [0, 0, 0]]
    counted = case_of("g (float[3] x) => (float[3] y) { y = Neg(x) }", x=ramp(3))
    assert propose("values", counted) == []


def test_small_whole_numbers_and_truth_values_stay() -> None:
    text = "g (float[3] x, int64[2] i, bool b) => (float[N] y) { y = Gather(x, i) }"
    case = case_of(text, x=ramp(3), i=np.array([2, -3]), b=np.array(True))
    assert propose("values", case) == []


DTYPES = ["uint8", "int64", "float16", "complex64", "bfloat16", "float8_e4m3fn"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_simple_values_exist_for_every_dtype_and_keep_it(dtype: str) -> None:
    import ml_dtypes

    from triage.passes._forms import simpler

    kind = np.dtype(getattr(ml_dtypes, dtype)) if hasattr(ml_dtypes, dtype) else np.dtype(dtype)
    array = np.array([1, 3, 14, 2]).astype(kind)
    forms = [formed for _, formed in simpler(array)]
    assert forms and all(formed.dtype == kind and formed.shape == (4,) for formed in forms)
    assert forms[0].astype(np.complex64).tolist() == [1, 2, 3, 4]


def test_a_large_tensor_is_counted_in_numbers_that_stay_small() -> None:
    from triage.passes._forms import simpler

    formed = next(formed for _, formed in simpler(np.full((10, 10), 0.5, np.float32)))
    assert set(formed.ravel().tolist()) == set(range(1, 10))


def test_nan_and_infinity_are_no_obstacle_to_simple_values() -> None:
    from triage.passes._forms import simpler

    forms = [formed.tolist() for _, formed in simpler(np.array([np.nan, np.inf, -0.26], np.float32))]
    assert forms[0] == [1, 2, 3]
    assert any(np.isnan(form[0]) and form[1:] == [np.inf, np.float32(-0.3).item()] for form in forms)


def test_a_rare_dtype_gives_way_wherever_it_stands() -> None:
    text = """g (float16[2] x) => (float16[2] y) {
        a = Add(x, x) b = Cast <to = 7> (a) y = Cast <to = 10> (b) }"""
    case = case_of(text, x=np.ones(2, np.float16))
    found = [candidate for candidate in propose("dtypes", case) if works(candidate)]
    assert run(found[0])[0].dtype == np.float32
    assert [a.i for node in model_of(found[0]).graph.node for a in node.attribute] == [7, 1]
    assert propose("dtypes", case_of("g (float[2] x) => (float[2] y) { y = Neg(x) }", x=ramp(2))) == []


def test_the_constants_of_bodies_get_the_common_dtype_too() -> None:
    text = """g (bool c, double[2] x) => (double[2] y) {
        y = If (c) <then_branch = t () => (double[2] p) <double[2] w = {1, 2}> { p = Add(x, w) },
                    else_branch = e () => (double[2] q) { q = Neg(x) }> }"""
    everything, *_ = propose("dtypes", case_of(text, c=np.array(True), x=np.ones(2)))
    assert run(everything)[0].dtype == np.float32


def test_a_body_that_need_not_compute_copies() -> None:
    text = """g (bool c, float[2] x) => (float[2] y) {
        y = If (c) <then_branch = t () => (float[2] p) { p = Exp(x) },
                    else_branch = e () => (float[2] q) { q = Identity(x) }> }"""
    [found] = propose("copies", case_of(text, c=np.array(True), x=ramp(2)))
    np.testing.assert_array_equal(run(found)[0], ramp(2))
    assert propose("copies", found) == []


def test_beside_copies_a_body_need_not_compute_either() -> None:
    text = """g (int64 n, bool more, float[2] x) => (float[2] y, float[k, 2] c) {
        y, c = Loop(n, more, x) <body = b (int64 i, bool go, float[2] s) => (bool go, float[2] t, float[2] w)
                             { t = Tanh(s) w = Identity(t) }> }"""
    [found] = propose("copies", case_of(text, n=np.array(2), more=np.array(True), x=ramp(2)))
    np.testing.assert_array_equal(run(found)[1], [ramp(2), ramp(2)])
    assert propose("copies", found) == []


def test_names_inside_bodies_become_short_too() -> None:
    long = "a_name_that_nobody_would_write"
    text = f"""g (bool c, float[2] x) => (float[2] y) {{ y = If(c) <
        then_branch = t () => (float[2] {long}_p) {{ {long}_p = Neg(x) }},
        else_branch = e () => (float[2] {long}_q) {{ {long}_q = Abs(x) }}> }}"""
    case = case_of(text, c=np.array(True), x=ramp(2))
    [candidate] = propose("names", case)
    assert long.encode() not in candidate.model
    np.testing.assert_array_equal(run(candidate)[0], run(case)[0])


def test_sequences_get_shorter() -> None:
    case = case_of("g (seq(float[2]) s) => (int64 n) { n = SequenceLength(s) }", s=[ramp(2)] * 3)
    lengths = [len(candidate.inputs["s"]) for candidate in propose("sequences", case)]  # type: ignore[arg-type]
    assert lengths == [0, 1, 2]


def test_the_items_of_sequences_get_smaller_and_simpler() -> None:
    case = case_of(
        "g (seq(float[9]) s) => (float[N] y) { y = ConcatFromSequence <axis = 0> (s) }", s=[ramp(9) / 7, ramp(9) / 3]
    )
    found = propose("sequences", case)
    assert all(works(candidate) for candidate in found[1:])
    assert [2, 2] in [[item.size for item in candidate.inputs["s"]] for candidate in found]  # type: ignore[arg-type]
    assert [1, 2, 3] in [candidate.inputs["s"][-1].tolist()[:3] for candidate in found[1:]]  # type: ignore[index]


def test_the_constants_of_bodies_get_simpler() -> None:
    text = """g (bool c, float[2] x) => (float[2] y) { y = If(c) <
        then_branch = t () => (float[2] p) <float[2] w = {0.123, 4.56}> { p = Mul(x, w) },
        else_branch = e () => (float[2] q) { v = Constant <value = float[2] {7.89, 0.12}> ()  q = Add(x, v) }> }"""
    case = case_of(text, c=np.array(True), x=ramp(2))
    found = [
        [numpy_helper.to_array(one).tolist() for one in inner_tensors(load(one).graph)]
        for one in propose("values", case)
    ]
    assert [[1, 2], [1, 2]] in found and all(works(candidate) for candidate in propose("values", case))


def test_what_nobody_reads_goes() -> None:
    text = "g (float[2] x, float[2] unread) => (float[2] y) <float[1] w = {1.0}> { y = Neg(x) }"
    [candidate] = propose("unused", case_of(text, x=ramp(2), unread=ramp(2)))
    assert list(candidate.inputs) == ["x"] and not model_of(candidate).graph.initializer
    assert works(candidate)


def test_functions_that_nobody_calls_go_and_those_that_are_called_by_others_stay() -> None:
    text = """<ir_version: 10, opset_import: ["": 21, "own": 1]>
    g (float[2] x) => (float[2] y) { y = own.outer(x) }
    <domain: "own", opset_import: ["": 21]> inner (a) => (b) { b = Neg(a) }
    <domain: "own", opset_import: ["": 21, "own": 1]> outer (a) => (b) { b = own.inner(a) }
    <domain: "own", opset_import: ["": 21, "own": 1]> unread (a) => (b) { b = own.inner(a) }"""
    case = Case("onnx", parser.parse_model(text).SerializeToString(), {"x": ramp(2)}, Origin("test"))
    [candidate] = propose("unused", case)
    assert [function.name for function in model_of(candidate).functions] == ["inner", "outer"]
    np.testing.assert_array_equal(run(candidate)[0], run(case)[0])


def test_a_loop_keeps_its_trip_count_without_which_it_might_never_end() -> None:
    text = """g (float[2] x) => (float[2] y) <int64 n = {3}, bool c = {1}> { y = Loop(n, c, x) <body = b
        (int64 i, bool go, float[2] v) => (bool on, float[2] w) { on = Identity(go) w = Neg(v) }> }"""
    for candidate in propose("optional", case_of(text, x=ramp(2))):
        assert all(node.input[0] for node in model_of(candidate).graph.node)


def test_notes_are_stripped_from_everywhere() -> None:
    text = """g (bool c) => (float y) { y = If(c) <
        then_branch = t () => (float a) { a = Constant <value_float = 1.0> () },
        else_branch = e () => (float b) { b = Constant <value_float = 2.0> () }> }"""
    case = case_of(text, c=np.array(True))
    model = model_of(case)
    model.producer_name, model.doc_string = "somebody", "text"
    model.graph.node[0].name = "the_if"
    model.graph.node[0].attribute[0].g.node[0].doc_string = "hidden"
    noted = Case("onnx", model.SerializeToString(), case.inputs, case.origin)
    stripped = propose("metadata", noted)[0]
    assert b"somebody" not in stripped.model and b"hidden" not in stripped.model and b"the_if" not in stripped.model
    assert run(stripped) == run(noted)


def test_declared_shapes_become_the_real_ones() -> None:
    text = "g (float[N,M] x) => (float[A,B] y) { y = Transpose(x) }"
    candidate = propose("declarations", case_of(text, x=ramp(2, 3)))[0]
    dims = [[dim.dim_value for dim in info.type.tensor_type.shape.dim] for info in model_of(candidate).graph.output]
    assert dims == [[3, 2]]
    assert works(candidate)


def test_long_names_become_short_and_short_ones_stay() -> None:
    case = case_of("g (float[2] x, float[2] k) => (float[2] y) { t = Add(x, k) y = Neg(t) }", x=ramp(2), k=ramp(2))
    assert propose("names", case) == []
    model = model_of(case)
    renames = {"k": "model/layer.1/kernel", "t": "model/layer.1/Add_output_0", "y": "the result of it all"}
    from triage.submodel import rename

    rename(model, renames)
    inputs = {renames.get(name, name): value for name, value in case.inputs.items()}
    [candidate] = propose("names", Case("onnx", model.SerializeToString(), inputs, case.origin))
    graph = model_of(candidate).graph
    assert [info.name for info in graph.input] == ["x", "y"] == list(candidate.inputs)
    assert len({name for node in graph.node for name in [*node.input, *node.output]}) == 4
    np.testing.assert_array_equal(run(candidate)[0], run(case)[0])
