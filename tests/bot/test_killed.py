"""Gates, suites and sweeps that are killed with -9 in the middle: the same command goes on, and says the same."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from tests.bot import suites
from tests.bot.support import Run, ended, start

#: More cases than a few batches hold, so that much is left to do when the first ones are known.
OPERATORS, COPIES = ("Relu", "Sub", "Add"), 20
#: Lines of a journal at which it is killed: after the first batch, before the last.
WANTED = range(13, 45)


def of_gate(found: Mapping[str, Any]) -> object:
    lists = ("new_failures", "fixed", "still_failing", "flaky")
    told = {name: sorted((one["id"], one["status_base"], one["status_head"]) for one in found[name]) for name in lists}
    return told, found["ran"], found["of"], found["conclusion"]


def of_suite(found: Mapping[str, Any]) -> object:
    return sorted((one["id"], one["letter"]) for one in found["outcomes"]), found["ran"], found["of"]


def of_sweep(found: Mapping[str, Any]) -> object:
    return found["revisions"], found["cases"], found["untestable"], found["flip_flops"]


#: Command -> its words, what its answer amounts to, and the exit code.
COMMANDS: Mapping[str, tuple[tuple[str, ...], Callable[[Mapping[str, Any]], object], int]] = {
    "gate": (("gate", "--base", "1.1", "--head", "1.0", "--compiler"), of_gate, 1),
    "suite": (("suite", "run", "--revision", "1.0", "--compiler"), of_suite, 0),
    "sweep": (("sweep", "--to", "1.1"), of_sweep, 0),
}


def killed_after(begin: Callable[[], subprocess.Popen[str]], runs: Path, kind: str, lines: range) -> bytes:
    """The journal of a process that was killed while it held so many lines; one that is faster is begun again."""
    for _ in range(50):
        process = begin()
        while process.poll() is None and not any(_lines(path) >= lines.start for path in runs.glob(f"{kind}-*")):
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        done = ended(process)
        for journal in runs.glob(f"{kind}-*"):
            if _lines(journal) in lines:
                return journal.read_bytes()
            journal.unlink()
    raise AssertionError(f"it ended before it could be killed: {done}")


def _lines(journal: Path) -> int:
    """How many it holds; none once its process has ended and removed it."""
    try:
        return journal.read_bytes().count(b"\n")
    except FileNotFoundError:
        return 0


@pytest.mark.parametrize("kind", COMMANDS)
def test_the_same_command_goes_on_after_a_kill_and_says_the_same(
    gw: Run, place: Path, tiny: suites.Builds, kind: str
) -> None:
    words, amounts, code = COMMANDS[kind]
    cases = ("--cases", suites.cases(place / "cases", OPERATORS, COPIES), "--json")
    runs = tiny.root / "runs"
    whole = gw(*words, tiny.compiler, *cases)
    assert whole.code == code
    seen = killed_after(lambda: start(place, *words, tiny.compiler, *cases, "--jobs", "1"), runs, kind, WANTED)
    # A file that fails at the end lets the journal be read that the second process has gone on with.
    full = {"gate": "--summary", "sweep": "--out"}.get(kind)
    if full:
        assert gw(*words, tiny.compiler, *cases, full, "/dev/full").code == 2
        [kept] = runs.glob(f"{kind}-*")
        records = kept.read_bytes().splitlines()
        found = seen.splitlines()[: seen.count(b"\n")]
        assert records[: len(found)] == found and 1 < len(found) < len(records)
        assert len(records) == len(set(records))
    again = gw(*words, tiny.compiler, *cases)
    assert again.code == code
    assert amounts(again.json) == amounts(whole.json)
    assert not list(runs.glob(f"{kind}-*"))
