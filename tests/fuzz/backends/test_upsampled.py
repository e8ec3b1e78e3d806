"""PyTorch's nearest upsampling under noise."""

from __future__ import annotations

import numpy as np
import pytest

from fuzz.backends._trials import Trial
from fuzz.backends._upsampled import NAMES, disturbed

UP, DOWN = Trial(np.random.default_rng(1), 1), Trial(np.random.default_rng(1), -1)
IMAGE = np.zeros((1, 1, 6, 6), np.float32)


@pytest.mark.parametrize(("trial", "grows"), [(UP, True), (DOWN, False)])
def test_a_factor_without_a_short_binary_form_is_moved_by_next_to_nothing(trial: Trial, grows: bool) -> None:
    *_, factor, other = disturbed((IMAGE, [8, 8], 1.3333334), trial)
    assert (factor > 1.3333334) is grows and abs(factor / 1.3333334 - 1) < 1e-6
    assert other == pytest.approx(8 / 6, rel=1e-6) and other != 8 / 6  # the sizes say it where no factor does


def test_a_factor_that_is_exact_stays_as_it_is() -> None:
    assert disturbed((IMAGE, [9, 12], 1.5), UP)[2:] == (1.5, None)


def test_the_kernels_are_known_by_name() -> None:
    assert {"upsample_nearest2d", "_upsample_nearest_exact1d"} <= NAMES
