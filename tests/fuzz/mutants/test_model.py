"""The mutant's graph: any model as a seed, names of outputs, and series of mutations applied in part."""

from __future__ import annotations

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz.mutants import mutation as mutations_file
from fuzz.mutants.model import MissingMutation
from fuzz.mutants.mutation import Mutation, UnreadableMutations
from tests.fuzz.mutants.subjects import built_in, mutated, outputs, small, subject_of

X = np.random.default_rng(7).standard_normal((2, 3)).astype(np.float32)


def with_needs(mutations: list[Mutation], chosen: set[int]) -> frozenset[int]:
    """The mutations that are chosen, and those that they need."""
    found: set[int] = set()
    waiting = list(chosen)
    while waiting:
        index = waiting.pop()
        if index not in found:
            found.add(index)
            waiting.extend(mutations[index - 1].needs)
    return frozenset(found)


def test_a_list_that_was_written_and_read_gives_the_same_mutant() -> None:
    mutant, made = mutated(built_in("transformer"), 40)
    read = mutations_file.read("\n".join(each.line() for each in made), "list")
    assert read == made
    again = built_in("transformer").replayed(read)
    assert again.proto().SerializeToString() == mutant.proto().SerializeToString()


def test_any_part_of_a_series_with_what_it_needs_is_as_good_as_the_seed() -> None:
    subject = built_in("lstm")
    _, made = mutated(subject, 60, seed=9)
    want = outputs(onnx.load_model_from_string(subject.case.model), subject.case.inputs)
    draw = random.Random(1)
    for size in (0, 1, 1, 2, 5, 20, 50):
        chosen = with_needs(made, set(draw.sample(range(1, 61), size)))
        model = subject.replayed(made, chosen).proto()
        onnx.checker.check_model(model, full_check=True)
        for one, other in zip(outputs(model, subject.case.inputs), want, strict=True):
            np.testing.assert_array_equal(one, other)


def test_a_mutation_without_what_it_needs_is_refused() -> None:
    _, made = mutated(built_in("lstm"), 60)
    dependent = next(each for each in made if each.needs)
    with pytest.raises(MissingMutation, match="left out"):
        built_in("lstm").replayed(made, frozenset({dependent.index}))


def test_the_list_of_another_model_is_refused() -> None:
    _, made = mutated(built_in("lstm"), 3)
    with pytest.raises(MissingMutation):
        built_in("transformer").replayed(made)


@pytest.mark.parametrize("line", ["", "{", "[]", '{"index": 1}', '{"nodes": [], "constants": [], "index": 1}'])
def test_a_line_that_is_no_mutation_is_told_with_its_number(line: str) -> None:
    _, [first] = mutated(built_in("lstm"), 1)
    with pytest.raises(UnreadableMutations, match="list: line 2 is no mutation"):
        mutations_file.read(f"{first.line()}\n{line}\n{line}", "list")


def test_outputs_keep_their_names_when_they_are_mutated() -> None:
    nodes = (helper.make_node("Neg", ["x"], ["a"]), helper.make_node("Abs", ["a"], ["b"]))
    model = small(*nodes, outputs=("a", "b"))
    subject = subject_of(model, {"x": X})
    mutant, made = mutated(subject, 30)
    assert any(reader.startswith("output/") for mutation in made for reader in mutation.readers)
    assert [entry.name for entry in mutant.proto().graph.output] == ["a", "b"]
    onnx.checker.check_model(mutant.proto(), full_check=True)
    for got, want in zip(outputs(mutant.proto(), {"x": X}), outputs(model, {"x": X}), strict=True):
        np.testing.assert_array_equal(got, want)


def test_what_bodies_read_is_left_to_them() -> None:
    def branch(name: str, op: str) -> onnx.GraphProto:
        made = helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
        return helper.make_graph([helper.make_node(op, ["a"], [name])], name, [], [made])

    condition = helper.make_tensor("c", TensorProto.BOOL, (), [True])
    nodes = (
        helper.make_node("Tanh", ["x"], ["a"]),
        helper.make_node("Constant", [], ["yes"], value=condition),
        helper.make_node("If", ["yes"], ["y"], then_branch=branch("t", "Neg"), else_branch=branch("e", "Abs")),
        helper.make_node("Add", ["y", "a"], ["z"]),
    )
    model = small(*nodes, outputs=("z", "a"))
    mutant, _ = mutated(subject_of(model, {"x": X}), 40)
    onnx.checker.check_model(mutant.proto(), full_check=True)
    assert [entry.name for entry in mutant.proto().graph.output] == ["z", "a"]
    for got, want in zip(outputs(mutant.proto(), {"x": X}), outputs(model, {"x": X}), strict=True):
        np.testing.assert_array_equal(got, want)


def test_symbolic_sizes_become_those_of_the_profiled_input() -> None:
    model = small(helper.make_node("Tanh", ["x"], ["a"]), helper.make_node("Abs", ["a"], ["y"]), shape=("batch", 3))
    mutant, _ = mutated(subject_of(model, {"x": X}), 20)
    found = mutant.proto()
    onnx.checker.check_model(found, full_check=True)
    [given] = found.graph.input
    assert [dim.dim_value for dim in given.type.tensor_type.shape.dim] == [2, 3]


def test_names_of_the_seed_are_never_taken() -> None:
    model = small(helper.make_node("Tanh", ["x"], ["mt1.0"]), helper.make_node("Abs", ["mt1.0"], ["y"]))
    mutant, _ = mutated(subject_of(model, {"x": X}), 10)
    onnx.checker.check_model(mutant.proto(), full_check=True)
    np.testing.assert_array_equal(outputs(mutant.proto(), {"x": X})[0], np.abs(np.tanh(X)))


def test_a_seed_whose_nodes_share_names_and_read_one_tensor_twice_is_mutated() -> None:
    nodes = (
        helper.make_node("Tanh", ["x"], ["a"], name="n"),
        helper.make_node("Mul", ["a", "a"], ["b"], name="n"),
        helper.make_node("Clip", ["b", "", ""], ["y"], name="n"),
    )
    model = small(*nodes)
    mutant, _ = mutated(subject_of(model, {"x": X}), 30)
    np.testing.assert_array_equal(outputs(mutant.proto(), {"x": X})[0], outputs(model, {"x": X})[0])
