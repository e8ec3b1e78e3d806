"""How often a gate says how it goes."""

from __future__ import annotations

from pathlib import Path

from bot.checks.progress import Progress
from bot.checks.run import CheckRun
from bot.desk import Desk
from bot.settings import Project, Settings
from fuzz.case import Status
from tests.bot.checks.support import nobody
from triage.ledger import Ledger
from triage.store import open_store
from triage.suite.compare import Change
from triage.suite.gate import Pair
from triage.suite.running import Ran


def pair(number: int, change: Change) -> Pair:
    ran = Ran(f"case-{number}", f"{number:016x}", "P", Status.OK)
    return Pair(ran, ran, change)


def test_the_first_result_is_told_at_once_and_later_ones_less_and_less_often(tmp_path: Path) -> None:
    project = Project(name="tiny", repository="octo/tiny", compiler="tiny")
    settings = Settings(projects={"tiny": project})
    notes: list[str] = []
    with open_store(tmp_path / "bot.db", create=True) as store:
        ledger = Ledger(store)
        check = CheckRun(ledger, project, "c" * 40, 7, "")
        now = [0.0]
        progress = Progress(Desk(settings, ledger, nobody, say=notes.append), check, lambda: now[0])
        versions = []
        for second in range(120):  # ten pairs a second, for two minutes
            for tenth in range(10):
                now[0] = second + tenth / 10
                progress.tell(pair(second * 10 + tenth, Change.NEW_FAILURE if second == 3 else Change.SAME))
            [said] = ledger.outbox.listed()
            versions.append(said.version)
    assert len(notes) == 120
    assert versions[0] == 1 and versions[5] == 2  # replaced after five seconds
    assert 6 <= versions[-1] <= 12
    assert said.payload["status"] == "in_progress" and said.payload["title"].startswith("10 new failures, 0 fixed")
    assert "- case-30\n" in said.payload["summary"]
