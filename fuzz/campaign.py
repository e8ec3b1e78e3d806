"""A campaign: cases from a source, run on every target, judged, confirmed in fresh processes.

Pure of storage: it yields verdicts chunk by chunk until the source or the budget ends, and is told
what has been done already. One thread per worker slot carries a whole chunk, reference first.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from fuzz import registry, validity
from fuzz.case import Case, Outcome, Status, Target, Verdict
from fuzz.generators import Skip
from fuzz.judge import ChunkJudge, Judge
from fuzz.runner import Runner
from fuzz.validity import Reference

CHUNK = 16
#: Chunks at once on however many machines; so many as there are workers have a thread, which changes.
_MOST_CHUNKS = 4096


@dataclass(frozen=True)
class Policy:
    """What a campaign shows to the compilers and when it stops (monotonic seconds; None: never)."""

    invalid: bool = False
    deadline: float | None = None

    def over(self) -> bool:
        """Whether the budget has ended."""
        return self.deadline is not None and time.monotonic() >= self.deadline


class Campaign:
    """Runs a source of cases against targets."""

    def __init__(self, runner: Runner, targets: Sequence[Target], reference: Target, policy: Policy) -> None:
        self._runner, self._targets, self._reference, self._policy = runner, targets, reference, policy

    def run(
        self, source: Iterable[Case | Skip], is_done: Callable[[str, str], bool] = lambda case, target: False
    ) -> Iterator[list[Verdict | Skip]]:
        """Yield the verdicts of chunks in the order in which they finish.

        Those that finished while the last ones were recorded come together: a slow database is asked less often.
        `is_done(case id, target id)` names pairs that an interrupted campaign has recorded already.
        What the source itself skipped is passed through.
        """
        chunks = _chunks(iter(source))
        with ThreadPoolExecutor(_MOST_CHUNKS, "chunk") as pool:
            running: set[Future[list[Verdict | Skip]]] = set()
            try:
                while True:
                    while len(running) < self._runner.jobs and not self._policy.over():
                        chunk = next(chunks, None)
                        if chunk is None:
                            break
                        running.add(pool.submit(self._chunk, chunk, is_done))
                    if not running:
                        return
                    finished, running = wait(running, return_when=FIRST_COMPLETED)
                    whole = [future for future in finished if future.exception() is None]
                    if whole:
                        yield [entry for future in whole for entry in future.result()]
                    for future in finished.difference(whole):
                        future.result()  # raises
            finally:
                for future in running:
                    future.cancel()

    def _chunk(self, chunk: Sequence[Case | Skip], is_done: Callable[[str, str], bool]) -> list[Verdict | Skip]:
        cases = [case for case in chunk if isinstance(case, Case)]
        skips = [skip for skip in chunk if isinstance(skip, Skip)]
        return [*skips, *self._verdicts(cases, is_done)]

    def _verdicts(self, chunk: Sequence[Case], is_done: Callable[[str, str], bool]) -> list[Verdict]:
        todo = {target: [case for case in chunk if not is_done(case.id, target.id)] for target in self._targets}
        pending = {case.id for cases in todo.values() for case in cases}
        wanted = [case for case in chunk if case.id in pending]
        references = dict(
            zip((c.id for c in wanted), validity.judge(self._runner, wanted, self._reference), strict=True)
        )
        outcomes: dict[tuple[str, str], Outcome] = {}
        verdicts: list[Verdict] = []
        for target, cases in todo.items():
            shown = []
            for case in cases:
                early = self._not_shown(case, target, references[case.id])
                if early:
                    verdicts.append(early)
                else:
                    shown.append(case)
            # The outcomes come first: a batch that is not drawn to its end would be abandoned with its worker.
            for outcome, case in zip(self._until_deadline(shown, target), shown, strict=False):
                outcomes[case.id, target.id] = outcome
        judge = ChunkJudge(
            Judge(self._runner, self._reference, counts_invalid=self._policy.invalid), references, outcomes
        )
        pairs = [(case, target) for target, cases in todo.items() for case in cases if (case.id, target.id) in outcomes]
        for case, target in pairs:
            if self._policy.over() and judge.suspicious(case, target):
                continue  # not confirmed in time: the pair is left for the resumed campaign
            verdicts.extend(judge.verdicts(case, target))
        return verdicts

    def _until_deadline(self, cases: Sequence[Case], target: Target) -> Iterator[Outcome]:
        for outcome in self._runner.run_batch(cases, target):
            yield outcome
            if self._policy.over():
                return

    def _not_shown(self, case: Case, target: Target, reference: Reference) -> Verdict | None:
        backend = registry.backend(target.backend)
        if case.kind not in backend.kinds:
            return Verdict(case, target, Status.SKIPPED, f"{backend.name} takes no {case.kind_name}")
        if reference.invalid and not (self._policy.invalid or reference.broken):
            return Verdict(case, target, Status.INVALID, reference.invalid)
        return None


def _chunks(source: Iterator[Case | Skip]) -> Iterator[list[Case | Skip]]:
    while chunk := list(itertools.islice(source, CHUNK)):
        yield chunk
