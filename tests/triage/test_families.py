"""Which names are spellings of one operator."""

from __future__ import annotations

import pytest

from fuzz import instance_names
from triage.families import family


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("aten.add.Tensor", "add"),
        ("torch.ops.aten.add.Tensor_out", "add"),
        ("aten::max.dim", "max"),
        ("torch.Tensor.int_repr", "intrepr"),
        ("torch.nn.functional.interpolate", "interpolate"),
        ("torch.outer", "outer"),
        ("torch.nn.AvgPool3d", "avgpool"),
        ("MaxPool-11", "maxpool"),
    ],
)
def test_the_form_of_a_name_and_its_overload_say_nothing(name: str, expected: str) -> None:
    assert family(name) == expected


def test_no_function_of_pytorch_is_taken_for_its_namespace() -> None:
    spaces = {"torch", "tensor", "nn", "functional", "linalg", "special"}
    assert not [name for name in instance_names.listed("torch") if family(name) in spaces]
