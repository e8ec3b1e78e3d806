"""The four classes in which graph-based fuzzing (Luo et al., section IV) tells how a test of an engine ended."""

from __future__ import annotations

from enum import StrEnum

from fuzz.case import FAILING, Stage, Status


class Class(StrEnum):
    """MCF, IF, DCF and DCP of the paper."""

    CONVERSION_FAILURE = "conversion failure"
    INFERENCE_FAILURE = "inference failure"
    COMPARISON_FAILURE = "comparison failure"
    PASS = "pass"


#: Until the engine has the model in its own form; compiling that and running it is inference.
_CONVERTING = frozenset({Stage.START, Stage.LOAD, Stage.CONVERT})


def classify(status: Status, stage: Stage) -> Class | None:
    """The class of an outcome; None for what proves nothing: unsupported, skipped, invalid, flaky.

    The paper counts what an engine does not support among the conversion failures; here that stays apart.
    """
    if status is Status.OK:
        return Class.PASS
    if status is Status.WRONG:
        return Class.COMPARISON_FAILURE
    if status not in FAILING:
        return None
    return Class.CONVERSION_FAILURE if stage in _CONVERTING else Class.INFERENCE_FAILURE
