"""The source of mutants: small seeds and a series of each, repeatable, that the reference gives the seed's values."""

from __future__ import annotations

import itertools

import numpy as np
import onnx

from fuzz.case import Case
from fuzz.generators import load, mtdlcomp, original
from fuzz.mutants.subject import seed_case
from tests.fuzz.mutants.subjects import outputs


def first(seed: int, count: int) -> list[Case]:
    return [case for case in itertools.islice(load("mtdlcomp")(seed), count) if isinstance(case, Case)]


def test_the_source_gives_the_seeds_and_mutants_of_every_seed_in_turn() -> None:
    cases = first(3, 9)
    assert [case.origin.test for case in cases] == [
        "lstm", "transformer", "unet", "lstm/5", "transformer/5", "unet/5", "lstm/10", "transformer/10", "unet/10"
    ]  # fmt: skip
    for case in cases[3:5]:
        seed = seed_case(case.origin.test.partition("/")[0], 3)
        want = outputs(onnx.load_model_from_string(seed.model), seed.inputs)
        for one, other in zip(outputs(onnx.load_model_from_string(case.model), case.inputs), want, strict=True):
            np.testing.assert_array_equal(one, other)


def test_the_same_seed_gives_the_same_cases() -> None:
    assert [case.id for case in first(3, 4)] == [case.id for case in first(3, 4)]
    assert first(3, 1)[0].id != first(4, 1)[0].id


def test_a_mutant_names_its_original_and_its_mutations_and_a_seed_has_none() -> None:
    *seeds, mutant = first(3, 4)
    assert [original(seed) for seed in seeds] == [None] * 3
    found = original(mutant)
    assert found is not None and found.id == seeds[0].id
    subject, mutations = mtdlcomp.again(mutant)
    assert len(mutations) == 5
    assert subject.case_of(subject.replayed(mutations), 5).id == mutant.id
