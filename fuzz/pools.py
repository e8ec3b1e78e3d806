"""What a pool is: where cases run, on this machine (`fuzz.local`) or on others (`fuzz.remote`)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

from fuzz.case import Case, Outcome, Target
from fuzz.limits import Limits


class Ran(NamedTuple):
    """What a case of a batch did. `before`: where its worker died, the cases that had run in that worker before."""

    outcome: Outcome
    before: tuple[Case, ...] = ()


class Pool(Protocol):
    """Runs cases in isolated workers. All methods raise BackendUnavailable when a backend cannot be imported."""

    @property
    def jobs(self) -> int:
        """How many batches it can run at once, now."""

    def batch(self, cases: Sequence[Case], target: Target) -> Iterator[Ran]:
        """What each case did, in order, all by one warm worker at a time."""

    def alone(self, case: Case, target: Target, perturb: int | None = None, limits: Limits | None = None) -> Outcome:
        """One case in a process that has run nothing else (`Runner.run_fresh`)."""

    def ask(self, target: Target, question: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        """A backend's answer to ``{"op": …}``, as a document; `kind` says what its process has imported for."""

    def forget(self, target: Target) -> None:
        """End the workers of a target's interpreter."""

    def close(self) -> None:
        """End every worker."""
