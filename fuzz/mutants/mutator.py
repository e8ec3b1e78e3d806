"""Mutates iteratively: the mutant after k mutations is the seed of the next one (section 4.2.4)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from fuzz.mutants import garbage, guards, shapes
from fuzz.mutants.distance import Distance, Edge
from fuzz.mutants.draft import Draft, Rejected
from fuzz.mutants.guards import Seen
from fuzz.mutants.model import MutantModel
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.pool import Pool
from fuzz.mutants.profile import Profile
from fuzz.mutants.tensors import Tensor

KINDS = ("uoc", "pioc")
#: How positions are chosen.
CHOICES = ("random", "distance")
#: How often the universal condition is the trigonometric one, where a tensor is fit for it.
_TRIGONOMETRIC = 0.25
#: How often the target is a tensor that the outputs hang on, and not anything: there is far more garbage than seed.
_LIVE = 0.5
#: How often all later readers of the target are given the result, and how many they may be.
_ALL_READERS, _MOST_READERS = 0.5, 8
#: Steps of the Markov chain over the next mutation, and how much a unit of distance is worth to it.
_STEPS, _WEIGHT = 4, 1.0
#: Attempts at one mutation before there is no place for it.
_ATTEMPTS = 300


class NoPlace(ValueError):
    """No mutation of the kinds asked for can be made anywhere."""


@dataclass(frozen=True)
class Proposal:
    """A mutation with the tensors it makes, the kept ones as they are to be kept; `edges` are those that it adds."""

    mutation: Mutation
    tensors: tuple[Tensor, ...]
    edges: tuple[Edge, ...]


class Mutator:
    """Draws mutations of one mutant and applies them.

    The same arguments give the same mutations. `rejected` counts what was drawn and could not be used, by the reason.
    """

    def __init__(
        self, model: MutantModel, profile: Profile, seed: int, kinds: Sequence[str] = KINDS, choice: str = CHOICES[0]
    ) -> None:
        self._model, self._profile, self._seed = model, profile, seed
        self._kinds, self._guided = tuple(kinds), choice == "distance"
        self._roots = {tensor.name: tensor for tensor in profile.tensors()}
        self._pool = Pool(self._roots.values())
        self._distance = Distance()
        self._index = 1
        self.rejected: Counter[str] = Counter()

    @property
    def distance(self) -> float:
        """The structural distance of the mutant from its seed."""
        return self._distance.total

    def mutate(self) -> Mutation:
        """Make one more mutation. Raises NoPlace."""
        rng = np.random.default_rng((self._seed, self._index))
        chosen = self._proposal(rng)
        for _ in range(_STEPS if self._guided else 0):
            other = self._proposal(rng)
            gain = self._distance.gain(other.edges) - self._distance.gain(chosen.edges)
            if rng.random() < math.exp(min(0.0, _WEIGHT * gain)):  # Metropolis; proposals do not depend on the state
                chosen = other
        self._model.apply(chosen.mutation, self._profile.values)
        self._distance.add(chosen.edges)
        for tensor in chosen.tensors:
            self._pool.keep(tensor, rng)
        self._index += 1
        return chosen.mutation

    def _proposal(self, rng: np.random.Generator) -> Proposal:
        if not self._roots:
            raise NoPlace("the model has no finite floating-point tensor that depends on an input: nothing to mutate")
        for _ in range(_ATTEMPTS):
            try:
                return self._drawn(rng)
            except Rejected as reason:
                self.rejected[str(reason)] += 1
        [(reason_told, _)] = self.rejected.most_common(1)
        raise NoPlace(f"no place for mutation {self._index} in {_ATTEMPTS} attempts: {reason_told}")

    def _drawn(self, rng: np.random.Generator) -> Proposal:
        """One attempt: a place, a guard, garbage, and what joins them. Raises Rejected."""
        live = rng.random() < _LIVE
        target = self._pool.draw(rng, lambda tensor: self._is_target(tensor, live))
        readers = self._readers(target, rng)
        dtype = target.value.dtype.name
        draft = Draft(self._model.stem, self._index, self._seed, rng, dtype)
        kind = self._kinds[int(rng.integers(len(self._kinds)))]
        guard, zero = self._guard(draft, kind, readers[0])
        if not _is_zero(zero):
            raise Rejected("the guard is not exactly zero")
        wasted, operators = garbage.insert(draft, partial(self._usable, draft, readers[0]))
        parts = [shapes.fit(draft, each, target.shape) for each in (zero, wasted)]
        product = draft.node("Mul", *(parts if rng.random() < 0.5 else reversed(parts)))
        if not _is_zero(product):
            raise Rejected("zero times garbage is not zero")
        result = draft.same("Add" if rng.random() < 0.75 else "Sub", target, product)
        mutation = Mutation(
            self._index,
            kind,
            guard,
            operators,
            target.name,
            result.name,
            zero.name,
            tuple(readers),
            tuple(draft.nodes),
            tuple(draft.constants),
            self._needs(draft, target.name, readers),
        )
        return Proposal(mutation, tuple(_slim(each) for each in draft.tensors.values()), self._edges(mutation))

    def _is_target(self, tensor: Tensor, live: bool) -> bool:
        if live and self._model.root(tensor.name) not in self._roots:
            return False
        return bool(self._model.readers.get(tensor.name))

    def _guard(self, draft: Draft, kind: str, place: str) -> tuple[str, Tensor]:
        draw = partial(self._usable, draft, place)
        if kind == "pioc":
            return "profiled", guards.profiled(draft, self._seen(draft, place))
        if draft.rng.random() < _TRIGONOMETRIC:
            return "trigonometric", guards.trigonometric(draft, draw)
        return "square", guards.square(draft, draw)

    def _readers(self, target: Tensor, rng: np.random.Generator) -> list[str]:
        """Who is to read the result: one reader of the target, or all; in topological order."""
        readers = self._model.readers[target.name]
        if len(readers) <= _MOST_READERS and rng.random() < _ALL_READERS:
            return self._model.sorted(readers)
        return [readers[int(rng.integers(len(readers)))]]

    def _usable(self, draft: Draft, place: str) -> Tensor:
        """A tensor that is there before `place` and that a guard or garbage may be computed from."""
        return self._pool.draw(draft.rng, lambda tensor: tensor.usable and self._fits(tensor, draft, place))

    def _seen(self, draft: Draft, place: str) -> Seen:
        """The same, if it equals a tensor of the seed."""
        found = self._pool.draw(
            draft.rng,
            lambda tensor: self._model.root(tensor.name) in self._roots and self._fits(tensor, draft, place),
        )
        root = self._roots[self._model.root(found.name)]
        return Seen(found, root, self._profile.errors[root.name])

    def _fits(self, tensor: Tensor, draft: Draft, place: str) -> bool:
        return tensor.value.dtype.name == draft.dtype and self._model.is_before(tensor.name, place)

    def _needs(self, draft: Draft, target: str, readers: Sequence[str]) -> tuple[int, ...]:
        """The mutations that made what is read or changed. A result needs none: its target would do as well."""
        own = {*draft.tensors, *(constant.name for constant in draft.constants)}
        read = [name for node in draft.nodes for name in node.inputs if name not in own]
        makers = (self._model.maker.get(self._model.root(name), "") for name in (target, *read))
        owners = [*(self._model.owner(maker) for maker in makers if maker), *map(self._model.owner, readers)]
        return tuple(sorted({owner for owner in owners if owner >= 0}))

    def _edges(self, mutation: Mutation) -> tuple[Edge, ...]:
        """The pairs of operators that the mutation joins, those of its result with its readers included."""
        own = {node.output: node.op for node in mutation.nodes}
        inside = [(self._operator(name, own), node.op) for node in mutation.nodes for name in node.inputs]
        last = mutation.nodes[-1].op
        readers = [self._model.nodes[name].op for name in mutation.readers if name in self._model.nodes]
        return (*inside, *((last, op) for op in readers))

    def _operator(self, name: str, own: dict[str, str]) -> str:
        """Which operator makes a tensor; "" for inputs and constants."""
        maker = self._model.maker.get(name, "")
        return own.get(name) or (self._model.nodes[maker].op if maker else "")


def _is_zero(tensor: Tensor) -> bool:
    """Exactly, in every element; NaN is not zero."""
    return not tensor.value.any()


def _slim(tensor: Tensor) -> Tensor:
    """Zeros need no memory, whatever their shape."""
    if tensor.value.any():
        return tensor
    return replace(tensor, value=np.broadcast_to(tensor.value.dtype.type(0), tensor.shape))
