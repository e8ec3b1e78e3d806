"""`graphwarden hunt --strategy`: only orders that there are."""

from __future__ import annotations

from pathlib import Path

from tests.bot.support import Run


def test_an_unknown_strategy_is_refused_before_anything_runs(gw: Run, tmp_path: Path) -> None:
    done = gw("hunt", "--strategy", "best", "--db", tmp_path / "x.db", "--out", tmp_path / "out")
    assert done.code == 2 and "unknown strategy 'best': choose one of" in done.err
    assert not (tmp_path / "x.db").exists()
