"""Isra: models that are valid by construction.

Ren et al., "Effective random test generation for deep learning compilers", Sci China Inf Sci 68 (2025).

The graph grows in topological order (section 3.2). For each node the operator is drawn uniformly, then its row in the
operator table instantiates in-degree, first input, attributes and remaining inputs in this order (section 3.3), and
input tensors are existing ones at the picking rate (section 3.3.3). Nothing is ever taken back: `Generated.rejected`
counts the times that it would have had to be.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from fuzz.generators.models import TOO_NARROW, Generated, Parameters, UnusableParameters
from fuzz.generators.models._sizes import size
from fuzz.operators import dtypes
from fuzz.operators.dtypes import BFLOAT16, BOOL, DOUBLE, FLOAT, FLOAT16, INT8, INT32, INT64, UINT8
from fuzz.operators.growth import Growth, Infeasible, Lean
from fuzz.operators.specification import Operator

#: Dtypes of placeholders where an operator leaves the choice, by how often a model prefers them.
_WEIGHTS = {FLOAT: 8, DOUBLE: 2, FLOAT16: 2, INT64: 2, INT32: 2, BFLOAT16: 1, UINT8: 1, INT8: 1, BOOL: 1}
_EVERYDAY = tuple(code for code, weight in _WEIGHTS.items() for _ in range(weight))
#: No compiler here loads a complex tensor; the table knows them.
_COMPLEX = frozenset((14, 15))
_RARE = tuple(code for code in dtypes.ALL if code not in _WEIGHTS and code not in _COMPLEX)
#: A sixth of the models have hubs, the others long chains: together they reach more out-degrees, and more triples of
#: operators, than models that use all tensors alike.
_LEANS = (Lean.OLD, *[Lean.RECENT] * 5)
#: The shares of models in float alone, and of models with a rare dtype.
_FLOAT_ONLY, _WITH_RARE = 0.4, 0.06


@cache
def _operators(parameters: Parameters) -> tuple[Operator, ...]:
    return parameters.operators()


def check(parameters: Parameters) -> None:
    """Raises UnusableParameters where no node can be made."""
    generate(replace(parameters, low=1, high=1), 0, 0)


def generate(parameters: Parameters, seed: int, index: int) -> Generated:
    """The model of that index. Raises UnusableParameters."""
    choices = _operators(parameters)
    draw = random.Random(seed << 40 | index)
    count = size(parameters.low, parameters.high, seed, index)
    growth = Growth(draw, palette(draw), parameters.limits, draw.choice(_LEANS), choices)
    try:
        rejected = grow(growth, choices, count)
    except Infeasible as error:
        raise UnusableParameters(TOO_NARROW) from error
    model = growth.model(parameters.opset, parameters.ir_version, all_outputs=parameters.all_outputs)
    return Generated(model, tuple(growth.inputs()), count, rejected)


def grow(growth: Growth, choices: Sequence[Operator], count: int) -> int:
    """Add `count` nodes, each of an operator drawn uniformly. Returns the number of backtracks."""
    return growth.fill(choices, count)


def palette(draw: random.Random) -> tuple[int, ...]:
    """The dtypes that the placeholders of one model prefer."""
    turn = draw.random()
    if turn < _FLOAT_ONLY:
        return (FLOAT,)
    several = tuple([draw.choice(_EVERYDAY) for _ in range(1 + int(draw.random() * 3))])
    return (*several, draw.choice(_RARE)) if turn > 1 - _WITH_RARE else several
