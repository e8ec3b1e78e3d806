"""The declarative baseline of Isra's evaluation (section 4.1.1): whole models by chance, invalid ones thrown away.

Inputs are existing or new tensors of any shape. A model is thrown away for its first invalid node, which gives the
same models as checking it when it is finished, sooner. `Generated.rejected` counts the models that were thrown away
before one was valid. Most that are left are small.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from fuzz.generators.models import Generated, Parameters, UnusableParameters
from fuzz.generators.models._drafts import HOPELESS, Sketch, draft, drawable, hopeless
from fuzz.operators.specification import Operator


def check(parameters: Parameters) -> None:
    """Raises UnusableParameters where no node can be made."""
    generate(replace(parameters, low=1, high=1), 0, 0)


def generate(parameters: Parameters, seed: int, index: int) -> Generated:
    """The model of that index. Raises UnusableParameters."""
    choices = drawable(parameters)
    draw = random.Random(seed << 40 | index)
    rejected = 0
    while (sketch := _attempt(choices, draw, parameters)) is None:
        rejected += 1
        if rejected == HOPELESS:
            raise UnusableParameters(hopeless(parameters))
    return sketch.generated(parameters, rejected)


def _attempt(choices: Sequence[Operator], draw: random.Random, parameters: Parameters) -> Sketch | None:
    sketch = Sketch()
    for _ in range(draw.randint(parameters.low, parameters.high)):
        draft(sketch, draw.choice(choices), draw, parameters)
        if not sketch.accepts_last(parameters):
            return None
    return sketch
