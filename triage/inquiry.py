"""Questions to a compiler about neighbours of one failing case, within a limit of runs; what an answer is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import onnx
from onnx import helper

from fuzz.case import Case, Failure, Status, Verdict
from fuzz.judge import Judge, values
from fuzz.oracles import differential
from fuzz.wire import Raw, Value
from triage.construct_meaning import parsed
from triage.localize.trial import COSTLY, words

#: What a run costs that ends at a limit of time or memory, in ordinary runs: it takes as long as many of them.
COSTLY_RUN = 8
#: Seconds after which no further run is started, whatever is left. Runs are what limits an inquiry, since the same bug
#: is to get the same text on a busy machine; only one on which a run takes many times as long burns this fuse.
FUSE = 600.0


@dataclass(frozen=True)
class Condition:
    """One neighbour's answer. `needed`: it passes, so the bug needs what it lacks; else it fails the same way.

    `kind` and `text` are the variant's; `sentence` says what was seen. `ignored`: the compiler gives the very same
    result without the attribute or input, so it does not look at it. `refuted`: one neighbour without it passes, but
    another one fails. `also`: other types with which it fails as well, where there are some with which it passes.
    `partly`: another case that has it passes, so it is needed and not enough.
    """

    kind: str
    text: str
    sentence: str
    needed: bool
    ignored: bool = False
    refuted: bool = False
    also: tuple[str, ...] = ()
    partly: bool = False


class Inquiry:
    """Asks for one failure, in warm workers, at most `most_runs` times.

    `cut` says that it was not asked any more after `FUSE` seconds of `clock`, with runs left.
    """

    def __init__(
        self, judge: Judge, failure: Failure, most_runs: int, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self.judge, self.failure, self.cut = judge, failure, False
        self._clock, self._ends, self._left = clock, clock() + FUSE, most_runs
        self._known: dict[str, Verdict | None] = {}

    def over(self) -> bool:
        """Whether nothing more may be asked."""
        if self._left > 0 and self._clock() >= self._ends:
            self.cut = True
        return self.cut or self._left <= 0

    def verdict(self, neighbour: Case) -> Verdict | None:
        """The verdict on a case; None for one that is invalid, and when nothing more may be asked.

        What the reference refuses costs no run.
        """
        if neighbour.id in self._known:
            return self._known[neighbour.id]
        if self.over():
            return None
        case = with_true_shapes(self.judge, neighbour)
        found = self._asked(case, fresh=False) if case else None
        if case and found and found.status is Status.SIGNAL and self.failure.outcome.status is not Status.SIGNAL:
            found = self._asked(case, fresh=True)  # what ran before it may have corrupted the worker's memory
        self._known[neighbour.id] = found
        return found

    def _asked(self, case: Case, *, fresh: bool) -> Verdict | None:
        found = self.judge.examine(case, self.failure.target, fresh=fresh)
        if found is not None:
            self._left -= COSTLY_RUN if found.status in COSTLY else 1
        return found

    def passes(self, neighbour: Case) -> bool | None:
        """Whether a case passes (True) or fails with the failure's symptom (False); None for every other answer.

        An exception of the same class with other words is another failure, whatever the case has in common with this;
        so is a wrong result of which other outputs are wrong.
        For a wrong result to pass proves nothing where nothing comes out: that is right whatever was computed, but for
        its type.
        """
        verdict = self.verdict(neighbour)
        if verdict is None:
            return None
        if verdict.status is Status.OK:
            given = values(verdict.outcome) if verdict.outcome else []
            empty = bool(given) and not any(map(_holds_anything, given))
            hidden = self.failure.symptom.startswith("wrong:") and self.failure.symptom != differential.DTYPE
            return None if empty and hidden else True
        found = verdict.failure
        if verdict.status is Status.SKIPPED and verdict.outcome is not None and verdict.outcome.status is Status.OK:
            return None if self.failure.symptom.startswith("wrong:") else True  # no exception, whatever came out
        same = found is not None and found.symptom == self.failure.symptom and words(found) == words(self.failure)
        return False if same and found is not None and self._of_the_same_output(found) else None

    def gives_the_same(self, neighbour: Case) -> bool:
        """Whether the reference computes of a case what it computes of the failing one, to the shape."""
        mine, outcome = self.failure.reference, self.judge.runner.run(neighbour, self.judge.reference)
        if mine is None or outcome.status is not Status.OK:
            return False
        return differential.compare(values(outcome), values(mine)) is None

    def _of_the_same_output(self, found: Failure) -> bool:
        """Whether one result at least is wrong in both: another operator's may be wrong for reasons of its own."""
        wrong, other = wrong_outputs(self.failure), wrong_outputs(found)
        return not wrong or not other or not wrong.isdisjoint(other)


def wrong_outputs(failure: Failure) -> set[int]:
    """The positions of the results that are not the reference's; none where their numbers differ or there are none."""
    if failure.reference is None or failure.outcome.status is not Status.WRONG:
        return set()
    want, got = values(failure.reference), values(failure.outcome)
    pairs = enumerate(zip(want, got, strict=True)) if len(want) == len(got) else ()
    return {at for at, (one, other) in pairs if differential.compare([other], [one]) is not None}


def _holds_anything(value: Value) -> bool:
    return 0 not in value.shape if isinstance(value, np.ndarray | Raw) else True


def with_true_shapes(judge: Judge, case: Case) -> Case | None:
    """The case with its outputs declared as they come out of the reference; None when that refuses it.

    A neighbour's outputs may have other shapes and even other ranks, and a model must declare ranks.
    """
    if case.kind != "onnx":
        return case if judge.runner.run(case, judge.reference).status is Status.OK else None
    model = parsed(case.model)
    del model.graph.value_info[:]
    ranks = [len(info.type.tensor_type.shape.dim) for info in model.graph.output]
    for change in (0, 1, -1, 2, -2):
        _declare(model, [(None,) * max(rank + change, 0) for rank in ranks])
        loose = replace(case, model=model.SerializeToString(deterministic=True))
        outcome = judge.runner.run(loose, judge.reference)
        if outcome.status is Status.OK:
            shapes = [tuple(v.shape) if isinstance(v, np.ndarray | Raw) else () for v in values(outcome)]
            _declare(model, shapes)
            return replace(case, model=model.SerializeToString(deterministic=True))
    return None


def _declare(model: onnx.ModelProto, shapes: Sequence[tuple[int | None, ...]]) -> None:
    """Give the outputs of dense tensors new shapes, None being an unknown size."""
    for info, shape in zip(model.graph.output, shapes, strict=True):
        if info.type.HasField("tensor_type"):
            kind = info.type.tensor_type.elem_type
            info.CopyFrom(helper.make_tensor_value_info(info.name, kind, shape))
