"""Which part of the compiler is at fault: what the failure does when a part is left out, or looked at by itself."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fuzz import registry
from fuzz.case import Stage, Status
from fuzz.judge import values
from fuzz.oracles import differential
from fuzz.wire import Raw, dtype_name
from triage import asking
from triage.localize import transformations
from triage.localize.location import Location, Part
from triage.localize.trial import Answer, Trial


def locate(trial: Trial, known: Location) -> Location:
    """What the stage that was reached, the frontend's own graph and the backend's lenses tell."""
    known = _raised(trial, known)
    if not known.stage:
        known = _declared(trial, known)
    look = _LENSES.get(registry.backend(trial.failure.target.backend).name)
    return look(trial, known) if look and not known.stage else known


def _raised(trial: Trial, known: Location) -> Location:
    """A frontend that fails on a valid model is at fault by that alone; later failures may have been laid earlier."""
    failure = trial.failure
    if failure.oracle != "crash":
        return known
    if failure.outcome.stage is Stage.CONVERT:
        return known.learn("the frontend itself fails, before anything is compiled", stage=Part.FRONTEND)
    if failure.outcome.stage is Stage.COMPILE:
        running = asking.raising(trial.judge.runner, failure.case, failure.target)
        if running:  # where it is raised, which need not be where it was laid: no stage is claimed
            return known.learn(f"it is raised while the pass {running[-1]} runs")
    return known


def _declared(trial: Trial, known: Location) -> Location:
    """A wrong type or shape that the frontend's graph declares was not made later; a right one was lost later."""
    failure = trial.failure
    if failure.symptom not in (differential.DTYPE, differential.SHAPE) or failure.reference is None:
        return known
    told = asking.declared(trial.judge.runner, failure.case, failure.target)
    right = ""
    for spelled, (name, value), found in zip(told, failure.reference.outputs, values(failure.outcome), strict=False):
        if not isinstance(value, np.ndarray | Raw):
            continue
        if _contradicts(spelled, dtype_name(value), value.shape):
            shown = _spelled(value)
            said = f"the graph that the frontend makes declares {name} as {spelled} already, where {shown} is right"
            return known.learn(said, stage=Part.FRONTEND)
        if "?" not in spelled and isinstance(found, np.ndarray | Raw) and _spelled(found) != spelled:
            right = right or f"the graph that the frontend makes declares {name} as {spelled}, which is right"
    if not right:
        return known
    later = asking.retyping(trial.judge.runner, failure.case, failure.target)
    after = f"; after the pass {later[0]} it is another type" if later else ""
    return known.learn(right + after, stage=Part.BEHIND)


def _spelled(value: np.ndarray | Raw) -> str:
    """A value's type and shape as frontends tell them."""
    return f"{dtype_name(value)}[{','.join(map(str, value.shape))}]"


def _contradicts(spelled: str, dtype: str, shape: tuple[int, ...]) -> bool:
    """Whether a declaration such as ``float32[2,?]`` rules the right type and shape out."""
    if spelled == "?":
        return False
    kind, _, rest = spelled.rstrip("]").partition("[")
    dims = rest.split(",") if rest else []
    if kind != dtype or len(dims) != len(shape):
        return True
    return any(dim not in ("?", str(size)) for dim, size in zip(dims, shape, strict=True))


# ---------------------------------------------------------------- what single backends offer


def _onnxruntime(trial: Trial, known: Location) -> Location:
    """Graph optimisations off: what passes then was broken by one of them."""
    if dict(trial.failure.target.options).get("opt", "all") == "off":
        return known
    if trial.ask(target=trial.target(opt="off")) is Answer.PASSES and trial.flips(trial.target(opt="off")):
        said = "with all graph optimisations off it passes, with them it fails (each seen twice)"
        return known.learn(said, stage=Part.OPTIMISATION)
    return known


def _openvino(trial: Trial, known: Location) -> Location:
    """The frontend's graph in OpenVINO's interpreter: no transformation and no plugin has touched it."""
    interpreted = trial.target(engine="interpreter")
    answer = trial.ask(target=interpreted)
    if answer is Answer.PASSES and trial.flips(interpreted):
        said = "Model.evaluate() gives the right values for the frontend's graph, the compiled model does not"
        return transformations.locate(trial, known.learn(f"{said} (each seen twice)", stage=Part.BEHIND))
    if answer is not Answer.SAME or trial.failure.oracle != "inconsistency":
        return known
    theirs = trial.outcome(interpreted)
    if theirs.status is Status.OK and not differential.compare(values(theirs), values(trial.failure.outcome)):
        # Not the frontend for certain: interpreter and plugin may make the same mistake in an operator.
        return known.learn("Model.evaluate(), without transformations or plugin, gives the same wrong values")
    return known


#: The stops of torch.compile's graph before inductor, the shortest way first, and what each adds.
_STOPS = (
    ("eager", Part.FRONTEND, "Dynamo's capture of the graph"),
    ("aot_eager", Part.FRONTEND, "AOTAutograd"),
    ("aot_eager_decomp_partition", Part.FRONTEND, "the decompositions"),
)


def _inductor(trial: Trial, known: Location) -> Location:
    """torch.compile's backends, each of which goes further: the first that fails has added the fault."""
    before = ""
    for stop, part, added in _STOPS:
        target = trial.target(stop=stop)
        answer = trial.ask(target=target)
        if answer is Answer.SAME:
            sure = trial.sure(Answer.SAME, target=target)
            if not sure or (before and not trial.sure(Answer.PASSES, target=trial.target(stop=before))):
                return known
            without = f', backend="{before}" passes' if before else ""
            return known.learn(f'backend="{stop}" fails as well{without}: {added} is at fault', stage=part)
        if answer is not Answer.PASSES:
            return known
        before = stop
    if trial.flips(trial.target(stop=before)):
        return known.learn(f'backend="{before}" passes (seen twice): the fault lies in inductor', stage=Part.BEHIND)
    return known


_LENSES: dict[str, Callable[[Trial, Location], Location]] = {
    "onnxruntime": _onnxruntime,
    "openvino": _openvino,
    "inductor": _inductor,
}
