"""Nodes that nearly equal one already there: passes that merge or cancel nodes must look at more than operators.

A twin has the operator and the inputs of another node, and attributes of its own. A repeat is applied to the result of
a node of its own kind. Neither need cover anything that its model does not, so coverage is not asked (decision 017).
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

import onnx

from fuzz.hirgen.coverage import Insertion
from fuzz.hirgen.inserting import Inserted, Inserting
from fuzz.operators.specification import Operator

#: The share of insertions that are one of the two, as far as there is a node to begin with.
_SHARE = 0.08
#: Operators of which compilers join or cancel two in a row, if their attributes or constants allow it.
_JOINED = frozenset(("Cast", "Reshape", "Slice", "Transpose"))
#: How often one of them is followed by its repeat, and how often they are drawn as others are drawn once: few pairs are
#: such that a wrong pass shows (of equal Transposes those of three axes or more, not their own inverse).
_FOLLOWED = 0.8
_WEIGHT = 3
#: So many nodes are drawn by a row before its operator is taken for one that has no such node here. Of the permutations
#: of four axes the same one is drawn again with 93 %.
_TRIES = 64
#: How often a repeat has the attributes (and constants) of the node that it repeats.
_EQUAL = 0.5


@dataclass(frozen=True)
class Similar:
    """What was inserted, and results that later nodes should read, so that a wrong merge of the two is seen."""

    insertion: Insertion
    unread: tuple[int, ...]


def insert(growth: Inserting, draw: random.Random) -> Similar | None:
    """Now and then, insert a twin or a repeat of a node that is drawn; None: nothing was inserted."""
    models = [each for each in growth.inserted if not each.operator.bodies and _data(growth, each)]
    if not models:
        return None
    last = models[-1]
    if last.operator.op_type in _JOINED and not growth.is_repeat(last) and draw.random() < _FOLLOWED:
        return repeat(growth, last)
    if draw.random() >= _SHARE:
        return None
    if draw.random() < 0.5:
        return repeat(growth, draw.choice(models))
    models = [each for each in models if _has_attributes(each.operator)]
    return twin(growth, draw.choice(models)) if models else None


def weighted(operators: Sequence[Operator]) -> tuple[Operator, ...]:
    """Operators to draw from, those that compilers join more than once."""
    return tuple(each for each in operators for _ in range(_WEIGHT if each.op_type in _JOINED else 1))


def twin(growth: Inserting, model: Inserted) -> Similar | None:
    """Insert a node of the same operator on the same inputs, constants included, with attributes drawn anew."""
    for _ in range(_TRIES):
        # Some rows look at their first input for its data type, and ask again.
        found = _told(growth, model, model.inputs * 2, growth.dtype[_data(growth, model)[0]])
        if found is not None:
            new = growth.inserted[-1]
            if new.inputs == model.inputs and new.attributes != model.attributes:
                return Similar(found, (*new.outputs[:1], *model.outputs[:1]))
            growth.take_back()
    return None


def repeat(growth: Inserting, model: Inserted) -> Similar | None:
    """Insert a node of the same operator, of one data input, that reads the result of the other."""
    result, constants = model.outputs[0], model.inputs[1:]
    if len(_data(growth, model)) > 1:
        return None
    equal = growth.random() < _EQUAL
    for _ in range(_TRIES):
        found = _told(growth, model, (result, *constants), growth.dtype[result])
        if found is not None:
            new = growth.inserted[-1]
            same = new.attributes == model.attributes and new.inputs[1:] == constants
            if _data(growth, new) == [result] and (same or not equal):
                return Similar(found, new.outputs[:1])
            growth.take_back()
    return None


def _told(growth: Inserting, model: Inserted, tensors: tuple[int, ...], dtype: int) -> Insertion | None:
    with growth.telling(tensors):
        return growth.insert(model.operator, dtype if dtype in model.operator.domain.bounds else 0)


def _has_attributes(operator: Operator) -> bool:
    return bool(onnx.defs.get_schema(operator.op_type, operator.opset, "").attributes)


def _data(growth: Inserting, node: Inserted) -> list[int]:
    """What the node reads, constants that steer it left out."""
    steering = set(growth.steering)
    return [each for each in node.inputs if each and each not in steering]
