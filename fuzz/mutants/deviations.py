"""Table 1 of MT-DLComp (section 3.2.3): how far results of mutants part under oracles 1, 2 and 3.

Oracle 1 holds two compilers against each other, oracle 2 a compiler against a framework, here the reference evaluator
of ONNX, oracle 3 a mutant against its original on the same compiler. Only oracle 3 compares a compiler with itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from fuzz.case import Case, Outcome, Status, Target
from fuzz.mutants.judging import Judge, noise_of
from fuzz.mutants.mutator import Mutator
from fuzz.mutants.subject import Subject
from fuzz.oracles import metamorphic
from fuzz.runner import Runner
from fuzz.wire import Value

#: The paper also counts deviations of at least so many times that of oracle 3.
FAR = 4.0


@dataclass
class Oracle:
    """What one of oracles 1 and 2 said of the mutants, beside oracle 3.

    `greater`, `equal`, `smaller`: mutants whose deviation is that beside oracle 3's; `far`: at least four times it.
    `alarms`: another label, or scores that differ by delta; `honest` of them are within what rounding makes of it.
    """

    greater: int = 0
    equal: int = 0
    smaller: int = 0
    far: int = 0
    alarms: int = 0
    honest: int = 0

    def count(self, mine: float, third: float) -> None:
        """Count a mutant's deviation beside that under oracle 3."""
        self.greater += mine > third
        self.equal += mine == third
        self.smaller += mine < third
        self.far += mine > third and mine >= FAR * third


@dataclass
class Row:
    """A compiler's part of the table.

    `others` is by the implementation that the compiler is held against: compilers (oracle 1), the reference (oracle 2).
    `findings` are those of oracle 3 (`fuzz.mutants.judging.KINDS`), `alarms` what it would say without the float64
    bound; `largest` is the largest deviation under oracle 3. `excluded`: mutants that did not run, by the reason.
    """

    mutants: int = 0
    others: dict[str, Oracle] = field(default_factory=dict)
    findings: Counter[str] = field(default_factory=Counter)
    alarms: int = 0
    largest: float = 0.0
    excluded: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


class Table:
    """Counts deviations of mutants of one subject after another. `rows` are by target id."""

    def __init__(self, runner: Runner, targets: Sequence[Target], reference: Target, delta: float) -> None:
        self._runner, self._targets, self._reference, self._delta = runner, tuple(targets), reference, delta
        self.rows: dict[str, Row] = {target.id: Row() for target in targets}

    def series(self, subject: Subject, mutants: int, seed: int) -> Iterator[int]:
        """Mutate the subject so many times and count every mutant. Yields the number of each that is done."""
        judges = {target.id: Judge(self._runner, subject.case, target, self._delta) for target in self._targets}
        mutant = subject.mutant()
        mutator = Mutator(mutant, subject.profile, seed)
        for number in range(1, mutants + 1):
            mutator.mutate()
            self._count(subject.case_of(mutant, number), judges)
            yield number

    def _count(self, case: Case, judges: Mapping[str, Judge]) -> None:
        framework = self._runner.run(case, self._reference)
        found = {target.id: self._runner.run(case, target) for target in self._targets}
        noise = _Noise(self._runner, case)
        for name, outcome in found.items():
            others = {"reference": framework} | {other: each for other, each in found.items() if other != name}
            self._row(name, case, outcome, others, judges[name], noise)

    def _row(
        self,
        name: str,
        case: Case,
        outcome: Outcome,
        others: Mapping[str, Outcome],
        judge: Judge,
        noise: _Noise,
    ) -> None:
        row, original = self.rows[name], judge.known
        row.mutants += 1
        finding = judge.judged(case, outcome)
        row.findings[finding.kind] += 1
        if finding.symptom:
            row.alarms += 1
            row.failures.append(f"{case.origin.test}: {finding.kind}: {finding.symptom}: {finding.detail}")
        if outcome.status is not Status.OK or original.status is not Status.OK:
            row.excluded[str(outcome.status if outcome.status is not Status.OK else original.status)] += 1
            return
        mine = outcome.values
        third = metamorphic.distance(mine, original.values)
        row.largest = max(row.largest, third)
        for other, each in others.items():
            if each.status is Status.OK:
                self._beside(row.others.setdefault(other, Oracle()), mine, each.values, third, noise)

    def _beside(
        self, oracle: Oracle, mine: Sequence[Value], theirs: Sequence[Value], third: float, noise: _Noise
    ) -> None:
        oracle.count(metamorphic.distance(mine, theirs), third)
        if metamorphic.compare(mine, theirs, self._delta) is None:
            return
        oracle.alarms += 1
        known = noise.get()
        oracle.honest += known is not None and metamorphic.is_numeric(mine, theirs, [known, known], self._delta)


class _Noise:
    """What rounding may do to a case's outputs; asked for at most once."""

    def __init__(self, runner: Runner, case: Case) -> None:
        self._runner, self._case = runner, case
        self._asked: list[Sequence[Value] | None] = []

    def get(self) -> Sequence[Value] | None:
        """None where float64 runs fail."""
        if not self._asked:
            self._asked.append(noise_of(self._runner, self._case))
        return self._asked[0]
