"""Frames through which many places are reached, and where a program died."""

from __future__ import annotations

from fuzz.case import Frame
from triage.places import Spot, on_every_path, place, telling


def frames(*names: str) -> dict[str, Spot]:
    return telling(tuple(Frame("", 0, name) for name in names))


def test_a_frame_within_which_many_places_are_reached_tells_nothing() -> None:
    stacks = [(f"ns::f{letter}", "ns::own", "h::work") for letter in "abcdefgh"]
    stacks = [(first, f"ns::{first[-1]}1", last) for first, _, last in stacks]
    assert on_every_path(stacks) == {"h::work"}


def test_in_a_large_batch_a_conversion_with_several_places_still_tells() -> None:
    few = [(f"ns::check{letter}", "ns::convert") for letter in "abcdef"]
    many = [(f"ns::other{at}", f"ns::c{at}") for at in range(200)]
    assert on_every_path([*few, *many]) == frozenset()


def test_where_only_such_frames_are_left_there_is_no_place() -> None:
    assert place(frames("h::work"), {}, wide={"h::work"}).stack == ()
    assert place(frames("ns::a", "h::work"), {}, wide={"h::work"}).stack == ("ns::a",)


def test_a_death_in_a_helper_is_its_callers() -> None:
    stack = frames("ns::cpu_memcpy", "ns::Concat::run")
    assert place(stack, {}, dead=True).stack[0] == "ns::Concat::run"
    assert place(stack, {}).stack[0] == "ns::cpu_memcpy < ns::Concat::run"


def test_a_helper_that_a_trace_knows_as_one_is_a_helper_in_all() -> None:
    stack = frames("ns::Base::prepare", "ns::Split::run")
    assert place(stack, {}, helpers={"ns::Base::prepare"}).stack[0] == "ns::Base::prepare < ns::Split::run"


def test_kernels_for_several_sets_of_instructions_are_one() -> None:
    assert {next(iter(frames(f"ns::Pool_{isa}::run"))) for isa in ("x86", "x86_avx512", "arm")} == {"ns::Pool::run"}
