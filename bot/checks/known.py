"""The bugs behind the cases of a suite, and their issues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bot.suitefile import CONFIRMED
from fuzz import registry
from triage.ledger import Ledger
from triage.ledger.records import Issue
from triage.lifecycle import State
from triage.records import Bug
from triage.store import Store
from triage.suite.telling import Told


@dataclass(frozen=True)
class KnownBug:
    """A bug with the issue that it has, if it has one."""

    bug: Bug
    issue: Issue | None = None

    def called(self, repository: str) -> str:
        """How it is named in a repository: ``#12``, ``owner/name#12``, or ``bug 3`` where nobody has reported it."""
        if self.issue is None:
            return f"bug {self.bug.id}"
        here = self.issue.repository.lower() == repository.lower()
        return f"#{self.issue.number}" if here else f"{self.issue.repository}#{self.issue.number}"

    @property
    def title(self) -> str:
        """Its report's title, else what is known."""
        return self.bug.title or f"{' + '.join(self.bug.operators) or 'the model'}: {self.bug.symptom}"


#: Bugs by the cases that show them: an operator that breaks twice may be reduced to one model both times.
ByCase = Mapping[str, Sequence[Bug]]
#: States of a bug that is gone.
_GONE = frozenset({State.FIXED, State.CLOSED})


def by_case(store: Store, backend: str) -> ByCase:
    """Case id -> the bugs that were reduced to this case (`suitefile` runs the same ones)."""
    name = registry.backend(backend).name
    found: dict[str, list[Bug]] = {}
    for bug in store.bugs(CONFIRMED):
        if Path(bug.backend).stem != name or not bug.count:
            continue
        case = bug.reduced_case_id
        if case is None and bug.best_failure_id is not None:
            case = store.failure(bug.best_failure_id).failure.case.id
        if case is not None:
            found.setdefault(case, []).append(bug)
    return found


def by_any_case(store: Store, backend: str) -> ByCase:
    """Case id -> the bugs that this case was reduced to or was seen to show."""
    reduced = by_case(store, backend)
    bugs = {bug.id: bug for some in reduced.values() for bug in some}
    found = {case: {bug.id: bug for bug in some} for case, some in reduced.items()}
    for case, numbers in store.failing_cases(bugs).items():
        found.setdefault(case, {}).update((number, bugs[number]) for number in numbers)
    return {case: list(some.values()) for case, some in found.items()}


def shown(bugs: Sequence[Bug], symptom: str) -> list[Bug]:
    """Those of the bugs of a case that it shows when it fails so; where none fits, those that are not gone."""
    return [bug for bug in bugs if bug.symptom == symptom] or [bug for bug in bugs if bug.state not in _GONE]


def with_issues(ledger: Ledger, bugs: ByCase, fixed: Iterable[Told]) -> dict[str, list[KnownBug]]:
    """The bugs that were reduced to the cases of these differences and that they show, by case, each bug once."""
    found: dict[str, list[KnownBug]] = {}
    told: set[int] = set()
    for one in fixed:
        for bug in shown(bugs.get(one.id, ()), one.symptom):
            if bug.id not in told:
                told.add(bug.id)
                found.setdefault(one.id, []).append(KnownBug(bug, ledger.issues.of_bug(bug.id)))
    return found


def no_news(bugs: ByCase, fixed: Iterable[Told]) -> set[str]:
    """The cases, among these differences, that a known bug was seen in: beside the bug they are no news."""
    return {one.id for one in fixed if shown(bugs.get(one.id, ()), one.symptom)}
