"""Signing failures with the help of a compiler's own registry of conversion functions."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.case import Failure, Target
from fuzz.runner import Operator, Runner
from fuzz.zygote import BackendUnavailable
from triage.operators import operators, value_names
from triage.records import NewFailure
from triage.signature import Signature, sign


class Signer:
    """Knows which function of each compiler converts which operator, by asking it once."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def sign(self, failure: Failure) -> Signature:
        """The signature of a failure."""
        suspects = operators(failure.case)
        return sign(failure, suspects, self._converters(failure.target, suspects), value_names(failure.case))

    def describe(self, failure: Failure) -> NewFailure:
        """The failure with its signature, as the store takes it."""
        signature = self.sign(failure)
        error = failure.outcome.error
        types = list(dict.fromkeys(op_type for _, op_type, _ in operators(failure.case)))
        named = [error.operator] if error and error.operator in types else types
        return NewFailure(
            failure=failure,
            fingerprint=signature.fingerprint,
            conversion_function=signature.conversion_function,
            operators=tuple(named),
            message=signature.message or failure.detail,
            why=signature.why,
        )

    def _converters(self, target: Target, suspects: Sequence[Operator]) -> list[str]:
        try:
            return self._runner.converters(target, suspects)
        except BackendUnavailable:
            # A compiler that cannot answer still has its failure signed, by its stack.
            return ["" for _ in suspects]
