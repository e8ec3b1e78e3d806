"""Which cases a suite takes from its sources."""

from __future__ import annotations

from bot.suitefile import Wanted, slice_of


def names(touched: str = "", size: int = 12) -> list[str]:
    wanted = Wanted(slice_size=size, touched=frozenset({touched} - {""}))
    return [entry.case.origin.test for entry in slice_of(wanted)]


def test_the_cases_of_operators_that_a_change_touches_are_in_the_slice_however_small_it_is() -> None:
    assert not any("floor" in name for name in names())
    found = names("floor")
    assert found[0].startswith("test_floor")
    assert len(found) == 12


def test_a_change_that_touches_much_does_not_make_the_slice_larger() -> None:
    assert len(names("reducesum", size=5)) == 5
