"""What a server alone can be asked: databases that are not there, not ours or newer, and passwords that nobody sees."""

from __future__ import annotations

import multiprocessing
from multiprocessing.connection import Connection
from pathlib import Path

import pytest
from sqlalchemy import create_engine, text

from tests.databases import NewDatabase
from triage.store import Store, StoreError, open_store
from triage.store_place import shown


def run(url: str, *statements: str) -> None:
    engine = create_engine(url.replace("postgresql://", "postgresql+psycopg://"), isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for each in statements:
            connection.execute(text(each))
    engine.dispose()


def test_a_database_without_tables_is_refused_unless_they_may_be_made(postgres: NewDatabase) -> None:
    url = postgres()
    with pytest.raises(StoreError, match=r"has no tables \(a hunt makes them\)"):
        open_store(url, create=False)
    open_store(url, create=True).close()
    with open_store(url, create=False) as store:
        assert store.bugs() == []


def test_a_database_that_is_not_there_gives_one_line_that_says_what_to_do(postgres: NewDatabase) -> None:
    url = postgres().replace("/test", "/missing")
    with pytest.raises(StoreError, match=r'"missing\d+" does not exist \(make it with createdb') as problem:
        open_store(url, create=True)
    assert "\n" not in str(problem.value)


def test_another_programs_database_is_refused_and_left_alone(postgres: NewDatabase) -> None:
    url = postgres()
    run(url, "CREATE TABLE bug (url TEXT)")
    with pytest.raises(StoreError, match="another program"):
        open_store(url, create=True)
    with pytest.raises(StoreError, match="another program"):
        open_store(url, create=False)


def test_a_newer_schema_is_refused(postgres: NewDatabase) -> None:
    url = postgres()
    open_store(url, create=True).close()
    run(url, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreError, match=r"newer Graphwarden \(schema 9999"):
        open_store(url, create=True)


@pytest.mark.parametrize(
    ("url", "told"),
    [
        ("postgresql://me:secret@127.0.0.1:1/bugs", "127.0.0.1"),
        ("postgresql://me:secret@host:port/bugs", "no URL like"),
        ("postgresql://me:secret@127.0.0.1:1", "names no database"),
    ],
)
def test_what_cannot_be_reached_is_told_in_one_line_without_the_password(url: str, told: str) -> None:
    with pytest.raises(StoreError, match=told) as problem:
        open_store(url, create=True)
    assert "secret" not in str(problem.value) and "\n" not in str(problem.value)


@pytest.mark.parametrize(
    ("place", "seen"),
    [
        ("hunt.db", "hunt.db"),
        ("postgresql://me:secret@db:5432/bugs", "postgresql://me@db:5432/bugs"),
        ("postgresql://db/bugs?password=secret", "postgresql://db/bugs"),
        ("postgresql:///bugs?host=/run", "postgresql:///bugs"),
    ],
)
def test_places_are_shown_without_passwords(place: str, seen: str) -> None:
    assert shown(place) == seen


def _open(url: str, told: Connection) -> None:
    with open_store(url, create=True) as store:
        told.send(store.begin_campaign({}, resume=False).id)


def test_processes_that_open_a_new_database_together_make_its_tables_once(postgres: NewDatabase) -> None:
    url, context = postgres(), multiprocessing.get_context("spawn")
    ends = []
    for _ in range(3):
        hear, tell = context.Pipe(duplex=False)
        process = context.Process(target=_open, args=(url, tell))
        process.start()
        ends.append((process, hear))
    assert sorted(hear.recv() for _, hear in ends) == [1, 2, 3]
    for process, _ in ends:
        process.join()


@pytest.fixture
def store(database: str) -> Store:
    return open_store(database, create=True)


def test_a_purpose_that_one_process_has_is_nobody_elses_until_it_lets_go(store: Store, database: str) -> None:
    with store, open_store(database, create=False) as other:
        with store.sole("clock") as mine, other.sole("clock") as theirs, other.sole("something else") as free:
            assert (mine(), theirs(), free()) == (True, False, True)
        for each in (other, store) * 50:  # at once, not when the server has noticed that somebody hung up
            with each.sole("clock") as free:
                assert free()


def test_text_with_zeros_and_lone_surrogates_is_kept_as_well_as_can_be(store: Store) -> None:
    with store:
        campaign = store.begin_campaign({"odd": "a\0b\udcff"})
        assert campaign.parameters == {"odd": "a\0b\udcff"}
        assert store.begin_campaign({"odd": "a\0b\udcff"}).resumed


def test_files_of_this_machine_lie_beside_the_file_or_in_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, postgres: NewDatabase
) -> None:
    monkeypatch.chdir(tmp_path)
    with open_store(tmp_path / "hunt.db", create=True) as store:
        assert store.beside("mcts.json") == tmp_path / "hunt.db.mcts.json"
    url = postgres()
    with open_store(url, create=True) as store:
        name = url.partition("?")[0].rpartition("/")[2]
        assert store.beside("mcts.json") == tmp_path / f"{name}.mcts.json"
