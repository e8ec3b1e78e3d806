"""The ONNX node tests as cases."""

import subprocess
import sys
from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper
from onnx.reference import ReferenceEvaluator

from fuzz import wire
from fuzz.case import Case
from fuzz.generators import Skip, onnx_node


@pytest.fixture(scope="module")
def found():
    return list(onnx_node.cases(0))


def by_name(found, name, variant):
    return next(case for case in found if (case.origin.test, case.origin.variant) == (name, variant))


def test_every_collected_test_is_a_case_or_a_skip(found):
    collected = {test.name for test in onnx_node._collect()}
    whole = [item.origin.test for item in found if "frozen" not in item.origin.variant]
    assert len(collected) == len(whole) > 1800
    assert set(whole) == collected


def test_there_are_four_variants_and_no_two_cases_are_the_same(found):
    variants = Counter(case.origin.variant for case in found if isinstance(case, Case))
    assert set(variants) == {"plain", "frozen", "expanded", "expanded-frozen"}
    assert min(variants.values()) > 100
    assert len({case.id for case in found if isinstance(case, Case)}) == variants.total()


def test_inputs_have_the_types_that_the_model_declares(found):
    for case in found:
        for info in onnx.load_from_string(case.model).graph.input:
            value = case.inputs[info.name]
            if info.type.HasField("tensor_type"):
                assert isinstance(value, np.ndarray)
                assert value.dtype == helper.tensor_dtype_to_np_dtype(info.type.tensor_type.elem_type)
                assert value.ndim == len(info.type.tensor_type.shape.dim)


def test_every_case_can_be_sent_to_a_worker_and_keeps_its_zero_dimensional_tensors(found):
    for case in found:
        frame = next(wire.Unpacker().feed(wire.pack({}, dict(case.inputs), case.model)))
        for name, value in case.inputs.items():
            if isinstance(value, np.ndarray):
                assert frame.values[name].shape == value.shape


def test_a_frozen_axis_becomes_an_initializer(found):
    case = by_name(found, "test_cumsum_1d", "frozen")
    graph = onnx.load_from_string(case.model).graph
    assert [i.name for i in graph.input] == list(case.inputs) == ["x"]
    assert [i.name for i in graph.initializer] == ["axis"]


def test_data_is_never_frozen(found):
    gather = [case.origin.variant for case in found if case.origin.test == "test_gather_0"]
    assert gather == ["plain"]


def test_an_expanded_test_freezes_what_its_source_test_freezes(found):
    source = by_name(found, "test_center_crop_pad_crop", "frozen")
    expanded = by_name(found, "test_center_crop_pad_crop_expanded", "expanded-frozen")
    assert set(expanded.inputs) == set(source.inputs) == {"x"}


def test_a_frozen_model_is_valid_and_computes_the_same(found):
    frozen = [case for case in found if case.origin.variant == "frozen"][::12]
    assert len(frozen) > 30
    with np.errstate(all="ignore"):
        for case in frozen:
            model = onnx.load_from_string(case.model)
            onnx.checker.check_model(model, full_check=True)
            plain = onnx.load_from_string(by_name(found, case.origin.test, "plain").model)
            inputs = by_name(found, case.origin.test, "plain").inputs
            try:
                expected = ReferenceEvaluator(plain).run(None, dict(inputs))
            except (NotImplementedError, ValueError, TypeError):
                continue  # some node tests are beyond the evaluator
            actual = ReferenceEvaluator(model).run(None, dict(case.inputs))
            if "dropout" not in case.origin.test:
                for one, other in zip(actual, expected, strict=True):
                    np.testing.assert_array_equal(one, other, err_msg=case.origin.test)


def test_an_old_model_is_lifted_to_the_ir_version_that_has_constants():
    value = helper.make_tensor_value_info("s", TensorProto.INT64, [1])
    graph = helper.make_graph([helper.make_node("Identity", ["s"], ["y"])], "g", [value], [value])
    old = helper.make_model(graph, ir_version=3)
    frozen = onnx_node.freeze(old, {"s": np.array([4])})
    assert (old.ir_version, len(old.graph.input)) == (3, 1)
    assert (frozen.ir_version, len(frozen.graph.input)) == (4, 0)


def test_the_order_depends_on_the_seed_alone_and_the_ids_do_not(found):
    again, other = list(onnx_node.cases(0)), list(onnx_node.cases(1))
    assert [case.id for case in again] == [case.id for case in found]
    assert [case.id for case in other] != [case.id for case in found]
    assert {case.id for case in other} == {case.id for case in found}


def test_the_first_hundred_tests_exercise_many_operators(found):
    tests = list(dict.fromkeys(case.origin.test for case in found))[:100]
    assert len({tuple(test.removeprefix("test_").split("_")[:2]) for test in tests}) > 80


def test_a_test_without_data_is_skipped_with_a_reason():
    test = onnx_node._collect()[0]
    empty = test.__class__(**{**{n: getattr(test, n) for n in test.__dataclass_fields__}, "data_sets": []})
    [skip] = onnx_node._variants(empty, frozenset(), 0)
    assert isinstance(skip, Skip)
    assert "no data" in skip.reason


def test_a_value_of_an_unknown_type_is_skipped_with_a_reason():
    test = onnx_node._collect()[0]
    fields = {n: getattr(test, n) for n in test.__dataclass_fields__}
    [skip] = onnx_node._variants(test.__class__(**{**fields, "data_sets": [([{}], [])]}), frozenset(), 0)
    assert isinstance(skip, Skip)
    assert "dict" in skip.reason


def test_strings_become_object_arrays_of_str():
    assert onnx_node.to_value(np.array([b"a\xc3\xbc"], dtype=object)).tolist() == ["aü"]
    assert onnx_node.to_value(np.array(["x"])).dtype == object
    assert onnx_node.to_value(np.float32(2)).shape == ()
    assert onnx_node.to_value([None, [np.int8(1)]])[0] is None


def test_collecting_prints_nothing_and_stays_small():
    program = (
        "import re\n"
        "from fuzz.generators.onnx_node import cases\n"
        "assert sum(1 for _ in cases(0)) > 2000\n"
        # VmHWM is this program's own; getrusage would count the pages of the test runner that forked it.
        "assert int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) < 300 * 1024\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
