"""The store: what goes in comes out, nothing is counted twice, and neither kills nor other writers lose anything."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, timedelta
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine
from sqlmodel import SQLModel

from fuzz import wire
from fuzz.case import Case, Error, Failure, Frame, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.classes import Class
from triage import records, rows, store_file, store_results
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.lifecycle import IllegalMove, State
from triage.records import NewFailure, Progress, Result, StoredDraft
from triage.store import Conflict, Store, StoreError, Unknown, open_store

ROOT = Path(__file__).parents[2]
TVM = Target("tvm", Revision("0.27.0", "/opt/tvm/bin/python", "abc", "2026-01-01", "0.26.0"), (("opt", "3"),))
OV = Target("openvino", Revision("2026.4.1"))


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with open_store(database, create=True) as opened:
        yield opened


def case(name: str, size: int = 10) -> Case:
    return Case("onnx", name.encode().ljust(size, b"."), {"x": np.arange(3)}, Origin("onnx_node", name, seed=7))


def result(of: Case, target: Target = TVM, status: Status = Status.EXCEPTION) -> Result:
    return Result(of.id, target.id, of.origin, status, Stage.CONVERT, seconds=0.5, peak_mb=12.0)


def failing(of: Case, fingerprint: str = "Gather|crash", target: Target = TVM) -> NewFailure:
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("ValueError", "bad axis"))
    failure = Failure(of, target, outcome, None, "crash", "exception:ValueError", "it raised")
    return NewFailure(failure, fingerprint, "Gather._impl_v13", ("Gather",), "bad axis", "same converter")


def record_failing(store: Store, campaign: int, cases: list[Case], fingerprint: str = "Gather|crash") -> None:
    store.record(campaign, [result(each) for each in cases], [failing(each, fingerprint) for each in cases])


# Opening


def test_a_missing_database_is_refused_and_not_made(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    with pytest.raises(StoreError, match=r"none\.db: no such database"):
        open_store(path, create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_database_in_a_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="there is no folder"):
        open_store(tmp_path / "a" / "hunt.db", create=True)


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="is a folder"):
        open_store(tmp_path, create=True)


def test_a_pipe_is_refused_instead_of_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StoreError, match="not a regular file"):
        open_store(tmp_path / "pipe", create=True)


@pytest.mark.parametrize("create", [True, False])
def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path, create: bool) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(b"\x08\x07not SQLite at all" * 99)
    before = path.read_bytes()
    with pytest.raises(StoreError, match="is not a database"):
        open_store(path, create)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_an_empty_file_is_refused_unless_a_database_may_be_made(tmp_path: Path) -> None:
    path = tmp_path / "hunt.db"
    path.touch()
    with pytest.raises(StoreError, match="is empty"):
        open_store(path, create=False)
    assert path.stat().st_size == 0
    with open_store(path, create=True) as store:
        assert store.bugs() == []


def test_another_programs_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "places.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE bug (url TEXT)")
    before = path.read_bytes()
    with pytest.raises(StoreError, match="another program"):
        open_store(path, create=True)
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "hunt.db"
    open_store(path, create=True).close()
    with closing(sqlite3.connect(path)) as raw:
        raw.execute("UPDATE alembic_version SET version_num = '9999'")
        raw.commit()
    with pytest.raises(StoreError, match=r"newer Graphwarden.*9999") as caught:
        open_store(path, create=True)
    assert "\n" not in str(caught.value)
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("SELECT version_num FROM alembic_version").fetchall() == [("9999",)]


def test_a_damaged_database_gives_one_line(tmp_path: Path) -> None:
    path = tmp_path / "hunt.db"
    open_store(path, create=True).close()
    path.write_bytes(path.read_bytes()[:100] + os.urandom(9000))
    with pytest.raises(StoreError, match=r"hunt\.db: ") as caught:
        open_store(path, create=False).bugs()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["a b.db", "what?.db", "50%.db", "#1.db", "größe.db", "file:x.db"])
def test_a_file_name_may_hold_any_character(tmp_path: Path, name: str) -> None:
    with open_store(tmp_path / name, create=True) as store:
        store.begin_campaign({})
    with open_store(tmp_path / name, create=False) as store:
        assert store.begin_campaign({}).resumed
    assert [each.name for each in tmp_path.iterdir()] == [name]


def test_a_relative_path_works(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    open_store("hunt.db", create=True).close()
    assert (tmp_path / "hunt.db").is_file()


def test_the_file_has_a_log_of_its_own(tmp_path: Path) -> None:
    open_store(tmp_path / "hunt.db", create=True).close()
    with closing(sqlite3.connect(tmp_path / "hunt.db")) as raw:
        assert raw.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_keys_are_enforced(store: Store) -> None:
    with pytest.raises(StoreError, match=r"(?i)foreign key"):
        store.record(99, [result(case("a"))])


def test_a_lock_that_is_held_too_long_gives_one_line(
    database: str, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("store_file", "store_postgres"):
        monkeypatch.setattr(f"triage.{place}.BUSY_SECONDS", 0.1)
    with open_store(database, create=False) as hasty, store.writing() as session:
        session.connection()
        with pytest.raises(StoreError, match="another process has been writing") as problem:
            hasty.begin_campaign({})
        assert "\n" not in str(problem.value)


def test_a_database_that_is_opened_twice_in_one_process_is_still_seen_by_others(tmp_path: Path) -> None:
    """The log must stay while this process writes to it, whoever else opens the database and leaves."""
    place = tmp_path / "hunt.db"
    with open_store(place, create=True) as store:
        store.begin_campaign({})
        open_store(place, create=False).close()
        leaves = "import sys; from triage.store import open_store; open_store(sys.argv[1], create=False).close()"
        subprocess.run([sys.executable, "-c", leaves, str(place)], check=True)
        assert place.with_name("hunt.db-wal").exists()
        store.begin_campaign({"another": 1})
        with closing(sqlite3.connect(place)) as raw:
            assert raw.execute("SELECT count(*) FROM campaign").fetchone() == (2,)


# Migrations


def test_the_migrations_make_exactly_the_tables_of_the_rows(store: Store) -> None:
    with store.reading() as session:
        assert compare_metadata(MigrationContext.configure(session.connection()), SQLModel.metadata) == []


def test_the_newest_migration_is_the_schema_that_the_rows_name() -> None:
    config = Config()
    config.set_main_option("script_location", str(ROOT / "triage" / "migrations"))
    assert ScriptDirectory.from_config(config).get_heads() == [rows.SCHEMA]


def downgrade(path: Path, schema: str) -> None:
    older = Config(attributes={"connection": None})
    older.set_main_option("script_location", str(ROOT / "triage" / "migrations"))
    with create_engine(f"sqlite:///{path}").begin() as connection:
        older.attributes["connection"] = connection
        command.downgrade(older, schema)


def test_what_an_older_database_said_in_a_note_gets_its_column(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with open_store(path, create=True) as store:
        record_failing(store, store.begin_campaign({}).id, [case("a"), case("b")])
    downgrade(path, "0001")
    with create_engine(f"sqlite:///{path}").begin() as connection:
        note = "reads uninitialised memory: fails every time when fresh memory is filled with byte 170"
        connection.exec_driver_sql("UPDATE bug SET note = ? WHERE id = 1", (note,))
    with open_store(path, create=False) as store:
        assert store.bug(1).perturb == 170
        assert all(bug.judgement is None for bug in store.bugs())


def _open_when_told(path: Path, go: Event) -> None:
    store_file.BUSY_SECONDS = 600.0  # one of them may stand still while it has the lock
    go.wait()
    with open_store(path, create=True) as store:
        store.begin_campaign({"opened by": os.getpid()})


def test_processes_that_open_a_new_database_together_all_succeed(tmp_path: Path) -> None:
    context = multiprocessing.get_context("spawn")
    for attempt in range(2):
        go = context.Event()
        path = tmp_path / f"{attempt}.db"
        openers = [context.Process(target=_open_when_told, args=(path, go)) for _ in range(4)]
        for opener in openers:
            opener.start()
        go.set()
        for opener in openers:
            opener.join()
        assert [opener.exitcode for opener in openers] == [0] * 4
        with closing(sqlite3.connect(path)) as raw:
            assert raw.execute("SELECT count(*) FROM campaign").fetchone() == (4,)


# Campaigns


def test_an_unfinished_campaign_with_equal_parameters_is_resumed(store: Store) -> None:
    first = store.begin_campaign({"seed": 1, "backends": ["tvm", "openvino"]})
    again = store.begin_campaign({"backends": ["tvm", "openvino"], "seed": 1})
    assert not first.resumed
    assert again == replace(first, resumed=True)
    assert again.parameters == {"seed": 1, "backends": ["tvm", "openvino"]}
    assert again.started.utcoffset() == timedelta(0)


def test_other_parameters_a_finished_campaign_or_a_wish_make_a_new_one(store: Store) -> None:
    first = store.begin_campaign({"seed": 1})
    other = store.begin_campaign({"seed": 2})
    wished = store.begin_campaign({"seed": 1}, resume=False)
    store.finish_campaign(wished.id)
    assert store.begin_campaign({"seed": 1}).id == first.id
    store.finish_campaign(first.id)
    last = store.begin_campaign({"seed": 1})
    assert not last.resumed
    assert len({first.id, other.id, wished.id, last.id}) == 4


def test_finishing_an_unknown_campaign_is_an_error(store: Store) -> None:
    with pytest.raises(Unknown, match="no campaign 5"):
        store.finish_campaign(5)


# Results


def test_done_holds_the_recorded_pairs_of_this_campaign_only(store: Store) -> None:
    one, two = store.begin_campaign({"n": 1}).id, store.begin_campaign({"n": 2}).id
    store.record(one, [result(case("a"), TVM), result(case("a"), OV)])
    store.record(two, [result(case("b"))])
    assert store.done(one) == {(case("a").id, TVM.id), (case("a").id, OV.id)}
    assert store.done(two) == {(case("b").id, TVM.id)}


def test_a_result_recorded_again_replaces_the_first(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    store.record(campaign, [result(case("a"), status=Status.TIMEOUT)])
    store.record(campaign, [result(case("a"), status=Status.OK)])
    counts = store.counts(campaign)
    assert counts.statuses == {Status.OK: 1}
    assert counts.cases == 1


def test_numbers_by_the_minute_add_up_to_what_was_recorded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a result replaces an earlier one, in its own batch too, and where a case comes on a second target."""
    campaign = store.begin_campaign({}).id
    began = store.campaigns()[0].started.replace(tzinfo=UTC)
    for at, results in enumerate(
        (
            [result(case("a")), result(case("b"), status=Status.TIMEOUT), result(case("b"), status=Status.OK)],
            [],
            [result(case("b"), OV), result(case("a"), status=Status.WRONG), result(case("c"))],
        )
    ):
        monkeypatch.setattr("triage.store.now", lambda at=at: began + timedelta(minutes=at, seconds=30))
        store.record(campaign, results)
    assert store.overview(campaign).progress == [Progress(0, 1, 2), Progress(2, 3, 1)]
    counts = store.counts(campaign)
    assert Counter(each.status for each in store.recorded(campaign)) == counts.statuses
    assert counts.cases == 3


def test_a_campaign_knows_in_which_minute_it_first_saw_a_bug(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    campaign = store.begin_campaign({}).id
    began = store.campaigns()[0].started.replace(tzinfo=UTC)
    for at, names in ((1, "a"), (4, "bc")):
        monkeypatch.setattr("triage.store.now", lambda at=at: began + timedelta(minutes=at))
        record_failing(store, campaign, [case(name) for name in names])
    [seen] = store.overview(campaign).sightings
    assert (seen.bug_id, seen.state, seen.failures, seen.minute) == (1, State.NEW, 3, 1)
    assert store.overview(campaign + 1).sightings == []


def test_an_older_database_keeps_its_numbers_and_knows_no_minutes(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with open_store(path, create=True) as store:
        campaign = store.begin_campaign({}).id
        record_failing(store, campaign, [case("a"), case("b")])
        store.record(campaign, [result(case("a"), OV)])
        before = store.counts(campaign)
    downgrade(path, "0006")
    with open_store(path, create=False) as store:
        assert store.counts(campaign) == before
        assert store.overview(campaign).progress == [Progress(-1, 3, 2)]
        store.record(campaign, [result(case("c"))])
        assert (store.counts(campaign).cases, store.overview(campaign).sightings[0].minute) == (3, -1)


def test_skipped_unsupported_invalid_and_passed_are_four_numbers(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    statuses = [Status.SKIPPED, Status.UNSUPPORTED, Status.INVALID, Status.OK, Status.OK]
    store.record(campaign, [result(case(str(n)), status=status) for n, status in enumerate(statuses)])
    counts = store.counts(campaign)
    assert counts.statuses == {Status.SKIPPED: 1, Status.UNSUPPORTED: 1, Status.INVALID: 1, Status.OK: 2}
    assert (counts.cases, counts.failures, counts.bugs, counts.drafts) == (5, 0, 0, 0)


def test_results_are_counted_by_the_classes_of_graph_based_fuzzing(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    ends = [
        (Status.OK, Stage.RUN),
        (Status.WRONG, Stage.RUN),
        (Status.SIGNAL, Stage.CONVERT),
        (Status.EXCEPTION, Stage.LOAD),
        (Status.SIGNAL, Stage.RUN),
        (Status.UNSUPPORTED, Stage.CONVERT),
    ]
    results = [Result(case(str(n)).id, TVM.id, Origin("t"), *end) for n, end in enumerate(ends)]
    store.record(campaign, results)
    counts = store.counts(campaign)
    assert counts.classes == {
        Class.PASS: 1,
        Class.COMPARISON_FAILURE: 1,
        Class.CONVERSION_FAILURE: 2,
        Class.INFERENCE_FAILURE: 1,
    }
    assert counts.statuses[Status.SIGNAL] == 2


def test_an_empty_campaign_counts_nothing(store: Store) -> None:
    counts = store.counts(store.begin_campaign({}).id)
    assert counts == records.Counts({}, 0, 0, 0, 0)


def test_a_batch_is_saved_whole_or_not_at_all(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    unpackable = replace(case("b"), inputs={"x": np.zeros(2, "datetime64[s]")})
    bad = failing(case("a"))
    object.__setattr__(bad.failure.case, "inputs", unpackable.inputs)
    with pytest.raises(wire.WireError):
        store.record(campaign, [result(case("a"))], [bad])
    assert store.done(campaign) == set()
    assert store.bugs() == []


# Failures and bugs


def test_a_failure_comes_back_as_it_was(store: Store) -> None:
    inputs: dict[str, wire.Value] = {
        "x": np.array([1.5, np.nan, -np.inf], np.float32),
        "text": np.array(["é", ""], object),
        "list": [np.zeros((0, 2)), None],
    }
    origin = Origin("mcts", "test_gather", "frozen", seed=2**64, parents=("p1", "p2"))
    failed = Case("onnx", b"\x00model", inputs, origin, expected=(np.float64(3), None))
    error = Error(
        "E", "message", (Frame("a.py", 3, "f"), Frame("b.cc", 4, "g")), "SIGSEGV", "last words", "Gather", "c"
    )
    outcome = Outcome(Status.WRONG, Stage.RUN, 0.25, 90.5, (("y", np.ones(2)), ("y", np.zeros(1))), error)
    reference = Outcome(Status.OK, Stage.RUN, outputs=(("y", np.full((), 7)),))
    failure = Failure(failed, TVM, outcome, reference, "differential", "wrong:values", "off by 1")
    store.record(store.begin_campaign({}).id, [], [NewFailure(failure, "f")])

    (bug,) = store.bugs()
    (number,) = store.failure_ids(bug.id)
    stored = store.failure(number)
    assert (stored.id, stored.fingerprint) == (number, "f")
    back = stored.failure
    assert back.case.id == failed.id
    assert (back.case.kind, back.case.model, back.case.origin) == ("onnx", b"\x00model", origin)
    assert back.case.expected is not None
    assert back.case.expected[0] == 3.0
    assert back.case.expected[1] is None
    assert back.target == TVM
    assert (back.outcome.error, back.outcome.status, back.outcome.stage) == (error, Status.WRONG, Stage.RUN)
    assert (back.outcome.seconds, back.outcome.peak_mb) == (0.25, 90.5)
    assert [name for name, _ in back.outcome.outputs] == ["y", "y"]
    np.testing.assert_array_equal(back.outcome.outputs[1][1], np.zeros(1))  # type: ignore[arg-type]
    assert back.reference is not None
    assert back.reference.outputs[0][1] == 7
    assert (back.oracle, back.symptom, back.detail) == ("differential", "wrong:values", "off by 1")


def test_a_failure_without_a_reference_or_an_error_comes_back(store: Store) -> None:
    failure = Failure(case("a"), OV, Outcome(Status.TIMEOUT, Stage.COMPILE), None, "crash", "hang", "")
    store.record(store.begin_campaign({}).id, [], [NewFailure(failure, "f")])
    back = store.failure(store.failure_ids(1)[0]).failure
    assert back.outcome == failure.outcome
    assert back.reference is None


def test_outputs_that_are_too_large_are_left_out(store: Store) -> None:
    huge = np.zeros(records.OUTPUT_BYTES, np.int8)
    outcome = Outcome(Status.WRONG, Stage.RUN, outputs=(("y", huge),))
    failure = Failure(case("a"), OV, outcome, None, "differential", "wrong:values", "")
    store.record(store.begin_campaign({}).id, [], [NewFailure(failure, "f")])
    assert store.failure(1).failure.outcome.outputs == ()


def test_text_that_utf8_cannot_hold_is_kept_readable(store: Store) -> None:
    new = failing(case("a"))
    error = Error("E", "bad \ud800 byte", stderr="nul \x00 too")
    failure = replace(new.failure, outcome=replace(new.failure.outcome, error=error), detail="\udcff!")
    store.record(store.begin_campaign({}).id, [], [replace(new, failure=failure, message="at \ud800")])
    assert store.bug(1).message == "at ?"
    back = store.failure(1).failure
    assert back.detail == "?!"
    assert back.outcome.error == error


def test_failures_with_one_fingerprint_are_one_bug_counted_by_case_and_target(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    store.record(campaign, [result(case("a")), result(case("b"))], [failing(case("a")), failing(case("b"))])
    store.record(campaign, [result(case("a"), OV)], [failing(case("a"), target=OV)])
    (bug,) = store.bugs()
    assert bug.count == 3
    assert bug.state is State.NEW
    assert (bug.backend, bug.revision, bug.target) == ("tvm", "0.27.0", TVM)
    assert (bug.symptom, bug.conversion_function, bug.operators) == (
        "exception:ValueError",
        "Gather._impl_v13",
        ("Gather",),
    )
    assert (bug.message, bug.why) == ("bad axis", "same converter")
    assert bug.created.tzinfo == UTC
    counts = store.counts(campaign)
    assert (counts.failures, counts.bugs, counts.drafts) == (3, 1, 0)


def test_recording_a_failure_again_does_not_count_it_again(store: Store) -> None:
    for parameters in ({"n": 1}, {"n": 1}, {"n": 2}):
        record_failing(store, store.begin_campaign(parameters).id, [case("a"), case("b")])
    (bug,) = store.bugs()
    assert bug.count == 2
    assert len(store.failure_ids(bug.id)) == 2


def test_a_failure_whose_fingerprint_changed_moves_to_the_other_bug(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    record_failing(store, campaign, [case("a"), case("b")], "one")
    record_failing(store, campaign, [case("a")], "two")
    one, two = store.bugs()
    assert (one.count, two.count) == (1, 1)
    assert one.best_failure_id != two.best_failure_id
    assert store.failure(one.best_failure_id or 0).failure.case.id == case("b").id
    record_failing(store, campaign, [case("b")], "two")
    one, two = store.bugs()
    assert (one.count, one.best_failure_id, two.count) == (0, None, 2)


def test_a_bug_shows_its_smallest_failing_model_first(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    record_failing(store, campaign, [case("large", 300), case("small", 20), case("middle", 100)])
    (bug,) = store.bugs()
    assert [store.failure(each).failure.case.origin.test for each in store.failure_ids(bug.id)] == [
        "small",
        "middle",
        "large",
    ]
    assert [origin.test for origin in store.origins(bug.id)] == ["small", "middle", "large"]
    assert bug.best_failure_id == store.failure_ids(bug.id)[0]


def test_a_campaign_counts_only_its_own_failures(store: Store) -> None:
    first, second = store.begin_campaign({"n": 1}).id, store.begin_campaign({"n": 2}).id
    record_failing(store, first, [case("a"), case("b")], "one")
    record_failing(store, second, [case("c")], "two")
    store.record(second, [result(case("a"), status=Status.OK)])  # flaky: failed in the first, passes here
    assert [bug.fingerprint for bug in store.bugs(campaign_id=second)] == ["two"]
    assert (store.counts(first).failures, store.counts(second).failures) == (2, 1)
    assert (store.counts(first).bugs, store.counts(second).bugs) == (1, 1)


def test_bugs_are_chosen_by_state_and_backend(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    store.record(campaign, [], [failing(case("a"), "one"), failing(case("b"), "two", OV)])
    store.advance(2, State.NEW, State.CONFIRMED)
    assert [bug.id for bug in store.bugs(states=[State.NEW])] == [1]
    assert [bug.id for bug in store.bugs(states=[State.NEW, State.CONFIRMED])] == [1, 2]
    assert [bug.id for bug in store.bugs(backend="openvino")] == [2]
    assert store.bugs(states=[]) == []
    assert store.bugs(backend="tvm", states=[State.CONFIRMED]) == []


def test_unknown_ids_are_told_in_one_line(store: Store) -> None:
    calls = [store.bug, store.draft, store.failure, store.failure_ids, store.origins]
    for call in calls:
        with pytest.raises(Unknown, match=r"no (bug|failure) 4"):
            call(4)
    with pytest.raises(Unknown, match="no case cafe"):
        store.case("cafe")
    with pytest.raises(Unknown, match="no bug 4"):
        store.advance(4, State.NEW, State.CONFIRMED)


# A bug's life


def test_a_bug_goes_from_new_to_drafted_and_keeps_what_each_step_saved(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    record_failing(store, campaign, [case("a", 500)])
    reduced = replace(case("tiny"), origin=Origin("reduce", parents=(case("a", 500).id,)))
    draft = StoredDraft("Gather fails", "body\n" * 100, "import numpy", ("bug", "frontend"))
    before = store.bug(1)
    store.advance(1, State.NEW, State.CONFIRMED, note="3 of 3 runs fail")
    store.advance(1, State.CONFIRMED, State.REDUCED, reduced=reduced, nodes=1)
    store.advance(1, State.REDUCED, State.LOCATED, conversion_function="Gather._impl_v1", operators=["Gather", "Add"])
    assert store.draft(1) is None
    heard = Evidence("float64", Side.AGAINST, "off by 3e5 ulp", {"excess": None, "index": [0, 1]})
    judgement = Judgement(Ruling.COMPILER_BUG, "off", (heard,), "tvm", "proven", 0.98)
    store.advance(1, State.LOCATED, State.JUDGED, judgement=judgement, perturb=170)
    store.advance(1, State.JUDGED, State.DRAFTED, draft=draft, report_path="reports/1.md")
    bug = store.bug(1)
    assert (bug.state, bug.note, bug.nodes, bug.report_path) == (State.DRAFTED, "3 of 3 runs fail", 1, "reports/1.md")
    assert (bug.conversion_function, bug.operators) == ("Gather._impl_v1", ("Gather", "Add"))
    assert (bug.judgement, bug.perturb) == (judgement, 170)
    assert bug.title == "Gather fails"
    assert bug.reduced_case_id == reduced.id
    assert store.case(reduced.id).origin.parents == (case("a", 500).id,)
    assert store.draft(1) == draft
    assert store.counts(campaign).drafts == 1
    assert bug.created == before.created
    assert bug.updated > before.updated


def test_seeing_a_bug_again_changes_its_count_and_nothing_else(store: Store) -> None:
    campaign = store.begin_campaign({}).id
    record_failing(store, campaign, [case("a")])
    store.advance(1, State.NEW, State.CONFIRMED, why="better reason")
    before = store.bug(1)
    record_failing(store, campaign, [case("b")])
    assert store.bug(1) == replace(before, count=2)


def test_an_illegal_move_changes_nothing(store: Store) -> None:
    record_failing(store, store.begin_campaign({}).id, [case("a")])
    before = store.bug(1)
    with pytest.raises(IllegalMove):
        store.advance(1, State.NEW, State.REPORTED, note="no")
    assert store.bug(1) == before


def test_a_bug_that_another_process_moved_is_a_conflict(store: Store) -> None:
    record_failing(store, store.begin_campaign({}).id, [case("a")])
    with open_store(store.address, create=False) as other:
        other.advance(1, State.NEW, State.CONFIRMED)
    with pytest.raises(Conflict, match="bug 1 is confirmed, not new"):
        store.advance(1, State.NEW, State.FLAKY, reduced=case("never saved"))
    assert store.bug(1).state is State.CONFIRMED
    with pytest.raises(Unknown):
        store.case(case("never saved").id)


def test_of_many_threads_that_move_a_bug_one_wins(store: Store) -> None:
    record_failing(store, store.begin_campaign({}).id, [case("a")])
    outcomes: list[str] = []

    def move() -> None:
        try:
            store.advance(1, State.NEW, State.CONFIRMED)
            outcomes.append("moved")
        except Conflict:
            outcomes.append("conflict")

    threads = [threading.Thread(target=move) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(outcomes) == ["conflict"] * 7 + ["moved"]


def test_a_smaller_failure_that_comes_later_stands_for_a_bug_that_nobody_has_worked_on(store: Store) -> None:
    for name, size in (("large", 300), ("small", 20), ("middle", 100)):
        record_failing(store, store.begin_campaign({}).id, [case(name, size)])
    best = store.bug(1).best_failure_id
    assert best and store.failure(best).failure.case.origin.test == "small"


def test_fields_can_be_amended_without_a_move(store: Store) -> None:
    record_failing(store, store.begin_campaign({}).id, [case("a"), case("b")])
    second = store.failure_ids(1)[1]
    store.advance(1, State.NEW, State.CONFIRMED)
    store.amend(1, State.CONFIRMED, best_failure_id=second, note="chosen by hand")
    assert (store.bug(1).best_failure_id, store.bug(1).state) == (second, State.CONFIRMED)
    record_failing(store, store.begin_campaign({}).id, [case("c", 1)])
    assert store.bug(1).best_failure_id == second  # a smaller model does not undo the choice
    with pytest.raises(Conflict):
        store.amend(1, State.REDUCED, note="too late")


# Kills and other writers

BATCH = 20


def _write_batches(path: Path, writer: int, batches: int, acknowledge: Connection | None) -> None:
    store_file.BUSY_SECONDS = 600.0
    with open_store(path, create=True) as store:
        campaign = store.begin_campaign({}).id
        for batch in range(batches):
            cases = [case(f"{writer}/{batch}/{n}") for n in range(BATCH)]
            record_failing(store, campaign, cases, f"bug {batch % 7}")
            if acknowledge:
                acknowledge.send(batch)


def _batches_of(path: Path) -> dict[str, int]:
    """How many of the results of each batch are there; checks that they agree with the failures."""
    sizes: dict[str, int] = {}
    with closing(sqlite3.connect(path)) as raw:
        assert raw.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert raw.execute("PRAGMA foreign_key_check").fetchall() == []
        query = "SELECT json_extract(result.origin, '$.test') FROM result JOIN failure USING (case_id, target_id)"
        for (test,) in raw.execute(query):
            batch = test.rpartition("/")[0]
            sizes[batch] = sizes.get(batch, 0) + 1
        assert raw.execute("SELECT count(*) FROM result").fetchone() == (sum(sizes.values()),)
        assert raw.execute('SELECT count(*) FROM "case"').fetchone() == (sum(sizes.values()),)
    return sizes


@pytest.mark.parametrize("delay", [0.0, 0.013, 0.04])
def test_a_killed_recorder_leaves_every_finished_batch_and_no_half_one(tmp_path: Path, delay: float) -> None:
    path = tmp_path / "hunt.db"
    context = multiprocessing.get_context("spawn")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_write_batches, args=(path, 0, 10**6, sender))
    child.start()
    sender.close()
    acknowledged = [receiver.recv() for _ in range(5)]
    time.sleep(delay)  # so that the kill falls into different moments of a transaction
    child.kill()
    with contextlib.suppress(EOFError):
        while True:
            acknowledged.append(receiver.recv())
    child.join()
    assert child.exitcode == -signal.SIGKILL
    sizes = _batches_of(path)
    assert set(sizes.values()) == {BATCH}
    assert {f"0/{batch}" for batch in acknowledged} <= set(sizes)
    assert len(sizes) - len(acknowledged) in (0, 1)  # killed between the commit and its acknowledgement

    with open_store(path, create=False) as store:
        campaign = store.begin_campaign({})
        assert campaign.resumed
        assert len(store.done(campaign.id)) == sum(sizes.values())
        assert sum(bug.count for bug in store.bugs()) == sum(sizes.values())


def test_four_writers_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hunt.db"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_write_batches, args=(path, writer, 15, None)) for writer in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0] * 4
    assert _batches_of(path) == {f"{writer}/{batch}": BATCH for writer in range(4) for batch in range(15)}
    with open_store(path, create=False) as store:
        assert len(store.bugs()) == 7
        assert sum(bug.count for bug in store.bugs()) == 4 * 15 * BATCH
        assert store.begin_campaign({}).id == 1  # all of them shared one campaign


def test_failing_results_are_found_without_a_look_at_the_others(tmp_path: Path) -> None:
    with open_store(tmp_path / "hunt.db", create=True) as store, store.reading() as session:
        query = store_results.seen(1).compile(session.connection(), compile_kwargs={"render_postcompile": True})
        told = session.connection().exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", (1,))
        assert any("ix_result_showing" in row.detail for row in told)


def test_every_result_that_may_be_a_failure_is_in_that_index() -> None:
    assert set(Status) - set(rows.SHOWING) == {Status.OK, Status.SKIPPED, Status.UNSUPPORTED}
