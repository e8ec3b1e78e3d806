"""Mutants: valid, deep, and the same as their seed; what is drawn is bounded and repeatable."""

from __future__ import annotations

from collections import Counter

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz.mutants import garbage, pool, seeds
from fuzz.mutants.mutator import CHOICES, KINDS, Mutator, NoPlace
from fuzz.mutants.tensors import LARGEST
from tests.fuzz.mutants.subjects import built_in, mutated, outputs, small, subject_of, values

QUICK = ("lstm", "transformer", "unet")


@pytest.mark.parametrize("name", QUICK)
@pytest.mark.parametrize("choice", CHOICES)
def test_a_mutant_is_valid_and_gives_bit_for_bit_what_its_seed_gives(name: str, choice: str) -> None:
    subject = built_in(name)
    mutant, mutations = mutated(subject, 60, choice=choice)
    model = mutant.proto()
    onnx.checker.check_model(model, full_check=True)
    assert len(model.graph.node) > len(seeds.build(name).graph.node) + 5 * 60
    assert {mutation.kind for mutation in mutations} == set(KINDS)
    want = outputs(seeds.build(name), subject.case.inputs)
    got = outputs(model, subject.case.inputs)
    assert [each.tobytes() for each in got] == [each.tobytes() for each in want]


def test_the_reference_finds_every_guard_zero_every_target_unchanged_and_all_garbage_small() -> None:
    subject = built_in("transformer")
    mutant, mutations = mutated(subject, 80, seed=5)
    found = values(mutant.proto(), subject.case.inputs)
    found |= {name: found[other] for name, other in mutant.renamed().items()}
    for mutation in mutations:
        assert not found[mutation.zero].any()
        np.testing.assert_array_equal(found[mutation.result], found[mutation.target])
        product = mutation.nodes[-2]
        assert product.op == "Mul" and not found[product.output].any()
        assert all(np.abs(found[name]).max(initial=0) <= LARGEST for name in product.inputs)


@pytest.mark.parametrize("scale", [1.0, 30.0])
def test_universal_mutants_agree_for_inputs_that_were_not_profiled(scale: float) -> None:
    subject = built_in("lstm")
    mutant, mutations = mutated(subject, 150, seed=2, kinds=("uoc",))
    assert {mutation.guard for mutation in mutations} == {"square", "trigonometric"}
    for seed in (11, 12):
        inputs = {name: value * np.float32(scale) for name, value in seeds.inputs(seeds.build("lstm"), seed).items()}
        for want, got in zip(outputs(seeds.build("lstm"), inputs), outputs(mutant.proto(), inputs), strict=True):
            np.testing.assert_array_equal(got, want)


def test_the_same_seed_gives_the_same_mutations_and_another_seed_others() -> None:
    first, again, other = (mutated(built_in("unet"), 12, seed=seed) for seed in (3, 3, 4))
    assert first[1] == again[1] and first[1] != other[1]
    assert first[0].proto().SerializeToString() == again[0].proto().SerializeToString()
    assert mutated(built_in("unet"), 6, seed=3)[1] == first[1][:6]


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_kinds_that_are_asked_for_are_drawn(kind: str) -> None:
    assert {mutation.kind for mutation in mutated(built_in("lstm"), 20, kinds=(kind,))[1]} == {kind}


def test_all_garbage_all_guards_and_every_way_of_adaption_are_drawn() -> None:
    mutations = mutated(built_in("unet"), 150, seed=1)[1]
    drawn = Counter(each for mutation in mutations for each in mutation.garbage)
    assert set(drawn) == set(garbage.OPERATORS) and min(drawn.values()) > 10
    assert {mutation.guard for mutation in mutations} == {"square", "trigonometric", "profiled"}
    operators = {node.op for mutation in mutations for node in mutation.nodes}
    assert {"Reshape", "Slice", "Pad", "Tile", "ReduceMean", "ReduceMax"} <= operators


def test_later_mutations_stand_on_earlier_ones() -> None:
    mutations = mutated(built_in("transformer"), 60)[1]
    assert all(need < mutation.index for mutation in mutations for need in mutation.needs)
    assert sum(bool(mutation.needs) for mutation in mutations) > 30


def test_distance_guided_mutants_are_farther_from_their_seed() -> None:
    def distance(choice: str) -> float:
        mutant = built_in("transformer").mutant()
        mutator = Mutator(mutant, built_in("transformer").profile, 1, choice=choice)
        for _ in range(100):
            mutator.mutate()
        return mutator.distance

    assert distance("distance") > 1.1 * distance("random")


def test_what_is_kept_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "MOST_KEPT", 20)
    subject = built_in("unet")
    mutator = Mutator(subject.mutant(), subject.profile, 0)
    for _ in range(30):
        mutator.mutate()
    kept = mutator._pool
    assert len(kept) <= len(subject.profile.tensors()) + 20
    monkeypatch.setattr(pool, "MOST_BYTES", 1 << 17)
    for _ in range(20):
        mutator.mutate()
    assert sum(tensor.value.nbytes for tensor in kept._inserted) <= 1 << 17


def test_a_model_without_float_tensors_has_no_place() -> None:
    model = small(helper.make_node("Neg", ["x"], ["y"]), dtype=TensorProto.INT32)
    subject = subject_of(model, {"x": np.ones((2, 3), np.int32)})
    with pytest.raises(NoPlace, match="no finite floating-point tensor that depends on an input"):
        mutated(subject, 1)


def test_a_tensor_that_is_not_finite_is_left_alone() -> None:
    nodes = (helper.make_node("Log", ["x"], ["a"]), helper.make_node("Abs", ["x"], ["y"]))
    subject = subject_of(small(*nodes), {"x": np.zeros((2, 3), np.float32)})
    mutations = mutated(subject, 20)[1]
    assert all(mutation.target != "a" for mutation in mutations)
    assert all("a" not in node.inputs for mutation in mutations for node in mutation.nodes)


@pytest.mark.parametrize("dtype", ["float16", "float64"])
def test_models_of_other_float_types_are_mutated_too(dtype: str) -> None:
    code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    nodes = (helper.make_node("Tanh", ["x"], ["a"]), helper.make_node("Mul", ["a", "x"], ["y"]))
    model = small(*nodes, shape=(1, 3, 8, 8), dtype=code)
    inputs = {"x": np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(dtype)}
    mutant, _ = mutated(subject_of(model, inputs), 40)
    onnx.checker.check_model(mutant.proto(), full_check=True)
    np.testing.assert_array_equal(outputs(mutant.proto(), inputs)[0], outputs(model, inputs)[0])


@pytest.mark.parametrize("opset", [11, 13, 18, 26])
def test_mutants_are_valid_in_old_and_new_operator_sets(opset: int) -> None:
    nodes = (helper.make_node("Tanh", ["x"], ["a"]), helper.make_node("Mul", ["a", "x"], ["y"]))
    model = small(*nodes, shape=(1, 4, 6, 5), opset=opset)
    model.ir_version = helper.find_min_ir_version_for([helper.make_opsetid("", opset)])
    inputs = {"x": np.random.default_rng(1).standard_normal((1, 4, 6, 5)).astype(np.float32)}
    mutant, mutations = mutated(subject_of(model, inputs), 60)
    assert {"ReduceMean", "Slice", "Pad", "Conv"} <= {node.op for each in mutations for node in each.nodes}
    onnx.checker.check_model(mutant.proto(), full_check=True)
    np.testing.assert_array_equal(outputs(mutant.proto(), inputs)[0], outputs(model, inputs)[0])
