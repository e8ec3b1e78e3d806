"""run(case, target) -> Outcome: what a campaign runs cases with, wherever its pool runs them.

Safe to use from several threads.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import TracebackType
from typing import Any

from fuzz.case import Case, Outcome, Target
from fuzz.limits import Limits, Recycling
from fuzz.local import LocalPool
from fuzz.pools import Pool

#: An operator as a backend's registry is asked for it: (domain, operator type, opset).
Operator = tuple[str, str, int]


class Runner:
    """Runs cases on targets in isolated workers. Use as a context manager; `close` ends all workers.

    `jobs` is how many workers may run at once (default: the cores this process may use). With a `pool`, cases run
    there, under the limits that it was made with.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        jobs: int | None = None,
        recycling: Recycling | None = None,
        pool: Pool | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self._pool = pool or LocalPool(self.limits, jobs, recycling)
        self._converters: dict[tuple[str, Operator], str] = {}
        self._opsets: dict[str, int] = {}
        self._predecessors: dict[tuple[str, str], tuple[Case, ...]] = {}

    @property
    def jobs(self) -> int:
        """How many cases can run at once; of a pool of many machines this changes."""
        return self._pool.jobs

    def __enter__(self) -> Runner:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End every worker and zygote."""
        self._pool.close()

    def forget(self, target: Target) -> None:
        """End the workers of a target's interpreter: a sweep over many revisions needs each only once."""
        self._pool.forget(target)

    # ------------------------------------------------------------ running

    def run(self, case: Case, target: Target) -> Outcome:
        """One case in a warm worker. A failure seen here is only a suspicion: see `run_fresh`.

        All methods that run cases raise BackendUnavailable when the backend cannot be imported.
        """
        [outcome] = self.run_batch([case], target)
        return outcome

    def run_batch(self, cases: Sequence[Case], target: Target) -> Iterator[Outcome]:
        """One Outcome per case, in order, all by one warm worker at a time."""
        for case, ran in zip(cases, self._pool.batch(cases, target), strict=True):
            if ran.before:
                self._predecessors[case.id, target.id] = ran.before
            yield ran.outcome

    def run_fresh(
        self, case: Case, target: Target, *, perturb: int | None = None, limits: Limits | None = None
    ) -> Outcome:
        """One case in a process that has run nothing else, which must also exit in peace.

        With `perturb`, freed and fresh heap memory is filled with that byte (mallopt M_PERTURB), so
        that a result that reads uninitialised memory changes the same way each time. `limits` take the
        place of the runner's own.
        """
        return self._pool.alone(case, target, perturb, limits)

    def predecessors(self, case: Case, target: Target) -> tuple[Case, ...]:
        """The cases that ran before `case` in the worker that died under it; each is told once."""
        return self._predecessors.pop((case.id, target.id), ())

    # ------------------------------------------------------------ asking

    def devices(self, target: Target) -> list[str]:
        """The backend's device names. Raises BackendUnavailable with the reason it gives."""
        return [str(name) for name in self._ask(target, {"op": "devices"}, "")["devices"]]

    def converters(self, target: Target, operators: Sequence[Operator]) -> list[str]:
        """Names of the functions that convert `operators` in this compiler, "" when unknown."""
        key = f"{target.backend}@{target.revision.version}"
        missing = [entry for entry in dict.fromkeys(operators) if (key, entry) not in self._converters]
        if missing:
            kind = {"torch": "instance", "keras": "keras"}.get(missing[0][0], "onnx")
            reply = self._ask(target, {"op": "converters", "operators": missing}, kind)
            self._converters |= {
                (key, entry): str(name) for entry, name in zip(missing, reply["converters"], strict=True)
            }
        return [self._converters[key, entry] for entry in operators]

    def newest_opset(self, target: Target) -> int:
        """The newest operator set of ONNX that this compiler knows, 0 where it does not say."""
        key = f"{target.backend}@{target.revision.version}"
        if key not in self._opsets:
            self._opsets[key] = int(str(self._ask(target, {"op": "opset"}, "")["opset"]))
        return self._opsets[key]

    def _ask(self, target: Target, question: Mapping[str, Any], kind: str) -> Mapping[str, Any]:
        return self._pool.ask(target, question, kind)
