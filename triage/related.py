"""What looks like a bug: issues that its project knows already, and other bugs of the same database."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from triage import titles
from triage.known import Issue, Similar, Sought, similar, with_section
from triage.projects import described
from triage.records import Bug, StoredDraft
from triage.store import Store


def known_issues(bug: Bug, issues: Iterable[Issue]) -> list[Similar]:
    """The project's issues that look like the bug; nothing for a bug without a title. Other projects' are left out."""
    mine, _ = parted(bug, issues)
    return similar(_sought(bug), mine) if bug.title else []


def parted(bug: Bug, issues: Iterable[Issue]) -> tuple[list[Issue], list[Issue]]:
    """The issues that may be the bug's project's, and those whose address says that they are another project's."""
    tracker = described(bug.backend).tracker
    mine: list[Issue] = []
    others: list[Issue] = []
    for one in issues:
        (others if one.url and tracker and f"/{tracker}/" not in one.url else mine).append(one)
    return mine, others


def own_bugs(bug: Bug, others: Iterable[Bug]) -> list[Similar]:
    """Other drafted bugs of the same compiler that look like this one."""
    if not bug.title:
        return []
    drafted = (one for one in others if one.id != bug.id and one.backend == bug.backend and one.title)
    found = similar(replace(_sought(bug), elsewhere=()), (_as_issue(one) for one in drafted))
    return [one for one in found if one.weight > 1]  # the same operator alone makes no two bugs alike


def completed(bug: Bug, draft: StoredDraft, issues: Iterable[Issue], others: Sequence[Bug]) -> StoredDraft:
    """The draft with the section of what looks like the bug, as the lists stand today."""
    return replace(draft, body=with_section(draft.body, known_issues(bug, issues), own_bugs(bug, others)))


def write(store: Store, issues: Sequence[Issue]) -> None:
    """Bring that section of all reports in the folder up to date; a report whose file is gone is left alone."""
    bugs = store.bugs()
    for bug in bugs:
        draft = store.draft(bug.id) if bug.report_path else None
        if draft and Path(str(bug.report_path)).is_file():
            text = completed(bug, draft, issues, bugs)
            Path(str(bug.report_path)).write_text(f"# {text.title}\n\n{text.body}", encoding="utf-8")


def _sought(bug: Bug) -> Sought:
    """The mark before a title is the same for all bugs of a compiler, and says nothing of this one."""
    title = (bug.title or "").removeprefix(_mark(bug)).strip()
    return Sought(title, bug.operators, bug.message, bug.symptom, described(bug.backend).elsewhere)


def _as_issue(bug: Bug) -> Issue:
    return Issue(bug.id, (bug.title or "").removeprefix(_mark(bug)).strip(), bug.message)


def _mark(bug: Bug) -> str:
    return next((mark for mark in titles.PREFIXES.values() if (bug.title or "").startswith(mark)), "")
