"""Exports of issue lists: what is read, and what is told of a damaged one."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import pytest

from bot import issuefile
from bot.failures import Refusal
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.support import Run
from triage.lifecycle import State
from triage.records import NewFailure, StoredDraft
from triage.store import open_store

ENTRY = {
    "number": 7,
    "title": "LSTM ignores layout",
    "body": None,
    "url": "https://github.com/a/b/issues/7",
    "state": "OPEN",
}
OPENVINO = Target("openvino", Revision("2026.4.1"))
BODY = "text\n\n*Found, reduced and drafted by Graphwarden.*\n<!-- graphwarden:bug:1 -->\n"


@pytest.mark.parametrize(
    "form", [lambda entries: json.dumps(entries), lambda entries: "\n\n".join(map(json.dumps, entries))]
)
def test_an_array_and_lines_are_the_same(tmp_path: Path, form: object) -> None:
    path = tmp_path / "issues"
    path.write_text("\ufeff" + form([ENTRY, {"number": 8, "title": "x", "labels": []}]))  # type: ignore[operator]
    first, second = issuefile.read([path])
    assert (first.number, first.body, first.state) == (7, "", "OPEN") and (second.title, second.url) == ("x", "")
    assert len(issuefile.read([path, path])) == 4


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"\xff\xfe", "is not UTF-8 text"),
        (b"[{", "is not JSON"),
        (b'{"number": 1, "title": "a"}\n{"number":', "issues:2: is not JSON"),
        (b"[1]", "issue 1: is not a JSON object"),
        (b'{"title": "a"}', "issues:1: has no number"),
        (b'{"number": true, "title": "a"}', "has no number"),
        (b'{"number": 1}', "title is not text"),
        (b'{"number": 1, "title": "a", "body": 5}', "body is not text"),
        (b"[" * 100_000, "is not JSON"),
    ],
)
def test_what_is_wrong_is_told_with_its_place_and_how_to_mend_it(tmp_path: Path, content: bytes, told: str) -> None:
    path = tmp_path / "issues"
    path.write_bytes(content)
    with pytest.raises(Refusal, match=told) as refused:
        issuefile.read([path])
    assert "gh issue list" in str(refused.value)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(Refusal, match="No such file"):
        issuefile.read([tmp_path / "none.json"])


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """One drafted bug, and another one that looks like it."""
    path = tmp_path / "hunt.db"
    with open_store(path, create=True) as store:
        for name, title in (("a", "LSTM ignores layout=1: returns 0"), ("b", "LSTM with layout=1 returns shape (1,)")):
            case = Case("onnx", name.encode(), {}, Origin("test", f"test_{name}"))
            wrong = Outcome(Status.WRONG, Stage.RUN)
            failure = Failure(case, OPENVINO, wrong, None, "inconsistency", "wrong:values", "off")
            store.record(0, (), [NewFailure(failure, name, operators=("LSTM",))])
            bug = next(one for one in store.bugs() if one.fingerprint == name)
            states = (State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.JUDGED)
            for before, after in itertools.pairwise(states):
                store.advance(bug.id, before, after)
            draft = StoredDraft(f"[Bug]: [ONNX] {title}", BODY, "print('PASS')\n", ("bug",))
            store.advance(bug.id, State.JUDGED, State.DRAFTED, draft=draft)
    return path


def test_a_report_links_the_issues_and_the_bugs_that_look_like_it(gw: Run, db: Path, tmp_path: Path) -> None:
    mine = dict(ENTRY, url="https://github.com/openvinotoolkit/openvino/issues/7")
    other = dict(mine, number=8, url="https://github.com/apache/tvm/issues/8")
    path = tmp_path / "issues.json"
    path.write_text(json.dumps([mine, other, dict(mine, number=9, title="GRU ignores layout")]))
    done = gw("report", 1, "--db", db, "--known", path)
    assert done.code == 0, done.err
    link = "[#7](https://github.com/openvinotoolkit/openvino/issues/7)"
    assert f"- {link}: LSTM ignores layout (open, names LSTM and layout)" in done.out
    assert "#8" not in done.out and "#9" not in done.out
    told = "1 of 3 issues are not of openvinotoolkit/openvino (such as https://github.com/apache/tvm/issues/8)"
    assert told in done.err and "left out" in done.err
    assert "- Of the same hunt: LSTM with layout=1 returns shape (1,) (names LSTM and layout)" in done.out
    document = gw("report", 1, "--db", db, "--known", path, "--format", "json").json
    assert [one["number"] for one in document["similar_issues"]] == [7]
    assert "Similar issues" in document["body"] and gw("report", 1, "--db", db).out.count("[#7]") == 0


def test_a_damaged_export_refuses_the_report(gw: Run, db: Path, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{")
    done = gw("report", 1, "--db", db, "--known", tmp_path / "x.json")
    assert done.code == 2 and "is not JSON" in done.err and not done.out
