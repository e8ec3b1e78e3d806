"""Signing failures with the help of a compiler's own registry of conversion functions."""

from __future__ import annotations

from collections.abc import Sequence

from fuzz.case import Failure
from fuzz.runner import Operator, Runner
from fuzz.zygote import BackendUnavailable
from triage import asking
from triage.operators import CALL, suspects, value_names
from triage.records import NewFailure
from triage.signature import Signature, sign

#: Core operators that only hand a tensor or a size on; where there are others, these are not what the call is about.
_CARRYING = ("aten.alias", "aten.clone", "aten.detach", "aten.sym_size", "aten._assert_scalar")
#: More operators than this say less than the name of the call that they came from.
MOST_OPERATORS = 3


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
        types = list(dict.fromkeys(op_type for _, op_type, _ in suspects(failure.case, error)))
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
        error = failure.outcome.error
        named = suspects(failure.case, error)
        unknown = ["" for _ in named]
        if (error and error.conversion_function) or named[:1] == [("", CALL, 0)]:
            return named, unknown  # the failure itself names its place, which tells more than any registry
        try:
            if failure.case.kind == "instance":
                return self._met(failure) or (named, unknown)
            return named, self._runner.converters(failure.target, named)
        except BackendUnavailable:
            # A compiler that cannot answer still has its failure signed, by its stack.
            return named, unknown

    def _met(self, failure: Failure) -> tuple[list[Operator], list[str]] | None:
        """What an operator instance becomes in this compiler, if one function converts it or it is few operators.

        An api's own name does not tell: torch.baddbmm reaches TVM as aten.bmm, aten.mul and aten.add, and torch.var is
        what Tensor.var is. Of many operators the name says more than a list of them would.
        """
        met = asking.operators(self._runner, failure.case, failure.target)
        computing = [name for name in met if without_overload(name) not in _CARRYING] or met
        functions = self._runner.converters(failure.target, [("torch", name, 0) for name in computing])
        plain: list[Operator] = [("torch", without_overload(name), 0) for name in computing]
        one = len(set(functions)) == 1 and bool(functions[0])
        return (plain, functions) if one or 0 < len(set(plain)) <= MOST_OPERATORS else None


def without_overload(operator: str) -> str:
    """``aten.div`` of ``aten.div.Tensor_mode``: the variants of an operator share what converts them."""
    return ".".join(operator.split(".")[:2])
