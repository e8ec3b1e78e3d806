"""The Randoop-like baseline of Isra's evaluation (section 4.1.2): node by node by chance, each checked at once.

Inputs are existing or new tensors of any shape; a node that ONNX finds invalid is thrown away before the next is
drawn. `Generated.rejected` counts those.
"""

from __future__ import annotations

import random

from fuzz.generators.models import Generated, Parameters
from fuzz.generators.models._drafts import Sketch, draft, drawable
from fuzz.generators.models._sizes import size


def generate(parameters: Parameters, seed: int, index: int) -> Generated:
    """The model of that index. Raises UnusableParameters."""
    choices = drawable(parameters)
    draw = random.Random(seed << 40 | index)
    count, rejected, sketch = size(parameters.low, parameters.high, seed, index), 0, Sketch()
    while len(sketch.nodes) < count:
        attempt = sketch.copy()
        draft(attempt, draw.choice(choices), draw, parameters)
        if attempt.accepts_last(parameters):
            sketch = attempt
        else:
            rejected += 1
    return sketch.generated(parameters, rejected)
