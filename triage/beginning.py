"""Where a failure of a large model begins: the first operator without whose result nothing fails.

One wrong shape makes whatever comes later complain of shapes, each in its own words. So a failure is looked for in
beginnings of the model, the shortest that fails being found by bisection: a handful of runs, where a reduction takes
minutes. All results are outputs, so that none is hidden by what reads it; where the failure needs that some are not
(operators are fused), only those are that nothing reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import onnx

from fuzz import validity
from fuzz.case import Failure, Outcome, Stage, Status, Target
from fuzz.judge import rule, symptom
from fuzz.oracles import differential
from fuzz.runner import Runner
from fuzz.validity import Reference
from fuzz.wire import Value
from triage.submodel import load, mend, reads, replace_items, value_info


@dataclass(frozen=True)
class Beginning:
    """The type of an operator, and how the model fails that ends with it; the compiler's words, if it has any."""

    operator: str
    symptom: str
    message: str = ""


def beginning(runner: Runner, failure: Failure, reference: Target) -> Beginning | None:
    """Where a failure of an ONNX model begins; None where no beginning of it fails as the whole does."""
    search = _Search(runner, failure, validity.recorded(runner, failure.case, reference))
    return search.found(every=True) or search.found(every=False)


class _Search:
    def __init__(self, runner: Runner, failure: Failure, values: Mapping[str, Value]) -> None:
        self._runner, self._case, self._target = runner, failure.case, failure.target
        self._values = values
        self._nodes = list(load(failure.case).graph.node)

    def found(self, *, every: bool) -> Beginning | None:
        """The shortest beginning that fails; a wrong result in a longer one says at once where it lies."""
        passing, failing = 0, len(self._nodes)
        last = self._fails(failing, every)
        while last and not last.symptom.startswith("wrong:") and failing - passing > 1:
            middle = (passing + failing) // 2
            here = self._fails(middle, every)
            if here is None:
                passing = middle
            else:
                failing, last = middle, here
        return last

    def _fails(self, count: int, every: bool) -> Beginning | None:
        """How the model of the first `count` nodes fails, None where it does not."""
        model = load(self._case)
        nodes = self._nodes[:count]
        read = set[str]().union(*map(reads, nodes))
        ends = [name for node in nodes for name in node.output if name and (every or name not in read)]
        infos = [info for name in ends if (info := value_info(name, self._values.get(name))) is not None]
        replace_items(model.graph.node, nodes)
        replace_items(model.graph.output, infos)
        cut = mend(self._case, model, self._values)
        if cut is None:
            return None
        outcome = self._runner.run(cut, self._target)
        expected = tuple((info.name, self._values[info.name]) for info in infos)
        found, _ = symptom(outcome, Reference(Outcome(Status.OK, Stage.RUN, outputs=expected)), rule(self._target))
        if not found:
            return None
        if outcome.status is Status.OK:
            return Beginning(self._first_wrong(nodes, [info.name for info in infos], outcome), found)
        return Beginning(nodes[-1].op_type, found, outcome.error.message if outcome.error else "")

    def _first_wrong(self, nodes: list[onnx.NodeProto], names: list[str], outcome: Outcome) -> str:
        """By the model's own names: a compiler may call a result otherwise (OpenVINO that of an If by its branch's)."""
        makers = {name: node.op_type for node in nodes for name in node.output}
        for name, value in zip(names, outcome.values, strict=False):  # too few outputs are another failure
            if differential.compare([value], [self._values[name]], rule(self._target)):
                return str(makers[name])
        return str(nodes[-1].op_type)
