"""Facts of bugs and repositories have tables of their own, into which older databases' switches are moved."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

import triage
from tests.bot.github.outgoing import bugs
from triage.ledger import Ledger
from triage.store import open_store

_AT = "2026-11-01 00:00:00.000000"
#: As they stood in a database of the schema 0005.
SWITCHES = (
    ("judged:bug 0", "f" * 40, ""),
    ("judged:bug that is gone", "e" * 40, ""),
    ("apart:bug 1:octo/tiny#12", "yes", "ada"),
    ("repository id: octo/tiny", "186853002", ""),
    ("judged", "no fact", "somebody"),
    ("stop", "too loud", "ada"),
)


def test_the_newest_judgement_counts(ledger: Ledger) -> None:
    first, second = bugs(ledger, 2)
    assert ledger.facts.judged(first) == ""
    for revision in ("a", "b", "b"):
        ledger.facts.judge(first, revision)
    assert (ledger.facts.judged(first), ledger.facts.judged(second)) == ("b", "")


def test_a_bug_is_no_duplicate_of_one_issue_and_may_be_of_another(ledger: Ledger) -> None:
    first, second = bugs(ledger, 2)
    for _ in range(2):
        ledger.facts.set_apart(first, "Octo/Tiny", 7, "ada")
    assert ledger.facts.is_apart(first, "octo/tiny", 7)
    assert not ledger.facts.is_apart(first, "octo/tiny", 8) and not ledger.facts.is_apart(second, "octo/tiny", 7)


def test_the_first_id_of_a_name_stays(ledger: Ledger) -> None:
    assert ledger.repositories.id_of("octo/tiny") is None
    assert ledger.repositories.note("Octo/tiny", 7) == ledger.repositories.note("octo/Tiny", 666) == 7
    assert ledger.repositories.id_of("OCTO/TINY") == 7


def _migrated(path: Path, version: str) -> Config:
    config = Config(attributes={"connection": None})
    config.set_main_option("script_location", str(Path(triage.__file__).parent / "migrations"))
    with create_engine(f"sqlite:///{path}").begin() as connection:
        config.attributes["connection"] = connection
        command.downgrade(config, version)
    return config


def test_what_older_databases_kept_among_the_switches_is_moved(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    with open_store(path, create=True) as store:
        first, second = bugs(Ledger(store), 2)
    _migrated(path, "0005")
    with create_engine(f"sqlite:///{path}").begin() as connection:
        for name, value, by in SWITCHES:
            connection.exec_driver_sql("INSERT INTO switch VALUES (?, ?, ?, ?)", (name, value, by, _AT))
    for _ in range(2):  # the second time from what the way back leaves
        with open_store(path, create=False) as store:
            ledger = Ledger(store)
            assert (ledger.facts.judged(first), ledger.facts.judged(second)) == ("f" * 40, "")
            assert ledger.facts.is_apart(second, "octo/tiny", 12) and not ledger.facts.is_apart(first, "octo/tiny", 12)
            assert ledger.repositories.id_of("octo/tiny") == 186853002
            assert ledger.switches.stopped() == "too loud" and ledger.switches.get("judged") == "no fact"
            assert not any(ledger.switches.get(name) for name, _, _ in SWITCHES[:4])
        _migrated(path, "0005")
