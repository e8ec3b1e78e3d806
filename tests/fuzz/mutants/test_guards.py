"""Guards are exactly zero, however an honest compiler rounds; and they are conditions, not constants."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.mutants import guards
from fuzz.mutants.draft import Draft, Rejected
from fuzz.mutants.guards import Seen
from fuzz.mutants.kernels import evaluate
from fuzz.mutants.tensors import Tensor, largest


def tensor(value: np.ndarray, name: str = "x") -> Tensor:
    return Tensor(name, value, largest(value))


def draft(dtype: str = "float32") -> Draft:
    return Draft("mt", 1, 0, np.random.default_rng(0), dtype)


def rerun(made: Draft, given: dict[str, np.ndarray]) -> np.ndarray:
    """The last node's result for other inputs."""
    found = dict(given) | {each.name: each.value({}) for each in made.constants if not each.profiled}
    for node in made.nodes:
        found[node.output] = evaluate(node.op, [found[name] for name in node.inputs], node.attributes)
    return found[made.nodes[-1].output]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_square_is_zero_for_any_finite_values_even_where_it_overflows(dtype: str) -> None:
    kind = np.finfo(dtype)
    edges = np.array([0, -0.0, kind.smallest_subnormal, -kind.tiny, 1, 1 + kind.eps, -7, kind.max, kind.min], dtype)
    i, j = (tensor(each, name) for each, name in zip(np.meshgrid(edges, edges), "ij", strict=True))
    drawn, made = iter((i, j)), draft(dtype)
    zero = guards.square(made, lambda: next(drawn))
    assert np.isinf(made.tensors[made.nodes[1].output].value).any() and not zero.value.any()


def test_the_expanded_square_of_the_paper_would_not_be_zero() -> None:
    rng = np.random.default_rng(0)
    i = rng.standard_normal(10_000).astype(np.float32)
    j = i * np.float32(1 + 2**-12)
    assert np.maximum(-(i * i - np.float32(2) * i * j + j * j), 0).any()


def test_the_trigonometric_guard_is_zero_and_stays_away_from_zero() -> None:
    x = tensor(np.linspace(-8, 8, 100_001).astype(np.float32))
    made = draft()
    zero = guards.trigonometric(made, lambda: x)
    assert not zero.value.any()
    assert made.tensors[made.nodes[-2].output].value.max() < -1  # no rounding of any sine reaches zero


def test_the_trigonometric_guard_takes_small_values_only() -> None:
    with pytest.raises(Rejected):
        guards.trigonometric(draft(), lambda: tensor(np.array([9], np.float32)))


def test_the_profiled_guard_stays_zero_under_rounding_and_opens_beyond_it() -> None:
    rng = np.random.default_rng(3)
    columns, weights = rng.standard_normal((64, 576)).astype(np.float32), rng.standard_normal((576, 32)).astype("f")
    value = columns @ weights
    error = float(np.abs(value - columns.astype(np.float64) @ weights.astype(np.float64)).max())
    made = draft()
    seen = Seen(tensor(value), tensor(value), error)
    assert not guards.profiled(made, seen).value.any()
    constants = {each.name: each.value({"x": value}) for each in made.constants if each.profiled}
    reordered = sum(columns[:, at : at + 1] * weights[at : at + 1] for at in range(576))  # another order of the sum
    short = (value.view(np.uint32) & np.uint32(0xFFFF0000)).view(np.float32)  # as bfloat16 keeps it
    for honest in (reordered, short):
        assert (honest != value).any() and not rerun(made, {"x": honest} | constants).any()
    assert rerun(made, {"x": value + 2 * largest(value)} | constants).all()


def test_the_plain_difference_of_the_paper_would_open_under_rounding() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.standard_normal((2, 4, 576)).astype(np.float32)
    assert (x @ y.T - sum(x[:, at : at + 1] * y[:, at] for at in range(576))).any()


def test_the_margin_covers_what_float64_says_of_an_ill_conditioned_tensor() -> None:
    value = np.array([1e-3], np.float32)
    assert guards.margin(Seen(tensor(value), tensor(value), 10.0)) == 640
    with pytest.raises(Rejected):
        guards.margin(Seen(tensor(value), tensor(value), float("inf")))


def test_a_profiled_constant_is_a_window_of_a_large_tensor() -> None:
    value = np.random.default_rng(1).standard_normal((2, 64, 40, 40)).astype(np.float32)
    made = draft()
    zero = guards.profiled(made, Seen(tensor(value), tensor(value), 0.0))
    [constant] = [each for each in made.constants if each.profiled]
    assert zero.value.size <= guards.MOST_PROFILED and not zero.value.any() and constant.shape == zero.shape
