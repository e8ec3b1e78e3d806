"""The crash oracle (OPERA section III-C): an outcome without a result, and why it counts."""

from __future__ import annotations

from fuzz.case import Outcome, Status

#: How each manner of dying reads in a signature and a sentence.
_SYMPTOMS = {Status.TIMEOUT: "hang", Status.OOM: "oom"}


def symptom(outcome: Outcome) -> str:
    """The symptom class of a failed outcome, "" when it did not fail.

    ``exception:CLASS``, ``crash:SIGNAL``, ``hang`` or ``oom``.
    """
    if outcome.status is Status.EXCEPTION and outcome.error:
        return f"exception:{outcome.error.type}"
    if outcome.status is Status.SIGNAL and outcome.error:
        return f"crash:{outcome.error.signal}"
    return _SYMPTOMS.get(outcome.status, "")


def said(outcome: Outcome) -> str:
    """What a failed outcome says of itself, on one line of at most 600 characters."""
    error = outcome.error
    told = (error.message.strip() or error.signal or error.type) if error else ""
    lines = (line.strip() for line in told.splitlines())
    return " / ".join(line for line in lines if line)[:600] or str(outcome.status)


def dies_on_invalid(outcome: Outcome) -> str:
    """The symptom of a compiler that dies on a model it should have refused with an exception, else "".

    An exception is the right answer to an invalid model, unless the process ended with it.
    """
    died = outcome.status in (Status.SIGNAL, Status.TIMEOUT, Status.OOM)
    exited = outcome.status is Status.EXCEPTION and outcome.error is not None and outcome.error.type == "Exit"
    return f"dies-on-invalid:{symptom(outcome)}" if died or exited else ""
