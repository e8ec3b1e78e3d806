"""The section of similar issues in the reports of a folder."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage import drafting, related
from triage.known import Issue
from triage.lifecycle import State
from triage.records import Bug, NewFailure, StoredDraft
from triage.store import Store, open_store

BODY = "text\n\n*Found, reduced and drafted by Graphwarden.*\n<!-- graphwarden:bug:1 -->\n"
LAYOUT = Issue(7, "LSTM ignores layout", "", "https://github.com/openvinotoolkit/openvino/issues/7", "OPEN")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def drafted(store: Store, folder: Path, title: str, backend: str = "openvino") -> Bug:
    case = Case("onnx", f"{backend} {title}".encode(), {}, Origin("test", title))
    target = Target(backend, Revision("1"))
    wrong = Outcome(Status.WRONG, Stage.RUN)
    failure = Failure(case, target, wrong, None, "inconsistency", "wrong:values", "off")
    store.record(0, (), [NewFailure(failure, case.id, operators=("LSTM",))])
    bug = next(one for one in store.bugs() if one.fingerprint == case.id)
    states = (State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.JUDGED)
    for before, after in itertools.pairwise(states):
        store.advance(bug.id, before, after)
    draft = StoredDraft(f"[Bug]: [ONNX] {title}", BODY, "print(1)\n")
    path = drafting.save(folder, bug, draft)
    store.advance(bug.id, State.JUDGED, State.DRAFTED, draft=draft, report_path=str(path))
    return store.bug(bug.id)


def test_reports_in_a_folder_are_brought_up_to_date(store: Store, tmp_path: Path) -> None:
    first = drafted(store, tmp_path, "LSTM ignores layout=1: returns 0")
    gone = drafted(store, tmp_path, "LSTM ignores input P: returns 0")
    Path(str(gone.report_path)).unlink()
    related.write(store, [LAYOUT])
    path = Path(str(first.report_path))
    assert "[#7]" in path.read_text() and path.with_suffix(".py").is_file()
    assert not Path(str(gone.report_path)).exists()
    related.write(store, [])
    assert path.read_text() == f"# {first.title}\n\n{BODY}"


def test_bugs_of_one_compiler_are_alike_by_more_than_their_operator(store: Store, tmp_path: Path) -> None:
    first = drafted(store, tmp_path, "LSTM ignores layout=1: returns 0")
    shape = drafted(store, tmp_path, "LSTM with layout=1 returns shape (1,) instead of (2,)")
    drafted(store, tmp_path, "LSTM returns 3 instead of 4")
    drafted(store, tmp_path, "LSTM with layout=1 returns 3", backend="tvm")
    assert [one.issue.number for one in related.own_bugs(first, store.bugs())] == [shape.id]


def test_a_bug_without_a_title_is_like_nothing(store: Store) -> None:
    case = Case("onnx", b"x", {}, Origin("test"))
    failure = Failure(case, Target("tvm", Revision("1")), Outcome(Status.WRONG, Stage.RUN), None, "o", "wrong:nan", "")
    store.record(0, (), [NewFailure(failure, "x", operators=("LSTM",))])
    [bug] = store.bugs()
    assert related.known_issues(bug, [LAYOUT]) == [] == related.own_bugs(bug, store.bugs())
