"""Which elements of a result hang on values that the specification leaves open, and which it defines all the same.

One infinity that is cast to an integer leaves one element open, not the tensor. What follows from that element is
found out by trying: the reference evaluates the rest of the model with other values in its place.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import onnx

from fuzz.case import Case, Origin, Outcome, Status, Target
from fuzz.judge import values
from fuzz.operators.graph import attributes, bodies, walk
from fuzz.oracles import ties, undefined
from fuzz.runner import Runner
from fuzz.wire import Value
from triage.court import calls

Masks = tuple[np.ndarray, ...]
#: The names of what stands in the model for a tensor with open elements, and of that tensor as it was.
_GIVEN, _UNUSED = "court/given", "court/unused"


def open_masks(
    runner: Runner,
    reference: Target,
    case: Case,
    recorded: Mapping[str, Value],
    expected: Sequence[Value],
    outputs: set[str] | None = None,
) -> Masks | None:
    """By output, in order: true where the specification leaves the element open.

    None where that cannot be told element by element, so that everything counts as open. `recorded` are the values
    of all tensors of the main graph, `expected` the reference's outputs. Only `outputs` are of interest (default: all).
    """
    wanted = _arrays(expected)
    if case.kind == "instance" and wanted is not None:
        return calls.open_masks(runner, reference, case, wanted)
    if case.kind != "onnx" or wanted is None:
        return None
    ordered = frozenset(name for node in unordered(case) for name in node.output)
    found = undefined.open_elements(case.model, recorded, outputs, ordered)
    if found is None or not (found or ordered):
        return None
    masks = all_followers(runner, reference, case, recorded, found, expected)
    return None if masks is None else tuple(masks)


def all_followers(
    runner: Runner,
    reference: Target,
    case: Case,
    recorded: Mapping[str, Value],
    found: Mapping[str, np.ndarray],
    expected: Sequence[Value],
) -> list[np.ndarray] | None:
    """By output: the elements that change with what is `found` open of any tensor; None where they cannot be told."""
    masks = [np.zeros(np.shape(value), bool) for value in _arrays(expected) or ()]
    for name, mask in found.items():
        follow = _followers(runner, reference, case, name, mask, recorded[name], expected)
        if follow is None:
            return None
        masks = [one | other for one, other in zip(masks, follow, strict=True)]
    return masks


def random_masks(
    runner: Runner,
    reference: Target,
    case: Case,
    recorded: Mapping[str, Value],
    outputs: Sequence[tuple[str, Value]],
) -> Masks | None:
    """By output: true in the elements that hang on random numbers; None where all of them do, or none.

    Where that cannot be told element by element, everywhere in the outputs that a random operator reaches.
    `outputs` are the reference's by name; `recorded` as for `open_masks`.
    """
    expected = [value for _, value in outputs]
    wanted = _arrays(expected)
    if case.kind != "onnx" or wanted is None:
        return None
    reached = [
        undefined.nondeterministic(case.kind, case.model, case.inputs, {name}) is not None for name, _ in outputs
    ]
    masks = [np.full(value.shape, hit) for value, hit in zip(wanted, reached, strict=True)]
    names = {name for (name, _), hit in zip(outputs, reached, strict=True) if hit}
    drawn = undefined.open_elements(case.model, recorded, names, random_only=True)
    moved = None if drawn is None else all_followers(runner, reference, case, recorded, drawn, expected)
    if moved is not None:
        masks = [one & other for one, other in zip(masks, moved, strict=True)]
    hit = any(mask.any() for mask in masks)
    return tuple(masks) if hit and not all(mask.all() for mask in masks) else None


def sizes_stand(
    runner: Runner,
    reference: Target,
    case: Case,
    recorded: Mapping[str, Value],
    expected: Sequence[Value],
    outputs: set[str],
) -> bool:
    """Whether the shapes of `outputs` are the same whatever the values are that the specification leaves open.

    So they are where the reference, given other values in the place of all open or random ones, gives results of the
    same shapes. False where that cannot be tried. The other arguments as for `open_masks`.
    """
    found = undefined.open_tensors(case.model, recorded, outputs) if case.kind == "onnx" else None
    shapes = [np.shape(value) if isinstance(value, np.ndarray) else None for value in expected]
    if found is None:
        return False
    return all(
        isinstance(value := recorded.get(name), np.ndarray)
        and value.dtype.kind != "O"
        and all(_shapes_with(runner, reference, case, name, value, other) == shapes for other in _others(value.dtype))
        for name in found
    )


def _shapes_with(
    runner: Runner, reference: Target, case: Case, name: str, value: np.ndarray, other: np.ndarray
) -> list[tuple[int, ...] | None] | None:
    """The shapes of the outputs with `other` everywhere in the place of one tensor; None where that does not run."""
    rest = _behind(case, name, value)
    tried = np.broadcast_to(other, value.shape).astype(value.dtype)
    outcome = runner.run(replace(rest, inputs={**rest.inputs, _GIVEN: tried}), reference)
    if outcome.status is not Status.OK:
        return None
    return [np.shape(found) if isinstance(found, np.ndarray) else None for found in values(outcome)]


def _followers(
    runner: Runner, reference: Target, case: Case, name: str, mask: np.ndarray, value: Value, expected: Sequence[Value]
) -> list[np.ndarray] | None:
    """By output: the elements that change with the masked ones of one tensor; None where they cannot be told."""
    wanted = _arrays(expected)
    if not isinstance(value, np.ndarray) or value.shape != mask.shape or wanted is None:
        return None
    tries = (np.where(mask, other, value) for other in [*_others(value.dtype), *_shuffled(value)])
    return moved_by(runner, reference, case, name, tries, expected)


def moved_by(
    runner: Runner, reference: Target, case: Case, name: str, tries: Iterable[np.ndarray], expected: Sequence[Value]
) -> list[np.ndarray] | None:
    """By output: the elements that change where any of `tries` stands in the place of one tensor of the main graph.

    None where they cannot be told.
    """
    wanted = _arrays(expected)
    if wanted is None:
        return None
    changed, rest = [np.zeros(one.shape, bool) for one in wanted], None
    for tried in tries:
        given = name if name in case.inputs else _GIVEN
        rest = rest or (case if name in case.inputs else _behind(case, name, tried))
        outcome = runner.run(replace(rest, inputs={**rest.inputs, given: tried}), reference)
        found = _arrays(values(outcome))
        if outcome.status is not Status.OK or found is None or [a.shape for a in found] != [a.shape for a in wanted]:
            return None
        changed = [seen | _unequal(one, want) for seen, one, want in zip(changed, found, wanted, strict=True)]
    return changed


def _others(dtype: np.dtype) -> list[np.ndarray]:
    """What is put in the place of an open element, one after the other: the ordinary and the extreme."""
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        return [np.asarray(number, dtype) for number in (0, 3, limits.min, limits.max)]
    return [np.asarray(number).astype(dtype) for number in (0, 3, np.inf, -np.inf, np.nan)]


def _shuffled(value: np.ndarray) -> list[np.ndarray]:
    """The values in two other orders: what picks among them sees no difference between equal ones."""
    orders = (np.random.default_rng(seed).permutation(value.size) for seed in (1, 2))
    return [value[..., ::-1], *(value.ravel()[order].reshape(value.shape) for order in orders)] if value.ndim else []


def _arrays(found: Sequence[Value]) -> list[np.ndarray] | None:
    """The values, if all of them are arrays."""
    arrays = [value for value in found if isinstance(value, np.ndarray)]
    return arrays if len(arrays) == len(found) else None


def _unequal(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    if one.dtype.kind == other.dtype.kind == "f":
        return np.asarray((one != other) & ~(np.isnan(one) & np.isnan(other)))
    return np.asarray(one != other)


def _behind(case: Case, name: str, value: np.ndarray) -> Case:
    """The model with the input `_GIVEN` in the place of one of its tensors, whose values these are."""
    model = onnx.load_model_from_string(case.model)
    for node in model.graph.node:
        renamed = [_GIVEN if taken == name else taken for taken in node.input]
        made = [_UNUSED if given == name else given for given in node.output]
        del node.input[:], node.output[:]
        node.input.extend(renamed)
        node.output.extend(made)
    model.graph.node.append(onnx.helper.make_node("Identity", [_GIVEN], [name]))  # for bodies and outputs
    dtype = onnx.helper.np_dtype_to_tensor_dtype(value.dtype)
    model.graph.input.append(onnx.helper.make_tensor_value_info(_GIVEN, dtype, value.shape))
    _sort(model.graph)
    return Case("onnx", model.SerializeToString(), case.inputs, Origin("court"))


def _sort(graph: onnx.GraphProto) -> None:
    """The Identity of `_behind` first: it needs nothing but an input."""
    nodes = [graph.node[-1], *graph.node[:-1]]
    copies = [onnx.NodeProto.FromString(node.SerializeToString()) for node in nodes]
    del graph.node[:]
    graph.node.extend(copies)


def unordered(case: Case) -> list[onnx.NodeProto]:
    """The nodes TopK of an ONNX case that may give their results in any order, and whose results no node reads."""
    if case.kind != "onnx":
        return []
    graph = onnx.load_model_from_string(case.model).graph
    read = {name for node in walk(graph) for name in node.input}
    free = (node for node in graph.node if node.op_type == "TopK" and attributes(node).get("sorted", 1) == 0)
    bodies_give = {info.name for node in walk(graph) for body in bodies(node) for info in body.output}
    return [node for node in free if not (read | bodies_give).intersection(node.output)]


def in_order(outcome: Outcome, case: Case, recorded: Mapping[str, Value]) -> Outcome:
    """The outcome with the results of `unordered` nodes sorted, as the reference gives them."""
    found, nodes = _arrays(values(outcome)), unordered(case)
    if not nodes or found is None:
        return outcome
    names = [info.name for info in onnx.load_model_from_string(case.model).graph.output]
    if len(found) != len(names):
        return outcome
    results = dict(zip(names, found, strict=True))
    for node in nodes:
        results.update(_sorted(node, results, recorded.get(node.input[0])))
    pairs = zip(outcome.outputs, names, strict=True)
    return replace(outcome, outputs=tuple((given, results[name]) for (given, _), name in pairs))


def of_equal_values(outcome: Outcome, case: Case, expected: Sequence[Value]) -> Outcome:
    """The outcome of a call with the places of equal values as the reference has them (`fuzz.oracles.ties`)."""
    found = ties.in_order(case.model, values(outcome), expected) if case.kind == "instance" else None
    if found is None:
        return outcome
    pairs = zip(outcome.outputs, found, strict=True)
    return replace(outcome, outputs=tuple((name, value) for (name, _), value in pairs))


def _sorted(node: onnx.NodeProto, results: Mapping[str, np.ndarray], x: Value) -> dict[str, np.ndarray]:
    """Values and places by what stands at the places, without these by the values; nothing where they do not fit."""
    own = {name: results[name] for name in node.output if name in results}
    given = attributes(node)
    axis, places = int(given.get("axis", -1)), results.get(node.output[1]) if len(node.output) > 1 else None
    try:
        if places is not None and isinstance(x, np.ndarray):
            key = np.take_along_axis(x, places.astype(np.int64), axis)
        else:
            key = results[node.output[0]]
        rank = np.unique(key, return_inverse=True)[1].reshape(key.shape)
        order = np.lexsort((rank if places is None else places, -rank if given.get("largest", 1) else rank), axis=axis)
        return {name: np.take_along_axis(value, order, axis) for name, value in own.items()}
    except (IndexError, KeyError, TypeError, ValueError):  # a compiler's results may be anything
        return {}


def defined(outcome: Outcome, expected: Sequence[Value], masks: Masks) -> Outcome:
    """The outcome with what is open in it replaced by the reference's values, so that only the rest can differ."""
    found, wanted = _arrays(values(outcome)), _arrays(expected)
    if found is None or wanted is None or [one.shape for one in found] != [mask.shape for mask in masks]:
        return outcome
    kept = [np.where(mask, want.astype(got.dtype), got) for got, want, mask in zip(found, wanted, masks, strict=True)]
    return replace(outcome, outputs=tuple((name, one) for (name, _), one in zip(outcome.outputs, kept, strict=True)))
