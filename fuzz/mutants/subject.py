"""A seed with its profiled input: what a series of mutations begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

import fuzz.backends
from fuzz import catalogue
from fuzz.case import Case, Origin, Status
from fuzz.mutants import seeds
from fuzz.mutants.model import MutantModel
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.profile import Profile, profile_from
from fuzz.mutants.values import Values
from fuzz.oracles import undefined
from fuzz.runner import Runner
from fuzz.wire import Value

#: The evaluation of all tensors; a worker's backend that no registry lists.
PROFILED = str(Path(fuzz.backends.__file__).with_name("_profiled.py"))
#: Inserted nodes take their settings as inputs, as since this operator set.
OLDEST_OPSET = 11
#: What begins the name of a seed that is built in code.
PREFIX = "seed:"


class UnusableSeed(ValueError):
    """A model that cannot be mutated, and why."""


@dataclass(frozen=True)
class Subject:
    """A seed model (`case`, the sizes of its inputs not yet fixed) and its tensors at the profiled input."""

    case: Case
    profile: Profile

    def mutant(self, frozen: Callable[[str], np.ndarray | None] = lambda name: None) -> MutantModel:
        """The seed as a mutant after no mutation. `frozen` gives constants for what was left out."""
        shapes = {name: np.shape(value) for name, value in self.case.inputs.items() if isinstance(value, np.ndarray)}
        return MutantModel(onnx.load_model_from_string(self.case.model), shapes, frozen)

    def replayed(
        self, mutations: Sequence[Mutation], wanted: frozenset[int] | None = None, *, freeze: bool = False
    ) -> MutantModel:
        """The mutant after these mutations, or after those of `wanted` among them. Raises MissingMutation.

        With `freeze` constants stand for tensors of mutations that were left out: a zero for what always yields zero,
        and garbage as it is at the profiled input.
        """
        mutant = self.mutant(Values(mutations, self.profile.values).get) if freeze else self.mutant()
        for mutation in mutations:
            if wanted is None or mutation.index in wanted:
                mutant.apply(mutation, self.profile.values)
            else:
                mutant.skip(mutation)
        return mutant

    def case_of(self, mutant: MutantModel, mutations: int) -> Case:
        """A mutant as a case; its test is the seed's with the number of mutations."""
        origin = Origin("mtdlcomp", f"{self.case.origin.test}/{mutations}", seed=self.case.origin.seed)
        return Case("onnx", mutant.proto().SerializeToString(deterministic=True), self.case.inputs, origin)


def seed_case(name: str, seed: int) -> Case:
    """A seed of `fuzz.mutants.seeds` with drawn inputs. Raises seeds.UnknownSeed."""
    model = seeds.build(name)
    drawn: dict[str, Value] = dict(seeds.inputs(model, seed))
    return Case("onnx", model.SerializeToString(deterministic=True), drawn, Origin("mtdlcomp", name, seed=seed))


def subject_of(case: Case, runner: Runner) -> Subject:
    """Profile a seed in a worker. Raises UnusableSeed."""
    _check(case)
    outcome = runner.run_fresh(case, catalogue.target(PROFILED))
    if outcome.status is not Status.OK:
        said = outcome.error.message.strip() if outcome.error else ""
        reason = said.splitlines()[0][:300] if said else str(outcome.status)
        raise UnusableSeed(f"the reference cannot run it on these inputs: {reason}")
    return Subject(case, profile_from(dict(outcome.outputs)))


def _check(case: Case) -> None:
    model = onnx.load_model_from_string(case.model)
    version = next((entry.version for entry in model.opset_import if entry.domain in ("", "ai.onnx")), 0)
    if version < OLDEST_OPSET:
        told = f"opset {version}" if version else "no operator set of ONNX"
        raise UnusableSeed(f"it imports {told}; convert it to {OLDEST_OPSET} or newer with onnx.version_converter")
    random = undefined.nondeterministic(case.kind, case.model, case.inputs)
    if random is not None:
        raise UnusableSeed(f"{random.operator} is random, so two runs need not agree")
