"""Isra's models as cases of a hunt."""

import itertools

import numpy as np
import onnx

from fuzz import generators
from fuzz.backends._evaluator import Evaluator
from fuzz.case import Case
from fuzz.generators import isra
from fuzz.generators.models import Parameters
from fuzz.operators import dtypes


def test_a_campaign_has_an_end_and_no_case_twice():
    found = list(isra.cases(0))
    assert len(found) == isra.COUNT
    assert len({case.id for case in found}) > 0.98 * isra.COUNT  # a model of one operator may come again


def test_the_same_seed_gives_the_same_cases_and_another_one_others():
    first, again, other = ([case.id for case in itertools.islice(isra.cases(seed), 50)] for seed in (3, 3, 4))
    assert first == again
    assert len(set(first) & set(other)) < 5


def test_a_case_can_be_made_again_from_its_origin_alone():
    case = next(itertools.islice(isra.cases(7), 42, None))
    assert isinstance(case, Case)
    again = isra.case(Parameters(), case.origin.seed, int(case.origin.test))
    assert (again.id, again.model) == (case.id, case.model)


def test_cases_have_values_for_every_input_of_the_declared_dtype_and_shape():
    for case in itertools.islice(isra.cases(1), 200):
        model = onnx.load_from_string(case.model)
        assert list(case.inputs) == [each.name for each in model.graph.input]
        for each in model.graph.input:
            value = case.inputs[each.name]
            assert list(value.shape) == [dim.dim_value for dim in each.type.tensor_type.shape.dim]
            if each.type.tensor_type.elem_type != dtypes.STRING:
                assert value.dtype == dtypes.numpy_dtype(each.type.tensor_type.elem_type)


def test_nearly_all_large_models_end_in_finite_values():
    """Not all: a variance computed as a difference may come out below zero."""
    parameters = Parameters(1, 200)
    finite = 0
    for index in range(60):
        case = isra.case(parameters, 9, index)
        with np.errstate(all="ignore"):
            values = Evaluator(onnx.load_from_string(case.model)).run(None, dict(case.inputs))
        arrays = [np.asarray(value) for value in values]
        finite += all(np.isfinite(each.astype(np.float64)).all() for each in arrays if each.dtype.kind in "fV")
    assert finite >= 57


def test_it_takes_part_only_in_campaigns_that_name_it():
    on_request = {"hirgen", "hirgen_disruptive", "isra", "mcts", "mtdlcomp"}
    assert set(generators.names()) - set(generators.usual()) == on_request
