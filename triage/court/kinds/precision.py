"""A compiler that computes rare floating-point types in another one, and says so: is that all there is to it?

The model in that other type everywhere is evaluated by the reference: if that gives the compiler's result, the
difference is the precision that the compiler chose, even where a result jumps.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from fuzz import judge, registry, validity
from fuzz.oracles import differential
from fuzz.wire import Value
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.court.thresholds import precision_rules
from triage.passes.dtypes import with_element_types
from triage.wording import enumerated

SYMPTOMS = ("wrong",)


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where the reference, computing as the compiler does, has the compiler's result."""
    name = registry.backend(hearing.target.backend).name
    rule = next((each for each in precision_rules() if each.backend == name), None)
    if rule is None or hearing.case.kind != "onnx" or not hearing.compares_values:
        return None
    chosen, case = TensorProto.DataType.Value(rule.computes_in), hearing.case
    found_in = {each: TensorProto.DataType.Value(each) for each in rule.types}
    plain = with_element_types(case, {})
    types = [each for each, code in found_in.items() if with_element_types(case, {code: chosen}).id != plain.id]
    if not types:
        return None
    other = with_element_types(case, {found_in[each]: chosen for each in types})
    [known] = validity.judge(hearing.runner, [other], hearing.reference)
    found = judge.values(known.outcome)
    if known.invalid or len(found) != len(hearing.expected):
        return None
    if differential.compare(hearing.actual, list(map(_as, found, hearing.expected))) is not None:
        return None
    replaced = f"with {_spoken(rule.computes_in)} in the place of {enumerated(list(map(_spoken, types)))}"
    sentence = f"{rule.reason}, and {replaced} the reference has its result"
    return Evidence("precision", Side.FOR, sentence, {"source": rule.source}, Ruling.NOISE)


def _spoken(name: str) -> str:
    """``float64`` of ``DOUBLE``."""
    return helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name)).name


def _as(value: Value, like: Value) -> Value:
    """A result in the type of another one."""
    if not isinstance(value, np.ndarray) or not isinstance(like, np.ndarray):
        return value
    with np.errstate(all="ignore"):
        return value.astype(like.dtype)
