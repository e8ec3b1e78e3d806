"""Calls whose tensors have the shapes that most calls have: one for all, and those of a batch."""

from __future__ import annotations

import json
from typing import Any

from fuzz.case import Case, Origin
from fuzz.instance import tensors
from triage.passes._instances import parsed
from triage.variants import Variant, arguments


def call(api: str, *shapes: tuple[int, ...], **more: Any) -> Case:
    given = [{"dtype": "float32", "shape": list(s), "values": [1.0] * (s[0] if len(s) == 1 else 4)} for s in shapes]
    document = {"library": "torch", "api": api, "args": [{"tensor": at} for at in range(len(shapes))], "tensors": given}
    return Case("instance", json.dumps({**document, **more}).encode(), {}, Origin("test"))


def found(case: Case, text: str) -> list[Variant]:
    return [one for one in arguments.variants(case) if one.text == text]


def test_tensors_that_are_broadcast_are_tried_in_their_common_shape() -> None:
    [variant] = found(call("torch.add", (1,), (3,)), arguments.BROADCAST)
    assert variant.sentence == "With `x0` of the common shape (3,) the same call passes."
    assert [value.shape for value in tensors(parsed(variant.cases[0]))] == [(3,), (3,)]
    assert not found(call("torch.add", (3,), (3,)), arguments.BROADCAST)
    assert not found(call("torch.cat", (2,), (3,)), arguments.BROADCAST)


def test_a_layer_is_tried_with_a_batch_of_one_and_a_function_is_not() -> None:
    [variant] = found(call("torch.nn.AvgPool1d", (2, 2), init={"args": [1], "kwargs": {}}), "2-D input")
    assert variant.sentence == "With a batch of one, `x0` of shape (1, 2, 2), the same call passes."
    assert [value.shape for value in tensors(parsed(variant.cases[0]))] == [(1, 2, 2)]
    assert not found(call("torch.abs", (2, 2)), "2-D input")
