"""Fewer options of a target."""

from __future__ import annotations

import pytest

from fuzz.case import Revision, Target
from triage.options import simplest_target


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
