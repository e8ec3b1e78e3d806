"""Of several conditions that say one thing, the one that says it best. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from triage.inquiry import Condition
from triage.passes._axes import AXES
from triage.variants import arguments, kernels, relations, sizes, stretched, told_types, whole_sizes
from triage.variants.values import ALL

#: The kind of an attribute that is no flag, and without which the model is invalid.
MODE = "mode"
#: Words of numbers, and those that the same numbers go by as well, which say less.
_LESS = {
    "-inf": ("infinite", "large", "negative"),
    "+inf": ("infinite", "large"),
    "infinite": ("large",),
    "halfway": ("fractional",),
}
#: Words of numbers that make no difference by themselves, and those that say the same of more numbers.
_SAME_NUMBERS = {"-inf": "infinite", "+inf": "infinite", "infinite": "large"}


def superseded(one: Condition, found: Collection[Condition]) -> bool:
    """Whether another condition says all that this one says, and more."""
    needed = [other for other in found if other.needed and other is not one]
    return _is_said_of_more(one, found) or any(rule(one, needed) for rule in _RULES)


def _is_said_of_more(one: Condition, found: Collection[Condition]) -> bool:
    """Of numbers that make no difference: those that are told of all of their kind."""
    word, _, formal = one.text.partition(" ")
    if one.kind != "value" or one.needed or word not in _SAME_NUMBERS:
        return False
    return any(other.text == f"{_SAME_NUMBERS[word]} {formal}" for other in found)


def _numbers(one: Condition, needed: Sequence[Condition]) -> bool:
    word, _, formal = one.text.partition(" ")
    better = {f"{better} {formal}" for better, less in _LESS.items() if word in less}
    better |= {f"{ALL}{each} {formal}" for each in (word, *(key for key, less in _LESS.items() if word in less))}
    if word.startswith(ALL):
        plain = word.removeprefix(ALL)
        better = {f"{ALL}{key} {formal}" for key, less in _LESS.items() if plain in less}
    return one.kind == "value" and (one.needed or word not in _SAME_NUMBERS) and _has(needed, better)


def _fractions(one: Condition, needed: Sequence[Condition]) -> bool:
    return (one.kind, one.text) == ("value", "fractional scales") and _has(needed, {whole_sizes.TEXT})


def _ranks(one: Condition, needed: Sequence[Condition]) -> bool:
    ranked = one.kind == relations.KIND and relations.RANK.match(one.text) is not None
    return ranked and _has(needed, {sizes.SHORT})


def _modes(one: Condition, needed: Sequence[Condition]) -> bool:
    """Without any `axes` the model is invalid; with others it passes."""
    return one.kind == MODE and any(other.kind == "attribute" and _name(other) == one.text for other in needed)


def _axes_of_scalars(one: Condition, needed: Sequence[Condition]) -> bool:
    """A title has room for two: beside a flag and a scalar the axis says least."""
    flag = any(each.kind == "attribute" and not _is_axis(each) for each in needed)
    return _is_axis(one) and flag and _has(needed, {arguments.SCALAR, arguments.SCALARS})


def _lists_of_axes(one: Condition, needed: Sequence[Condition]) -> bool:
    return one.kind == "attribute" and _name(one) == "axes" and _has(needed, {relations.SOME_AXES})


def _broadcast(one: Condition, needed: Sequence[Condition]) -> bool:
    """Of a common shape no tensor is a scalar any more."""
    return one.text == arguments.BROADCAST and _has(needed, {arguments.SCALAR, arguments.SCALARS})


def _strides(one: Condition, needed: Sequence[Condition]) -> bool:
    """That windows lie apart says more than that there are strides."""
    return one.kind == "attribute" and _name(one) == "strides" and _has(needed, {kernels.APART})


def _types(one: Condition, needed: Sequence[Condition]) -> bool:
    """That two types differ says more than either."""
    typed = one.kind == "dtype" or (one.kind == "attribute" and one.text.startswith(told_types.NAME))
    return typed and any(each.kind == relations.TYPES and each.text.startswith(told_types.NAME) for each in needed)


def _zeros(one: Condition, needed: Sequence[Condition]) -> bool:
    return one.kind == "value" and sizes.EARLY_ZERO.startswith(f"{one.text} ") and _has(needed, {sizes.EARLY_ZERO})


def _optional(one: Condition, needed: Sequence[Condition]) -> bool:
    """That the model passes with all of an input says more than that it passes without."""
    name = one.text.removeprefix("optional input ")
    return name != one.text and any(each.text.startswith(name + stretched.SHORTER) for each in needed)


_RULES: tuple[Callable[[Condition, Sequence[Condition]], bool], ...] = (
    *(_numbers, _fractions, _ranks, _modes),
    *(_axes_of_scalars, _lists_of_axes, _strides, _types, _optional, _zeros, _broadcast),
)


def _has(needed: Sequence[Condition], texts: Collection[str]) -> bool:
    return any(other.text in texts for other in needed)


def _name(condition: Condition) -> str:
    return condition.text.partition("=")[0]


def _is_axis(condition: Condition) -> bool:
    return condition.kind == "attribute" and _name(condition) in AXES
