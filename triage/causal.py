"""Whether failures are one bug, by what each of them needs and by how operators are defined (decision 008).

Failures of one signature may be two bugs. A failing operator is run again without one attribute or optional input
after the other. What must be there for the failure to show is *needed*. Two failures are two bugs when each needs
something that the other does not even have: Resize with ``antialias`` and Resize with ``exclude_outside``, an LSTM
with ``layout`` and one with peepholes. Whatever proves less leaves them one bug. It costs one run an option.

A compiler whose result is bit for bit the same without an option does not look at it. A failure that does not have
the option at all has nothing to do with that, whatever it needs itself.

Nor are two one bug of which the one is there, and the other is gone, once the compiler's later parts are left out:
OpenVINO's interpreter, ONNX Runtime without graph optimisations.

Failures of two signatures may be one bug: an operator may be another by its definition.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx
from onnx import defs, inliner

from fuzz import registry
from fuzz.case import Case, Failure, Status, Target
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from triage import near, near_instance
from triage.bits import identical
from triage.localize.trial import COSTLY, Answer, Trial
from triage.messages import core
from triage.operators import value_names
from triage.parameters_torch import named
from triage.passes._instances import dropped, is_tensor, parsed, places, with_instance
from triage.schemas import is_default, schema_of
from triage.signature import normalise
from triage.submodel import load, mend


@dataclass(frozen=True)
class Needs:
    """The options of a failing operator: those that are `given`, and among them those without which it passes.

    Attributes go by their name, optional inputs as ``input NAME``, by the specification's name. `ignored` are those
    needed without which the wrong result stays the same to the bit. Without `known` nothing was asked. `early` is
    whether it fails so without the compiler's later parts (`_LATER_LEFT_OUT`); None where nothing tells.
    """

    given: frozenset[str] = frozenset()
    needed: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    known: bool = True
    early: bool | None = None

    def parts_from(self, other: Needs) -> bool:
        """Whether each needs something that the other does not have, or one an option that the compiler ignores.

        Options of one family, such as ``detect_positive`` and ``detect_negative``, are handled in one place: they
        part nothing.
        """
        if None not in (self.early, other.early) and self.early is not other.early:
            return True
        if self.known and other.known:
            mine, theirs = self.ignored - other.given, other.ignored - self.given
            if (mine or theirs) and not _words(mine) & _words(theirs):
                return True
        mine, theirs = self.needed - other.given, other.needed - self.given
        return bool(mine) and bool(theirs) and not _words(mine) & _words(theirs)


#: The options of a compiler that leave its later parts out.
_LATER_LEFT_OUT = {
    "onnxruntime": {"opt": "off"},
    "openvino": {"engine": "interpreter"},
    "inductor": {"stop": "aot_eager_decomp_partition"},
}


def _words(options: frozenset[str]) -> set[str]:
    return {word for option in options for word in option.removeprefix("input ").lower().split("_")}


def needs(trial: Trial) -> Needs:
    """What the failure needs; nothing for a hang or a case of more than one node: their options are not asked about."""
    case = trial.failure.case
    if trial.failure.outcome.status in COSTLY or not _is_single(case):
        return Needs(known=False)
    simpler = dict(_simpler(case))
    needed: set[str] = set()
    ignored: set[str] = set()
    for name, candidate in simpler.items():
        if trial.over():
            return Needs(frozenset(simpler), frozenset(needed), frozenset(ignored), known=False)
        if candidate is not None and trial.ask(candidate) is Answer.PASSES:
            needed.add(name)
            if _unmoved(trial, candidate):
                ignored.add(name)
    return Needs(frozenset(simpler), frozenset(needed), frozenset(ignored), early=_early(trial))


def _early(trial: Trial) -> bool | None:
    """Whether it fails just so without the compiler's later parts, or passes, each seen twice; None for all else.

    With other values it may fail there as well: of a zero OpenVINO's interpreter finds no position, as it should, and
    of a one too many, as the plugin does of both.
    """
    target = trial.failure.target
    without = _LATER_LEFT_OUT.get(registry.backend(target.backend).name, {})
    if not without or any(dict(target.options).get(name) == value for name, value in without.items()):
        return None
    earlier = trial.target(**without)
    answer = trial.ask(target=earlier)
    if answer is Answer.OTHER or trial.over() or not trial.sure(answer, target=earlier):
        return None
    return answer is Answer.SAME or any(
        trial.ask(other) is Answer.SAME and trial.ask(other, earlier) is Answer.SAME
        for other in _other_values(trial.failure.case)
        if not trial.over()
    )


def _other_values(case: Case) -> Iterator[Case]:
    return near_instance.other_values(case) if case.kind == "instance" else near.other_values(case)


def _is_single(case: Case) -> bool:
    return case.kind == "instance" or (case.kind == "onnx" and len(load(case).graph.node) == 1)


def _unmoved(trial: Trial, candidate: Case) -> bool:
    """Whether the compiler gives for the candidate, which it has right, the failure's own wrong bits."""
    failure = trial.failure
    if not failure.symptom.startswith("wrong:"):
        return False
    found = trial.judge.runner.run(candidate, failure.target)
    return found.status is Status.OK and identical(found, failure.outcome)


def holds(judge: Judge, case: Case, target: Target, needed: frozenset[str]) -> bool:
    """Whether a failing case passes without each of the options: it shows no other bug beside theirs."""
    simpler = {name: candidate for name, candidate in _simpler(case) if name in needed}
    return all(
        candidate is not None and judge.examine(candidate, target, fresh=False).status is Status.OK
        for candidate in simpler.values()
    )


def given(case: Case) -> frozenset[str]:
    """The options of a case's only operator that are not at their defaults; empty for a larger model."""
    return frozenset(name for name, _ in _simpler(case))


def partition(of: Needs, others: Mapping[int, Needs]) -> list[list[int]]:
    """The keys of those `others` that are another bug than `of`, grouped by what they need; first come, first."""
    groups: list[tuple[Needs, list[int]]] = []
    for key, one in others.items():
        if not one.parts_from(of):
            continue
        group = next((keys for first, keys in groups if not one.parts_from(first)), None)
        if group is None:
            groups.append((one, [key]))
        else:
            group.append(key)
    return [keys for _, keys in groups]


def why(of: Needs, other: Needs) -> str:
    """The sentence that explains why `other` is another bug than `of`."""
    if None not in (of.early, other.early) and of.early is not other.early:
        gone, there = ("it", "the other") if of.early else ("the other", "it")
        return f"{gone} passes once the compiler's later parts are left out, and {there} fails all the same"
    if of.ignored - other.given:
        return f"it has no {', '.join(sorted(of.ignored - other.given))}, which is all that the other fails to look at"
    if other.ignored - of.given:
        return f"the compiler does not look at {', '.join(sorted(other.ignored - of.given))}, which the other has not"
    theirs, ours = (", ".join(sorted(part)) for part in (other.needed - of.given, of.needed - other.given))
    return f"it passes without {theirs}, which the other has not, as the other passes without {ours}"


# ---------------------------------------------------------------- operators that are defined by another


def by_definition(judge: Judge, failure: Failure) -> Failure | None:
    """The failure of the one operator that the failing one is by its definition in ONNX, if it fails just so.

    CastLike is Cast, by the function body in its schema. Where Cast fails in the same way, with the same wrong
    values, the bug is Cast's, and CastLike only another way to it.
    """
    case = definition(failure.case) if failure.outcome.status not in COSTLY else None
    found = judge.examine(case, failure.target).failure if case else None
    if found is None or (found.symptom, found.outcome.stage) != (failure.symptom, failure.outcome.stage):
        return None
    if differential.compare(values(found.outcome), values(failure.outcome)):
        return None
    return found if said(found) == said(failure) else None


def definition(case: Case) -> Case | None:
    """The case with its only node replaced by the only operator of its function body; None where it is not so."""
    if case.kind != "onnx":
        return None
    model = load(case)
    if len(model.graph.node) != 1 or model.functions or not _has_body(model, model.graph.node[0]):
        return None
    node = model.graph.node[0]
    try:
        inlined = inliner.inline_selected_functions(model, [(node.domain, node.op_type)], inline_schema_functions=True)
    except RuntimeError:  # it does not know the types of some initializers
        return None
    made = [each for each in inlined.graph.node if each.op_type != "Constant"]
    if len(made) != 1 or made[0].op_type == node.op_type:
        return None
    return mend(case, inlined, {})


def _has_body(model: onnx.ModelProto, node: onnx.NodeProto) -> bool:
    schema = schema_of(node, model)
    bodies = ("has_function", "has_context_dependent_function")  # the type stubs do not know them
    return schema is not None and any(getattr(schema, name) for name in bodies)


def said(failure: Failure) -> str:
    """The words of a failure's exception without numbers, shapes and names; "" where there is none."""
    error = failure.outcome.error
    return normalise(core(error.message), value_names(failure.case)) if error else ""


# ---------------------------------------------------------------- cases without an option


def _simpler(case: Case) -> Iterator[tuple[str, Case | None]]:
    """(option, the case without it) for every option of the only node; None where it cannot be left out."""
    if case.kind == "instance":
        yield from _simpler_calls(case)
    if case.kind != "onnx":
        return
    model = load(case)
    if len(model.graph.node) != 1:
        return
    node = model.graph.node[0]
    schema = schema_of(node, model)
    if schema is None:
        return
    for at, attribute in enumerate(node.attribute):
        known = schema.attributes.get(attribute.name)
        if known is not None and not known.required and not is_default(attribute, known):
            yield attribute.name, _without_attribute(case, at)
    optional = defs.OpSchema.FormalParameterOption.Optional
    for at, name in enumerate(node.input):
        if name and at < len(schema.inputs) and schema.inputs[at].option == optional:
            yield f"input {schema.inputs[at].name}", _without_input(case, at)


def _simpler_calls(case: Case) -> Iterator[tuple[str, Case]]:
    """Without each argument that the function takes by name only: those by position say what the data are for."""
    instance = parsed(case)
    optional = {one.name: one.default for one in named(instance.api)} if instance.init is None else {}
    for place in places(instance):
        name = str(place.key)
        if name in optional and not is_tensor(place.of(instance)) and place.of(instance) != optional[name]:
            yield name, with_instance(case, dropped(instance, place))


def _without_attribute(case: Case, at: int) -> Case | None:
    model = load(case)
    del model.graph.node[0].attribute[at]
    return mend(case, _undeclared(model), {})


def _without_input(case: Case, at: int) -> Case | None:
    model = load(case)
    inputs: Sequence[str] = [name if place != at else "" for place, name in enumerate(model.graph.node[0].input)]
    while inputs and not inputs[-1]:
        inputs = inputs[:-1]
    model.graph.node[0].input[:] = inputs
    return mend(case, _undeclared(model), {})


def _undeclared(model: onnx.ModelProto) -> onnx.ModelProto:
    """The model without the sizes that its outputs declare: another option may give another shape."""
    for info in model.graph.output:
        for dim in info.type.tensor_type.shape.dim:
            dim.Clear()
    return model
