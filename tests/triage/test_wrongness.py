"""What is said about wrong results."""

from __future__ import annotations

import pytest

from triage.wrongness import guilty, says_wrong, way


@pytest.mark.parametrize(
    ("message", "name"),
    [
        ("mismatch; guilty optimizer: TransposeOptimizer (found by switching off)", "TransposeOptimizer"),
        ("agrees with disabled_optimizers=['ConstantFolding']", "ConstantFolding"),
        ("right when XLA_FLAGS=--xla_disable_hlo_passes=algsimp", "algsimp"),
        ("ORT_ENABLE_BASIC without TransposeOptimizer is right", "TransposeOptimizer"),
        ("the culprit pass is unknown", ""),
        ("without bias the result is right", ""),
        ("", ""),
    ],
)
def test_the_pass_that_a_comparison_blames_is_found(message: str, name: str) -> None:
    assert guilty(message) == name


@pytest.mark.parametrize(
    ("message", "how"),
    [
        ("got [nan, 1, nan], expected [1, 2, 3]", "nan"),
        ("got [inf, 2.], expected [nan, 2]", "infinite"),
        ("max abs diff nan, max rel diff nan; got [1, 2], expected [3, 4]", "finite"),
        ("got [1, 2], expected [3, 4]; class: tail only", "finite tail"),
        ("Mismatched elements: 3 / 4", "valued"),
    ],
)
def test_special_values_count_where_they_came_out_and_not_where_they_were_wanted(message: str, how: str) -> None:
    assert way(message) == how


def test_a_wrong_result_is_told_by_its_words() -> None:
    assert says_wrong("output 0 differs from the reference: 3 of 4 elements")
    assert says_wrong("Not equal to tolerance rtol=1e-3")
    assert not says_wrong("Check failed: the types differ")
