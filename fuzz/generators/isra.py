"""Models that Isra generates (`fuzz.generators.models.isra`) as cases, of one to ten operators."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from fuzz.case import Case, Origin
from fuzz.generators import Skip
from fuzz.generators.models import Generated, Parameters, isra
from fuzz.operators import dtypes

NAME = "isra"
#: Cases in a row when several sources share a campaign.
PER_TURN = 8
#: Of 89 groups of failures of 528 models 52 turned out duplicates, but only when they were reduced, which a hunt of a
#: few minutes has no time for: the tests are the better use of it (docs/generators.md).
ON_REQUEST = True
#: Models of one campaign. All cases of a source are ordered before the first runs, so there must be an end.
COUNT = 2000


def cases(seed: int) -> Iterator[Case | Skip]:
    """`COUNT` models with inputs; a case's test is its index, so it can be made again alone (`case`)."""
    parameters = Parameters()
    for index in range(COUNT):
        yield case(parameters, seed, index)


def case(parameters: Parameters, seed: int, index: int) -> Case:
    """The case of that index."""
    generated = isra.generate(parameters, seed, index)
    return Case("onnx", generated.model, inputs(generated, seed, index), Origin(NAME, str(index), "plain", seed))


def inputs(generated: Generated, seed: int, index: int) -> dict[str, np.ndarray]:
    """Values for the graph inputs, by name, within the ranges that the model was grown for."""
    rng = np.random.default_rng((seed, index))
    return {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in generated.inputs}
