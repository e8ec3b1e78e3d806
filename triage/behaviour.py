"""What should have happened and what did: the words and the values of a report. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain

from fuzz.case import Case, Outcome, Status
from fuzz.oracles import refusal
from fuzz.wire import Value
from triage.differ import describe, shown, summary
from triage.drawn import drawn, form_alone
from triage.frames import without_harness
from triage.mended import mended
from triage.wording import enumerated

#: Whose result is the expected one: by the kind of case, and of what the reference itself gets wrong.
REFERENCES = {
    "onnx": "the ONNX reference evaluator",
    "instance": "eager PyTorch",
    "keras": "the same layer run eagerly on the torch backend of Keras",
    "reference": "the other implementations, which agree with each other",
}
_ENDINGS = {
    Status.SIGNAL: "The process is killed by {signal}.",
    Status.TIMEOUT: "No answer within {timeout:g} s.",
    Status.OOM: "The process runs out of memory ({peak:.0f} MiB at its peak).",
}


@dataclass(frozen=True)
class Behaviour:
    """Two sentences, each with a block of text that may be empty; `both` shows expected and actual together."""

    expected: str
    expected_text: str
    actual: str
    actual_text: str
    both: str = ""


def compared_with(backend: str, case: Case, raised: bool = False) -> str:
    """Whose result a bug of this backend, which this case shows, is compared with, in words.

    `raised`: there is none to compare, so that nobody need know what of the reference is mended.
    """
    by = REFERENCES[backend if backend in REFERENCES else case.kind]
    names = mended(case) if by == REFERENCES["onnx"] and not raised else ()
    return f"{by} (its {enumerated(names)} mended to do what the specification says)" if names else by


def behaviour(
    by: str, case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, timeout: float
) -> Behaviour:
    """The behaviour of a failing case; `by` is from `compared_with`, `timeout` the limit of a hang in seconds.

    Numbers that are drawn at random are not shown: nobody need wait for the reference's.
    """
    if symptom.startswith(refusal.ON_INVALID):
        return Behaviour(
            "The model is invalid. The compiler should refuse it with a clear error.", "", *_refused(outcome, timeout)
        )
    if outcome.status is Status.WRONG:
        both = _side_by_side(case, outcome, reference) if reference else ""
        return Behaviour(f"The result of {by}.", "", "Another result.", "", both)
    actual, text = _failing(outcome, timeout)
    if reference is not None and reference.status is Status.OK:
        random = drawn(case, reference)
        if random and len(random) == len(reference.outputs):
            return Behaviour(f"A result such as {by} gives, whose numbers are drawn at random.", "", actual, text)
        lines = [
            [f"{name}: {summary(value)}, drawn at random"] if at in random else shown(name, value)
            for at, (name, value) in enumerate(reference.outputs)
        ]
        return Behaviour(f"The result of {by}:", "\n".join(chain.from_iterable(lines)), actual, text)
    wanted = "No crash: either a result or an error that says what is not supported."
    return Behaviour(wanted, "", actual, text)


def _refused(outcome: Outcome, timeout: float) -> tuple[str, str]:
    if outcome.status in (Status.OK, Status.WRONG):
        return "It is compiled and run without a word.", ""
    return _failing(outcome, timeout)


def _failing(outcome: Outcome, timeout: float) -> tuple[str, str]:
    error = outcome.error
    if error is not None and outcome.status is Status.EXCEPTION:
        return f"{error.type or 'An exception'} is raised.", without_harness(error.message).strip()
    ending = _ENDINGS.get(outcome.status, "It fails.")
    signal = (error.signal if error else "") or "a signal"
    return ending.format(signal=signal, timeout=timeout, peak=outcome.peak_mb), ""


def _side_by_side(case: Case, outcome: Outcome, reference: Outcome) -> str:
    """The outputs that differ."""
    if len(outcome.outputs) != len(reference.outputs):
        return f"{len(reference.outputs)} outputs expected, {len(outcome.outputs)} found"
    random = form_alone(case, outcome, reference)
    pairs = enumerate(zip(reference.outputs, outcome.outputs, strict=True))
    return "\n".join(
        line
        for at, ((name, want), (_, got)) in pairs
        for line in (_forms(name, want, got) if at in random else describe(name, want, got))
    )


def _forms(name: str, want: Value, got: Value) -> list[str]:
    """How types and shapes differ; nothing where they do not."""
    one, other = summary(want), summary(got)
    return [f"{name}, whose numbers are drawn at random:", f"  expected  {one}", f"  actual    {other}"] * (
        one != other
    )
