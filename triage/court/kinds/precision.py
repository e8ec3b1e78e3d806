"""A compiler that computes types in another one, and says so: is that all there is to it?

The model in that other floating-point type everywhere is evaluated by the reference: if that gives the compiler's
result, the difference is the precision that the compiler chose, even where a result jumps. Of integers those results
are excused that the other type does not hold.
"""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from fuzz import judge, registry, validity
from fuzz.oracles import differential
from fuzz.wire import Value
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.court.thresholds import PrecisionRule, precision_rules
from triage.passes.dtypes import with_element_types
from triage.wording import enumerated

SYMPTOMS = ("wrong",)


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where the compiler has the result that the reference has, or could have, in the other type."""
    backend = registry.backend(hearing.target.backend)
    if not hearing.compares_values:
        return None
    chosen = {name: values[0] for name, values in backend.options.items()} | dict(hearing.target.options)
    own = (rule for rule in precision_rules() if rule.backend == backend.name)
    rules = [rule for rule in own if rule.options.items() <= chosen.items()]
    told = (_told(hearing, rule) for rule in rules)
    return next((each for each in told if each is not None), None)


def _told(hearing: Hearing, rule: PrecisionRule) -> Evidence | None:
    return _beyond(hearing, rule) if _dtype(rule.computes_in).kind in "iu" else _recomputed(hearing, rule)


def _beyond(hearing: Hearing, rule: PrecisionRule) -> Evidence | None:
    """Whether results are wrong in whole numbers alone that the compiler's type does not hold."""
    held, types = np.iinfo(_dtype(rule.computes_in)), list(map(_dtype, rule.types))
    allowed = []
    for got, want in zip(hearing.actual, hearing.expected, strict=True):
        if isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and want.dtype in types:
            got = np.where((want < held.min) | (want > held.max), want, got)
        allowed.append(got)
    if differential.compare(allowed, hearing.expected) is not None:
        return None
    sentence = f"{rule.reason}, and only numbers that {held.dtype.name} does not hold are wrong"
    return Evidence("precision", Side.FOR, sentence, {"source": rule.source}, Ruling.UNSUPPORTED)


def _recomputed(hearing: Hearing, rule: PrecisionRule) -> Evidence | None:
    """Whether the reference, with the compiler's type in the place of the model's, has the compiler's result."""
    chosen, case = TensorProto.DataType.Value(rule.computes_in), hearing.case
    if case.kind != "onnx":
        return None
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
    replaced = f"with {_dtype(rule.computes_in)} in the place of {enumerated([_dtype(each).name for each in types])}"
    sentence = f"{rule.reason}, and {replaced} the reference has its result"
    return Evidence("precision", Side.FOR, sentence, {"source": rule.source}, Ruling.NOISE)


def _dtype(name: str) -> np.dtype:
    """The dtype of a type's name in onnx.TensorProto."""
    return helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name))


def _as(value: Value, like: Value) -> Value:
    """A result in the type of another one."""
    if not isinstance(value, np.ndarray) or not isinstance(like, np.ndarray):
        return value
    with np.errstate(all="ignore"):
        return value.astype(like.dtype)
