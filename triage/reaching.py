"""What of the compilers a hunt has reached: operators that they were given, and functions that convert those.

The functions are what a compiler's own registry says of an operator; it is asked once for each. For operator instances
nobody knows them before they have been run, so those count by their operators alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from google.protobuf.message import DecodeError

from fuzz.case import Case, Target, Verdict
from fuzz.instance import InstanceError
from fuzz.runner import Operator, Runner
from fuzz.zygote import BackendUnavailable
from triage.operators import operators
from triage.records import Reachable, Reached


class Reach:
    """What was reached so far by this process; whoever goes on with a hunt begins with nothing, and nothing is lost."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._known = runner, set[Reached]()

    def of(self, verdicts: Iterable[Verdict]) -> list[Reached]:
        """What these verdicts have reached for the first time: only what a compiler was really given counts."""
        found = dict.fromkeys(each for one in verdicts if one.outcome for each in self._each(one.case, one.target))
        new = [each for each in found if each not in self._known]
        self._known.update(new)
        return new

    def _each(self, case: Case, target: Target) -> Iterator[Reached]:
        named = _operators(case)
        for domain, name, _ in named:
            yield Reached(Reachable.OPERATOR, f"{domain}:{name}" if domain else name)
        if case.kind == "onnx":
            for function in filter(None, self._functions(target, named)):
                yield Reached(Reachable.FUNCTION, f"{target.backend}:{function}")

    def _functions(self, target: Target, named: list[Operator]) -> list[str]:
        try:
            return self._runner.converters(target, named)
        except BackendUnavailable:
            return []


def _operators(case: Case) -> list[Operator]:
    """None of a model that cannot be read: it may fail just because it is damaged."""
    try:
        return operators(case)
    except (DecodeError, InstanceError):
        return []
