"""Neighbours of calls: what a tensor holds is the same in another type."""

from __future__ import annotations

from fuzz import instance
from fuzz.case import Case, Origin
from triage.variants import call_types


def test_truths_that_were_drawn_are_the_same_in_float32() -> None:
    text = b'{"api": "torch.any", "args": [{"tensor": 0}], "tensors": [{"dtype": "bool", "shape": [9], "seed": 0}]}'
    case = Case("instance", text, {}, Origin("test"))
    [drawn] = instance.tensors(instance.parse(case.model))
    [found] = list(call_types.variants(case))
    [other] = instance.tensors(instance.parse(found.cases[0].model))
    assert other.dtype == "float32" and other.tolist() == drawn.tolist()


def test_fractions_become_small_whole_numbers_in_a_type_of_integers() -> None:
    text = b'{"api": "torch.neg", "args": [{"tensor": 0}], "tensors": [%s]}'
    tensor = b'{"dtype": "float64", "shape": [2], "values": [0.5, 2.0]}'
    case = Case("instance", text % tensor, {}, Origin("test"))
    found = {name: instance.parse(other.model).tensors[0].values for name, other in call_types.kin(case, "float64")}
    assert found == {"float16": (0.5, 2.0), "bfloat16": (0.5, 2.0), "int64": (1, 2)}


def test_integers_are_tried_in_int64_behind_float32_which_some_calls_do_not_take() -> None:
    text = b'{"api": "torch.gcd", "args": [%s, %s]}'
    tensor = b'{"dtype": "uint8", "shape": [2], "values": [4, 6]}'
    case = Case("instance", text % (tensor, tensor), {}, Origin("test"))
    found = [(one.text, instance.parse(one.cases[0].model).tensors[0].dtype) for one in call_types.variants(case)]
    assert found == [("uint8", "float32"), ("uint8", "int64")]
