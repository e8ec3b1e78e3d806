"""Sizes spelled out: a `shape` may say 1, 0 or -1 where the result is longer, and compilers take it by its word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from onnx import numpy_helper

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.schemas import formal_name
from triage.variants import Variant
from triage.variants.values import with_value

#: What the specification calls the input that tells the sizes of the result.
_FORMAL = "shape"


def variants(case: Case, result: Sequence[int]) -> Iterator[Variant]:
    """Each tensor that tells the sizes of the result, with these very sizes; `result` are they."""
    model = parsed(case.model)
    held = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    fed = {name: value for name, value in case.inputs.items() if isinstance(value, np.ndarray)}
    for name, told in {**held, **fed}.items():
        if told.shape != (len(result),) or told.dtype != np.int64 or formal_name(model, name) != _FORMAL:
            continue
        others = sorted({int(number) for number in told[told != result]})
        if others:
            text = f"{' and '.join(map(str, others))} in {_FORMAL}"
            sentence = f"With the sizes of the result in `{name}`, {list(result)}, the same model passes."
            yield Variant("value", text, sentence, (with_value(case, name, np.array(result, np.int64)),))
