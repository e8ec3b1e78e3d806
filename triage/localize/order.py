"""Which passes of a drawn sequence are guilty: the fewest with which it still fails, where without any it passes.

Every backend with the option ``sequence`` can be asked (fuzz/sequences).
"""

from __future__ import annotations

from fuzz import deltas
from triage.localize.location import Location, Part
from triage.localize.trial import Answer, Trial

#: A search that needs more runs than this gives what it has found so far.
MOST_RUNS = 40
_NONE = "none"


def locate(trial: Trial, known: Location) -> Location:
    """What leaving out steps of the sequence tells."""
    drawn = dict(trial.failure.target.options).get("sequence", _NONE)
    without = trial.target(sequence=_NONE)
    if drawn == _NONE or trial.ask(target=without) is not Answer.PASSES:
        return known
    steps = drawn.split(",")

    def fails(kept: frozenset[int]) -> bool:
        chosen = ",".join(steps[at] for at in sorted(kept))
        return not trial.over() and trial.ask(target=trial.target(sequence=chosen)) is Answer.SAME

    guilty = [steps[at] for at in sorted(deltas.smallest(range(len(steps)), fails, most_runs=MOST_RUNS))]
    if not trial.flips(without, trial.target(sequence=",".join(guilty))):
        return known
    said = f"after {' and '.join(guilty)} it fails, without any pass of the sequence it passes (each seen twice)"
    return known.learn(said, pass_=" + ".join(guilty), stage=Part.OPTIMISATION)
