"""From outcomes to verdicts: the oracles in their order, the excuses, and confirmation in a fresh process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from fuzz import generators, registry, unsupported, untaken, validity
from fuzz.case import Case, Failure, Outcome, Status, Target, Verdict, options_from
from fuzz.generators import docs
from fuzz.limits import Limits
from fuzz.mutants import judging
from fuzz.oracles import crash, differential, refusal
from fuzz.runner import Runner
from fuzz.validity import Reference
from fuzz.wire import Value, dtype_name

#: How the reason begins why a mutant that deviates from its original is no failure.
NUMERIC = "no more than rounding makes of the two graphs"
#: Labels and scores are values.
_OF_VALUES = {"wrong:label": "wrong:values", "wrong:score": "wrong:values"}
#: By so many rounding steps of its inputs a layer's own arithmetic may be off.
ROUNDINGS = 10.0


def rule(target: Target) -> str:
    """How values of a target are compared: its option ``rule``, where its backend has one."""
    return dict(target.options).get("rule", differential.RULES[0])


def symptom(outcome: Outcome, known: Reference, rule: str = differential.RULES[0]) -> tuple[str, str]:
    """(symptom, one sentence) when an oracle objects to `outcome`, else two empty strings. Pure."""
    if known.invalid:
        found = refusal.symptom(outcome, known.broken) if known.broken else crash.dies_on_invalid(outcome)
        return found, f"the model is invalid ({known.invalid})" if found else ""
    crashed = crash.symptom(outcome)
    if crashed:
        return crashed, _said(outcome)
    if outcome.status is Status.OK and known.outcome.status is Status.OK:
        actual, expected = values(outcome), values(known.outcome)
        if known.incomparable:  # in its values
            difference = differential.misdeclared(actual, expected)
        else:
            difference = differential.compare(actual, expected, rule)
        if difference:
            return difference.symptom, difference.detail
    return "", ""


def _said(outcome: Outcome) -> str:
    error = outcome.error
    if error is None:
        return str(outcome.status)
    return error.message.strip()[:2000] or (f"the process died of {error.signal}" if error.signal else error.type)


def values(outcome: Outcome) -> list[Value]:
    """The output values of an outcome, in order, without their names."""
    return outcome.values


@dataclass(frozen=True)
class Judge:
    """Judges single cases: what the command line, the reducer and the triage steps ask.

    With `perturb`, fresh memory is filled with that byte (see `Runner.run_fresh`), with `limits` others hold than the
    runner's, both always in fresh processes.
    Without `counts_invalid`, a death on a model that turns out to be invalid is no failure: nobody asked for it.
    """

    runner: Runner
    reference: Target
    perturb: int | None = None
    counts_invalid: bool = True
    limits: Limits | None = None

    def examine(self, case: Case, target: Target, *, fresh: bool = True) -> Verdict:
        """Run reference and target and give the verdict, without other compilers' votes."""
        [known] = validity.judge(self.runner, [case], self.reference)
        if fresh or self.perturb is not None or self.limits is not None:
            outcome = self.runner.run_fresh(case, target, perturb=self.perturb, limits=self.limits)
        else:
            outcome = self.runner.run(case, target)
        return self.conclude(case, target, outcome, known)

    def conclude(self, case: Case, target: Target, outcome: Outcome, known: Reference) -> Verdict:
        """The verdict on an outcome that needs no further confirmation.

        A case that has an original is judged by what that one does on the same target (`fuzz.generators.original`).
        """
        refused = outcome.status in (Status.UNSUPPORTED, Status.SKIPPED)
        original = None if refused else generators.original(case)
        if original is not None and not known.invalid:
            return self._beside(original, case, target, outcome, known)
        found, detail = symptom(outcome, known, rule(target))
        if not found:
            return without_failure(case, target, outcome, known)
        if known.invalid:
            return failed(case, target, outcome, known, found, detail)
        recorded = validity.recorded(self.runner, case, self.reference)
        broken = validity.violation(case, recorded) or untaken.invalid(
            self.runner, case, outcome, self.reference, recorded
        )
        if broken:
            return self._invalid(case, target, outcome, replace(known, invalid=broken))
        excuse = (
            self._unrewritten(case, target, known, found)
            or self._excuse(case, target, outcome, known, found, recorded)
            or _not_carried(target, found, recorded)
            or self._uncompiled(case, target, known, found)
            or self._ill_conditioned(case, outcome, known, found)
            or self._on_one_way_only(case, target, known, found)
        )
        if excuse:
            return Verdict(case, target, Status.SKIPPED, excuse, outcome)
        return failed(case, target, outcome, known, found, detail)

    def _beside(self, original: Case, case: Case, target: Target, outcome: Outcome, known: Reference) -> Verdict:
        """The verdict by oracle 3 of MT-DLComp. What rounding can make of the two graphs is no failure."""
        finding = judging.Judge(self.runner, original, target).judged(case, outcome)
        if finding.kind in (judging.WRONG, judging.DIED):
            found = _OF_VALUES.get(finding.symptom, finding.symptom)
            verdict = failed(case, target, outcome, known, found, finding.detail)
            assert verdict.failure is not None
            return replace(verdict, failure=replace(verdict.failure, oracle="metamorphic"))
        if finding.kind == judging.NUMERIC:
            return Verdict(case, target, Status.SKIPPED, f"{NUMERIC}: {finding.detail}", outcome)
        if finding.kind == judging.UNJUDGED and outcome.status not in (Status.UNSUPPORTED, Status.SKIPPED):
            return Verdict(case, target, Status.SKIPPED, finding.detail, outcome)
        return without_failure(case, target, outcome, known)

    def compare(self, case: Case, target: Target, outcome: Outcome, known: Reference) -> Verdict:
        """The verdict without any excuse: whether the outcome is what the reference says."""
        found, detail = symptom(outcome, known, rule(target))
        if not found:
            return without_failure(case, target, outcome, known)
        return failed(case, target, outcome, known, found, detail)

    def _excuse(
        self,
        case: Case,
        target: Target,
        outcome: Outcome,
        known: Reference,
        found: str,
        recorded: Mapping[str, Value],
    ) -> str:
        """Why this failure of a valid case is not the compiler's, else "". Of deaths it may be a processor's trap."""
        if found in (differential.COUNT, differential.DTYPE):
            return ""  # whatever the values
        if found.startswith("wrong:"):
            differing = differential.differing(outcome.outputs, known.outcome.outputs, rule(target))
            return validity.undefined_behaviour(case, recorded, differing)
        exited = outcome.error is not None and outcome.error.type == "Exit"
        if outcome.status is not Status.EXCEPTION or exited:
            return validity.trapping(case, recorded, outcome)
        against = docs.broken(case.origin)  # PyTorch takes the call, but its documentation promises nothing
        if against:
            return f"the call breaks what the documentation says of the {against}"
        return validity.refusable(case, recorded)

    def _unrewritten(self, case: Case, target: Target, known: Reference, found: str) -> str:
        """Why a failure does not come of the rewriting that the target's options ask for: it comes without. Else ""."""
        options = registry.backend(target.backend).unrewritten(dict(target.options))
        if options is None:
            return ""
        plain = replace(target, options=options_from(options))
        own = self.runner.run(case, plain)
        fails = own.status is not Status.OK or symptom(own, known, rule(plain))[0]
        return f"{found} comes without the rewriting, too" if fails else ""

    def _uncompiled(self, case: Case, target: Target, known: Reference, found: str) -> str:
        """Why a failure is not the compiler's: its library errs without a compiler, too. Else ""."""
        backend = registry.backend(target.backend)
        without = backend.uncompiled_under(dict(target.options))
        if without is None or not found.startswith(("wrong:", "exception:")):
            return ""
        own = self.runner.run(case, replace(target, options=options_from({**dict(target.options), **without})))
        if found.startswith("exception:"):
            raises = f"the library that {backend.name} compiles for does not run it uncompiled, either"
            return raises if own.status is Status.EXCEPTION else ""
        if own.status is Status.OK and not differential.compare(values(own), values(known.outcome)):
            return ""
        return f"the library that {backend.name} compiles for does not agree with the reference uncompiled, either"

    def _on_one_way_only(self, case: Case, target: Target, known: Reference, found: str) -> str:
        """Why a wrong result lies with who handed the case over: on another way the same compiler is right. Else ""."""
        backend = registry.backend(target.backend)
        other = backend.another_way_under(dict(target.options)) if case.kind in backend.options else None
        if other is None or not found.startswith("wrong:"):
            return ""
        way = ",".join(f"{key}={value}" for key, value in sorted(other.items()))
        again = self.runner.run(case, replace(target, options=options_from({**dict(target.options), **other})))
        if again.status is not Status.OK:
            return (
                f"with {way} {backend.name} cannot be asked again, so the fault may lie with who handed the case over"
            )
        same = differential.compare(values(again), values(known.outcome)) is None
        return f"with {way} {backend.name} agrees with the reference" if same else ""

    def _ill_conditioned(self, case: Case, outcome: Outcome, known: Reference, found: str) -> str:
        """Why a layer's wrong values may be honest rounding: the reference's own change as much. Else ""."""
        if case.kind != "keras" or found != "wrong:values":
            return ""
        options = options_from({**dict(self.reference.options), "inputs": "nudged"})
        nudged = self.runner.run(case, replace(self.reference, options=options))
        own = differential.compare(values(nudged), values(known.outcome)) if nudged.status is Status.OK else None
        difference = differential.compare(values(outcome), values(known.outcome))
        if own is None or difference is None or own.distance * ROUNDINGS < difference.distance:
            return ""
        return "ill-conditioned: inputs moved by one rounding step change the reference's values as much"

    def _invalid(self, case: Case, target: Target, outcome: Outcome, known: Reference) -> Verdict:
        """The verdict on a case whose invalidity came to light only now, when the compiler had been shown it."""
        found, detail = symptom(outcome, known, rule(target)) if self.counts_invalid else ("", "")
        if found:
            return failed(case, target, outcome, known, found, detail)
        return without_failure(case, target, outcome, known)


def _not_carried(target: Target, found: str, recorded: Mapping[str, Value]) -> str:
    """Why wrong values are not the compiler's: it lacks a value's dtype, or holds it in a narrower one. Else ""."""
    backend = registry.backend(target.backend)
    if not backend.carried or found not in ("wrong:values", "wrong:nan", "wrong:inf"):
        return ""
    for name, value in recorded.items():
        held = backend.carried.get(dtype_name(value), "")
        if not held:
            return f"{backend.name} has no tensors of {dtype_name(value)}, as which {name} is computed"
        if held != dtype_name(value) and not _survives(np.asarray(value), held):
            return f"{backend.name} holds {dtype_name(value)} in {held}, which changes values of {name}"
    return ""


def _survives(value: np.ndarray, narrow: str) -> bool:
    with np.errstate(all="ignore"):
        return bool(np.array_equal(value.astype(narrow).astype(value.dtype), value, equal_nan=value.dtype.kind == "f"))


def without_failure(case: Case, target: Target, outcome: Outcome, known: Reference) -> Verdict:
    """Passed, invalid, unsupported or skipped: four different answers, each with its reason."""
    if known.invalid:
        return Verdict(case, target, Status.INVALID, known.invalid, outcome)
    if outcome.status is Status.UNSUPPORTED and outcome.error:
        why = unsupported.reason(registry.backend(target.backend).refuses_as, outcome.error, outcome.stage)
        return Verdict(case, target, Status.UNSUPPORTED, why, outcome)
    if outcome.status is Status.SKIPPED:
        return Verdict(case, target, Status.SKIPPED, outcome.error.message if outcome.error else "", outcome)
    if known.incomparable:
        return Verdict(case, target, Status.SKIPPED, known.incomparable, outcome)
    return Verdict(case, target, Status.OK, "", outcome)


def failed(case: Case, target: Target, outcome: Outcome, known: Reference, found: str, detail: str) -> Verdict:
    """A verdict that carries a Failure."""
    status = Status.WRONG if outcome.status is Status.OK else outcome.status
    shown = replace(outcome, status=status)
    oracle = "inconsistency" if found.startswith("wrong:") else "crash"
    failure = Failure(case, target, shown, known.outcome, oracle, found, detail)
    return Verdict(case, target, Status.INVALID if known.invalid else status, detail, shown, failure)


@dataclass(frozen=True)
class ChunkJudge:
    """Judges the outcomes of one chunk, where every target's result on a case can vote."""

    judge: Judge
    references: dict[str, Reference]
    outcomes: dict[tuple[str, str], Outcome]

    def suspicious(self, case: Case, target: Target) -> bool:
        """Whether the first outcome looks like a failure, so that fresh runs would be needed."""
        if generators.original(case) is not None:
            return True  # that is told only beside the original
        return bool(symptom(self.outcomes[case.id, target.id], self.references[case.id], rule(target))[0])

    def verdicts(self, case: Case, target: Target) -> list[Verdict]:
        """The verdict on one outcome, and on the real culprits when another case caused a death."""
        suspects = self.judge.runner.predecessors(case, target)
        mine = self._verdict(case, target)
        if mine.status is not Status.FLAKY:
            return [mine]
        return [mine, *self._culprits(suspects, target)]

    def _verdict(self, case: Case, target: Target) -> Verdict:
        outcome, known = self.outcomes[case.id, target.id], self.references[case.id]
        if generators.original(case) is not None:
            return self.judge.conclude(case, target, outcome, known)
        found, detail = symptom(outcome, known, rule(target))
        if not found:
            return without_failure(case, target, outcome, known)
        again = self.judge.runner.run_fresh(case, target)
        verdict = self.judge.conclude(case, target, again, known)
        if verdict.status in (Status.OK, Status.UNSUPPORTED) or (known.invalid and not verdict.failure):
            reason = f"{found} once, not in a fresh process: {detail}"
            return Verdict(case, target, Status.FLAKY, reason, again)
        if verdict.failure and verdict.failure.symptom.startswith("wrong:"):
            siding = self._outvoted(case, target, again)
            if siding:
                doubt = f"the reference is in doubt: {' and '.join(siding)} agree with {target.backend}"
                accusation = self._accusation(case, target, again, siding)
                return Verdict(case, target, Status.SKIPPED, doubt, again, accusation)
        return verdict

    def _accusation(self, case: Case, target: Target, outcome: Outcome, siding: Sequence[str]) -> Failure | None:
        """The failure of the reference, where another compiler shares the result; told once, by the first of them."""
        compilers = {name.partition("@")[0] for _, name in self.outcomes}
        agreeing = sorted({target.backend, *siding} & compilers)
        if case.kind != "onnx" or len(agreeing) < 2 or target.backend != agreeing[0]:
            return None
        suspect, agreed = self.references[case.id].outcome, Reference(outcome)
        return failed(case, self.judge.reference, suspect, agreed, *symptom(suspect, agreed)).failure

    def _culprits(self, suspects: Sequence[Case], target: Target) -> list[Verdict]:
        """Cases that ran before in the worker that died, and that die on their own.

        A corrupted heap kills whoever allocates next; alone in a process, the culprit dies itself.
        """
        found = []
        for suspect in suspects:
            outcome = self.judge.runner.run_fresh(suspect, target)
            if outcome.status is Status.SIGNAL:
                detail = "kills its process after it has returned its result"
                failure = Failure(suspect, target, outcome, None, "crash", crash.symptom(outcome), detail)
                found.append(Verdict(suspect, target, Status.SIGNAL, detail, outcome, failure))
        return found

    def _outvoted(self, case: Case, target: Target, outcome: Outcome) -> list[str]:
        """Who shares the accused result, if they are as many as share the reference's: then that one is in doubt.

        Voters: the reference, the test's own expected values, and one vote for each other backend.
        """
        mine, theirs = values(outcome), values(self.references[case.id].outcome)
        votes: dict[str, list[Value]] = {"the reference": theirs}
        if case.expected is not None:
            votes["the test's own expectation"] = list(case.expected)
        for (case_id, target_id), other in self.outcomes.items():
            backend = target_id.partition("@")[0]
            if case_id == case.id and backend != target.backend and other.status is Status.OK:
                votes[backend] = values(other)
        against = [name for name, voted in votes.items() if not differential.compare(theirs, voted)]
        siding = [name for name, voted in votes.items() if not differential.compare(mine, voted)]
        return [] if len(siding) < len(against) else siding
