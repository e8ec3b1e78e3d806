"""Seeds: the networks of MT-DLComp's table 3 and three more, finite and of moderate size."""

from __future__ import annotations

import functools
import math

import numpy as np
import onnx
import pytest

from fuzz.mutants import seeds
from tests.fuzz.mutants.subjects import values


@functools.cache
def built(name: str) -> onnx.ModelProto:
    return seeds.build(name)


def weights(model: onnx.ModelProto) -> int:
    """Parameters that are learned: scalars are none."""
    return sum(math.prod(tensor.dims) for tensor in model.graph.initializer if tensor.dims)


@pytest.mark.parametrize(
    ("name", "nodes", "parameters"),
    [("resnet18", 49, 11_169_162), ("vgg11", 28, 28_144_010), ("mobilenetv2", 99, 2_219_626)],
)
def test_the_networks_of_the_paper_have_its_numbers_of_nodes_and_parameters(
    name: str, nodes: int, parameters: int
) -> None:
    model = built(name)
    assert (len(model.graph.node), weights(model)) == (nodes, parameters)


@pytest.mark.parametrize("name", seeds.names())
def test_every_seed_is_valid_finite_and_of_moderate_size(name: str) -> None:
    model = built(name)
    onnx.checker.check_model(model, full_check=True)
    found = values(model, seeds.inputs(model, 3))
    floats = [value for value in found.values() if value is not None and value.dtype.kind == "f"]
    assert all(np.isfinite(value).all() for value in floats)
    assert max(float(np.abs(value).max()) for value in floats) < 100
    for output in model.graph.output:
        assert 0.1 < float(found[output.name].std()) < 10  # scores tell classes apart


def test_a_seed_is_the_same_each_time_it_is_built() -> None:
    assert seeds.build("unet").SerializeToString() == seeds.build("unet").SerializeToString()


def test_an_unknown_seed_is_refused_with_the_known_ones() -> None:
    with pytest.raises(seeds.UnknownSeed, match="no seed model is called 'alexnet': choose one of lstm, mobilenetv2"):
        seeds.build("alexnet")
