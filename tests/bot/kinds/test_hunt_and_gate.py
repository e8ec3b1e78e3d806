"""A nightly hunt and a gate on one machine, each in a process of its own: the gate has the machine for itself."""

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
from triage.ledger.records import NewWork, Planned, Work, WorkState

DEADLINE = 900.0
#: What the pull request's build does before it computes anything: it waits as long as there is a file `hold`.
HOLDS = """
    import pathlib, time
    folder = pathlib.Path({folder!r})
    while (folder / "hold").exists():
        (folder / "held").touch()
        time.sleep(0.02)
"""


@pytest.fixture
def tiny_shop(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    with shop(tmp_path, tiny.root.parent) as found:
        (tmp_path / "token").write_text("none is needed")
        (tmp_path / "graphwarden.toml").write_text(
            'database = "bot.db"\n[github]\ntoken_file = "token"\n[projects.tiny]\nrepository = "octo/tiny"\n'
            'compiler = "tinyc.toml"\ncases = "cases"\njobs = 1\ntimeout = 3600\nbudget = "none"\n'
        )
        # A build that may be anybody's would not see the file that it waits for.
        compiler = tmp_path / "tinyc.toml"
        compiler.write_text("untrusted = false\n" + compiler.read_text())
        yield found


def until(true: Callable[[], object], *processes: subprocess.Popen[str]) -> None:
    ends = time.monotonic() + DEADLINE
    while not true():
        assert all(each.poll() is None for each in processes) and time.monotonic() < ends
        time.sleep(0.02)


def results(shop: Shop) -> int:
    return sum(len(shop.ledger.store.done(each.id)) for each in shop.ledger.store.campaigns())


def hunts(shop: Shop) -> list[Work]:
    return shop.ledger.work.listed([WorkState.QUEUED, WorkState.RUNNING], "hunt")


def test_a_gate_that_comes_during_a_hunt_has_the_machine_at_once_and_the_hunt_goes_on_after_it(tiny_shop: Shop) -> None:
    (tiny_shop.folder / "hold").touch()
    begin = "        values = dict(values)\n"
    holds = textwrap.indent(HOLDS.format(folder=str(tiny_shop.folder)), "    ")
    frontend = tinyc.sources("sub swaps")["tinyc/frontend.py"]
    head = tiny_shop.pull(files={"tinyc/frontend.py": frontend.replace(begin, begin + holds)})
    ledger = tiny_shop.ledger
    ledger.schedules.agree([Planned("nightly", "tiny", "0 2 * * *", "none", ("onnx_node",))])
    ledger.schedules.ring("nightly")
    hunting = start(tiny_shop.folder, "work", "--only", "hunt")
    gating = start(tiny_shop.folder, "work", "--only", "gate")
    try:
        until(lambda: results(tiny_shop), hunting)
        asked = {"commit": head, "base": tiny_shop.first, "pull": 7, "fork": False}
        gate = ledger.work.add(NewWork("gate", "tiny#7", "tiny", asked, priority=10))
        until((tiny_shop.folder / "held").exists, hunting, gating)
        until(lambda: hunts(tiny_shop)[0].note == "gives way to gate tiny#7", hunting, gating)
        during = results(tiny_shop)
        assert ledger.work.get(gate).state is WorkState.RUNNING
        time.sleep(3)
        assert results(tiny_shop) == during, "no case of the hunt runs beside the gate"
        ledger.work.cancel("triage", "bug:*", "nobody here does it, and it goes before a hunt")
        (tiny_shop.folder / "hold").unlink()
        until(lambda: ledger.work.get(gate).state is WorkState.DONE, hunting, gating)
        until(lambda: results(tiny_shop) > during, hunting, gating)
        [campaign] = ledger.store.campaigns()
        assert campaign.name == "nightly", "it is the same one that went on"
    finally:
        for process in (hunting, gating):
            process.send_signal(signal.SIGKILL)
            ended(process)
