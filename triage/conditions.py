"""What a bug needs to show: neighbours of the failing case are run, and those that pass prove a condition.

A title names an attribute or a kind of value only when this evidence is there, and when no further neighbour without
it fails in the same way (`triage.contrasts`).
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np
import onnx
from onnx import helper

from fuzz.case import Case, Failure, Status, Verdict
from fuzz.judge import Judge
from fuzz.wire import Raw
from triage.bits import identical
from triage.construct_meaning import parsed
from triage.contrasts import contrasts
from triage.variants import Variant, arguments, attributes, dtypes, inputs, values

#: Neighbours that a report is worth, and the seconds after which no further one is started.
MOST_RUNS = 16
SECONDS = 10.0
#: Neighbours that may refute one condition.
MOST_CONTRASTS = 6
#: With more nodes than this a title names the operators and nothing else.
MOST_NODES = 3

#: Kinds of variants that leave something out which a compiler may fail to look at.
_OPTIONS = ("attribute", "input")
#: Numbers that saturate or cancel out as well as any.
_ORDINARY = ("negative", "zero", "scalar")
#: Makers by case kind, those first that tell a maintainer most.
_MAKERS = {
    "onnx": (attributes.variants, values.variants, inputs.variants, dtypes.variants),
    "instance": (arguments.variants,),
    "keras": (),
}


@dataclass(frozen=True)
class Condition:
    """One neighbour's answer. `needed`: it passes, so the bug needs what it lacks; else it fails the same way.

    `kind` and `text` are the variant's; `sentence` says what was seen. `ignored`: the compiler gives the very same
    result without the attribute or input, so it does not look at it. `refuted`: one neighbour without it passes, but
    another one fails.
    """

    kind: str
    text: str
    sentence: str
    needed: bool
    ignored: bool = False
    refuted: bool = False


def conditions(judge: Judge, failure: Failure, seconds: float = SECONDS) -> tuple[Condition, ...]:
    """The answers of the neighbours of a failing case, in the order of their weight.

    A neighbour that is invalid, refused or excused, or that fails in another way, says nothing.
    """
    ends = time.monotonic() + seconds
    found: dict[tuple[str, str], Condition] = {}
    variants: dict[tuple[str, str], Variant] = {}
    for variant in islice(_variants(failure.case), MOST_RUNS):
        if time.monotonic() >= ends:
            break
        if (variant.kind, variant.text) not in found:
            answer = _answer(judge, failure, variant)
            if answer is not None:
                found[variant.kind, variant.text] = answer
                variants[variant.kind, variant.text] = variant
    for key, condition in found.items():
        if condition.needed:
            found[key] = _challenged(judge, failure, condition, variants[key], ends + seconds)
    return tuple(_telling(found.values()))


def _challenged(judge: Judge, failure: Failure, condition: Condition, variant: Variant, ends: float) -> Condition:
    """The condition after cases without it were tried: as it is, put more widely, or no condition any more.

    No case is begun after the monotonic time `ends`.
    """
    answered = 0
    for contrast in islice(contrasts(failure.case, variant), MOST_RUNS):
        if time.monotonic() >= ends:
            break
        passes = _passes(failure, _verdict(judge, failure, contrast.case))
        answered += passes is not None
        if answered > MOST_CONTRASTS:
            break
        if passes is not False:
            continue
        passes_else = condition.sentence.rstrip(".")
        sentence = f"{passes_else}, but with {contrast.said} it fails as well."
        if contrast.wider:
            sentence = f"{passes_else}; with {contrast.said} it fails as well."
            text = condition.text.partition("=")[0] if condition.ignored else contrast.wider
            return replace(condition, text=text, sentence=sentence)
        return replace(condition, sentence=sentence, needed=False, refuted=True)
    return condition


def _telling(found: Collection[Condition]) -> Iterator[Condition]:
    """Those that tell what is broken. Beside an option that matters, other numbers may merely hide its effect."""
    option = any(one.needed and one.kind in _OPTIONS for one in found)
    for one in found:
        seen = one.needed or one.refuted
        if not (option and seen and one.kind == "value" and one.text.split()[0] in _ORDINARY):
            yield one


def _variants(case: Case) -> Iterator[Variant]:
    if case.kind == "onnx" and len(parsed(case.model).graph.node) > MOST_NODES:
        return iter(())
    return chain.from_iterable(make(case) for make in _MAKERS[case.kind])


def _answer(judge: Judge, failure: Failure, variant: Variant) -> Condition | None:
    verdicts = [_verdict(judge, failure, case) for case in variant.cases]
    answers = {_passes(failure, verdict) for verdict in verdicts}
    if len(answers) != 1 or None in answers:
        return None
    needed = answers == {True}
    sentence = variant.sentence if needed else variant.sentence.replace(" passes.", " fails as well.")
    option = needed and variant.kind in _OPTIONS and failure.symptom.startswith("wrong:")
    ignored = option and all(v and v.outcome and identical(v.outcome, failure.outcome) for v in verdicts)
    return Condition(variant.kind, variant.text, sentence, needed, ignored)


def _verdict(judge: Judge, failure: Failure, neighbour: Case) -> Verdict | None:
    case = with_true_shapes(judge, neighbour)
    return judge.examine(case, failure.target, fresh=False) if case else None


def _passes(failure: Failure, verdict: Verdict | None) -> bool | None:
    """Whether a neighbour passes (True) or fails the same way (False); None for every other answer."""
    if verdict is None:
        return None
    if verdict.status is Status.OK:
        return True
    same = verdict.failure is not None and verdict.failure.symptom == failure.symptom
    return False if same else None


def with_true_shapes(judge: Judge, case: Case) -> Case | None:
    """The case with its outputs declared as they come out of the reference; None when that refuses it.

    A neighbour's outputs may have other shapes and even other ranks, and a model must declare ranks.
    """
    if case.kind != "onnx":
        return case
    model = parsed(case.model)
    del model.graph.value_info[:]
    ranks = [len(info.type.tensor_type.shape.dim) for info in model.graph.output]
    for change in (0, 1, -1, 2, -2):
        _declare(model, [(None,) * max(rank + change, 0) for rank in ranks])
        loose = replace(case, model=model.SerializeToString(deterministic=True))
        outcome = judge.runner.run(loose, judge.reference)
        if outcome.status is Status.OK:
            values = [value for _, value in outcome.outputs]
            _declare(model, [tuple(value.shape) if isinstance(value, np.ndarray | Raw) else () for value in values])
            return replace(case, model=model.SerializeToString(deterministic=True))
    return None


def _declare(model: onnx.ModelProto, shapes: Sequence[tuple[int | None, ...]]) -> None:
    """Give the outputs of dense tensors new shapes, None being an unknown size."""
    for info, shape in zip(model.graph.output, shapes, strict=True):
        if info.type.HasField("tensor_type"):
            kind = info.type.tensor_type.elem_type
            info.CopyFrom(helper.make_tensor_value_info(info.name, kind, shape))
