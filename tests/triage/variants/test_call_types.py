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
