"""`graphwarden work` is killed with -9 in the middle of a gate; the next one goes on, and the check run ends once."""

from __future__ import annotations

import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot import suites
from tests.bot.checks.support import Shop, shop
from tests.bot.support import ended, start
from tests.builds import tinyc
from triage.ledger.records import NewWork, WorkState

COPIES = 8
DEADLINE = 900.0


@pytest.fixture
def tiny_shop(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    with shop(tmp_path, tiny.root.parent, copies=COPIES) as found:
        (tmp_path / "token").write_text("none is needed")
        (tmp_path / "graphwarden.toml").write_text(
            'database = "bot.db"\n[github]\ntoken_file = "token"\n[projects.tiny]\nrepository = "octo/tiny"\n'
            'compiler = "tinyc.toml"\ncases = "cases"\njobs = 1\n'
        )
        yield found


def waited(shop: Shop, head: str, word: str) -> None:
    """Until the check run says this in its title."""
    ends = time.monotonic() + DEADLINE
    while time.monotonic() < ends:
        if any(word in one.payload["title"] for one in shop.ledger.outbox.listed() if one.payload["head_sha"] == head):
            return
        time.sleep(0.01)
    raise AssertionError(f"{word!r} was never said: {shop.ledger.outbox.listed()}")


def test_a_gate_that_is_killed_goes_on_and_its_check_ends_once(tiny_shop: Shop, tiny: suites.Builds) -> None:
    # However fast the machine is, there is time to kill between the first result and the last.
    slow = tinyc.sources("sub swaps")["tinyc/frontend.py"].replace("return -x", "return SLOWLY or -x")
    slow = slow.replace("SLOWLY", "__import__('time').sleep(0.3)")
    head = tiny_shop.pull(files={"tinyc/frontend.py": slow})
    asked = {"commit": head, "base": tiny_shop.first, "pull": 7, "fork": False}
    number = tiny_shop.ledger.work.add(NewWork("gate", "it", "tiny", asked))
    before = set((tiny.root / "runs").glob("gate-*"))
    first = start(tiny_shop.folder, "work")
    try:
        waited(tiny_shop, head, "so far")
    finally:
        first.send_signal(signal.SIGKILL)
        ended(first)
    [journal] = set((tiny.root / "runs").glob("gate-*")) - before
    assert tiny_shop.ledger.work.get(number).state is WorkState.RUNNING
    second = start(tiny_shop.folder, "work")
    try:
        waited(tiny_shop, head, f"{3 * COPIES} of {3 * COPIES} cases")
        while tiny_shop.ledger.work.get(number).state is WorkState.RUNNING:
            time.sleep(0.01)
    finally:
        second.send_signal(signal.SIGTERM)
        ended(second)
    work = tiny_shop.ledger.work.get(number)
    assert (work.state, work.attempts) == (WorkState.DONE, 2)
    assert not journal.exists()
    said = tiny_shop.said(head)  # one outgoing thing, whatever happened
    assert (said["status"], said["conclusion"]) == ("completed", "failure")
    assert said["title"].startswith(f"{COPIES} new failures, 0 fixed")
    assert len(said["annotations"]) == COPIES
