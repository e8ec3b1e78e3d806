"""Signing failures with the help of a compiler's own registry of conversion functions."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.case import Failure
from fuzz.runner import Operator, Runner
from fuzz.zygote import BackendUnavailable
from triage import asking
from triage.operators import operators, value_names
from triage.records import NewFailure
from triage.signature import Signature, sign


class Signer:
    """Knows which function of each compiler converts which operator, by asking it once."""

    def __init__(self, runner: Runner) -> None:
        self._runner = runner

    def sign(self, failure: Failure) -> Signature:
        """The signature of a failure."""
        suspects, converters = self._suspects(failure)
        return sign(failure, suspects, converters, value_names(failure.case))

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

    def _suspects(self, failure: Failure) -> tuple[Sequence[Operator], Sequence[str]]:
        """The operators that may be at fault, and the functions that convert them, "" when unknown."""
        named = operators(failure.case)
        unknown = ["" for _ in named]
        error = failure.outcome.error
        if error and error.conversion_function:
            return named, unknown  # the failure itself names its place, which tells more than any registry
        try:
            if failure.case.kind == "instance":
                return self._met(failure) or (named, unknown)
            return named, self._runner.converters(failure.target, named)
        except BackendUnavailable:
            # A compiler that cannot answer still has its failure signed, by its stack.
            return named, unknown

    def _met(self, failure: Failure) -> tuple[list[Operator], list[str]] | None:
        """What an operator instance becomes in this compiler, if one function converts all of it; else None.

        An api's own name does not tell: torch.baddbmm reaches TVM as aten.bmm, aten.mul and aten.add.
        """
        met = asking.operators(self._runner, failure.case, failure.target)
        functions = self._runner.converters(failure.target, [("torch", name, 0) for name in met])
        plain: list[Operator] = [("torch", _without_overload(name), 0) for name in met]
        alone = len(set(functions)) == 1 and (functions[0] or len(set(plain)) == 1)
        return (plain, functions) if alone else None


def _without_overload(operator: str) -> str:
    """``aten.div`` of ``aten.div.Tensor_mode``: the variants of an operator share what converts them."""
    return ".".join(operator.split(".")[:2])
