"""Whether PyTorch accepts a recorded instance, and what is noted about its result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzz.instance import tensors
from fuzz.instance_check import Checked, Checker, Rejected

RNG = np.random.default_rng(3)


def call(api: str, *args: Any, **kwargs: Any) -> dict[str, Any]:
    return {"api": api, "version": "2.13.0", "args": list(args), "kwargs": kwargs}


def tensor(array: Any, dtype: str = "float32") -> dict[str, Any]:
    value = np.asarray(array)
    return {"dtype": dtype, "shape": list(value.shape), "values": value.ravel().tolist()}


def checked(document: dict[str, Any]) -> Checked:
    found = Checker().check(document)
    assert found is not None
    return found


def test_an_accepted_call_is_kept_without_its_version() -> None:
    found = checked(call("torch.relu", tensor([1.0, -1.0])))
    assert (found.instance.version, found.flags) == ("", ())


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        (call("torch.matmul", tensor(np.ones((2, 3))), tensor(np.ones((2, 3)))), "PyTorch raises RuntimeError"),
        (call("torch.nn.functional.relu", tensor([1.0]), surprise=1), "PyTorch raises TypeError"),
        (call("os.system", "true"), "functions must be in one of"),
        (call("torch.Tensor.dim", tensor([1.0])), ""),
        (call("torch.relu", {"odd": 1}), "unknown object"),
    ],
)
def test_what_pytorch_rejects_is_dropped_with_a_reason(document: dict[str, Any], reason: str) -> None:
    if not reason:
        checked(document)  # a number is a result that can be compared
        return
    with pytest.raises(Rejected, match=reason):
        Checker().check(document)


def test_an_equal_call_is_not_checked_again() -> None:
    checker = Checker()
    assert checker.check(call("torch.relu", tensor([1.0])))
    assert checker.check(call("torch.relu", tensor([1.0]))) is None
    assert checker.check(call("torch.relu", tensor([2.0])))


def test_random_values_become_a_seed_where_pytorch_accepts_them() -> None:
    values = RNG.uniform(-9, 9, (4, 5))
    assert checked(call("torch.relu", tensor(values))).instance.tensors[0].values is None


def test_recorded_values_stay_where_drawn_ones_would_give_another_kind_of_result() -> None:
    # The root of what is drawn would be no number as often; here one is positive by chance of the recording.
    values = np.append(RNG.uniform(0.5, 9, 19), 0.001)
    assert checked(call("torch.sqrt", tensor(values))).instance.tensors[0].values is None
    shape = checked(call("torch.masked_select", tensor(values), tensor(values > 2.5, "bool"))).instance
    assert [entry.values is None for entry in shape.tensors] == [False, False]


def test_drawn_indices_are_only_taken_where_they_are_in_range() -> None:
    index = RNG.integers(0, 4, 30)
    found = checked(call("torch.index_select", tensor(np.arange(8.0)), 0, tensor(index, "int64"))).instance
    [_, drawn] = tensors(found)
    assert isinstance(drawn, np.ndarray) and 0 <= drawn.min() <= drawn.max() < 4


def test_a_result_that_varies_is_flagged() -> None:
    document = call("torch.nn.functional.dropout", tensor(np.ones(64)), p=0.5, training=True)
    assert checked(document).flags == ("nondeterministic",)


def test_a_result_that_float64_does_not_confirm_is_flagged() -> None:
    # In float32 the sum loses what is left of the large numbers.
    document = call("torch.sum", tensor([1e8, 3.0, -1e8]))
    assert checked(document).flags == ("ill-conditioned",)
    assert checked(call("torch.sum", tensor([1.0, 3.0, -1.0]))).flags == ()


def test_a_named_dtype_is_widened_too() -> None:
    document = call("torch.cumsum", tensor([1.0, 2.0]), dim=0, dtype={"dtype": "float16"})
    assert checked(document).flags == ()


def test_what_out_holds_before_the_call_is_no_part_of_it() -> None:
    garbage = tensor([-3e8, 1e-30, 5.0])
    found = checked(call("torch.sin", tensor([0.5, 1.0, 2.0]), out=garbage))
    assert found.instance.tensors[1].values == (0, 0, 0)
