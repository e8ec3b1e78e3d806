"""Faults planted into recorded operator instances: conditions on operators and parameters that decide which tests fail.

Independent of what the strategies look at: a condition reads the instance itself. Operators are drawn by how many
parameters they have, since branches are where faults live; a fault is the whole operator's, of one property of one
parameter, or of two at once. A weakness is one property that several operators' conversions get wrong, each a fault of
its own; a compiler also refuses some operators and some element types.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence

from fuzz.ranking.item import Item, Tensor, Value

#: How many faults of each kind: all uses of an operator, one property, two properties together.
KINDS = {"operator": 2, "property": 5, "pair": 3}
#: Shares of the operators and of the element types that are refused, and of the operators that share a weakness.
REFUSED_OPERATORS, REFUSED_TYPES, WEAK = 0.2, 0.1, 0.5


def plant(items: Sequence[Item], count: int, seed: int) -> dict[str, list[int]]:
    """`count` faults: name -> the positions of the tests that fail because of it, at least one each."""
    rng = random.Random(seed)
    groups = _groups(items)
    operators = sorted(groups)
    sizes = [1 + max(len(items[at].call.parameters) for at in groups[name]) for name in operators]
    found: dict[str, list[int]] = {}
    while len(found) < count:
        operator = rng.choices(operators, sizes)[0]
        kind = rng.choices(list(KINDS), list(KINDS.values()))[0]
        name, failing = _PLANT[kind](items, groups[operator], rng)
        if failing:
            found[f"{operator}: {name}"] = failing
    return found


def plant_weaknesses(items: Sequence[Item], count: int, seed: int) -> dict[str, list[int]]:
    """At least `count` faults as `plant` gives them; each weakness is in several operators with the property."""
    rng = random.Random(seed)
    groups = _groups(items)
    found: dict[str, list[int]] = {}
    while len(found) < count:
        own = groups[rng.choice(sorted(groups))]
        properties = sorted(set(_properties(items[rng.choice(own)])))
        weakness = rng.choice(properties) if properties else ""
        for operator in sorted(groups):
            failing = [at for at in groups[operator] if weakness in set(_properties(items[at]))]
            if failing and rng.random() < WEAK:
                found[f"{operator}: {weakness}"] = failing
    return found


def refusals(items: Sequence[Item], seed: int) -> list[bool]:
    """By test whether a compiler refuses it, for its operator or for an element type of a parameter."""
    rng = random.Random(seed)
    kinds = [{v.dtype for v in item.call.parameters.values() if isinstance(v, Tensor)} for item in items]
    refused = {name for name in sorted({item.operator for item in items}) if rng.random() < REFUSED_OPERATORS}
    types = {name for name in sorted(set().union(*kinds)) if rng.random() < REFUSED_TYPES}
    return [item.operator in refused or bool(own & types) for item, own in zip(items, kinds, strict=True)]


def _groups(items: Sequence[Item]) -> dict[str, list[int]]:
    """The positions of each operator's tests, models of several operators left out."""
    groups: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        if len(item.calls) == 1:
            groups[item.operator].append(at)
    return groups


def _operator(items: Sequence[Item], own: Sequence[int], rng: random.Random) -> tuple[str, list[int]]:
    return "always", list(own)


def _property(items: Sequence[Item], own: Sequence[int], rng: random.Random) -> tuple[str, list[int]]:
    properties = sorted(set(_properties(items[rng.choice(own)])))
    if not properties:
        return "", []
    chosen = rng.choice(properties)
    return chosen, [at for at in own if chosen in set(_properties(items[at]))]


def _pair(items: Sequence[Item], own: Sequence[int], rng: random.Random) -> tuple[str, list[int]]:
    properties = sorted(set(_properties(items[rng.choice(own)])))
    if len(properties) < 2:
        return "", []
    chosen = rng.sample(properties, 2)
    return " and ".join(chosen), [at for at in own if set(chosen) <= set(_properties(items[at]))]


_PLANT: dict[str, Callable[[Sequence[Item], Sequence[int], random.Random], tuple[str, list[int]]]] = {
    "operator": _operator,
    "property": _property,
    "pair": _pair,
}


def _properties(item: Item) -> Iterator[str]:
    """What may be wrong with an instance, in words."""
    for name, value in item.call.parameters.items():
        yield f"{name} is given"
        yield from (f"{name} {what}" for what in (_of_tensor(value) if isinstance(value, Tensor) else _of_value(value)))
        if name in item.call.defaults and value != item.call.defaults[name]:
            yield f"{name} is not its default"  # shows that a converter ignores it
    for name in item.call.defaults.keys() - item.call.parameters.keys():
        yield f"{name} is left out"


def _of_tensor(tensor: Tensor) -> Iterator[str]:
    yield f"is {tensor.dtype}"
    if tensor.shape is not None:
        yield f"has {len(tensor.shape)} dimensions"
        yield from (f"has a dimension of {size}" for size in {0, 1}.intersection(tensor.shape))


def _of_value(value: Value) -> Iterator[str]:
    yield f"= {value}"
    if isinstance(value, list):
        yield f"has {len(value)} entries"
    numbers = value if isinstance(value, list) else [value]
    if any(isinstance(number, int | float) and number < 0 for number in numbers):
        yield "is negative somewhere"
