"""`graphwarden moderators`: secrets are told once and kept as hashes."""

from __future__ import annotations

from pathlib import Path

import pytest

from bot import passphrase
from tests.bot.support import Run
from triage.store import open_store


@pytest.fixture
def database(tmp_path: Path) -> Path:
    with open_store(tmp_path / "h.db", create=True) as store:
        store.begin_campaign({"seed": 1})
    return tmp_path / "h.db"


def test_a_secret_is_told_once_and_only_a_hash_of_it_is_kept(gw: Run, database: Path) -> None:
    secret = gw("moderators", "add", "ada", "--db", database).out.strip()
    assert len(secret) == 24
    stored = b"".join(each.read_bytes() for each in database.parent.iterdir())
    assert secret.encode() not in stored and b"scrypt$16384$8$1$" in stored
    told = gw("moderators", "list", "--db", database, "--json")
    assert [each["name"] for each in told.json] == ["ada"] and secret not in told.out
    again = gw("moderators", "add", "ada", "--db", database)
    assert again.code == 2 and "remove the name first" in again.err
    assert gw("moderators", "remove", "ada", "--db", database).code == 0
    gone = gw("moderators", "remove", "ada", "--db", database)
    assert gone.code == 2 and "no moderator is called ada" in gone.err
    assert gw("moderators", "add", "ada", "--db", database, "--json").json["secret"] != secret


@pytest.mark.parametrize("name", ["", "-x", "a b", "<script>", "é", "a" * 40, "../x"])
def test_a_name_is_one_that_can_be_written_anywhere(gw: Run, database: Path, name: str) -> None:
    done = gw("moderators", "add", "--db", database, "--", name)
    assert done.code == 2 and "letters, digits, dots and dashes" in done.err and len(done.err.splitlines()) == 1


def test_a_secret_fits_what_was_kept_of_it_and_nothing_else() -> None:
    secret = passphrase.new()
    stored = passphrase.kept(secret)
    assert passphrase.fits(secret, stored) and stored != passphrase.kept(secret)
    for other in (secret + "x", secret[:-1], "", stored, "\ud800", "x" * 10_000):
        assert not passphrase.fits(other, stored)
    assert not passphrase.fits("", "") and not passphrase.fits(secret, "")
