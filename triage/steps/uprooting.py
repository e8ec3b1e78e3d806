"""One operator alone behind a failure of several: then that is the bug to report."""

from __future__ import annotations

from dataclasses import replace

from fuzz.case import Failure
from triage import roots
from triage.lifecycle import State
from triage.records import Bug
from triage.signing import Signer
from triage.steps.desk import Desk, operators_of, settling


def uprooted(desk: Desk, bug: Bug, failure: Failure, state: State = State.REDUCED) -> int | None:
    """The bug of the one operator that alone, wrong in its own way, is behind the failure: that is the one to report.

    `state` is the one that `bug` is in. None where there is no such operator.
    """
    root = roots.root(replace(desk.judge, perturb=bug.perturb), failure)
    if root is None:
        return None
    described = Signer(desk.runner).describe(root)
    with settling:
        desk.store.record(0, (), [described])
        found = next((b for b in desk.store.bugs(backend=bug.backend) if b.fingerprint == described.fingerprint), None)
        if found is None or found.id == bug.id:
            return None
        note = f"comes of {', '.join(operators_of(root))}, which is wrong alone: see bug {found.id}"
        desk.store.advance(bug.id, state, State.DUPLICATE, note=note)
    return found.id
