"""Of several conditions that say one thing, the one that says it best. Pure."""

from __future__ import annotations

from collections.abc import Collection

from triage.inquiry import Condition
from triage.passes._axes import AXES
from triage.variants import arguments, relations, sizes, told_types, whole_sizes

#: The kind of an attribute that is no flag, and without which the model is invalid.
MODE = "mode"
#: Words of numbers, and those that the same numbers go by as well, which say less.
_LESS = {
    "-inf": ("infinite", "large", "negative"),
    "+inf": ("infinite", "large"),
    "infinite": ("large",),
    "halfway": ("fractional",),
}
#: Of what has no dimensions every axis is beyond it.
_SCALAR = (arguments.SCALAR, arguments.SCALARS)
#: Words of numbers that make no difference by themselves, and those that say the same of more numbers.
_SAME_NUMBERS = {"-inf": "infinite", "+inf": "infinite", "infinite": "large"}


def superseded(one: Condition, found: Collection[Condition]) -> bool:
    """Whether another condition says all that this one says, and more."""
    needed = [other for other in found if other.needed and other is not one]
    if one.kind == relations.KIND and relations.RANK.match(one.text):
        return any(other.text == sizes.SHORT for other in needed)
    if one.kind == "value":
        if one.text == "fractional scales" and any(other.text == whole_sizes.TEXT for other in needed):
            return True
        word, _, formal = one.text.partition(" ")
        more = {f"{better} {formal}" for better, less in _LESS.items() if word in less}
        texts = {other.text for other in needed}
        if not one.needed and word in _SAME_NUMBERS:
            return any(other.text == f"{_SAME_NUMBERS[word]} {formal}" for other in found)
        return bool(texts & more)
    if one.kind == MODE:
        return any(other.kind == "attribute" and other.text.partition("=")[0] == one.text for other in needed)
    if _is_axis(one) and any(each.text in _SCALAR for each in needed):
        return any(each.kind == "attribute" and not _is_axis(each) for each in needed)  # there is room for two
    some_axes = any(other.text == relations.SOME_AXES for other in needed)
    if some_axes and one.kind == "attribute" and one.text.partition("=")[0] == "axes":
        return True
    two_types = any(other.kind == relations.TYPES and other.text.startswith(told_types.NAME) for other in needed)
    return two_types and (one.kind == "dtype" or (one.kind == "attribute" and one.text.startswith(told_types.NAME)))


def _is_axis(condition: Condition) -> bool:
    return condition.kind == "attribute" and condition.text.partition("=")[0] in AXES
