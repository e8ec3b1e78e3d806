"""The same call of a related function."""

from __future__ import annotations

import tomllib

import numpy as np
import pytest

from fuzz import instance as instances
from fuzz import instance_names
from fuzz.case import Case, Origin
from fuzz.data import data_path
from triage.kinship import families_of, related_names
from triage.passes._instances import parsed
from triage.related_calls import related


def call(text: str) -> Case:
    return Case("instance", text.encode(), {}, Origin("test"))


def test_members_of_a_family_take_the_same_arguments() -> None:
    case = call('{"api": "torch.argmax", "args": [{"dtype": "float32", "shape": [2]}], "kwargs": {"dim": 0}}')
    [(name, other)] = related(case)
    assert name == "argmin" and parsed(other).api == "torch.argmin"
    assert parsed(other).kwargs == {"dim": 0} and parsed(other).tensors == parsed(case).tensors


def test_what_is_done_in_place_stays_in_place() -> None:
    assert related_names("sub_") == ["add_", "rsub_", "mul_"]
    case = call('{"api": "torch.Tensor.sub_", "args": [{"dtype": "float32", "shape": [2]}, 1]}')
    assert [name for name, _ in related(case)] == ["add_", "mul_"], "tensors have no rsub_"


def test_reductions_are_tried_though_they_are_of_no_family() -> None:
    assert {"amin", "sum", "prod", "std"} < set(related_names("amax"))
    assert families_of("torch.amax").isdisjoint(families_of("torch.sum"))


def test_tensors_and_sizes_follow_the_number_of_dimensions() -> None:
    given = '{"dtype": "float32", "shape": [1, 2, 3], "values": [1, 2, 3, 4, 5, 6]}'
    case = call(f'{{"api": "torch.nn.functional.avg_pool2d", "args": [{given}, {{"tuple": [1, 2]}}]}}')
    found = {name: parsed(other) for name, other in related(case)}
    assert list(found) == ["avg_pool1d", "avg_pool3d"]
    one, three = (instances.tensors(found[name])[0] for name in found)
    np.testing.assert_array_equal(one, [[1, 4]])
    np.testing.assert_array_equal(three, np.repeat(np.float32([1, 2, 3, 4, 5, 6]).reshape(1, 2, 3, 1), 3, axis=3))
    assert [each.args[1] for each in found.values()] == [{"tuple": [1]}, {"tuple": [1, 2, 2]}]


def test_products_of_matrices_get_or_lose_a_batch() -> None:
    given = '{"dtype": "float32", "shape": [2, 2], "values": [1, 2, 3, 4]}'
    found = {name: parsed(other) for name, other in related(call(f'{{"api": "torch.mm", "args": [{given}, {given}]}}'))}
    assert {name: [one.shape for one in other.tensors] for name, other in found.items()} == {
        "bmm": [(1, 2, 2), (1, 2, 2)],
        "matmul": [(2, 2), (2, 2)],
    }
    given = '{"dtype": "float32", "shape": [2, 1, 2], "values": [1, 2, 3, 4]}'
    found = {
        name: parsed(other) for name, other in related(call(f'{{"api": "torch.bmm", "args": [{given}, {given}]}}'))
    }
    assert [one.values for one in found["mm"].tensors] == [(1.0, 2.0), (1.0, 2.0)]


def test_a_layer_is_built_with_as_many_sizes_as_it_has_dimensions() -> None:
    given = '{"dtype": "float32", "shape": [1, 1, 4]}'
    text = f'{{"api": "torch.nn.AvgPool1d", "init": {{"args": [[2]]}}, "args": [{given}]}}'
    found = {name: parsed(other) for name, other in related(call(text))}
    assert {name: other.init and other.init[0][0] for name, other in found.items()} == {
        "AvgPool2d": [2, 2],
        "AvgPool3d": [2, 2, 2],
    }
    assert found["AvgPool2d"].tensors[0].shape == (1, 1, 4, 4)


@pytest.mark.parametrize("name", ["torch.conv2d_tbc", "torch.nn.functional.relu", "keras.layers.Dense"])
def test_other_calls_have_no_relatives(name: str) -> None:
    text = f'{{"api": "{name}", "library": "{name.partition(".")[0]}", "args": [{{"dtype": "float32", "shape": [2]}}]}}'
    assert list(related(call(text))) == []


def test_spellings_of_one_operator_are_of_one_family_whatever_its_dimensions() -> None:
    assert families_of("torch.nn.AvgPool3d") == families_of("torch.nn.functional.avg_pool2d")
    assert families_of("torch.max_pool2d_with_indices") == families_of("torch.nn.functional.max_pool1d_with_indices")
    assert families_of("torch.sub") & families_of("torch.Tensor.add_")
    assert not families_of("torch.sub") & families_of("torch.mul")
    assert families_of("aten.avg_pool2d") == families_of("torch.nn.AvgPool3d"), "a place may be a core operator"
    assert families_of("GRU") == families_of("LSTM") != families_of("Conv") == set()


def test_every_member_of_a_family_of_calls_is_a_function_that_exists() -> None:
    known = {name.rpartition(".")[2] for name in instance_names.listed("torch")}
    listed = tomllib.loads(data_path("operators", "families.toml").read_text("utf-8"))["calls"]
    assert not {name for members in listed.values() for name in members} - known
