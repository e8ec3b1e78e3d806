"""What of a target a failure needs: fewer options, steps of ladders, passes."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from fuzz.case import Revision, Target
from triage.options import needs, simplest_target, smallest


def target(**options: str) -> Target:
    return Target("tvm", Revision("1"), tuple(sorted(options.items())))


@pytest.mark.parametrize(
    ("given", "needed", "left"),
    [
        ({"opt": "off", "threads": "2"}, {}, {}),
        ({"opt": "off", "threads": "2"}, {"opt": "off"}, {"opt": "off"}),
        ({"opt": "off", "threads": "2"}, {"opt": "off", "threads": "2"}, {"opt": "off", "threads": "2"}),
        ({}, {}, {}),
    ],
)
def test_only_the_options_that_the_failure_needs_stay(
    given: dict[str, str], needed: dict[str, str], left: dict[str, str]
) -> None:
    found = simplest_target(target(**given), lambda each: needed.items() <= dict(each.options).items())
    assert dict(found.options) == left


def test_a_list_of_passes_loses_those_that_do_not_matter() -> None:
    def fails(each: Target) -> bool:
        return {"Fold", "Fuse"} <= set(dict(each.options).get("disable", "").split(","))

    found = simplest_target(target(disable="Fold,Inline,Fuse,Split", opt="off"), fails)
    assert dict(found.options) == {"disable": "Fold,Fuse"}


# ---------------------------------------------------------------- ladders and passes


def at(each: Target, name: str, default: str) -> str:
    return dict(each.options).get(name, default)


def test_the_levels_at_which_it_fails_are_told_the_lowest_first() -> None:
    asked: list[Target] = []

    def fails(each: Target) -> bool:
        asked.append(each)
        return at(each, "opt", "all") in ("all", "extended")

    found = needs(Target("onnxruntime", Revision("1")), lambda each: [], fails)
    assert found.options == {} and found.levels == {"opt": ["extended", "all"]} and found.passes is None
    assert len(asked) == 3  # the step where it stands is known


def test_a_level_that_the_failure_needs_stays_an_option() -> None:
    found = needs(
        Target("onnxruntime", Revision("1"), (("opt", "off"),)),
        lambda each: [],
        lambda each: "opt" in dict(each.options),
    )
    assert found.options == {"opt": "off"} and found.levels == {"opt": ["off", "basic", "extended", "all"]}


PASSES = [f"Pass{number}" for number in range(20)]


def fails_with(*needed: str, given: str = "none") -> list[str] | None:
    """The passes that `needs` finds to be needed on TVM, where a failure needs these."""

    def fails(each: Target) -> bool:
        return not set(needed).intersection(at(each, "disable", "none").split(","))

    options = () if given == "none" else (("disable", given),)
    found = needs(Target("tvm", Revision("1"), options), lambda each: [*PASSES, "LegalizeOps"], fails)
    return None if found.passes is None else list(found.passes)


def test_the_passes_that_must_stay_on_are_told() -> None:
    assert fails_with() == []
    assert fails_with("Pass7") == ["Pass7"]
    assert fails_with("Pass12", "Pass3") == ["Pass3", "Pass12"]


def test_too_many_needed_passes_are_not_told() -> None:
    assert fails_with(*PASSES[::2]) is None


@pytest.mark.parametrize("needed", [{4}, {0, 19}, {2, 3, 11}])
def test_the_fewest_that_are_needed_are_found_in_few_questions(needed: set[int]) -> None:
    asked = 0

    def fails(kept: Collection[str]) -> bool:
        nonlocal asked
        asked += 1
        return {PASSES[number] for number in needed} <= set(kept)

    assert smallest(PASSES, fails, 24) == [PASSES[number] for number in sorted(needed)]
    assert asked <= 1 + 6 * len(needed)
