"""The bugs behind the cases of a suite, and their issues."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.suitefile import CONFIRMED
from fuzz import registry
from triage.ledger import Ledger
from triage.ledger.records import Issue
from triage.records import Bug
from triage.store import Store


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


def by_case(store: Store, backend: str) -> dict[str, Bug]:
    """Case id -> the bug that was reduced to this case (`suitefile` runs the same ones)."""
    name = registry.backend(backend).name
    found: dict[str, Bug] = {}
    for bug in store.bugs(CONFIRMED):
        if Path(bug.backend).stem != name or not bug.count:
            continue
        case = bug.reduced_case_id
        if case is None and bug.best_failure_id is not None:
            case = store.failure(bug.best_failure_id).failure.case.id
        if case is not None:
            found.setdefault(case, bug)
    return found


def by_any_case(store: Store, backend: str) -> dict[str, Bug]:
    """Case id -> the bug that this case was reduced to or was seen to show."""
    reduced = by_case(store, backend)
    bugs = {bug.id: bug for bug in reduced.values()}
    return {case: bugs[number] for case, number in store.failing_cases(bugs).items()} | reduced


def with_issues(ledger: Ledger, bugs: Mapping[str, Bug], cases: Iterable[str]) -> dict[str, KnownBug]:
    """Those of the cases that are bugs, each bug once."""
    found: dict[str, KnownBug] = {}
    told: set[int] = set()
    for case in cases:
        bug = bugs.get(case)
        if bug is not None and bug.id not in told:
            told.add(bug.id)
            found[case] = KnownBug(bug, ledger.issues.of_bug(bug.id))
    return found
