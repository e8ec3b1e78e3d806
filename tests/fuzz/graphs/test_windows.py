"""Padding solved for equal shapes, held against the definition of a window."""

import pytest

from fuzz.graphs.windows import solutions


@pytest.mark.parametrize("pool", [False, True])
@pytest.mark.parametrize("space", [1, 2, 3, 4, 5, 7, 12])
def test_every_solution_leaves_as_many_places_as_there_were_and_keeps_to_the_bounds(space, pool):
    found = solutions(space, pool=pool)
    assert len(set(found)) == len(found) >= 10
    for side in found:
        extent = side.dilation * (side.length - 1) + 1
        assert (space + side.begin + side.end - extent) // side.stride + 1 == space
        assert min(side.begin, side.end) >= 0 and max(side.begin, side.end) <= side.length - pool


@pytest.mark.parametrize("space", [1, 2, 3, 5, 8])
def test_no_place_of_a_pool_is_padding_alone(space):
    for side in solutions(space, pool=True):
        for place in range(space):
            start = place * side.stride - side.begin
            taps = [start + at * side.dilation for at in range(side.length)]
            assert any(0 <= tap < space for tap in taps), side


@pytest.mark.parametrize("space", [1, 2, 5, 60])
def test_some_window_of_a_pool_moves_by_more_than_one_or_over_gaps(space):
    assert any(side.moves for side in solutions(space, pool=True))
    assert not all(side.moves for side in solutions(space, pool=True))
