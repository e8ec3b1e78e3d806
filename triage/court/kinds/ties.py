"""Equal values under ArgMax, TopK and the like: is the compiler's pick one that another order of them gives?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import onnx

from fuzz.judge import values
from fuzz.operators.graph import attributes
from fuzz.operators.table import opsets, schema
from fuzz.oracles import differential
from fuzz.wire import Value
from triage.court import measure, openness, picks
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.court.thresholds import TieRule, tie_rules

SYMPTOMS = ("wrong",)


@dataclass(frozen=True)
class _Pick:
    """A node that picks among values and whose own results are outputs that differ."""

    node: onnx.NodeProto
    version: int
    given: np.ndarray
    noise: np.ndarray
    results: Mapping[int, Value]
    expected: Mapping[int, Value]


def gather(hearing: Hearing) -> Evidence | None:
    """Settles the case where another order of equal values gives the compiler's result and nothing forbids that order.

    A pick that no order of equal values, nor of values that rounding could make equal, explains speaks against
    the compiler whatever the noise. Where the specification's words order the values (``[[ties]]`` of
    ``data/court.toml``), breaking them speaks against it, too.
    """
    if not hearing.compares_values:
        return None
    if hearing.case.kind == "instance":
        return _of_call(hearing)
    if hearing.case.kind != "onnx":
        return None
    found = list(_picks(hearing))
    for pick in found:
        told = _judged(pick)
        if told is not None:
            return told
    return None if found else _substituted(hearing) or _downstream(hearing)


def broken(hearing: Hearing) -> bool:
    """Whether a node whose results differ picks what no order of equal values allows, or another than it must."""
    if not hearing.compares_values or hearing.case.kind != "onnx":
        return False
    told = next(filter(None, map(_judged, _picks(hearing))), None)
    return told is not None and bool(told.figures.get("breaks"))


def _of_call(hearing: Hearing) -> Evidence | None:
    """PyTorch's functions, whatever their words say of the order: ties are among what is never reported (issue 2)."""
    told = openness.of_equal_values(hearing.outcome, hearing.case, hearing.expected)
    if hearing.masks is not None or differential.compare(values(told), hearing.expected) is not None:
        return None
    sentence = "the call meets equal values, and the place of another one of them gives the compiler's result"
    return Evidence("ties", Side.FOR, sentence, {}, Ruling.UNDEFINED)


def _picks(hearing: Hearing) -> Iterator[_Pick]:
    model = onnx.load_model_from_string(hearing.case.model)
    actual = dict(zip([info.name for info in model.graph.output], hearing.actual, strict=True))
    names = [name for name, _ in hearing.known.outcome.outputs]
    differing = differential.differing(list(zip(names, hearing.actual, strict=True)), hearing.known.outcome.outputs)
    places = hearing.widened.places if hearing.widened else {}
    for node in model.graph.node:
        given = hearing.values.get(node.input[0]) if node.input else None
        place = picks.PLACES.get(node.op_type, len(node.output))
        told = set(node.output[place : place + 1])  # values that no place goes with are judged as values
        if not isinstance(given, np.ndarray) or not differing & set(node.output) or not told & actual.keys():
            continue
        found = schema(node, opsets(model))
        results = {at: actual[name] for at, name in enumerate(node.output) if name in actual}
        expected = {at: hearing.values[name] for at, name in enumerate(node.output) if name in hearing.values}
        noise = places.get(node.output[0])
        still = noise if noise is not None and noise.shape == given.shape else np.zeros(given.shape)
        yield _Pick(node, found.since_version if found else 0, given, still, results, expected)


def _judged(pick: _Pick) -> Evidence | None:
    operator, given = pick.node.op_type, attributes(pick.node)
    rule = picks.RULES[operator]
    if operator == "MaxPool" and not picks.as_large(pick.results.get(0), pick.expected.get(0), pick.noise):
        return _breaking(operator, given)
    if rule(pick.given, np.zeros(pick.given.shape), pick.results, given) and _is_exact(pick, given):
        return _tie(pick, next((each for each in tie_rules() if each.covers(operator, pick.version, given)), None))
    if rule(pick.given, pick.noise, pick.results, given):
        sentence = f"{operator} meets values so near each other that rounding decides which of them comes first"
        return Evidence("ties", Side.FOR, sentence, {"operator": operator}, Ruling.NOISE)
    return _breaking(operator, given)


def _breaking(operator: str, given: Mapping[str, object]) -> Evidence:
    sentence = f"no order of equal values gives the compiler's result of {operator}: it picks others than the largest"
    if operator == "ArgMin" or given.get("largest") == 0:
        sentence = sentence.replace("largest", "smallest")
    return Evidence("ties", Side.AGAINST, sentence, {"operator": operator, "breaks": True})


def _is_exact(pick: _Pick, given: Mapping[str, object]) -> bool:
    """Whether values that are equal in the reference, and among those picked, are equal however they are rounded."""
    operator = pick.node.op_type
    axis = given.get("axis", -1 if operator in ("Hardmax", "TopK") else 0)
    if not pick.noise.any():
        return True
    if operator == "MaxPool" or not isinstance(axis, int) or not -pick.given.ndim <= axis < pick.given.ndim:
        return False
    lines, moved = (np.moveaxis(each.astype(np.float64), axis, -1) for each in (pick.given, pick.noise))
    lines = -lines if operator == "ArgMin" or given.get("largest", 1) == 0 else lines
    order = np.argsort(lines, axis=-1)
    ranked, moved = (np.take_along_axis(each, order, axis=-1) for each in (lines, moved))
    least = ranked[..., -_picked(pick, axis), None]
    same = (ranked[..., 1:] == ranked[..., :-1]) & (ranked[..., 1:] >= least)
    return not np.any(same & ((moved[..., 1:] > 0) | (moved[..., :-1] > 0)))


def _picked(pick: _Pick, axis: int) -> int:
    """How many values of each line are picked: one, but for TopK."""
    places, length = pick.results.get(1), pick.given.shape[axis]
    if not isinstance(places, np.ndarray) or places.ndim != pick.given.ndim:
        return 1
    return min(max(int(places.shape[axis]), 1), int(length))


def _tie(pick: _Pick, words: TieRule | None) -> Evidence:
    operator = pick.node.op_type
    said = f'. The specification: "{words.spec}"' if words else ", of which the specification says nothing"
    figures = {"operator": operator, "specification": words.spec if words else "", "breaks": bool(words and words.held)}
    if words and words.held:
        sentence = f"{operator} meets equal values and takes another than it must{said}"
        return Evidence("ties", Side.AGAINST, sentence, figures)
    why = f". {words.reason}" if words and words.reason else ""
    sentence = f"{operator} meets equal values, and another order of them gives the compiler's result{said}{why}"
    return Evidence("ties", Side.FOR, sentence, figures, Ruling.UNDEFINED)


def _substituted(hearing: Hearing) -> Evidence | None:
    """Where more nodes follow: whether nothing differs but what hangs on which of several equal values is picked.

    The reference evaluates the rest of the model with each of them in turn.
    """
    parted = measure.parted(hearing.actual, hearing.expected)
    left, met = list(parted), None
    for node, name, tries in _choices(hearing):
        if hearing.hurried():
            break
        moved = openness.moved_by(hearing.runner, hearing.reference, hearing.case, name, tries, hearing.expected)
        if moved is not None:
            left, met = [one & ~other for one, other in zip(left, moved, strict=True)], met or node
    return None if met is None or any(np.any(each) for each in left) else _equal_values(met)


def _choices(hearing: Hearing) -> Iterator[tuple[onnx.NodeProto, str, Sequence[np.ndarray]]]:
    """The nodes that pick among equal values, whose order no words settle, each result and what it may be instead."""
    model = onnx.load_model_from_string(hearing.case.model)
    for node in model.graph.node:
        place, found, given = picks.PLACES.get(node.op_type), schema(node, opsets(model)), attributes(node)
        names = [] if place is None else [name for name in node.output[place : place + 1] if name]
        version = found.since_version if found else 0
        words = next((each for each in tie_rules() if each.covers(node.op_type, version, given)), None)
        for name in names if not (words and words.held) else []:
            x, places = hearing.values.get(node.input[0]), hearing.values.get(name)
            if isinstance(x, np.ndarray) and isinstance(places, np.ndarray):
                tries = picks.alternatives(node.op_type, x, places, given)
                if tries:
                    yield node, name, tries


def _downstream(hearing: Hearing) -> Evidence | None:
    """Likewise, as far as the evaluation under noise tells, which has disturbed the order of equal values."""
    if hearing.widened is None:
        return None
    found = measure.worst(hearing.actual, hearing.expected, hearing.widened.truth, hearing.widened.noise)
    if found is None or found.excess > 1.0:
        return None
    for node in onnx.load_model_from_string(hearing.case.model).graph.node:
        value = hearing.values.get(node.input[0]) if node.input else None
        if node.op_type in picks.RULES and isinstance(value, np.ndarray) and _has_ties(value, attributes(node)):
            return _equal_values(node)
    return None


def _equal_values(node: onnx.NodeProto) -> Evidence:
    sentence = f"{node.op_type} meets equal values, and another order of them gives the compiler's result"
    return Evidence("ties", Side.FOR, sentence, {"operator": node.op_type, "node": node.name}, Ruling.UNDEFINED)


def _has_ties(value: np.ndarray, given: Mapping[str, object]) -> bool:
    """Whether two values along the axis are equal."""
    axis = given.get("axis", -1)
    if value.ndim == 0 or not isinstance(axis, int) or not -value.ndim <= axis < value.ndim:
        return False
    ordered = np.sort(value, axis=axis)
    return bool(np.any(np.diff(ordered.astype(np.float64), axis=axis) == 0))
