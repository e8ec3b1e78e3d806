"""The title and the script of a difference: what a maintainer reads and runs. Writes nothing and runs nothing."""

from __future__ import annotations

from dataclasses import dataclass

from fuzz import instance, registry
from fuzz.case import Failure, Stage
from fuzz.wire import dtype_name
from triage import report
from triage.facts import Facts
from triage.machine import private_words
from triage.signing import Signer


@dataclass(frozen=True)
class Story:
    """What is said of a failure. `script` is "" where the case cannot be written as a script; `why_none` says why."""

    title: str
    script: str
    operators: tuple[str, ...]
    conversion_function: str
    why_none: str = ""


def story(failure: Failure, signer: Signer) -> Story:
    """The story of a failure on some build; the compiler is asked for its conversion functions only."""
    described = signer.describe(failure)
    try:
        facts = Facts(
            case=failure.case,
            target=failure.target,
            outcome=failure.outcome,
            reference=failure.reference,
            symptom=failure.symptom,
            detail=failure.detail,
            fingerprint=described.fingerprint,
            snippet=_snippet(failure),
            conversion_function=described.conversion_function,
            operators=described.operators,
            versions=_versions(failure),
            private=private_words(),
        )
        text = report.draft(facts)
    except ValueError as error:
        title = f"{' + '.join(described.operators[:3]) or 'the model'}: {failure.symptom}"
        return Story(title, "", described.operators, described.conversion_function, str(error))
    return Story(text.title, text.script, described.operators, described.conversion_function)


def _snippet(failure: Failure) -> str:
    backend = registry.backend(failure.target.backend)
    if backend.reproduce is None:
        raise ValueError(f"the backend file of {backend.name} has no reproduce()")
    kind, options = failure.case.kind, dict(failure.target.options)
    known = failure.outcome.outputs or (failure.reference.outputs if failure.reference else ())
    if kind == "onnx":
        taken = [dtype_name(value) for value in failure.case.inputs.values()]
    else:
        taken = [dtype_name(value) for value in instance.tensors(instance.parse(failure.case.model))]
    try:
        return backend.reproduce(kind, options, taken, [dtype_name(value) for _, value in known])
    except ValueError:
        until_run, call, _ = backend.reproduce(kind, options, [], []).rpartition("\nactual = ")
        if failure.outcome.stage is Stage.RUN or not call:
            raise
        return until_run  # it fails before anything is fed


def _versions(failure: Failure) -> dict[str, str]:
    packages = registry.backend(failure.target.backend).packages
    return {packages[0]: failure.target.revision.version} if packages else {}
