"""The names and defaults of PyTorch's positional parameters, held against the installed torch."""

from __future__ import annotations

import inspect

import pytest

from triage.parameters_torch import UNKNOWN, positional


def names(api: str, init: bool = False) -> list[str]:
    return [one.name for one in positional(api, init)]


def test_parameters_are_read_from_definitions_and_from_docstrings() -> None:
    assert names("torch.nn.functional.interpolate")[:3] == ["input", "size", "scale_factor"]
    assert names("torch.nn.functional.avg_pool2d")[-1] == "divisor_override"
    assert names("torch.add") == ["input", "other"], "what comes behind a star is given by name"
    assert names("torch.Tensor.cumsum")[:2] == ["self", "dim"]
    assert names("torch.nn.AvgPool3d", init=True)[:2] == ["kernel_size", "stride"]


def test_a_docstring_may_name_the_module_of_a_function() -> None:
    assert names("torch.linalg.norm") == ["input", "ord", "dim", "keepdim"]
    assert names("torch.fft.fft") == ["input", "n", "dim", "norm"]


def test_a_default_is_a_literal_or_unknown() -> None:
    found = {one.name: one.default for one in positional("torch.nn.functional.avg_pool2d")}
    assert (found["padding"], found["ceil_mode"], found["divisor_override"]) == (0, False, None)
    assert found["kernel_size"] is UNKNOWN


def test_of_what_is_not_described_nothing_is_known() -> None:
    assert positional("torch.no_such_function") == positional("elsewhere.add") == ()
    assert names("torch.nn.AvgPool3d") == []


@pytest.mark.parametrize("api", ["interpolate", "pad", "layer_norm", "embedding", "cosine_embedding_loss"])
def test_the_names_are_those_of_the_function_itself(api: str) -> None:
    functional = pytest.importorskip("torch.nn.functional")
    try:
        real = inspect.signature(inspect.unwrap(getattr(functional, api))).parameters.values()
    except ValueError:  # defined in C++
        return
    wanted = [one.name for one in real if one.kind is not one.KEYWORD_ONLY]
    assert names(f"torch.nn.functional.{api}") == wanted


def test_of_several_calls_in_a_docstring_the_fullest_names_the_parameters() -> None:
    assert [one.name for one in positional("torch.argmax")] == ["input", "dim", "keepdim"]
    assert [one.name for one in positional("torch.std")] == ["input", "dim"]


def test_sizes_that_may_be_listed_are_a_parameter() -> None:
    assert [one.name for one in positional("torch.Tensor.expand")] == ["self", "size"]
