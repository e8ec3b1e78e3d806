"""`graphwarden work` is killed with -9 in the middle of a gate; the next one goes on, and the check run ends once."""

from __future__ import annotations

import signal
import subprocess
import textwrap
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.bot import suites
from tests.bot.checks.support import Shop, shop
from tests.bot.support import ended, start
from tests.builds import tinyc
from triage.ledger.records import NewWork, WorkState
from triage.suite.turns import BATCH

#: As many cases as two batches hold.
COPIES = 2 * BATCH // 3
DEADLINE = 900.0
#: What a build does before it computes one of the cases: the first one of the second batch, and each one after it,
#: waits as long as there is a file `hold`.
HOLDS = """
    import hashlib, pathlib, time
    folder, x = pathlib.Path({folder!r}), values["x"]
    if x.shape == (3,) and x[2] == -1.5 * x[0]:
        (folder / "seen" / hashlib.sha256(model + repr(values).encode()).hexdigest()).touch()
        while len(list((folder / "seen").iterdir())) > {batch} and (folder / "hold").exists():
            (folder / "held").touch()
            time.sleep(0.02)
"""


@pytest.fixture
def tiny_shop(tmp_path: Path, tiny: suites.Builds, database: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    with shop(tmp_path, tiny.root.parent, copies=COPIES, database=database) as found:
        (tmp_path / "token").write_text("none is needed")
        (tmp_path / "graphwarden.toml").write_text(
            f'database = "{database}"\n[github]\ntoken_file = "token"\n[projects.tiny]\nrepository = "octo/tiny"\n'
            'compiler = "tinyc.toml"\ncases = "cases"\njobs = 1\ntimeout = 3600\n'
            'budget = "none"\n'
        )
        # A build that may be anybody's would not see the file that it waits for.
        compiler = tmp_path / "tinyc.toml"
        compiler.write_text("untrusted = false\n" + compiler.read_text())
        yield found


def until(true: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait for what a process does."""
    ends = time.monotonic() + DEADLINE
    while not true():
        assert process.poll() is None and time.monotonic() < ends
        time.sleep(0.02)


def titles(shop: Shop, head: str) -> list[str]:
    """What the check run of a head says."""
    return [one.payload["title"] for one in shop.ledger.outbox.listed() if one.payload["head_sha"] == head]


def test_a_gate_that_is_killed_goes_on_and_its_check_ends_once(tiny_shop: Shop, tiny: suites.Builds) -> None:
    (tiny_shop.folder / "seen").mkdir()
    (tiny_shop.folder / "hold").touch()
    begin = "        values = dict(values)\n"
    holds = textwrap.indent(HOLDS.format(folder=str(tiny_shop.folder), batch=BATCH), "    ")
    frontend = tinyc.sources("sub swaps")["tinyc/frontend.py"]
    head = tiny_shop.pull(files={"tinyc/frontend.py": frontend.replace(begin, begin + holds)})
    asked = {"commit": head, "base": tiny_shop.first, "pull": 7, "fork": False}
    number = tiny_shop.ledger.work.add(NewWork("gate", "it", "tiny", asked))
    before = set((tiny.root / "runs").glob("gate-*"))
    first = start(tiny_shop.folder, "work")
    try:
        until((tiny_shop.folder / "held").exists, first)
        assert [title for title in titles(tiny_shop, head) if "so far" in title]
    finally:
        first.send_signal(signal.SIGKILL)
        ended(first)
    (tiny_shop.folder / "hold").unlink()
    [journal] = set((tiny.root / "runs").glob("gate-*")) - before
    assert tiny_shop.ledger.work.get(number).state is WorkState.RUNNING
    second = start(tiny_shop.folder, "work")
    try:
        until(lambda: tiny_shop.ledger.work.get(number).state is not WorkState.RUNNING, second)
    finally:
        second.send_signal(signal.SIGTERM)
        ended(second)
    work = tiny_shop.ledger.work.get(number)
    assert (work.state, work.attempts) == (WorkState.DONE, 2)
    assert not journal.exists()
    assert tiny_shop.said(head)["title"].endswith(f"{3 * COPIES} of {3 * COPIES} cases")
    said = tiny_shop.said(head)  # one outgoing thing, whatever happened
    assert (said["status"], said["conclusion"]) == ("completed", "failure")
    assert said["title"].startswith(f"{COPIES} new failures, 0 fixed")
    assert len(said["annotations"]) == COPIES
