"""A better witness of the same failure: one that a reader learns more from, if it fails in the same way.

Reducing makes a case small, and small is not always clear. Where an empty tensor stands for "no number at all", a
tensor that holds something says more. Where the results should be zero, so many things give zero that being wrong
there proves little. And where an operator gives several results, what becomes of the others is half the diagnosis: a
wrong running mean beside a wrong running variance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import chain, product
from typing import Any

import numpy as np
import onnx

from fuzz.case import Case, Failure
from fuzz.judge import Judge, values
from fuzz.operators.inference import infer_shapes
from fuzz.oracles import differential, undefined
from fuzz.wire import Raw
from triage import handwritten, hoisting
from triage.causal import said
from triage.differ import differing, is_inexact
from triage.effect import PATTERNS, effect
from triage.inquiry import Inquiry
from triage.literals import Array, as_array
from triage.localize.trial import COSTLY
from triage.mutants import sizes
from triage.passes._instances import named_tensors, parsed, with_arrays, with_instance
from triage.plainvalues import plainer
from triage.schemas import schema_of
from triage.submodel import load, open_shapes, reads, tensors, with_model, with_tensors
from triage.variants import Variant, arguments, attributes, call_types, inputs
from triage.variants import sizes as parts

#: Runs of the compiler for each improvement.
MOST_RUNS = 24
#: More elements than this are too many to read.
MOST_ELEMENTS = 64
#: What a tensor that was empty is filled with.
_FILLS = (np.inf, -np.inf, 0, 1, -1)


def better(judge: Judge, failure: Failure) -> Failure:
    """The clearest witness that was found; the failure itself where there is none.

    Every new witness has failed with the same symptom in a fresh process, and with the same words if it raises.
    """
    if failure.outcome.status in COSTLY:
        return failure
    wrong = failure.symptom.startswith("wrong:") and failure.reference is not None
    for improve in _IMPROVEMENTS.get((failure.case.kind, wrong), ()):
        inquiry = Inquiry(judge, failure, MOST_RUNS)
        failure = improve(inquiry) or failure
    return failure


def _fresh(inquiry: Inquiry, case: Case) -> Failure | None:
    """The failure of a case in a fresh process, if it has the symptom."""
    found = inquiry.judge.examine(case, inquiry.failure.target).failure
    return found if found and _same(inquiry, found) else None


def _same(inquiry: Inquiry, found: Failure) -> bool:
    """Whether a failure has the symptom, and the words that the first one was raised with."""
    known = inquiry.failure
    return found.symptom == known.symptom and said(found) == said(known)


def _seen(inquiry: Inquiry, case: Case, wanted: Callable[[Failure], bool]) -> Failure | None:
    """The failure of a neighbour that has the symptom and is as `wanted`, in a worker and then in a fresh process."""
    verdict = inquiry.verdict(case)
    failure = verdict.failure if verdict else None
    if failure is None or not _same(inquiry, failure) or not wanted(failure):
        return None
    return _fresh(inquiry, failure.case)


# ---------------------------------------------------------------- the axes that people mean


def _last_axes(inquiry: Inquiry) -> Failure | None:
    """The last axes in the place of the first: reducing makes small numbers of them, and people resize images."""
    case = inquiry.failure.case
    model = load(case)
    node = model.graph.node[0]
    given = next((one for one in node.attribute if one.name == "axes" and one.type == one.INTS), None)
    data = tensors(case, model).get(node.input[0]) if node.input else None
    if len(model.graph.node) != 1 or given is None or data is None:
        return None
    last = list(range(data.ndim))[-len(given.ints) :]
    if list(given.ints) != list(range(len(given.ints))) or list(given.ints) == last:
        return None
    given.ints[:] = last
    open_shapes(model)
    return _seen(inquiry, with_model(case, model), lambda found: True)


# ---------------------------------------------------------------- what bodies do not need


def _hoisted(inquiry: Inquiry) -> Failure | None:
    """The branch that fails in the place of its If: then the If has nothing to do with it.

    A branch that is not taken may be wrong for a reason of its own, and mostly gives other numbers.
    """
    told = _told(inquiry.failure)
    cases = hoisting.hoisted(inquiry.failure.case)
    found = (_seen(inquiry, case, lambda one: _told(one) == told) for case in cases)
    return next((one for one in found if one), None)


def _bare(inquiry: Inquiry) -> Failure | None:
    """Bodies that compute nothing: then the operator matters that has them."""
    case, reference = inquiry.failure.case, inquiry.failure.reference
    outputs = reference.outputs if reference else ()
    shapes = {name: tuple(one.shape) for name, one in outputs if isinstance(one, np.ndarray | Raw)}
    told = _told(inquiry.failure)
    found = (_seen(inquiry, one, lambda other: _told(other) == told) for one in hoisting.bare(case, shapes))
    return next((one for one in found if one), None)


# ---------------------------------------------------------------- what a person would write


def _own_tensors(inquiry: Inquiry) -> Failure | None:
    return _if_it_fails(inquiry, handwritten.own_tensors(inquiry.failure.case))


def _outer_apart(inquiry: Inquiry) -> Failure | None:
    return _if_it_fails(inquiry, handwritten.outer_apart(inquiry.failure.case))


def _data_fed(inquiry: Inquiry) -> Failure | None:
    return _if_it_fails(inquiry, handwritten.data_fed(inquiry.failure.case))


def _named(inquiry: Inquiry) -> Failure | None:
    return _if_it_fails(inquiry, handwritten.named(inquiry.failure.case))


def _spelled(inquiry: Inquiry) -> Failure | None:
    return _if_it_fails(inquiry, handwritten.spelled(inquiry.failure.case))


def _own_sizes(inquiry: Inquiry) -> Failure | None:
    """The sizes of the result in a shape that leaves out some of them: others may be another bug."""
    reference = inquiry.failure.reference
    results = values(reference) if reference else []
    result = results[0] if len(results) == 1 and isinstance(results[0], np.ndarray) else None
    return _if_it_fails(inquiry, parts.trailing(inquiry.failure.case, result.shape)) if result is not None else None


def _plainly_filled(inquiry: Inquiry) -> Failure | None:
    """Long tensors filled as a person would, each with the simplest numbers that fail; their values told nothing."""
    failure, asked = inquiry.failure, inquiry.failure.case
    while better := next((one for case in plainer(asked) if (one := _if_it_fails(inquiry, case))), None):
        failure, asked = better, better.case
    return failure if failure is not inquiry.failure else None


def _if_it_fails(inquiry: Inquiry, case: Case | None) -> Failure | None:
    return _seen(inquiry, case, lambda found: True) if case else None


def _parameters_constant(inquiry: Inquiry) -> Failure | None:
    """Constants in the place of inputs behind the first, as many as may be, where it passes with constants alone.

    Then it matters which of them is no constant, and that one is left.
    """
    case = inquiry.failure.case
    names = inputs.freezable(case)
    if len(names) < 2 or not inquiry.passes(inputs.frozen(case, names)):
        return None
    constant: list[str] = []
    for name in names:
        if inquiry.passes(inputs.frozen(case, [*constant, name])) is False:
            constant.append(name)
    return _if_it_fails(inquiry, inputs.frozen(case, constant)) if constant else None


def _plain_types(inquiry: Inquiry) -> Failure | None:
    """float32 in the place of every other type of a call that does not matter, one type after the other.

    With the same integers as floats the same must be wrong: a result that is right up to rounding alone is another bug.
    Where it is a type that is wrong, other types are.
    """
    failure = inquiry.failure
    tried: set[str] = set()
    while variant := next((one for one in _retyped(failure.case) if one.text not in tried), None):
        tried.add(variant.text)
        free = "float" in variant.text or failure.symptom == differential.DTYPE
        alike = partial(_same_numbers, inquiry.failure)
        failure = _seen(inquiry, variant.cases[0], (lambda found: True) if free else alike) or failure
    return failure if failure is not inquiry.failure else None


def _numbers_for_truths(inquiry: Inquiry) -> Failure | None:
    """Whole numbers where a call has no truths at all: an empty tensor of bool shows a wrong type to nobody."""
    failure = inquiry.failure
    call = parsed(failure.case)
    if failure.symptom not in differential.FORMS or not any(
        one.dtype == "bool" and 0 in one.shape for one in call.tensors
    ):
        return None
    numbers = (replace(one, dtype="int64") if one.dtype == "bool" else one for one in call.tensors)
    case = with_instance(failure.case, replace(call, tensors=tuple(numbers)))
    found = (_seen(inquiry, other, lambda one: True) for other in arguments.full(case))
    return next((one for one in found if one), None)


def _retyped(case: Case) -> Iterator[Variant]:
    """In float32; then what numpy has no type for as what it has, which saves a script a package and three lines."""
    yield from call_types.variants(case)
    for name, other in call_types.kin(case, "bfloat16") if b'"bfloat16"' in case.model else ():
        if name.startswith("float"):
            yield Variant("dtype", f"bfloat16 as {name}", "", (other,))


def _same_numbers(one: Failure, other: Failure) -> bool:
    """Whether two results are, and should be, the same whatever their types; of exceptions there is nothing to ask."""
    return all(
        before.shape == after.shape and np.allclose(before, after, rtol=1e-3, equal_nan=True)
        for before, after in zip(_numbers(one), _numbers(other), strict=False)
    )


def _numbers(failure: Failure) -> list[np.ndarray]:
    return [as_array(one).astype(np.complex128) for pair in _pairs(failure) for one in pair]


# ---------------------------------------------------------------- nothing left to chance


def _without_chance(inquiry: Inquiry) -> Failure | None:
    """A case whose results are no random numbers: those of a Dropout that does not train."""
    case = inquiry.failure.case
    if not _random(case):
        return None
    others = _untrained_calls(case) if case.kind == "instance" else _untrained(case)
    fixed = (other for other in others if not _random(other))
    return next((found for other in fixed if (found := _seen(inquiry, other, lambda found: True))), None)


def _random(case: Case) -> bool:
    return undefined.nondeterministic(case.kind, case.model, case.inputs) is not None


def _untrained(case: Case) -> Iterator[Case]:
    """The model with each single "true" as "false"."""
    for name, array in tensors(case, load(case)).items():
        if array.dtype.kind == "b" and array.size == 1 and array.all():
            yield with_tensors(case, load(case), {name: np.zeros_like(array)})


def _untrained_calls(case: Case) -> Iterator[Case]:
    """The call with each True as False, and told not to train: functions of dropout do by default."""
    call = parsed(case)
    if "training" not in call.kwargs:
        yield with_instance(case, replace(call, kwargs={**call.kwargs, "training": False}))
    for at, value in enumerate(call.args):
        if value is True:
            yield with_instance(case, replace(call, args=(*call.args[:at], False, *call.args[at + 1 :])))
    for name, value in call.kwargs.items():
        if value is True:
            yield with_instance(case, replace(call, kwargs={**call.kwargs, name: False}))


# ---------------------------------------------------------------- something instead of nothing


def _filled(inquiry: Inquiry) -> Failure | None:
    """A tensor that is not empty any more, of which the same numbers come out in the place of the same."""
    failure = inquiry.failure
    told = _told(failure)
    for name, array in tensors(failure.case, load(failure.case)).items():
        if array.size or array.dtype.kind not in "fiu":
            continue
        small = tuple(2 if size == 0 else 1 for size in array.shape)
        fills = _FILLS if array.dtype.kind == "f" else (0, 1)
        for shape, fill in product((small, tuple(size or 2 for size in array.shape)), fills):
            model = load(failure.case)
            open_shapes(model)
            other = with_tensors(failure.case, model, {name: np.full(shape, fill, array.dtype)})
            found = _seen(inquiry, other, lambda one: _told(one) == told)
            if found:
                return found
    return None


def _form_full(inquiry: Inquiry) -> Failure | None:
    """What is wrong in type, shape or number of its results with no tensor empty: what no numbers give is beside it."""
    return _full(inquiry) if inquiry.failure.symptom in differential.FORMS else None


def _full(inquiry: Inquiry) -> Failure | None:
    """What is refused or dies with no tensor empty: then emptiness has nothing to do with it."""
    case = inquiry.failure.case
    calls = chain(arguments.full(case), arguments.counted_full(case)) if case.kind == "instance" else ()
    for other in calls or _full_models(case):
        found = _seen(inquiry, other, lambda found: True)
        if found:
            return found
    return None


def _with_an_axis(inquiry: Inquiry) -> Failure | None:
    """What is refused or dies with an axis where a list of them is empty: over no axis nothing is computed."""
    case = inquiry.failure.case
    longer = (with_instance(case, other) for _, other in arguments.numbered(parsed(case)))
    return next((found for other in longer if (found := _seen(inquiry, other, lambda found: True))), None)


def _full_models(case: Case) -> Iterator[Case]:
    """The model with two elements along every axis of a tensor that has none; with two in the last of empty parts."""
    yield from parts.with_some(case)
    empty = {name: one for name, one in tensors(case, load(case)).items() if not one.size and one.dtype.kind in "fiub"}
    if empty:
        model = load(case)
        open_shapes(model)
        filled = {name: np.ones(tuple(size or 2 for size in array.shape), array.dtype) for name, array in empty.items()}
        yield with_tensors(case, model, filled)


def _told(failure: Failure) -> str:
    """What is wrong in words, of the first output that is."""
    pairs = _pairs(failure)
    return next((words for want, got in pairs if (words := effect(want, got, failure.case.inputs))), "")


def _pairs(failure: Failure) -> list[tuple[Array | Raw, Array | Raw]]:
    """Dense outputs as they should be and as they are."""
    if failure.reference is None:
        return []
    pairs = zip(values(failure.reference), values(failure.outcome), strict=False)
    dense = (np.ndarray, Raw)
    return [(want, got) for want, got in pairs if isinstance(want, dense) and isinstance(got, dense)]


# ---------------------------------------------------------------- the other results


def _all_outputs(inquiry: Inquiry) -> Failure | None:
    """All results of an operator returned, if one is wrong in the same way that was not returned before.

    One that is wrong in another way may be so for another reason.
    Where the failure hangs on an option, that is the diagnosis, and one result shows it.
    """
    before, case = _wrong(inquiry.failure), inquiry.failure.case
    cases = list(_with_outputs(case))
    options = chain(attributes.variants(case), inputs.variants(case)) if cases else iter(())
    if any(one.kind in ("attribute", "input") and inquiry.passes(one.cases[0]) for one in options):
        return None
    for more in cases:
        found = _seen(inquiry, more, lambda one: len(_wrong(one)) > len(before) and set(_wrong(one)) == set(before))
        if found:
            return found
    return None


def _wrong(failure: Failure) -> list[str]:
    """The symptom of each wrong output."""
    found = (differential.compare([got], [want]) for want, got in _pairs(failure))
    return [one.symptom for one in found if one]


def _with_outputs(case: Case) -> Iterator[Case]:
    """The case with every result of its only node returned, in the operator's order; first with all it can have."""
    model = load(case)
    if len(model.graph.node) != 1:
        return
    node = model.graph.node[0]
    schema = schema_of(node, model)
    if schema is None or len(schema.outputs) < 2:
        return
    taken = reads(node) | set(node.output)
    names = list(node.output) + [""] * (len(schema.outputs) - len(node.output))
    for at, name in enumerate(names):
        if not name:
            formal = schema.outputs[at].name
            names[at] = formal if formal not in taken else f"{formal}_{at}"
    for count in range(len(names), max(1, len(node.output)) - 1, -1):
        found = _returning(case, names[:count])
        if found is not None:
            yield found


def _returning(case: Case, names: list[str]) -> Case | None:
    """The case with the node's outputs so named and all returned, as shape inference has them; None if it fails."""
    model = load(case)
    known = {info.name: info for info in model.graph.output}
    model.graph.node[0].output[:] = names
    del model.graph.output[:]
    try:
        inferred = infer_shapes(model, data_prop=True)
    except onnx.shape_inference.InferenceError:
        return None
    found = {info.name: info for info in inferred.graph.value_info} | known
    if any(name not in found for name in names):
        return None
    model.graph.output.extend(found[name] for name in names)
    open_shapes(model)
    return with_model(case, model)


# ---------------------------------------------------------------- results that are not zero


def _grown(inquiry: Inquiry) -> Failure | None:
    """Larger tensors, if fewer of the wrong elements should be zeros; then one of ones, if more is wrong with it."""
    first = inquiry.failure
    if _poor(first) == 0:
        return None
    best = first
    for mutant in sizes(first.case, joint_to=_present(first.case)):
        if inquiry.over() or _poor(best) == 0:
            break
        best = _clearer(inquiry, best, mutant.case)
    if best is first:
        return None
    for name, array in tensors(best.case, load(best.case)).items():
        if array.dtype.kind == "f" and array.ndim > 1:
            best = _clearer(inquiry, best, with_tensors(best.case, load(best.case), {name: np.ones_like(array)}))
    return _fresh(inquiry, best.case)


def _clearer(inquiry: Inquiry, best: Failure, case: Case) -> Failure:
    """The failure of the case, if it shows more than the best so far; else that one."""
    verdict = inquiry.verdict(case)
    found = verdict.failure if verdict else None
    if found is None or found.symptom != inquiry.failure.symptom or _elements(found) > MOST_ELEMENTS:
        return best
    return found if (_poor(found), -_far(found)) < (_poor(best), -_far(best)) else best


def _far(failure: Failure) -> float:
    """The largest difference, as a share of the largest number that should come out; 0 where none is finite."""
    shares = [0.0]
    for want, got in _pairs(failure):
        one, other = as_array(want).astype(np.float64), as_array(got).astype(np.float64)
        if one.shape == other.shape and one.size:
            with np.errstate(all="ignore"):
                share = np.max(np.abs(one - other)) / np.max(np.abs(one))
            shares += [float(share)] if np.isfinite(share) else []
    return max(shares)


def _present(case: Case) -> tuple[int, ...]:
    """The sizes that occur in the case."""
    return tuple(sorted({size for array in tensors(case, load(case)).values() for size in array.shape if size}))


def _poor(failure: Failure) -> float:
    """How many of the wrong elements of the first wrong output should be zero, as a share of them."""
    for want, got in _pairs(failure):
        one, other = as_array(want), as_array(got)
        if one.shape != other.shape or not is_inexact(one) or not is_inexact(other):
            continue
        mask = differing(one, other)
        if mask.any():
            return float(np.mean(one[mask].astype(np.float64) == 0))
    return 0.0


def _elements(failure: Failure) -> int:
    return sum(int(np.prod(want.shape)) for want, _ in _pairs(failure))


# ---------------------------------------------------------------- numbers that tell where they come from


def _apart(inquiry: Inquiry) -> Failure | None:
    """Other numbers in each tensor, if the result then looks wrong in another way.

    Half of a ScatterElements seems to leave its data as they are where the updates are 1, 2, 3, as the data are.
    """
    case, told = inquiry.failure.case, _told(inquiry.failure)
    changed = renumbered(tensors(case, load(case))) if any(each in told for each in PATTERNS) else {}
    if not changed:
        return None
    return _seen(inquiry, with_tensors(case, load(case), changed), lambda found: _told(found) != told)


def _apart_call(inquiry: Inquiry) -> Failure | None:
    """Of a call that raises, other numbers in each tensor, if eager PyTorch gives nothing but zeros for these.

    The cross product of equal vectors is zero, and so is that of a compiler which has learnt nothing but not to raise.
    """
    failure = inquiry.failure
    if not _nothing_but_zeros(failure):
        return None
    arrays = {name: one for name, one in named_tensors(failure.case).items() if isinstance(one, np.ndarray)}
    changed = renumbered(arrays)
    if not changed:
        return None
    other = with_arrays(failure.case, changed)
    return _seen(inquiry, other, lambda found: not _nothing_but_zeros(found))


def _nothing_but_zeros(failure: Failure) -> bool:
    """Whether the expected results hold numbers, all of them zero."""
    found = [value for value in values(failure.reference) if isinstance(value, np.ndarray)] if failure.reference else []
    return any(array.size for array in found) and not any(map(np.any, found))


def renumbered(arrays: Mapping[str, Array]) -> dict[str, Array]:
    """The tensors that share numbers with one before them, each from the next multiple of ten on."""
    found: dict[str, Array] = {}
    seen: dict[np.dtype[Any], Array] = {}
    for name, array in arrays.items():
        if array.dtype.kind not in "fiu" or not array.size:
            continue
        before = seen.get(array.dtype, array.ravel()[:0])
        if np.isin(array, before).any():
            amounts = np.abs(before.astype(np.float64))
            step = 10 * (amounts[np.isfinite(amounts)].max(initial=0.0) // 10 + 1)
            with np.errstate(all="ignore"):  # what is too large for the type is only tried
                array = found[name] = (array.astype(np.float64) + step).astype(array.dtype)
        seen[array.dtype] = np.concatenate([before, array.ravel()])
    return found


#: What is tried, by the kind of case and whether its result is wrong.
_IMPROVEMENTS = {
    ("onnx", True): (
        *(
            _without_chance,
            _hoisted,
            _bare,
            _own_tensors,
            _outer_apart,
            _data_fed,
            _own_sizes,
            _last_axes,
            _form_full,
            _filled,
            _all_outputs,
            _grown,
            _named,
            _spelled,
        ),
        *(_plainly_filled, _apart),
    ),
    ("onnx", False): (
        *(
            _hoisted,
            _bare,
            _own_tensors,
            _outer_apart,
            _data_fed,
            _parameters_constant,
            _own_sizes,
            _last_axes,
            _full,
            _named,
            _spelled,
        ),
        _plainly_filled,
    ),
    ("instance", True): (_without_chance, _numbers_for_truths, _form_full, _plain_types, _plainly_filled),
    ("instance", False): (_with_an_axis, _plain_types, _full, _apart_call, _plainly_filled),
}
