"""JUDGED to DRAFTED: the report, whose reproducer must fail before it is saved."""

from __future__ import annotations

from dataclasses import replace

from triage import drafting, reproducer, twins
from triage.lifecycle import State
from triage.records import Bug
from triage.signing import Signer
from triage.steps.desk import Desk, reduced_failure, settling

#: The bug waits: the next hunt drafts it, once the environment has what the script needs.
_LACKING = (
    "its script cannot run: the environment of {build} has no {package}; "
    'add [[requires]] packages = ["{package}"] to the configuration of its builds'
)


def draft(desk: Desk, bug: Bug) -> None:
    """JUDGED: write the report; its reproducer must fail in a fresh process before it is saved."""
    failure = reduced_failure(desk, bug)
    if failure is None:
        note = "the reduced case does not fail in a fresh process"
        desk.store.advance(bug.id, State.JUDGED, State.FLAKY, note=note)
        return
    judge = replace(desk.judge, perturb=bug.perturb)
    revision = failure.target.revision
    message = failure.outcome.error.message if failure.outcome.error else ""
    rerun: reproducer.Rerun | None = None
    for spelled in drafting.spelled_out(failure):
        try:
            signer = Signer(desk.runner)
            text = drafting.write(desk.store, bug, spelled, desk.runner.limits, signer, bug.perturb, judge, rerun)
        except drafting.CannotDraft as problem:
            desk.store.amend(bug.id, State.JUDGED, note=str(problem))
            return
        rerun = reproducer.rerun(text.script, revision.python, untrusted=revision.untrusted)
        if reproducer.reproduces(failure.symptom, message, rerun):
            break
        if package := reproducer.lacking(rerun):
            desk.store.amend(bug.id, State.JUDGED, note=_LACKING.format(package=package, build=revision.version))
            return
    else:
        assert rerun is not None
        note = f"the reproducer does not show it (exit status {rerun.status}): {rerun.output[-1000:]}"
        desk.store.advance(bug.id, State.JUDGED, State.FLAKY, note=note)
        return
    with settling:
        sibling = twins.sibling(desk.store, bug, text.title)
        if sibling is not None:
            note = f"bug {sibling.id} is the same of a related operator, or of the rest of this one's attributes"
            desk.store.advance(bug.id, State.JUDGED, State.DUPLICATE, note=note)
            return
        together = twins.told_with(desk.store, bug, text.title)
        if together is not None:
            note = f"raises the same as bug {together.id} in a related operator, and one draft tells of both"
            desk.store.advance(bug.id, State.JUDGED, State.DUPLICATE, note=note)
            return
        path = drafting.save(desk.reports, bug, text)
        desk.store.advance(bug.id, State.JUDGED, State.DRAFTED, draft=text, report_path=str(path))
