"""Windows of a pooling that hold nothing but padding."""

import numpy as np
import pytest

from fuzz.oracles import _elements, _predicates, _windows
from fuzz.oracles._site import Site


def pooling(shape, result=(), **attributes):
    outputs = {"y": np.float32(result)}
    return Site("AveragePool", attributes, {"X": np.ones(shape, np.float32)}, outputs, frozenset({"X"}), version=19)


def test_windows_of_padding_are_the_same_in_every_image_and_channel():
    found = _windows.of_padding(pooling((2, 3, 2), kernel_shape=[1], pads=[2, 0]))
    assert found is not None and found.shape == (2, 3, 4)
    assert found.tolist() == [[[True, True, False, False]] * 3] * 2


@pytest.mark.parametrize(("counts", "open_ones"), [(0, [True, True, False, False]), (1, [False] * 4)])
def test_an_average_of_padding_that_counts_is_zero_and_may_be_refused(counts, open_ones):
    site = pooling((1, 1, 2), [[[0, 0, 1, 1]]], kernel_shape=[1], pads=[2, 0], count_include_pad=counts)
    assert _elements.pools_padding(site).tolist() == [[open_ones]]
    assert _predicates.pools_padding(site)


def test_one_image_of_one_channel_is_pooled_for_all(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def again(site, changed):
        asked.append(changed["X"].shape)
        return changed["X"]

    monkeypatch.setattr(_windows, "again", again)
    assert _windows.of_padding(pooling((8, 64, 5, 7), kernel_shape=[1, 1])).shape == (8, 64, 5, 7)
    assert asked == [(1, 1, 5, 7)]
