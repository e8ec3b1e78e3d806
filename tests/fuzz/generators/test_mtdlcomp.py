"""The source of mutants: a series of each small seed, repeatable, that the reference gives the seed's own values."""

from __future__ import annotations

import itertools

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.generators import load
from fuzz.mutants.subject import seed_case
from tests.fuzz.mutants.subjects import outputs


def first(seed: int, count: int) -> list[Case]:
    return [case for case in itertools.islice(load("mtdlcomp")(seed), count) if isinstance(case, Case)]


def test_the_source_gives_mutants_of_every_seed_in_turn() -> None:
    cases = first(3, 6)
    assert [case.origin.test for case in cases] == [
        "lstm/10", "transformer/10", "unet/10", "lstm/20", "transformer/20", "unet/20"
    ]  # fmt: skip
    for case in cases[:2]:
        seed = seed_case(case.origin.test.partition("/")[0], 3)
        want = outputs(onnx.load_model_from_string(seed.model), seed.inputs)
        for one, other in zip(outputs(onnx.load_model_from_string(case.model), case.inputs), want, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_same_seed_gives_the_same_cases() -> None:
    assert [case.id for case in first(3, 2)] == [case.id for case in first(3, 2)]
    assert first(3, 1)[0].id != first(4, 1)[0].id
