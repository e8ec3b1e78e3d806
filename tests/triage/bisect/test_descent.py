"""What is told of a search that went into a merge, on ranges whose outcomes are written down."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from fuzz.case import Revision
from tests.triage.bisect.support import Written
from triage.bisect.answer import Answer
from triage.bisect.bisection import Bisection
from triage.bisect.descent import Descent
from triage.bisect.progress import Progress
from triage.revisions.merges import Side

#: Along the branch 0 … 19; 12 is a merge that takes in 20, 21, 22, which left the branch at 5.
MERGE, LEFT, INSIDE = 12, 5, (20, 21, 22)


@pytest.fixture(autouse=True)
def no_spot_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Bisection, "_may_check", lambda self, *_: self.sweep)


def gone_into(folder: Path, outcomes: str, sweep: bool = False) -> Answer:
    """The answer over the branch and what its merge takes in; outcomes of 0 … 22."""
    branch = [Revision(str(at), parent=str(at - 1)) for at in range(20)]
    side = Side(branch[LEFT], tuple(Revision(str(at)) for at in INSIDE))
    tester, spans = Written(outcomes), iter(range(9))

    def search(span: Sequence[Revision], exact: bool) -> Answer:
        progress = Progress(folder / f"{next(spans)}.json")
        return Bisection(span, tester, progress, exact=exact, sweep=sweep, keep=True).run()

    descent = Descent(
        lambda merge, before: [side] if merge.version == str(MERGE) else [],
        lambda span: search(span, exact=True),
    )
    return descent.inside(search(branch, exact=False), branch)


@pytest.mark.parametrize("sweep", [False, True])
def test_each_revision_is_told_once_whichever_search_has_seen_it(tmp_path: Path, sweep: bool) -> None:
    answer = gone_into(tmp_path, "P" * MERGE + "W" * (20 - MERGE) + "WWW", sweep)
    assert (answer.first, answer.last_before) == ("20", str(LEFT))
    tested, skipped = [each.revision for each in answer.tested], [name for name, _ in answer.skipped]
    assert sorted(map(int, [*tested, *skipped, *answer.unseen])) == list(range(23))


def test_a_revision_that_neither_search_can_test_is_told_once(tmp_path: Path) -> None:
    outcomes = "P" * LEFT + "-" + "P" * (MERGE - LEFT - 1) + "W" * (20 - MERGE) + "PWW"
    answer = gone_into(tmp_path, outcomes, sweep=True)
    assert [name for name, _ in answer.skipped] == [str(LEFT)]
    told = [each.revision for each in answer.tested] + [str(LEFT), *answer.unseen]
    assert sorted(map(int, told)) == list(range(23))
