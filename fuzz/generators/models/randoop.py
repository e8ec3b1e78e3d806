"""The Randoop-like baseline of Isra's evaluation (section 4.1.2): node by node by chance, each checked at once.

Inputs are existing or new tensors of any shape; a node that ONNX finds invalid is thrown away before the next is
drawn. `Generated.rejected` counts those.
"""

from __future__ import annotations

import random
from dataclasses import replace

from fuzz.generators.models import Generated, Parameters, UnusableParameters
from fuzz.generators.models._drafts import HOPELESS, Sketch, draft, drawable, hopeless
from fuzz.generators.models._sizes import size


def check(parameters: Parameters) -> None:
    """Raises UnusableParameters where no node can be made."""
    generate(replace(parameters, low=1, high=1), 0, 0)


def generate(parameters: Parameters, seed: int, index: int) -> Generated:
    """The model of that index. Raises UnusableParameters."""
    choices = drawable(parameters)
    draw = random.Random(seed << 40 | index)
    count, rejected, missed, sketch = size(parameters.low, parameters.high, seed, index), 0, 0, Sketch()
    while len(sketch.nodes) < count:
        attempt = sketch.copy()
        draft(attempt, draw.choice(choices), draw, parameters)
        if attempt.accepts_last(parameters):
            sketch, missed = attempt, 0
        else:
            rejected, missed = rejected + 1, missed + 1
        if missed == HOPELESS:
            raise UnusableParameters(hopeless(parameters))
    return sketch.generated(parameters, rejected)
