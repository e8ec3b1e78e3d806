"""Two-dimensional diversity (OPERA, section III-B): operators by one score, their tests by new parameter subspaces."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from itertools import combinations

from fuzz.ranking.item import Call, Item, Tensor, Value
from fuzz.ranking.subspaces import shape_subspace, subspace

#: What a test gives one operator: the subspace of every parameter by name.
Setting = Mapping[str, Hashable]
Settings = Sequence[Setting]
Key = Hashable


#: Orders one operator's different settings: (position, novelty) by novelty, those without any left out.
#: Given are the settings, those of the operator's tests in the compiler's own suite, its defaults, and ties.
Ordering = Callable[[Settings, Settings, Setting, Sequence[float]], Iterable[tuple[int, float]]]


def setting(call: Call, *, whole: bool = False) -> Setting:
    """The parameters of a call; one that is left out has its declared default where there is one.

    A tensor is two parameters, its element type and its shape, or one if tensors are taken `whole`.
    """
    return _setting({**call.defaults, **call.parameters}, whole)


def default_setting(call: Call) -> Setting:
    """The declared defaults of the operator of a call; none of them is a tensor."""
    return _setting(call.defaults, whole=True)


def _setting(given: Mapping[str, Value], whole: bool) -> Setting:
    found: dict[str, Hashable] = {}
    for name in sorted(given):
        value = given[name]
        if isinstance(value, Tensor) and not whole:
            found[f"{name} dtype"] = value.dtype
            found[f"{name} shape"] = shape_subspace(value.shape)
        else:
            found[name] = subspace(value)
    return found


def keyed(setting: Setting) -> Iterable[tuple[Key, Key]]:
    """Every parameter and pair of parameters of a setting with its value or values."""
    yield from setting.items()
    for (one, left), (other, right) in combinations(setting.items(), 2):
        yield (one, other), (left, right)


def by_operator(items: Sequence[Item]) -> dict[str, list[int]]:
    """The positions of the items of each operator."""
    found: dict[str, list[int]] = defaultdict(list)
    for at, item in enumerate(items):
        found[item.operator].append(at)
    return found


def order(
    items: Sequence[Item],
    tested: Sequence[Item],
    seed: int,
    signature: Callable[[Settings, Settings, Setting], float],
    ordering: Ordering,
    *,
    whole: bool = False,
) -> list[int]:
    """The items by the product of their operator's `signature` score and their own novelty.

    `signature` is given the settings of the operator's items, those of its tests in the compiler's own suite, and its
    defaults. Equal tests of one operator are shuffled by `seed`, and so are all that cover nothing new, at the end;
    operators with equal scores keep the order of the file, as in the order that the authors published. If `whole`, a
    tensor is one parameter.
    """
    rng = random.Random(seed)
    ties = [rng.random() for _ in items]
    settings = [setting(item.call, whole=whole) for item in items]
    known: dict[str, list[Setting]] = defaultdict(list)
    for item in tested:
        known[item.operator].append(setting(item.call, whole=whole))
    scored: list[tuple[float, int, int]] = []
    for operator, own in by_operator(items).items():
        default = default_setting(items[own[0]].call)
        weight = signature([settings[at] for at in own], known[operator], default)
        # Of equal settings, only one can be new.
        distinct = list({tuple(settings[at].items()): at for at in sorted(own, key=lambda at: -ties[at])}.values())
        picks = ordering([settings[at] for at in distinct], known[operator], default, [ties[at] for at in distinct])
        scored += [(-round(weight * novelty, 9), own[0], distinct[at]) for at, novelty in picks]
    first = [at for _, _, at in sorted(scored, key=lambda entry: entry[:2])]
    return first + sorted(set(range(len(items))).difference(first), key=lambda at: ties[at])
