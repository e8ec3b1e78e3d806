"""The calculator: whatever the graph puts before an operator is made to fit, and read."""

import math
import random

import numpy as np
import onnx
import pytest

from fuzz.backends._evaluator import Evaluator
from fuzz.graphs import blocks
from fuzz.graphs.adapting import Adapter, Unfit, fill_within
from fuzz.graphs.wiring import Wiring, variant
from fuzz.operators import dtypes
from fuzz.operators.dtypes import BOOL, FLOAT, FLOAT16, INT8, INT64, STRING, UINT8
from fuzz.operators.families import IR_VERSION, OPSET, operators
from fuzz.operators.families.casting import truncated
from fuzz.operators.shapes import ranks
from fuzz.operators.specification import Domain

TABLE = operators()


def wiring(seed=0, usual=(2, 3, 4), palette=(FLOAT,)):
    return Wiring(random.Random(seed), palette, OPSET, usual)


def values(growth, seed=0):
    """Every tensor by name; the model is checked before."""
    model = onnx.load_from_string(growth.model(OPSET, IR_VERSION, all_outputs=True))
    onnx.checker.check_model(model, full_check=True)
    rng = np.random.default_rng(seed)
    given = {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in growth.inputs()}
    with np.errstate(all="ignore"):
        found = Evaluator(model).run(None, given)
    return given | dict(zip([each.name for each in model.graph.output], map(np.asarray, found), strict=True))


def test_operators_read_what_they_are_given_in_every_in_degree_that_the_corpora_allow():
    """Holds the corpora's in-degrees against the rows of the table: none is promised that a row does not ask for."""
    corpora = [blocks.load(name) for name in (blocks.DEFAULT, blocks.PAPER)]
    degrees = {(name, flows) for corpus in corpora for name, each in corpus.degrees.items() for flows in each.ins}
    for name, flows in sorted(degrees):
        if name in ("MeanVarianceNormalization", "NonZero", "Unique"):  # results jump: they get given values alone
            continue
        assert any(_reads(name, flows, seed) for seed in range(8)), (name, flows)


def _reads(name, flows, seed):
    growth = wiring(seed)
    for _ in range(flows):
        growth.add(variant(TABLE["Relu"], 1, False), [], 1)
    wires = [number for number in range(1, len(growth.dtype)) if number not in growth._given]
    assert growth.add(variant(TABLE[name], flows, True), wires, flows)
    model = onnx.load_from_string(growth.model(OPSET, IR_VERSION))
    read = {name for node in model.graph.node[flows:] for name in node.input}
    return all(f"t{wire}" in read for wire in wires) and growth._due == 0


def test_mismatched_shapes_are_sliced_and_padded_before_an_addition():
    growth = wiring()
    growth.add(variant(TABLE["Relu"], 1, False), [], 1)
    wide = growth._adapter.shaped(growth.results[0], (2, 5, 2))
    growth.add(TABLE["Add"], [growth.results[0], wide], 2)
    found = values(growth)
    assert found[f"t{wide}"].shape == (2, 5, 2)
    assert all(np.isfinite(each).all() for each in found.values())


def test_what_nothing_can_make_fit_is_replaced_by_a_graph_input():
    growth = wiring(palette=(STRING,))
    growth.add(variant(TABLE["Identity"], 1, False), [], 1)
    assert growth.dtype[growth.results[0]] == STRING
    growth.add(variant(TABLE["Conv"], 1, False), list(growth.results), 1)
    assert len(growth.inputs()) == 2
    assert growth.inputs()[1].dtype != STRING


def test_data_comes_from_graph_inputs_and_weights_are_constants():
    growth = wiring()
    growth.add(variant(TABLE["Conv"], 1, False), [], 1)
    growth.add(variant(TABLE["Gemm"], 3, False), list(growth.results), 3)
    model = onnx.load_from_string(growth.model(OPSET, IR_VERSION))
    constants = {each.name for each in model.graph.initializer}
    conv, gemm = (next(node for node in model.graph.node if node.op_type == name) for name in ("Conv", "Gemm"))
    assert set(conv.input[1:]) <= constants and conv.input[0] not in constants
    assert not set(gemm.input) & constants


@pytest.mark.parametrize("name", ["Conv", "AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize("seed", range(6))
def test_without_mutation_windows_leave_the_shape_as_it_is(name, seed):
    growth = wiring(seed, usual=[(2, 3, 5), (1, 2, 4, 3), (1, 2, 3, 2, 4)][seed % 3])
    growth.add(variant(TABLE[name], 1, False), [], 1)
    [source], [result] = growth.inputs(), growth.results
    assert growth.shape[result][2:] == source.shape[2:]
    found = values(growth)
    assert found[f"t{result}"].shape == growth.shape[result] and np.isfinite(found[f"t{result}"]).all()


def test_only_mutated_parameters_leave_their_first_choice():
    softmax = TABLE["LeakyRelu"]
    assert len(variant(softmax, 1, False).choices) == 1
    assert variant(softmax, 1, True).choices == softmax.choices
    assert variant(TABLE["Concat"], 3, False).degrees == (3,)
    assert variant(TABLE["Conv"], 1, False).degrees == TABLE["Conv"].degrees


@pytest.mark.parametrize("code", [FLOAT, FLOAT16, INT64, UINT8])
@pytest.mark.parametrize(("low", "high"), [(0.25, 1e4), (0, 3), (1, 1), (0.5, 4)])
def test_values_are_brought_within_bounds(code, low, high):
    growth = wiring(palette=(code,))
    growth.add(variant(TABLE["Identity"], 1, False), [], 1)
    bounded = growth._adapter.bounded(growth.results[0], low, high)
    padded = growth._adapter.shaped(bounded, (4, 5, 6), fill_within(code, low, high))
    found = values(growth)[f"t{padded}"].astype(np.float64)
    assert found.shape == (4, 5, 6)
    assert low <= found.min() and found.max() <= high


def test_whole_numbers_are_padded_with_whole_numbers():
    """A fraction would become zero, by which nothing may be divided."""
    assert fill_within(INT64, 0.25, 10) == 1
    assert fill_within(FLOAT, 0.25, 10) == 0.25
    assert fill_within(INT64, -10, -0.25) == -1
    assert fill_within(INT64, -3, 3) == 0


def test_ranks_and_sizes_are_brought_within_bounds():
    for seed in range(20):
        growth = wiring(seed, usual=None)
        growth.add(variant(TABLE["Relu"], 1, False), [], 1)
        made = growth._adapter.ranked(growth.results[0], ranks(3, 4), 20)
        assert len(growth.shape[made]) in (3, 4)
        assert values(growth)[f"t{made}"].size <= 20
        scalar = growth._adapter.shaped(made, ())
        assert values(growth)[f"t{scalar}"].shape == ()


def test_conversions_keep_to_what_the_dtype_holds():
    growth = wiring(palette=(FLOAT,))
    growth.add(variant(TABLE["Relu"], 1, False), [], 1)
    adapter = growth._adapter
    for code in (UINT8, INT64, BOOL, FLOAT16):
        made = adapter.cast(growth.results[0], code)
        assert growth.dtype[made] == code
    words = wiring(palette=(STRING,))
    words.add(variant(TABLE["Identity"], 1, False), [], 1)
    with pytest.raises(Unfit):
        Adapter(words, random.Random(0), OPSET).as_one_of(words.results[0], Domain((FLOAT,)))


def test_whole_numbers_that_floats_become_allow_for_their_rounding():
    """The error function of five is less than one, and in single precision one."""
    assert np.float32(math.erf(5)) == 1
    assert truncated(0, math.erf(5), FLOAT, INT64) == (0, 1)
    assert truncated(-math.erf(6), 0.5, FLOAT, INT64) == (-1, 0)
    assert truncated(1, 3, FLOAT, INT64) == (1, 3)
    assert truncated(-128, 127, FLOAT16, INT8) == (-128, 127)
