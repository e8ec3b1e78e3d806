"""Which passes of a drawn sequence are guilty: the fewest with which it still fails, where without any it passes.

Every backend with the option ``sequence`` can be asked (fuzz/sequences).
"""

from __future__ import annotations

from fuzz import deltas, sequences
from fuzz.case import Failure
from fuzz.judge import Judge
from triage.localize.location import Location, Part
from triage.localize.trial import COSTLY, Answer, Trial

#: A search that needs more runs than this gives what it has found so far.
MOST_RUNS = 40


def locate(trial: Trial, known: Location) -> Location:
    """What leaving out steps of the sequence tells."""
    guilty = _guilty(trial)
    target = trial.failure.target
    if not guilty or not trial.flips(sequences.only(target, ()), sequences.only(target, guilty)):
        return known
    said = f"after {' and '.join(guilty)} it fails, without any pass of the sequence it passes (each seen twice)"
    return known.learn(said, pass_=" + ".join(guilty), stage=Part.OPTIMISATION)


def minimised(judge: Judge, failure: Failure, deadline: float | None = None) -> Failure:
    """The failure after the guilty passes of its sequence alone; as it is where that cannot be seen twice."""
    steps = sequences.of(failure.target)
    if len(steps) < 2 or failure.outcome.status in COSTLY:
        return failure
    guilty = _guilty(Trial(judge, failure, deadline))
    if not guilty or guilty == steps:
        return failure
    found = judge.examine(failure.case, sequences.only(failure.target, guilty)).failure
    return found if found is not None and found.symptom == failure.symptom else failure


def _guilty(trial: Trial) -> tuple[str, ...]:
    """The fewest steps, in their order, with which it still fails; none where it does not pass without any."""
    target = trial.failure.target
    steps = sequences.of(target)
    if not steps or trial.ask(target=sequences.only(target, ())) is not Answer.PASSES:
        return ()

    def fails(kept: frozenset[int]) -> bool:
        chosen = sequences.only(target, [steps[at] for at in sorted(kept)])
        return not trial.over() and trial.ask(target=chosen) is Answer.SAME

    return tuple(steps[at] for at in sorted(deltas.smallest(range(len(steps)), fails, most_runs=MOST_RUNS)))
