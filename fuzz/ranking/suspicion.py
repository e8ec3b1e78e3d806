"""How much undetected fault a test may hold: the weights behind the strategy `graphwarden` (decision 009).

Each operator may be broken in every use, in uses with some property, and in uses with two properties together. Every
such possibility weighs something; a test rules out those that it shows. So within an operator the next test is the one
that adds the most weight, which is the greedy answer to minimising the mean time to each fault (Feige, Lovász, Tetali:
Approximating Min Sum Set Cover, 2004), and operators take turns by what their next test adds.
"""

from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Container, Hashable, Mapping, Sequence
from dataclasses import dataclass

from fuzz.ranking.cover import Cover
from fuzz.ranking.features import Kind, features, pairs
from fuzz.ranking.interface import declared, fits
from fuzz.ranking.item import Item, Tensor

#: What a possibility weighs, by what it is about. Decided on own campaigns and planted faults (decision 009).
WEIGHTS: Mapping[Kind, float] = {
    Kind.RARE: 0.6,
    Kind.VALUE: 0.3,
    Kind.CORNER: 0.3,
    Kind.EMPTY: 0.6,
    Kind.TYPED: 0.6,
    Kind.DETAIL: 0.3,
    Kind.PLAIN: 0.09,
}
#: A library's tests go through all element types as a matter of course: none is rare there, nor rarely empty.
OF_LIBRARY_WEIGHTS = {**WEIGHTS, Kind.RARE: WEIGHTS[Kind.VALUE], Kind.TYPED: 0.0}
#: What takes another way through a converter where something is known when the model is compiled.
BY_WAY = (Kind.CORNER, Kind.EMPTY, Kind.TYPED)
PAIR = 0.03
#: What the first test of an operator adds, and the next ones beyond what they cover: faults in ways not thought of.
FIRST, UNKNOWN, FADING = 1.0, 1.0, 0.7
#: What the compiler's own tests cover has probably been looked at.
TESTED = 0.1
#: Operators with many tests have many branches: their weights grow with the number of tests, (offset + tests) ** power.
#: Tests of a library's calls are those that people thought worth writing; ONNX's enumerate types and variants, too.
OF_LIBRARY, OF_ONNX = (1, 1.0), (20, 0.8)
#: Operators with many declared attributes, inputs and revisions have many, too: `interface.declared` ** power.
DECLARED = 0.2
#: A model of several operators says little about each, and most of them have tests of their own.
IN_COMPANY = 0.15
#: The same where only the first of them is known.
IN_UNKNOWN_COMPANY = 0.5
#: Costs count by their square root, within a factor of COSTLIEST around the median.
COSTLIEST = 4.0

Possibility = Hashable


@dataclass(frozen=True)
class Queue:
    """The tests that are about the same operators, in the order in which they are worth running.

    `worth` is by test and falls; `operators` are all operators in the models, one for most queues.
    """

    operators: tuple[str, ...]
    tests: tuple[int, ...]
    worth: tuple[float, ...]


def queues(
    items: Sequence[Item], tested: Sequence[Item], seed: int, covered: Container[Possibility] = ()
) -> list[Queue]:
    """The tests as queues, one for each set of operators. Equal ones are shuffled by `seed`.

    What tests of the compiler's own test, or is `covered` by earlier campaigns, adds little.
    """
    rng = random.Random(seed)
    known = _Known({possibility for item in tested for possibility in possibilities(item)}, covered)
    costs = relative_costs(items)
    groups: dict[tuple[float, tuple[str, ...]], list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        groups[_company(item), tuple(sorted({family(call.operator) for call in item.calls}))].append(at)
    found = []
    for (company, operators), own in groups.items():
        offset, power = OF_LIBRARY if "." in items[own[0]].operator else OF_ONNX
        factor = company * (offset + len(own)) ** power * declared(items[own[0]].operator) ** DECLARED
        tests, gains = _covering([items[at] for at in own], known, rng)
        found.append(_queue(operators, [own[at] for at in tests], gains, factor, costs))
    rng.shuffle(found)
    return found


@dataclass(frozen=True)
class _Known:
    """What is in either of two collections."""

    tested: Container[Possibility]
    covered: Container[Possibility]

    def __contains__(self, possibility: Possibility) -> bool:
        return possibility in self.tested or possibility in self.covered


def _company(item: Item) -> float:
    """What a test weighs for the operators that share its model with the one that it is about; 1 without any."""
    if len(item.calls) > 1:
        return IN_COMPANY
    return 1.0 if fits(item.call) else IN_UNKNOWN_COMPANY


def _queue(
    operators: tuple[str, ...], tests: Sequence[int], gains: Sequence[float], factor: float, costs: Sequence[float]
) -> Queue:
    worth: list[float] = []
    for turn, (test, gain) in enumerate(zip(tests, gains, strict=True)):
        now = factor * (gain + UNKNOWN / (1 + turn) ** FADING + (0 if turn else FIRST)) / costs[test]
        worth.append(min(now, worth[-1]) if worth else now)
    return Queue(operators, tuple(tests), tuple(worth))


def _covering(
    items: Sequence[Item], known: Container[Possibility], rng: random.Random
) -> tuple[list[int], list[float]]:
    """Tests of one queue by what each adds, and what that is; those that add nothing last, shuffled."""
    numbers: dict[Possibility, int] = {}
    weights: list[float] = []
    sets = []
    for item in items:
        for possibility, weight in (own := possibilities(item)).items():
            if possibility not in numbers:
                numbers[possibility] = len(weights)
                weights.append(weight * TESTED if possibility in known else weight)
        sets.append([numbers[possibility] for possibility in own])
    picks = list(Cover(sets, weights, [rng.random() for _ in items]).gaining())
    rest = sorted(set(range(len(items))).difference(at for at, _ in picks))
    rng.shuffle(rest)
    return [*(at for at, _ in picks), *rest], [*(gain for _, gain in picks), *(0.0 for _ in rest)]


def family(operator: str) -> str:
    """The name that the spellings of one operation share: ``torch.add``, ``torch.Tensor.__add__``, ``add_``.

    A function, a method and a module of one name end in one conversion function of a compiler.
    """
    return operator.rpartition(".")[2].strip("_").lower() if "." in operator else operator


def possibilities(item: Item) -> dict[Possibility, float]:
    """What may be wrong and would show in this test, with its weight."""
    found: dict[Possibility, float] = {}
    for call in item.calls:
        weights = OF_LIBRARY_WEIGHTS if "." in call.operator else WEIGHTS
        name, own = family(call.operator), [feature for feature in features(call) if weights[feature.kind]]
        # What is known when a model is compiled is converted by other code than what is not, corners above all.
        known = any(isinstance(value, Tensor) and value.constant for value in call.parameters.values())
        found[name, call.operator] = weights[Kind.VALUE]
        for feature in own:
            way = known and feature.kind in BY_WAY
            found[name, feature.parameter, feature.property, way] = weights[feature.kind]
        if len(item.calls) == 1:
            for one, other in pairs(own):
                found[name, one[:2], other[:2]] = PAIR
    return found


def relative_costs(items: Sequence[Item]) -> list[float]:
    """What each test costs beside the median, damped; 1 where nothing is known."""
    seconds = [item.seconds for item in items if item.seconds]
    median = statistics.median(seconds) if seconds else 1.0
    return [min(COSTLIEST, max(1 / COSTLIEST, item.seconds / median)) ** 0.5 if item.seconds else 1.0 for item in items]
