"""Which recorded tensors a seed may stand for: those that show nothing but randomness."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fuzz.instance import Instance, Tensor, tensors
from fuzz.instance_recipes import drawn

RNG = np.random.default_rng(0)
RANDOM = RNG.uniform(-8.7, 8.6, (5, 6))


def tensor(array: Any, dtype: str = "") -> Tensor:
    value = np.asarray(array)
    return Tensor(dtype or value.dtype.name, value.shape, values=tuple(value.ravel().tolist()))


def call(*arrays: Any, api: str = "torch.add") -> Instance:
    given = tuple(each if isinstance(each, Tensor) else tensor(each) for each in arrays)
    return Instance("torch", "", api, tuple({"tensor": at} for at in range(len(given))), {}, given)


def test_random_values_become_a_seed_within_a_round_part_of_their_range() -> None:
    found = drawn(call(RANDOM.astype(np.float32)))
    assert found is not None
    [entry] = found.tensors
    assert (entry.values, entry.seed, entry.low, entry.high) == (None, 0, -8.0, 8.0)
    [value] = tensors(found)
    assert np.abs(value).max() <= 8


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "complex64"])
def test_random_values_of_other_dtypes_become_a_seed(dtype: str) -> None:
    values = RANDOM + 1j * RNG.uniform(-8, 8, (5, 6)) if dtype == "complex64" else RANDOM.astype(np.float16)
    found = drawn(call(tensor(values, dtype)))
    assert found is not None and found.tensors[0].values is None


def test_positive_values_stay_positive() -> None:
    found = drawn(call(RNG.uniform(0.004, 0.93, (6, 7))))
    assert found is not None
    [value] = tensors(found)
    assert 0 < value.min() <= value.max() < 1


def test_random_indices_stay_within_their_range() -> None:
    found = drawn(call(np.array([0, 3, 3, 1, 2, 0, 1, 3, 0, 2, 2, 1, 3, 0])))
    assert found is not None
    [value] = tensors(found)
    assert set(value.ravel().tolist()) <= {0, 1, 2, 3}


SYMMETRIC = RANDOM[:5, :5] + RANDOM[:5, :5].T
KEPT = {
    "few": RANDOM[:2, :6],
    "sorted": np.sort(RANDOM, axis=1),
    "sorted downwards along the first axis": -np.sort(RANDOM, axis=0),
    "symmetric": SYMMETRIC,
    "triangular": np.tril(RANDOM),
    "of low rank": RANDOM[:, :1] * RANDOM[:1],
    "probabilities": np.abs(RANDOM) / np.abs(RANDOM).sum(axis=1, keepdims=True),
    "unit vectors": RANDOM / np.linalg.norm(RANDOM, axis=0),
    "infinite": np.where(RANDOM.max() == RANDOM, np.inf, RANDOM),
    "not a number": np.where(RANDOM.max() == RANDOM, np.nan, RANDOM),
    "whole numbers": np.round(RANDOM),
    "mostly zero": np.where(RANDOM > 4, RANDOM, 0.0),
    "equal": np.full((5, 6), 0.5),
    "huge": RANDOM * 1e30,
    "tiny": RANDOM * 1e-5,
    "a permutation": RNG.permutation(20),
    "sorted indices": np.sort(RNG.integers(0, 9, 20)),
    "equal integers": np.ones(20, dtype=np.int64),
    "all true": np.ones(20, dtype=bool),
    "a triangular mask": np.tril(np.ones((5, 5), dtype=bool)),
}


@pytest.mark.parametrize("name", KEPT)
def test_values_with_a_character_of_their_own_are_kept(name: str) -> None:
    assert drawn(call(KEPT[name])) is None


def test_matrices_of_linear_algebra_are_kept() -> None:
    assert drawn(call(RANDOM, api="torch.linalg.cond")) is None
    assert drawn(call(RANDOM, api="torch.Tensor.cholesky_inverse")) is None


@pytest.mark.parametrize("other", [RANDOM, RANDOM + 1.5, np.where(RANDOM > 0, RANDOM, RANDOM[::-1])])
def test_tensors_that_are_related_are_kept(other: Any) -> None:
    assert drawn(call(RANDOM, other)) is None


def test_unrelated_tensors_get_seeds_of_their_own() -> None:
    found = drawn(call(RANDOM, RNG.uniform(-9, 9, (5, 6))))
    assert found is not None
    assert [entry.seed for entry in found.tensors] == [0, 1]


def test_two_draws_of_one_test_become_equal() -> None:
    one, other = (drawn(call(np.random.default_rng(seed).uniform(-8.9, 8.9, (20, 21)))) for seed in (1, 2))
    assert one == other is not None
