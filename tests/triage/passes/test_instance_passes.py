"""What the passes propose for operator instances."""

from __future__ import annotations

import importlib
import json
from pathlib import Path
from typing import Any

import pytest

import fuzz
from fuzz import instance
from fuzz.case import Case, Origin

NAMES = [
    "instance_defaults",
    "instance_arguments",
    "instance_numbers",
    "instance_shapes",
    "instance_dtypes",
    "instance_values",
]
SHIPPED = sorted((Path(fuzz.__file__).parent.parent / "data" / "instances" / "torch").glob("*.json"))
F32 = {"dtype": "float32"}


def case_of(**document: Any) -> Case:
    return Case("instance", json.dumps(document).encode(), {}, Origin("test"))


def propose(name: str, case: Case) -> list[dict[str, Any]]:
    module = importlib.import_module(f"triage.passes.{name}")
    return [json.loads(candidate.model) for candidate in module.candidates(case, {})]


@pytest.mark.parametrize("name", NAMES)
def test_every_candidate_of_the_shipped_instances_can_be_parsed(name: str) -> None:
    assert SHIPPED
    count = 0
    for path in SHIPPED:
        case = Case("instance", path.read_bytes(), {}, Origin("test", path.stem))
        for document in propose(name, case):
            instance.parse(json.dumps(document))
            count += 1
    assert count


def test_keywords_go_first_all_then_each() -> None:
    case = case_of(api="torch.relu", args=[{"tensor": 0}], kwargs={"a": 1, "b": 2}, tensors=[{**F32, "shape": [2]}])
    found = [document.get("kwargs", {}) for document in propose("instance_arguments", case)]
    assert found[:3] == [{}, {"b": 2}, {"a": 1}]


def test_arguments_that_say_the_default_go_at_once() -> None:
    """They are half of what PyTorch's own tests of some functions say, and a reduction may be short of time."""
    said = {"padding_idx": -1, "mode": "sum"}
    defaults = {"max_norm": None, "norm_type": 2, "sparse": False, "include_last_offset": False}
    case = case_of(api="torch.nn.functional.embedding_bag", args=[1], kwargs={**defaults, **said})
    first, *each = propose("instance_defaults", case)
    assert first["kwargs"] == said
    left_out = [set(case_keywords(case)) - set(other["kwargs"]) for other in each]
    assert left_out == [{name} for name in sorted(defaults)]


def case_keywords(case: Case) -> dict[str, object]:
    return dict(instance.parse(case.model).kwargs)


def test_a_default_that_is_given_by_name_only_goes_and_what_merely_equals_it_stays() -> None:
    tensors = [{**F32, "shape": [2]}]
    same = case_of(api="torch.add", args=[{"tensor": 0}, {"tensor": 0}], kwargs={"alpha": 1}, tensors=tensors)
    other = case_of(api="torch.add", args=[{"tensor": 0}, {"tensor": 0}], kwargs={"alpha": True}, tensors=tensors)
    assert "kwargs" not in propose("instance_defaults", same)[0]
    assert propose("instance_defaults", other) == []


def test_defaults_of_a_constructor_go_by_position_from_the_last_and_by_name() -> None:
    init = {"args": [2, None, 1, False], "kwargs": {"count_include_pad": True, "divisor_override": 3}}
    case = case_of(
        api="torch.nn.AvgPool3d", args=[{"tensor": 0}], init=init, tensors=[{**F32, "shape": [1, 1, 4, 4, 4]}]
    )
    by_name, by_position = (document["init"] for document in propose("instance_defaults", case))
    assert by_name == {"args": [2], "kwargs": {"padding": 1, "divisor_override": 3}}
    assert by_position == {"args": [2, None, 1], "kwargs": {"divisor_override": 3}}


def test_what_follows_a_default_is_given_by_name() -> None:
    """Nobody knows what the fifth False of a call means."""
    args = [{"tensor": 0}, {"tuple": [2]}, None, 0, True, False, 1]
    case = case_of(api="torch.nn.functional.avg_pool2d", args=args, tensors=[{**F32, "shape": [1, 1, 3]}])
    found = propose("instance_defaults", case)[0]
    assert len(found["args"]) == 2
    assert found["kwargs"] == {"ceil_mode": True, "count_include_pad": False, "divisor_override": 1}


def test_a_call_whose_parameters_nobody_knows_keeps_its_arguments() -> None:
    case = case_of(api="torch.nosuchthing", args=[{"tensor": 0}], kwargs={"a": None}, tensors=[{**F32, "shape": [2]}])
    assert propose("instance_defaults", case) == []


def pooling(*args: Any, **kwargs: Any) -> Case:
    tensors = [{**F32, "shape": [1, 2, 2, 2]}]
    return case_of(api="torch.max_pool3d", args=[{"tensor": 0}, *args], kwargs=kwargs, tensors=tensors)


def test_a_window_and_its_padding_become_small_together() -> None:
    """A window of one element stands no padding of one, and one of three no padding of zero on two elements."""
    case = pooling({"tuple": [3, 2, 3]}, padding=1, stride={"tuple": [2, 1, 1]})
    found = [(document["args"][1:], document["kwargs"]) for document in propose("instance_numbers", case)]
    ones, zeros = {"tuple": [1, 1, 1]}, {"tuple": [0, 0, 0]}
    assert found[0] == ([ones], {"padding": 1, "stride": ones})
    assert ([ones], {"padding": 0, "stride": ones}) in found
    assert ([ones], {"padding": 1, "stride": zeros}) in found
    assert ([ones], {"padding": 1, "stride": {"tuple": [2, 1, 1]}}) in found


def test_several_equal_numbers_are_given_as_one() -> None:
    found = [document["args"][1] for document in propose("instance_numbers", pooling({"tuple": [1, 1, 1]}))]
    assert 1 in found
    assert [document["args"][1] for document in propose("instance_numbers", pooling([2, 2], padding=0))].count(2) == 1


def test_what_is_no_whole_number_is_no_number_to_simplify() -> None:
    case = pooling(True, 0.5, "same", None, {"tuple": [{"tensor": 0}]}, {"tuple": []})
    assert [document["args"] for document in propose("instance_numbers", case)] == [json.loads(case.model)["args"]]


def test_a_tensor_that_no_argument_refers_to_any_more_is_dropped_and_the_others_renumbered() -> None:
    tensors = [{**F32, "shape": [1]}, {**F32, "shape": [2]}]
    case = case_of(api="torch.where", args=[{"tensor": 1}], kwargs={"k": {"tensor": 0}}, tensors=tensors)
    document = propose("instance_arguments", case)[0]
    assert document["args"] == [{"tensor": 0}]
    assert [tensor["shape"] for tensor in document["tensors"]] == [[2]]


def test_the_constructor_of_a_module_is_simplified_too() -> None:
    case = case_of(
        api="torch.nn.GRU",
        init={"args": [8, 16], "kwargs": {"num_layers": 2}},
        args=[{"tensor": 0}],
        tensors=[{**F32, "shape": [5, 2, 8]}],
    )
    constructors = [document["init"] for document in propose("instance_arguments", case) if "init" in document]
    assert {"args": [8, 16], "kwargs": {}} in constructors
    assert {"args": [8, 1], "kwargs": {"num_layers": 2}} in constructors


def test_constructor_arguments_follow_a_size() -> None:
    case = case_of(
        api="torch.nn.Linear",
        init={"args": [8, 3], "kwargs": {}},
        args=[{"tensor": 0}],
        tensors=[{**F32, "shape": [2, 8]}],
    )
    pairs = [(d["tensors"][0]["shape"], d["init"]["args"]) for d in propose("instance_shapes", case)]
    assert ([2, 2], [2, 3]) in pairs
    assert ([2, 2], [8, 3]) in pairs


def test_explicit_values_are_sliced_with_the_shape() -> None:
    tensor = {**F32, "shape": [2, 4], "values": [1, 2, 3, 4, 5, 6, 7, 8]}
    case = case_of(api="torch.relu", args=[{"tensor": 0}], tensors=[tensor])
    tensors = [document["tensors"][0] for document in propose("instance_shapes", case)]
    assert {**F32, "shape": [2, 2], "values": [1.0, 2.0, 5.0, 6.0]} in tensors
    assert {**F32, "shape": [4], "values": [1.0, 2.0, 3.0, 4.0]} in tensors
    assert {**F32, "shape": [2], "values": [1.0, 5.0]} in tensors


def test_an_axis_without_elements_stays_when_others_go() -> None:
    tensors = [{**F32, "shape": [0, 1, 3], "values": []}, {**F32, "shape": [0, 2, 3], "values": []}]
    case = case_of(api="torch.pow", args=[{"tensor": 0}, {"tensor": 1}], tensors=tensors)
    shapes = [[tensor["shape"] for tensor in each["tensors"]] for each in propose("instance_shapes", case)]
    assert [[0, 1], [0, 2]] in shapes


def test_rare_dtypes_give_way_to_common_ones() -> None:
    tensors = [{"dtype": "float16", "shape": [2]}, {"dtype": "int8", "shape": [2]}, {**F32, "shape": [2]}]
    case = case_of(api="torch.where", args=[{"tensor": 0}, {"tensor": 1}, {"tensor": 2}], tensors=tensors)
    found = [[tensor["dtype"] for tensor in document["tensors"]] for document in propose("instance_dtypes", case)]
    assert ["float32", "int8", "float32"] in found and ["float16", "int64", "float32"] in found


def test_small_tensors_get_simple_explicit_values_and_large_ones_keep_their_seed() -> None:
    case = case_of(
        api="torch.add",
        args=[{"tensor": 0}, {"tensor": 1}],
        tensors=[{**F32, "shape": [2], "seed": 3}, {**F32, "shape": [1000], "seed": 4}],
    )
    first = propose("instance_values", case)[0]["tensors"]
    assert first[0]["values"] == [1.0, 2.0]
    assert first[1]["seed"] == 4


def test_either_end_of_a_tensor_may_be_what_matters() -> None:
    case = case_of(api="torch.relu", args=[{"tensor": 0}], tensors=[{**F32, "shape": [4], "values": [1, 2, 3, 4]}])
    found = [document["tensors"][0]["values"] for document in propose("instance_shapes", case)]
    assert [1.0, 2.0] in found and [3.0, 4.0] in found


def test_axes_among_the_arguments_follow_an_axis_that_goes() -> None:
    tensor = {**F32, "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6]}
    case = case_of(api="torch.amax", args=[{"tensor": 0}, 1], kwargs={"keepdim": True}, tensors=[tensor])
    found = [(document["args"][1], document["tensors"][0]["values"]) for document in propose("instance_shapes", case)]
    assert (0, [1.0, 2.0, 3.0]) in found and (0, [4.0, 5.0, 6.0]) in found
