"""`graphwarden bugs`, and the decisions that a person makes with it."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.support import Run
from triage.lifecycle import State
from triage.records import NewFailure
from triage.store import open_store

TVM = Target("tvm", Revision("0.27.0"))


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """Three bugs; the second one has two failures."""
    path = tmp_path / "hunt.db"
    with open_store(path, create=True) as store:
        for name, fingerprint in (("a", "A"), ("b", "B"), ("bb", "B"), ("c", "C")):
            case = Case("onnx", name.encode(), {}, Origin("test", f"test_{name}"))
            failure = Failure(case, TVM, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "off")
            store.record(0, (), [NewFailure(failure, fingerprint, operators=(fingerprint,))])
    return path


def test_a_list_of_bugs_is_one_json_document(gw: Run, db: Path) -> None:
    done = gw("bugs", "--db", db, "--json")
    assert done.code == 0 and [bug["count"] for bug in done.json] == [1, 2, 1]
    assert all(bug["location"] is None for bug in done.json)


def listed(gw: Run, db: Path) -> dict[str, int]:
    return {bug["operators"][0]: bug["count"] for bug in gw("bugs", "--db", db, "--json").json}


def number(gw: Run, db: Path, operator: str) -> int:
    return next(bug["id"] for bug in gw("bugs", "--db", db, "--json").json if bug["operators"] == [operator])


@pytest.mark.parametrize("before", [True, False], ids=["db first", "db last"])
def test_a_merged_bug_is_listed_no_more(gw: Run, db: Path, before: bool) -> None:
    a, b = number(gw, db, "A"), number(gw, db, "B")
    place = ("--db", str(db), "--json")
    done = gw("bugs", *place, "merge", a, b) if before else gw("bugs", "merge", a, b, *place)
    assert done.code == 0, done.err
    assert done.json == {"bug": a, "merged": b}
    assert listed(gw, db) == {"A": 3, "C": 1}


def test_a_failure_is_split_off_by_its_id(gw: Run, db: Path) -> None:
    b = number(gw, db, "B")
    failures = gw("bugs", "failures", b, "--db", db, "--json").json
    assert [(one["test"], one["best"]) for one in failures] == [("test_b", True), ("test_bb", False)]
    done = gw("bugs", "split", b, failures[1]["id"], "--db", db, "--json")
    assert done.code == 0 and done.json["failures"] == [failures[1]["id"]]
    assert gw("bugs", "failures", done.json["new"], "--db", db, "--json").json[0]["test"] == "test_bb"
    refused = gw("bugs", "split", b, failures[0]["id"], "--db", db)
    assert refused.code == 2 and "split the others off instead" in refused.err and not refused.out


def test_a_muted_bug_is_listed_no_more(gw: Run, db: Path) -> None:
    done = gw("bugs", "mute", number(gw, db, "C"), "--reason", "by design", "--db", db)
    assert done.code == 0 and "is muted" in done.out
    assert set(listed(gw, db)) == {"A", "B"}


def test_who_merges_with_a_muted_bug_is_told_so(gw: Run, db: Path) -> None:
    a, b, c = (number(gw, db, name) for name in "ABC")
    assert gw("bugs", "mute", a, "--db", db).code == 0
    refused = gw("bugs", "merge", b, a, "--db", db)
    assert refused.code == 2 and f"bug {a} is muted: merge bug {b} into it" in refused.err
    done = gw("bugs", "merge", a, b, "--db", db)
    assert done.code == 0 and "it is muted, so nobody hears of either" in done.out
    assert set(listed(gw, db)) == {"C"}
    refused = gw("bugs", "mute", b, "--db", db)
    assert refused.code == 2 and "mute the bug that is kept" in refused.err
    assert "muted" not in gw("bugs", "merge", c, b, "--db", db).out


def test_a_slip_is_listed_apart_until_it_is_pursued(gw: Run, db: Path) -> None:
    with open_store(db, create=False) as store:
        case = Case("onnx", b"d", {}, Origin("test", "test_d"))
        failure = Failure(case, TVM, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "off")
        store.record(0, (), [NewFailure(failure, "D", operators=("D",))], state=State.SLIP)
    assert set(listed(gw, db)) == {"A", "B", "C"}
    (slip,) = gw("bugs", "--slips", "--db", db, "--json").json
    assert (slip["operators"], slip["state"]) == (["D"], "slip")
    done = gw("bugs", "pursue", slip["id"], "--db", db, "--json")
    assert done.code == 0 and done.json == {"bug": slip["id"], "state": "new"}
    assert set(listed(gw, db)) == {"A", "B", "C", "D"} and gw("bugs", "--slips", "--db", db, "--json").json == []
    again = gw("bugs", "pursue", slip["id"], "--db", db)
    assert again.code == 2 and "is new, not slip" in again.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("merge", 1, 99), "no bug 99"),
        (("merge", 1, 1), "itself"),
        (("merge", 1), "Missing argument"),
        (("split", 99, 1), "no bug 99"),
        (("mute", 99), "no bug 99"),
        (("failures", 99), "no bug 99"),
        (("rename", 1), "No such command"),
    ],
    ids=str,
)
def test_what_cannot_be_decided_is_refused_in_one_line(
    gw: Run, db: Path, arguments: tuple[object, ...], said: str
) -> None:
    done = gw("bugs", *arguments, *(("--db", db) if arguments[0] != "rename" else ()))
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1, done


def test_a_missing_database_is_not_made(gw: Run, tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    for arguments in (("bugs", "--db", path), ("bugs", "merge", 1, 2, "--db", path)):
        assert gw(*arguments).code == 2
    assert not path.exists()
