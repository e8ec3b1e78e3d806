"""Journals: what an interrupted run has found is there for the next one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.support import ROOT
from triage.suite.journal import Busy, Journal

QUESTION = {"command": "suite", "compiler": "tinyc"}


def test_records_of_an_interrupted_run_are_found_again(tmp_path: Path) -> None:
    with Journal(QUESTION, folder=tmp_path) as journal:
        journal.add({"id": "a"})
        journal.add({"id": "b"})
    with Journal(QUESTION, folder=tmp_path) as journal:
        assert journal.records == [{"id": "a"}, {"id": "b"}]
        journal.add({"id": "c"})
    with Journal(QUESTION, folder=tmp_path) as journal:
        assert len(journal.records) == 3


def test_another_question_has_a_journal_of_its_own(tmp_path: Path) -> None:
    with Journal(QUESTION, folder=tmp_path) as journal:
        journal.add({"id": "a"})
    with Journal({**QUESTION, "compiler": "other"}, folder=tmp_path) as journal:
        assert journal.records == []


def test_a_run_that_has_ended_is_not_gone_on_with(tmp_path: Path) -> None:
    with Journal(QUESTION, folder=tmp_path) as journal:
        journal.add({"id": "a"})
        journal.finish()
    with Journal(QUESTION, folder=tmp_path) as journal:
        assert journal.records == []


def test_a_fresh_run_forgets(tmp_path: Path) -> None:
    with Journal(QUESTION, folder=tmp_path) as journal:
        journal.add({"id": "a"})
    with Journal(QUESTION, folder=tmp_path, fresh=True) as journal:
        assert journal.records == []


@pytest.mark.parametrize("rest", [b'{"id": "b', b"\xff\xfe\n", b"[]\n", b'{"id"\n{"id": "c"}\n'])
def test_what_was_cut_short_is_dropped_and_the_rest_goes_on(tmp_path: Path, rest: bytes) -> None:
    with Journal(QUESTION, folder=tmp_path) as journal:
        journal.add({"id": "a"})
    with journal.path.open("ab") as file:
        file.write(rest)
    with Journal(QUESTION, folder=tmp_path) as journal:
        assert journal.records == [{"id": "a"}]
        journal.add({"id": "d"})
    with Journal(QUESTION, folder=tmp_path) as journal:
        assert journal.records == [{"id": "a"}, {"id": "d"}]


def test_two_processes_do_not_write_into_one_journal(tmp_path: Path) -> None:
    with Journal(QUESTION, folder=tmp_path), pytest.raises(Busy, match="another process"):
        Journal(QUESTION, folder=tmp_path)


def test_a_killed_process_leaves_its_records_and_no_lock(tmp_path: Path) -> None:
    program = (
        "import os, signal, sys; from pathlib import Path; from triage.suite.journal import Journal\n"
        f"journal = Journal({QUESTION!r}, folder=Path(sys.argv[1]))\n"
        "journal.add({'id': 'a'}); os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], env={**os.environ, "PYTHONPATH": str(ROOT)}, check=False
    )
    assert done.returncode == -signal.SIGKILL
    with Journal(QUESTION, folder=tmp_path) as journal:
        assert journal.records == [{"id": "a"}]
