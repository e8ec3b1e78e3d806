"""A build that nobody waits for any more is stopped, and the gate of the next head begins."""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from bot import builds, working
from bot.checks import building
from bot.checks.run import CheckRun
from fuzz import confine
from tests.bot import suites
from tests.bot.checks.support import Shop, shop
from tests.bot.support import ended, start
from tests.builds import tinyc
from triage.ledger.records import NewWork, WorkState

DEADLINE = 900.0
#: A build that goes on for an hour, beside a process that it started, where the checkout has a file SLOW.
BUILD = """
import os, shutil, subprocess, sys, time
if os.path.exists("SLOW"):
    if os.fork() == 0:
        os.setsid()
    open("/proc/self/comm", "w").write(open("SLOW").read())
    time.sleep(3600)
shutil.copytree("tinyc", sys.argv[1] + "/tinyc")
"""


pytestmark = pytest.mark.skipif(
    "bubblewrap" not in confine.means(),
    reason="bubblewrap does not work on this machine, and nobody cannot enter the folders of a test of root's",
)


@pytest.fixture
def slow_shop(tmp_path: Path, tiny: suites.Builds, monkeypatch: pytest.MonkeyPatch) -> Iterator[Shop]:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(tiny.root))
    with shop(tmp_path, tiny.root.parent) as found:
        Path(found.project.compiler).write_text(
            f'backend = "{tinyc.BACKEND}"\n[provider]\nkind = "command"\nrepository = "{found.repository}"\n'
            f"branch = \"main\"\ncommand = ['{{python}}', '-c', '''{BUILD}''', '{{output}}']\n"
            '[[requires]]\npackages = ["numpy", "onnx"]\n'
        )
        (tmp_path / "token").write_text("none is needed")
        (tmp_path / "graphwarden.toml").write_text(
            'database = "bot.db"\n[github]\ntoken_file = "token"\n[projects.tiny]\nrepository = "octo/tiny"\n'
            'compiler = "tinyc.toml"\ncases = "cases"\njobs = 1\n'
        )
        yield found


def processes(name: str) -> list[str]:
    """The numbers of processes that call themselves so."""
    found = []
    for comm in Path("/proc").glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            found += [comm.parent.name] if comm.read_text().strip() == name else []
    return found


def until(true: Callable[[], object]) -> None:
    ends = time.monotonic() + DEADLINE
    while not true():
        assert time.monotonic() < ends
        time.sleep(0.05)


def at(shop: Shop, head: str) -> int:
    """Pull request 7 is at this head; the number of its gate."""
    CheckRun(shop.ledger, shop.project, head, 7, shop.first, fork=False).is_newest()
    asked = {"commit": head, "base": shop.first, "pull": 7, "fork": False}
    return shop.ledger.work.add(NewWork("gate", f"tiny#7@{head}", "tiny", asked))


@pytest.mark.parametrize("why", ["another head", "closed"])
def test_a_build_that_nobody_waits_for_ends_with_all_its_processes(
    slow_shop: Shop, tiny: suites.Builds, why: str
) -> None:
    name = f"b{uuid.uuid4().hex[:12]}"
    old, new = slow_shop.pull("sub swaps", files={"SLOW": name}), slow_shop.pull("neg dies")
    folders = set(tiny.root.glob("tinyc-*"))
    first = at(slow_shop, old)
    process = start(slow_shop.folder, "work")
    try:
        until(lambda: len(processes(name)) == 2)
        if why == "closed":
            slow_shop.ledger.work.cancel("gate", f"tiny#7@{old}", "the pull request was closed")
        second = at(slow_shop, new)
        until(lambda: slow_shop.ledger.work.get(second).state is WorkState.DONE)
        assert not processes(name)
    finally:
        process.terminate()
        ended(process)
    state = slow_shop.ledger.work.get(first).state
    assert state is (WorkState.CANCELLED if why == "closed" else WorkState.DONE)
    said = slow_shop.said(old)
    assert (said["status"], said["conclusion"]) == ("completed", "cancelled")
    assert slow_shop.said(new)["conclusion"] == "failure"
    left = [folder for folder in set(tiny.root.glob("tinyc-*")) - folders if not (folder / "ready.json").exists()]
    assert not left


def test_a_gate_that_waits_for_another_process_to_build_is_ended_too(slow_shop: Shop) -> None:
    """The lock of an environment is held by whoever makes it."""
    name = f"b{uuid.uuid4().hex[:12]}"
    head, new = slow_shop.pull(files={"SLOW": name}), slow_shop.pull()
    compiler = builds.compiler(slow_shop.project.compiler)
    building.accept(compiler, building.find(compiler, head))
    process = start(slow_shop.folder, "revisions", "install", "tinyc.toml", head)
    try:
        until(lambda: processes(name))
        number = at(slow_shop, head)
        work = slow_shop.ledger.work.claim(["gate"])
        assert work is not None
        CheckRun(slow_shop.ledger, slow_shop.project, new, 7, slow_shop.first, fork=False).is_newest()
        working.do(work, slow_shop.desk)
    finally:
        process.kill()
        ended(process)
    assert slow_shop.ledger.work.get(number).state is WorkState.DONE
    assert slow_shop.said(head)["title"] == "Superseded"
    until(lambda: not processes(name))
