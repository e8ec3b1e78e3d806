"""The single operator behind a wrong result of another or of several: its failure may look like another bug.

A ReduceMax that returns the lowest float for -inf makes Equal false and Where take NaN. Reduced under "gets NaN
wrong" the model keeps all three; ReduceMax alone is wrong in another way, and that is the bug (issue 3: a slip to
another signature is a failure of its own). A scalar that LayerNormalization gives in the place of a vector makes the
operator that reads it raise. Softmax of doubles that returns .5 for NaN may be no more than a compiler
that computes in float32 and converts minus infinity to the lowest float.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np
from onnx import helper

from fuzz import validity
from fuzz.case import Case, Failure, Status
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from triage import roots_call
from triage.localize.trial import words
from triage.submodel import alone, load, with_model
from triage.variants import dtypes

#: A reduced model has few; in a larger one the first wrong node is the localiser's business.
MOST_NODES = 12
#: Operators whose own business a conversion is.
_CONVERSIONS = ("Cast", "CastLike", "BitCast")


def root(judge: Judge, failure: Failure) -> Failure | None:
    """The failure behind one that is another operator's: of the first node that is wrong alone, or of the conversion of
    the inputs to the type in which the compiler computes. None where there is none. Of a call see `roots_call`.

    Behind an exception it is the same exception, else a wrong shape, type or number of results where no node raises.
    Behind a death it is that of a node that dies in the same stage, by whatever signal: what was broken in memory shows
    elsewhere.
    """
    if failure.case.kind == "instance":
        return roots_call.root(judge, failure)
    raised, died = (failure.symptom.startswith(kind) for kind in ("exception:", "crash:"))
    if failure.case.kind != "onnx" or not (raised or died or failure.symptom.startswith("wrong:")):
        return None
    count = len(load(failure.case).graph.node)
    if count == 1:
        return None if raised or died else _conversion(judge, failure)
    if count > MOST_NODES:
        return None
    if died:
        return _dying(judge, failure, count)
    return _raising(judge, failure, count) if raised else _first_alone(judge, failure, count)


def _first_alone(judge: Judge, failure: Failure, count: int) -> Failure | None:
    """The first node's that is wrong alone."""
    return next((one for one in _alone(judge, failure, count) if one.symptom.startswith("wrong:")), None)


def _raising(judge: Judge, failure: Failure, count: int) -> Failure | None:
    """The node's that raises the same alone, perhaps in another stage; else the first one's whose result has another
    form alone, so that what reads it raises. None where a node raises something else."""
    found = list(_alone(judge, failure, count))
    same = next((one for one in found if one.symptom == failure.symptom and words(one) == words(failure)), None)
    misleading = found[0] if found and all(one.symptom in differential.FORMS for one in found) else None
    return same or misleading


def _dying(judge: Judge, failure: Failure, count: int) -> Failure | None:
    """The first node's that dies alone as early as the whole model does."""
    deaths = (one for one in _alone(judge, failure, count) if one.symptom.startswith("crash:"))
    return next((one for one in deaths if one.outcome.stage is failure.outcome.stage), None)


def _alone(judge: Judge, failure: Failure, count: int) -> Iterator[Failure]:
    """How each node fails alone, on the reference's own values, in their order; nothing for one that does not."""
    recorded = dict(validity.recorded(judge.runner, failure.case, judge.reference))
    for at in range(count):
        single = alone(failure.case, at, recorded)
        found = judge.examine(single, failure.target).failure if single else None
        if found is not None:
            yield found


def _conversion(judge: Judge, failure: Failure) -> Failure | None:
    """The failure of Cast to an ordinary type, where that explains the wrong result of one operator altogether.

    The operator is right in the ordinary type; Cast from the unusual one is wrong on the same input; and the operator's
    own definition, applied to what that Cast returns, gives the very values that came out.
    """
    if load(failure.case).graph.node[0].op_type in _CONVERSIONS:
        return None
    fed = {value.dtype.name for value in failure.case.inputs.values() if isinstance(value, np.ndarray)}
    for one in dtypes.alternatives(failure.case):
        plain = one.plain[1] if one.plain else None
        if plain is None or one.name not in fed:
            continue
        if judge.examine(plain, failure.target).status is not Status.OK:
            continue
        converted = {name: _cast(judge, failure, name, plain) for name in plain.inputs}
        wrong = [one for one in converted.values() if one is not None]
        if wrong and _explains(judge, failure, plain, converted):
            return wrong[0]
    return None


def _cast(judge: Judge, failure: Failure, name: str, plain: Case) -> Failure | None:
    """How Cast of one input to its type in the ordinary case fails; None where it is right or there is none to do."""
    before, after = failure.case.inputs[name], plain.inputs[name]
    if not isinstance(before, np.ndarray) or not isinstance(after, np.ndarray) or before.dtype == after.dtype:
        return None
    kinds = [int(helper.np_dtype_to_tensor_dtype(value.dtype)) for value in (before, after)]
    infos = [
        helper.make_tensor_value_info(named, kind, before.shape)
        for named, kind in zip(("input", "output"), kinds, strict=True)
    ]
    node = helper.make_node("Cast", ["input"], ["output"], to=kinds[1])
    model = load(failure.case)
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    made = helper.make_model(graph, opset_imports=model.opset_import, ir_version=model.ir_version)
    case = with_model(failure.case, made, {"input": before})
    found = judge.examine(case, failure.target).failure
    return found if found is not None and found.symptom.startswith("wrong:") else None


def _explains(judge: Judge, failure: Failure, plain: Case, converted: Mapping[str, Failure | None]) -> bool:
    """Whether the reference turns the wrongly converted inputs into the wrong outputs."""
    given = {name: one.outcome.outputs[0][1] for name, one in converted.items() if one and one.outcome.outputs}
    outcome = judge.runner.run(replace(plain, inputs={**plain.inputs, **given}), judge.reference)
    if outcome.status is not Status.OK:
        return False
    seen = values(failure.outcome)
    told = [
        one.astype(other.dtype) if isinstance(one, np.ndarray) and isinstance(other, np.ndarray) else one
        for one, other in zip(values(outcome), seen, strict=True)
    ]
    return differential.compare(told, seen) is None
