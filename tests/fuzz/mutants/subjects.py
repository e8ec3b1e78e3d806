"""Seeds with their profiles for the tests, evaluated in this process; and what the reference makes of mutants."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence

import numpy as np
import onnx
from onnx import TensorProto, helper

from fuzz.backends._evaluator import Evaluator
from fuzz.backends._profiled import profile
from fuzz.case import Case, Origin
from fuzz.mutants.model import MutantModel
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.mutator import KINDS, Mutator
from fuzz.mutants.profile import profile_of
from fuzz.mutants.subject import Subject, seed_case


def subject_of(model: onnx.ModelProto, inputs: Mapping[str, np.ndarray]) -> Subject:
    """A model with its profiled inputs."""
    case = Case("onnx", model.SerializeToString(), dict(inputs), Origin("test", "model"))
    return Subject(case, profile_of(profile(model, dict(inputs))))


@functools.cache
def built_in(name: str) -> Subject:
    """A seed of `fuzz.mutants.seeds`."""
    case = seed_case(name, 1)
    return Subject(case, profile_of(profile(onnx.load_model_from_string(case.model), dict(case.inputs))))


def mutated(
    subject: Subject, count: int, seed: int = 0, kinds: Sequence[str] = KINDS, choice: str = "random"
) -> tuple[MutantModel, list[Mutation]]:
    """The mutant after so many mutations, and these."""
    mutant = subject.mutant()
    mutator = Mutator(mutant, subject.profile, seed, kinds, choice)
    return mutant, [mutator.mutate() for _ in range(count)]


def outputs(model: onnx.ModelProto, inputs: Mapping[str, object]) -> list[np.ndarray]:
    """What the reference evaluator gives."""
    return [np.asarray(value) for value in Evaluator(model).run(None, dict(inputs))]


def values(model: onnx.ModelProto, inputs: Mapping[str, object]) -> dict[str, np.ndarray]:
    """Every tensor by name, as the reference evaluator has it."""
    found: dict[str, np.ndarray] = Evaluator(model).run(None, dict(inputs), intermediate=True)  # type: ignore[assignment]
    return found


def small(
    *nodes: onnx.NodeProto,
    shape: Sequence[int | str] = (2, 3),
    dtype: int = TensorProto.FLOAT,
    outputs: Sequence[str] = ("y",),
    opset: int = 17,
) -> onnx.ModelProto:
    """A model of these nodes from ``x`` to its outputs."""
    given = helper.make_tensor_value_info("x", dtype, shape)
    made = [helper.make_tensor_value_info(name, dtype, None) for name in outputs]
    graph = helper.make_graph(list(nodes), "small", [given], made)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return onnx.shape_inference.infer_shapes(model)
