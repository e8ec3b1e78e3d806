"""The candidates of a search over the nodes of one place: cuts as they are, and with all else simplified."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from fuzz.case import Case
from triage.holding import Holding
from triage.interesting import Recorder
from triage.nodesearch import Kept
from triage.parts import parts
from triage.submodel import add_initializer, load, replace_items, with_model
from triage.wiring import Place


class Cuts:
    """What a search over the nodes of one place may ask about. Nodes are numbered as in the first case.

    `simplify` gives a case with the same nodes in which everything else is simpler. Once a simplified case is
    seen to fail (`accept`), what comes later is cut out of that one. Unless the inputs are `fed` to the predicate,
    what configures the nodes is a constant first: nobody knows what else the predicate takes for it. Where `holding`
    says so, no cut has new inputs.
    """

    def __init__(
        self,
        case: Case,
        place: Place,
        values: Recorder,
        valid: Callable[[Case], bool],
        simplify: Callable[[Case], Case],
        *,
        fed: bool = True,
        holding: Holding | None = None,
    ) -> None:
        self._fed, self._holding = fed, holding or Holding()
        self._place, self._values, self._valid, self._simplify = place, values, valid, simplify
        self._base = case
        self._names = self._operators(case)
        self._positions = {node: node for node in range(len(self._names))}
        self._plain: dict[Kept, list[Case]] = {}
        self._held: dict[Kept, list[Case]] = {}
        self._simple: dict[str, tuple[Kept, Case]] = {}

    def plain(self, kept: Kept) -> list[Case]:
        """The likeliest valid case with only these nodes; then with constants for what configures them, if any."""
        known = self._held if self._holding.holds else self._plain
        if kept not in known and known is self._held:
            known[kept] = self._without_new_inputs(kept)[:1]
        elif kept not in known:
            known[kept] = self._given([case for case in self._cut(kept) if self._valid(case)][:1])
        return known[kept]

    def bare(self, kept: Kept) -> list[Case]:
        """The last valid way to keep only these nodes, in which nothing is bypassed and sizes stay free; if another."""
        valid = (case for case in reversed(self._cut(kept)[1:]) if self._valid(case))
        found = self._given(list(itertools.islice(valid, 1)))[:1]
        return [case for case in found if all(case.id != other.id for other in self.plain(kept))]

    def held(self, kept: Kept) -> list[Case]:
        """The likeliest case with only these nodes and constants for all that it would need new inputs for, if any."""
        return [case for case in self._without_new_inputs(kept) if case.id != self.plain(kept)[0].id][:1]

    def _without_new_inputs(self, kept: Kept) -> list[Case]:
        """The valid cuts that have none, the likeliest first: constants, or inputs that there are, in their place."""
        cuts = parts(self._base, self._at(kept), self._values(self._base), from_inputs=True)
        fixed = (fixed_inputs(case, self._base, "biufc") or case for case in cuts)
        return [case for case in fixed if self._valid(case)]

    def misled(self, kept: Kept) -> Kept:
        """Those of the nodes `kept` that compute with other values when only these are kept: what fed them is bypassed.

        All of them where the part cannot be cut any more.
        """
        if not kept <= self._positions.keys() or not self.plain(kept):
            return kept
        order, case = sorted(kept), self.plain(kept)[0]
        before, after = (self._place.find(load(one)).node for one in (self._base, case))
        if len(after) != len(order):
            return kept
        changed: set[str] = set()
        found = []
        for number, node in zip(order, after, strict=True):
            given = before[self._positions[number]].input
            if list(given) != list(node.input) or not changed.isdisjoint(node.input):
                found.append(number)
                changed.update(node.output)
        return frozenset(found)

    def _cut(self, kept: Kept) -> list[Case]:
        return self._place.cut(self._base, self._at(kept), self._values(self._base))

    def _at(self, kept: Kept) -> frozenset[int]:
        return frozenset(self._positions[node] for node in kept)

    def _given(self, valid: list[Case]) -> list[Case]:
        """Valid cuts with what configures their nodes as inputs and as constants, the likelier first."""
        fixed = [fixed_inputs(case, self._base, "biu", scalars=not self._fed) for case in valid]
        held = [case for case in fixed if case is not None and self._valid(case)]
        return [*valid, *held] if self._fed else [*held, *valid]

    def simple(self, kept: Kept) -> list[Case]:
        """The likeliest of them with everything else simplified; none when its nodes would not be the same."""
        for case in self.plain(kept)[:1] if len(kept) < len(self._positions) else [self._base]:
            if len(self._operators(case)) != len(kept):  # some nodes stay since what they make was not recorded
                continue
            found = self._simplify(case)
            if found.id != case.id and self._operators(found) == self._operators(case):
                self._simple[found.id] = kept, found
                return [found]
        return []

    def accept(self, case: Case) -> None:
        """`case` fails: if it is a simplified one, it is what is cut from now on."""
        if case.id in self._simple:
            self.rebase(*self._simple[case.id])

    def rebase(self, kept: Kept, case: Case) -> None:
        """`case` is what is cut from now on, if it has the nodes `kept` and no others."""
        if self._operators(case) == [self._names[node] for node in sorted(kept)]:
            self._base = case
            self._positions = {node: at for at, node in enumerate(sorted(kept))}
            self._plain.clear()
            self._held.clear()

    def _operators(self, case: Case) -> list[str]:
        """Of the nodes at the place; none where the place itself is gone."""
        try:
            return [node.op_type for node in self._place.find(load(case)).node]
        except IndexError:
            return []


def fixed_inputs(case: Case, base: Case, kinds: str, *, scalars: bool = False) -> Case | None:
    """The case with constants for those of its inputs that `base` computes, of these kinds of dtype ("biu").

    With `scalars` also for those without an axis, as long as an input is left.

    Conditions, trip counts, indices and shapes ("biu") decide what a model does, so that a value that differs from
    the recorded one, or is not known when the model is compiled, can hide the bug. None where there is none.
    """
    fed = {
        name: value
        for name, value in case.inputs.items()
        if name not in base.inputs
        and isinstance(value, np.ndarray)
        and (value.dtype.kind in kinds or (scalars and not value.ndim))
    }
    if not fed or (scalars and len(fed) == len(case.inputs)):
        return None
    model = load(case)
    replace_items(model.graph.input, [info for info in model.graph.input if info.name not in fed])
    for name, value in fed.items():
        add_initializer(model, name, value)
    return with_model(case, model, {name: value for name, value in case.inputs.items() if name not in fed})
