"""A compiler that computes types in another one, and says so: is that all there is to it?

The model in that other floating-point type everywhere is evaluated by the reference: if that gives the compiler's
result, the difference is the precision that the compiler chose, even where a result jumps. Of integers those results
are excused that the other type does not hold, and so are numbers beyond its range: they may be infinite or its largest.
"""

from __future__ import annotations

from dataclasses import replace

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

from fuzz import judge, registry, validity
from fuzz.case import Case
from fuzz.oracles import differential
from fuzz.validity import Reference
from fuzz.wire import Value
from triage.court import openness
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
    if differential.compare(allowed, hearing.expected) is not None and not _hangs_on(hearing, held, types):
        return None
    sentence = f"{rule.reason}, and only numbers that {held.dtype.name} does not hold are wrong"
    return Evidence("precision", Side.FOR, sentence, {"source": rule.source}, Ruling.UNSUPPORTED)


def _hangs_on(hearing: Hearing, held: np.iinfo, types: list[np.dtype]) -> bool:
    """Whether all that differs is computed from numbers on the way that the compiler's type does not hold."""
    if hearing.case.kind != "onnx":
        return False
    beyond = {
        name: (value < held.min) | (value > held.max)
        for name, value in hearing.values.items()
        if isinstance(value, np.ndarray) and value.dtype in types
    }
    found = {name: mask for name, mask in beyond.items() if mask.any()}
    masks = found and openness.all_followers(
        hearing.runner, hearing.reference, hearing.case, hearing.values, found, hearing.expected
    )
    if not masks:
        return False
    defined = openness.defined(hearing.outcome, hearing.expected, tuple(masks))
    return differential.compare(judge.values(defined), hearing.expected) is None


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
    changes = {found_in[each]: chosen for each in types}
    others = [with_element_types(each, changes) for each in _in_range(case, rule)]
    if not any(
        _has_result_of(hearing, known, rule) for known in validity.judge(hearing.runner, others, hearing.reference)
    ):
        return None
    replaced = f"with {_dtype(rule.computes_in)} in the place of {enumerated([_dtype(each).name for each in types])}"
    sentence = f"{rule.reason}, and {replaced} the reference has its result"
    return Evidence("precision", Side.FOR, sentence, {"source": rule.source}, Ruling.NOISE)


def _in_range(case: Case, rule: PrecisionRule) -> list[Case]:
    """The case, and the same with the largest numbers of the compiler's type where its inputs are larger still."""
    most, types = float(np.finfo(_dtype(rule.computes_in)).max), list(map(_dtype, rule.types))
    cut = {
        name: np.where(np.isfinite(value), np.clip(value, -most, most), value).astype(value.dtype)
        for name, value in case.inputs.items()
        if isinstance(value, np.ndarray) and value.dtype in types and float(ml_dtypes.finfo(value.dtype).max) > most
    }
    same = all(np.array_equal(value, np.asarray(case.inputs[name]), equal_nan=True) for name, value in cut.items())
    return [case] if same else [case, replace(case, inputs={**case.inputs, **cut})]


def _has_result_of(hearing: Hearing, known: Reference, rule: PrecisionRule) -> bool:
    """Whether the compiler has a result of the reference in the other type, as far as that type holds the numbers."""
    found, types = judge.values(known.outcome), list(map(_dtype, rule.types))
    if known.invalid or len(found) != len(hearing.expected):
        return False
    most = float(np.finfo(_dtype(rule.computes_in)).max)
    wanted = list(map(_as, found, hearing.expected))
    for at, (got, want) in enumerate(zip(hearing.actual, hearing.expected, strict=True)):
        if isinstance(got, np.ndarray) and isinstance(want, np.ndarray) and want.dtype in types:
            beyond = np.isfinite(want) & (np.abs(want.astype(np.float64)) > most)
            wanted[at] = np.where(beyond, got, np.asarray(wanted[at]))
    return differential.compare(hearing.actual, wanted) is None


def _dtype(name: str) -> np.dtype:
    """The dtype of a type's name in onnx.TensorProto."""
    return helper.tensor_dtype_to_np_dtype(TensorProto.DataType.Value(name))


def _as(value: Value, like: Value) -> Value:
    """A result in the type of another one."""
    if not isinstance(value, np.ndarray) or not isinstance(like, np.ndarray):
        return value
    with np.errstate(all="ignore"):
        return value.astype(like.dtype)
