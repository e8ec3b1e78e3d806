"""NEW to CONFIRMED: fresh processes show the same failure every time.

Where each run is wrong with other values, and filled memory does not make them equal, the court decides what it is.
"""

from __future__ import annotations

from dataclasses import replace

from fuzz.case import Failure, Status
from triage.lifecycle import State
from triage.records import Bug
from triage.steps.desk import Desk, about_values, failure_of, repeat, symptom_of

#: Fresh-process runs that must all fail the same way before a bug is believed.
CONFIRMATIONS = 3
#: The byte that fills memory when a result varies (glibc's M_PERTURB).
PERTURB = 170
UNINITIALISED = f"reads uninitialised memory: fails every time when fresh memory is filled with byte {PERTURB}"


def confirm(desk: Desk, bug: Bug) -> None:
    """NEW: fresh processes must show the same failure every time, with memory perturbed if they do not."""
    failure = failure_of(desk, bug)
    verdicts = [desk.judge.examine(failure.case, failure.target) for _ in range(CONFIRMATIONS)]
    same = [verdict for verdict in verdicts if symptom_of(verdict) == failure.symptom]
    if len(same) == len(verdicts) and (repeat(verdicts) or not about_values(failure)):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
        return
    excused = next((v for v in verdicts if v.status in (Status.SKIPPED, Status.INVALID) and not v.failure), None)
    if excused and not same:
        desk.store.advance(bug.id, State.NEW, State.INVALID, note=excused.reason)
        return
    if _fails_perturbed(desk, failure):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED, note=UNINITIALISED, perturb=PERTURB)
        return
    note = f"{failure.symptom} in {len(same)} of {len(verdicts)} fresh processes"
    if len(same) == len(verdicts):
        desk.store.advance(bug.id, State.NEW, State.CONFIRMED, note=f"{note}, each time with other values")
        return
    desk.store.advance(bug.id, State.NEW, State.FLAKY, note=note)


def _fails_perturbed(desk: Desk, failure: Failure) -> bool:
    judge = replace(desk.judge, perturb=PERTURB)
    verdicts = [judge.examine(failure.case, failure.target) for _ in range(CONFIRMATIONS)]
    return all(symptom_of(verdict) == failure.symptom for verdict in verdicts) and repeat(verdicts)
