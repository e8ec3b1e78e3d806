"""The fewest mutations that still fail, and constants in the place of those that are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx
import pytest

from fuzz.mutants.minimise import minimise
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.values import Values
from tests.fuzz.mutants.subjects import built_in, mutated, outputs, values


def chain(count: int, changes: dict[int, int]) -> list[Mutation]:
    """Mutations of which some change the nodes of others."""
    [first] = mutated(built_in("lstm"), 1)[1]
    made = []
    for index in range(1, count + 1):
        readers = (f"node{changes[index]}",) if index in changes else ("seed/0",)
        nodes = (replace(first.nodes[0], output=f"node{index}"),)
        made.append(replace(first, index=index, readers=readers, nodes=nodes))
    return made


@pytest.mark.parametrize("guilty", [{1}, {40}, {3, 37}, {5, 6, 7, 30}])
def test_the_guilty_ones_are_found_wherever_they_are(guilty: set[int]) -> None:
    runs: list[frozenset[int]] = []

    def fails(chosen: frozenset[int]) -> bool:
        runs.append(chosen)
        return guilty <= chosen

    assert minimise(chain(40, {}), fails) == guilty
    assert len(runs) == len(set(runs)) < 150


def test_what_a_mutation_changes_comes_along_and_goes_along() -> None:
    mutations = chain(20, {10: 4, 15: 10})
    seen: list[frozenset[int]] = []

    def fails(chosen: frozenset[int]) -> bool:
        seen.append(chosen)
        return 15 in chosen

    assert minimise(mutations, fails) == {4, 10, 15}
    assert all({4} <= chosen for chosen in seen if 10 in chosen)
    assert all({4, 10} <= chosen for chosen in seen if 15 in chosen)


def test_the_number_of_runs_is_bounded_and_the_best_so_far_is_kept() -> None:
    runs: list[frozenset[int]] = []

    def fails(chosen: frozenset[int]) -> bool:
        runs.append(chosen)
        return {3, 17} <= chosen

    found = minimise(chain(40, {}), fails, most_runs=6)
    assert len(runs) == 6 and {3, 17} <= found and len(found) <= 40


def test_values_of_inserted_tensors_are_those_of_the_reference() -> None:
    subject = built_in("lstm")
    mutant, made = mutated(subject, 50, seed=4)
    told = values(mutant.proto(), subject.case.inputs)
    told |= {name: told[other] for name, other in mutant.renamed().items()}
    found = Values(made, subject.profile.values)
    for mutation in made:
        for node in mutation.nodes:
            value = found.get(node.output)
            assert value is not None
            np.testing.assert_allclose(value, told[node.output], rtol=1e-4, atol=1e-5)
    assert found.get("no such tensor") is None


@pytest.mark.parametrize("index", [10, 30, 50])
def test_one_mutation_alone_stands_on_constants_and_is_as_good_as_the_seed(index: int) -> None:
    subject = built_in("lstm")
    _, made = mutated(subject, 50, seed=4)
    chosen = {index}
    owners = {node.output: each.index for each in made for node in each.nodes}
    waiting = [index]
    while waiting:
        more = {owners[reader] for reader in made[waiting.pop() - 1].readers if reader in owners} - chosen
        chosen |= more
        waiting.extend(more)
    model = subject.replayed(made, frozenset(chosen), freeze=True).proto()
    onnx.checker.check_model(model, full_check=True)
    want = outputs(onnx.load_model_from_string(subject.case.model), subject.case.inputs)
    for got, expected in zip(outputs(model, subject.case.inputs), want, strict=True):
        np.testing.assert_array_equal(got, expected)
