"""`graphwarden hunt` on a compiler with planted bugs: drafts, resuming, interruptions, bad arguments."""

from __future__ import annotations

import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from bot.commands.hunt import _in_rounds
from tests.bot.support import FAULTY, PLANTED, Done, Run, ended, start

#: A hunt that sees every node test; only the planted operators fail.
HUNT = ("hunt", "--source", "onnx_node", "--budget", "none", "--timeout", 600, "--json")
KINDS = ("passed", "skipped", "unsupported", "invalid", "flaky", "failures")
DB, OUT = ("--db", "hunt.db"), ("--out", "reports")


@dataclass(frozen=True)
class Hunted:
    """A finished hunt: its folder, its backend, and the documents of `hunt` and `bugs`."""

    folder: Path
    backend: Path
    document: dict[str, Any]
    bugs: dict[str, dict[str, Any]]


def told(folder: Path, *arguments: object) -> Any:
    done = ended(start(folder, *arguments, "--json"))
    assert done.code == 0, done.err
    return done.json


@pytest.fixture(scope="module")
def hunted(tmp_path_factory: pytest.TempPathFactory) -> Hunted:
    folder = tmp_path_factory.mktemp("whole")
    backend = Path(shutil.copy(PLANTED, tmp_path_factory.mktemp("compiler")))
    done = ended(start(folder, *HUNT, "--backend", backend, *DB, *OUT))
    assert done.code == 0, done.err
    bugs = told(folder, "bugs", *DB)
    return Hunted(folder, backend, done.json, {bug["conversion_function"]: bug for bug in bugs})


def rows(folder: Path, query: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(folder / "hunt.db")) as connection:
        return sorted(connection.execute(query).fetchall())


RESULTS = "SELECT case_id, target_id, status FROM result"
FAILURES = "SELECT case_id, target_id, fingerprint FROM failure"


# ---------------------------------------------------------------- what is found


def test_the_numbers_add_up(hunted: Hunted) -> None:
    document = hunted.document
    assert set(document) >= {
        "campaign", "cases", "passed", "skipped", "unsupported", "invalid", "failures", "bugs", "drafts", "seconds"
    }  # fmt: skip
    assert sum(document[kind] for kind in KINDS) == len(rows(hunted.folder, RESULTS))
    assert document["classes"]["pass"] == document["passed"]
    assert sum(document["classes"].values()) == document["passed"] + document["failures"]
    assert document["cases"] > 2000 and document["bugs"] == len(hunted.bugs)
    assert document["drafts"] == sum(bug["state"] == "drafted" for bug in hunted.bugs.values())


PLANTED_BUGS = {
    "convert_rounding": ("exception:fuzz.backends.planted.Unlowered", "drafted"),
    "convert_sign": ("crash:SIGSEGV", "drafted"),
    "convert_sinh": ("wrong:values", "drafted"),
    "convert_acosh": ("wrong:nan", "drafted"),
    "convert_atanh": ("wrong:values", "drafted"),
}


@pytest.mark.parametrize("function", PLANTED_BUGS)
def test_every_planted_bug_becomes_one_bug(function: str, hunted: Hunted) -> None:
    bug = hunted.bugs[function]
    assert (bug["symptom"], bug["state"]) == PLANTED_BUGS[function]
    assert bug["backend"] == str(hunted.backend) and bug["count"] >= 1


def test_operators_that_share_a_conversion_function_share_a_bug(hunted: Hunted) -> None:
    bug = hunted.bugs["convert_rounding"]
    assert bug["count"] >= 3 and bug["nodes"] == 1
    assert bug["message"] == "cannot lower SHAPE at ADDR in lower.py"
    assert bug["why"].startswith("same because ") and bug["why"].count(". ") == 0


def test_a_result_that_is_wrong_in_every_run_and_never_the_same_is_drafted_as_such(hunted: Hunted) -> None:
    bug = hunted.bugs["convert_atanh"]
    assert "each time with other values" in bug["note"]
    assert bug["title"].endswith("returns other values in every run")


def test_every_draft_has_a_script_that_fails_and_is_listed(hunted: Hunted) -> None:
    index = (hunted.folder / "reports" / "README.md").read_text()
    drafted = [bug for bug in hunted.bugs.values() if bug["state"] == "drafted"]
    for bug in drafted:
        report = hunted.folder / bug["report"]
        assert report.name in index
        done = subprocess.run([sys.executable, report.with_suffix(".py")], capture_output=True, check=False)
        assert done.returncode != 0, report
    files = [path for path in (hunted.folder / "reports").rglob("*") if path.is_file()]
    assert len(files) == 2 * len(drafted) + 1


def test_a_report_is_printed_as_markdown_and_as_json(hunted: Hunted) -> None:
    bug = hunted.bugs["convert_sinh"]
    markdown = ended(start(hunted.folder, "report", bug["id"], *DB))
    assert markdown.code == 0 and markdown.err == ""
    assert markdown.out == (hunted.folder / bug["report"]).read_text()
    document = told(hunted.folder, "report", bug["id"], *DB)
    assert document["id"] == bug["id"] and document["script"] in markdown.out
    assert markdown.out.startswith(f"# {document['title']}\n")


def test_a_bug_without_a_report_says_why(hunted: Hunted, tmp_path: Path) -> None:
    folder = shutil.copytree(hunted.folder, tmp_path / "copy")
    bug = hunted.bugs["convert_rounding"]["id"]
    failures = told(folder, "bugs", "failures", bug, *DB)
    new = told(folder, "bugs", "split", bug, failures[-1]["id"], *DB)["new"]
    done = ended(start(folder, "report", new, *DB))
    assert (done.code, done.out) == (1, "")
    assert "its state is new" in done.err and done.err.count("\n") == 1


@pytest.mark.parametrize("number", ["0", "-1", "99999", "99999999999999999999999", "one"])
def test_an_unknown_bug_is_unusable_input(number: str, hunted: Hunted) -> None:
    done = ended(start(hunted.folder, "report", *DB, "--", number))
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("graphwarden: ") and done.err.count("\n") == 1


def test_a_reader_that_stops_early_is_no_error(hunted: Hunted) -> None:
    for command in (["bugs", *DB, "--json"], ["report", hunted.bugs["convert_sinh"]["id"], *DB]):
        process = start(hunted.folder, *command)
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None and process.stderr.read() == ""
        assert process.wait(900) == 0


def test_a_full_disk_is_one_line(hunted: Hunted) -> None:
    with open("/dev/full", "w") as full:
        done = ended(start(hunted.folder, "bugs", *DB, "--json", stdout=full))
    assert done.code == 2
    assert done.err == "graphwarden: No space left on device; what was recorded is safe\n"


# ---------------------------------------------------------------- going on


@contextmanager
def held(backend: Path, *hunts: subprocess.Popen[str]) -> Iterator[list[int]]:
    """These hunts, when each has done some hundred runs and waits in the middle of one: all their processes.

    They wait for the end of the block. By then a chunk of results at least is recorded, and most of them are not.
    """
    hold = backend.with_name("hold")
    try:
        while True:
            waiting = {int(path.suffix[1:]) for path in backend.parent.glob("hold.[0-9]*")}
            families = [descendants(hunt.pid) for hunt in hunts]
            if all(waiting & set(family) for family in families):
                break
            for hunt in hunts:
                assert hunt.poll() is None, hunt.communicate()
            time.sleep(0.05)
        yield [pid for family in families for pid in family]
    finally:
        hold.unlink()
        for path in backend.parent.glob("hold.*"):
            path.unlink()


def hunt_that_waits(folder: Path, backend: Path) -> subprocess.Popen[str]:
    backend.with_name("hold").write_text("150")
    return start(folder, *HUNT, "--backend", backend, *DB, "--no-drafts", "--jobs", 1)


def interrupted(folder: Path, backend: Path, number: signal.Signals) -> Done:
    """A hunt that gets a signal in its midst; none of its processes outlives it."""
    process = hunt_that_waits(folder, backend)
    with held(backend, process) as workers:
        process.send_signal(number)
    done = ended(process)
    assert settles(lambda: not any(alive(pid) for pid in workers))
    return done


def test_a_hunt_goes_on_after_any_end_and_loses_nothing(hunted: Hunted, tmp_path: Path) -> None:
    whole = {"results": set(rows(hunted.folder, RESULTS)), "failures": set(rows(hunted.folder, FAILURES))}
    before: set[tuple[Any, ...]] = set()
    for at, number in enumerate((signal.SIGKILL, signal.SIGINT, signal.SIGTERM)):
        done = interrupted(tmp_path, hunted.backend, number)
        assert (at, done.code, done.out[:60], done.err[-300:]) == (at, done.code, "", done.err[-300:])
        assert ("going on with campaign 1 where it stopped" in done.err) is (at > 0)
        if number is not signal.SIGKILL:
            assert done.code == 130
            assert done.err.endswith("interrupted; what was recorded is safe, the same command goes on from there\n")
        after = set(rows(tmp_path, RESULTS))
        assert before < after < whole["results"]
        assert set(rows(tmp_path, FAILURES)) <= whole["failures"]
        before = after


def descendants(pid: int) -> list[int]:
    found, todo = [], [pid]
    while todo:
        mine = children(todo.pop())
        found += mine
        todo += mine
    return found


def children(pid: int) -> list[int]:
    """Those of a process or a thread that has ended meanwhile are none: they have another parent by now."""
    with suppress(FileNotFoundError, ProcessLookupError):
        tasks = list(Path(f"/proc/{pid}/task").glob("*/children"))
        return [int(number) for task in tasks for number in task.read_text().split()]
    return []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def settles(condition: Callable[[], bool]) -> bool:
    for _ in range(6000):
        if condition():
            return True
        time.sleep(0.05)
    return False


def test_two_hunts_at_once_share_one_campaign(hunted: Hunted, tmp_path: Path) -> None:
    both = [hunt_that_waits(tmp_path, hunted.backend) for _ in range(2)]
    with held(hunted.backend, *both):
        for process in both:
            process.terminate()
    assert [done.code for done in map(ended, both)] == [130, 130]
    assert len(rows(tmp_path, "SELECT id FROM campaign")) == 1
    assert set(rows(tmp_path, RESULTS)) < set(rows(hunted.folder, RESULTS))
    assert set(rows(tmp_path, FAILURES)) <= set(rows(hunted.folder, FAILURES))


# ---------------------------------------------------------------- what it refuses


def listing(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


BAD: dict[str, tuple[list[str], int, str]] = {
    "an unknown backend": (["--backend", "gcc"], 2, "unknown backend 'gcc'"),
    "an unknown source": (["--source", "imagination"], 2, "unknown source 'imagination': choose one of docs"),
    "an unknown option": (["--option", "speed=1"], 2, "no chosen backend has the option speed"),
    "an unknown value": (["--option", "opt=fast"], 2, "of backend onnxruntime must be one of"),
    "a file that holds no case": (
        ["--source", "none.jsonl", "--backend", "onnxruntime"],
        2,
        "--source none.jsonl: holds no case",
    ),
    "a file that is not there": (
        ["--source", "gone.jsonl", "--backend", "onnxruntime"],
        2,
        "--source gone.jsonl: no such file",
    ),
    "no time": (["--budget", "0"], 2, "--budget '0' leaves no time"),
    "nonsense for a time": (["--budget", "soon"], 2, "--budget 'soon' is not a duration"),
    "a database in no folder": (["--db", "no/such/hunt.db"], 2, "there is no folder no/such"),
    "a database that is a folder": (["--db", "."], 2, "is a folder, not a database"),
    "a database that is a text": (["--db", "notes.txt"], 2, "is not a database"),
    "no backend that works": (["--backend", "tensorrt"], 3, "no backend is available (tensorrt: "),
}


@pytest.mark.parametrize("name", BAD)
def test_a_hunt_with(name: str, gw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, code, says = BAD[name]
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.txt").write_text("do not overwrite me")
    (tmp_path / "none.jsonl").write_text("")
    done = gw("hunt", "--budget", "5s", *arguments, "--json")
    assert (done.code, done.out) == (code, "")
    assert says in done.err and done.err.startswith("graphwarden: ") and done.err.count("\n") == 1
    assert (tmp_path / "notes.txt").read_text() == "do not overwrite me"


@pytest.mark.parametrize("command", [["bugs"], ["report", "1"]])
def test_only_a_hunt_makes_a_database(command: list[str], gw: Run, tmp_path: Path) -> None:
    (tmp_path / "empty.db").touch()
    (tmp_path / "notes.txt").write_text("no database")
    for name, says in (("no.db", "no such database"), ("empty.db", "is empty"), ("notes.txt", "is not a database")):
        done = gw(*command, "--db", tmp_path / name, "--json")
        assert (done.code, done.out) == (2, "")
        assert says in done.err and done.err.count("\n") == 1
    assert listing(tmp_path) == {"empty.db", "notes.txt"} and not (tmp_path / "empty.db").stat().st_size


def test_a_backend_that_computes_garbage_is_left_out_before_it_shows_as_a_thousand_bugs(
    gw: Run, tmp_path: Path
) -> None:
    broken = FAULTY.with_name("computes_garbage.py")
    done = gw(
        "hunt", "--backend", broken, "--budget", "5s", "--db", tmp_path / "h.db", "--out", tmp_path / "out", "--json"
    )
    assert done.code == 3 and "garbage" in done.err


# ---------------------------------------------------------------- a budget and its halves


class Clocked:
    """A pace whose clock is moved by what is done: a share of the budget for each piece of work."""

    cancelled = False

    def __init__(self) -> None:
        self.clock = 0.0

    def spent(self) -> float:
        return self.clock

    def through(self, part: Callable[[], Any]) -> Any:
        return part()


def rounds(drafting: float, found: int = 0, end: float = 2.0) -> tuple[list[float], bool]:
    """Where each round of hunting ended, and whether all cases were run: they end at `end` of the budget.

    Each round that finds something, the first `found`, has drafts to write for `drafting` of the budget.
    """
    pace, shares = Clocked(), list[float]()

    def hunts(share: float) -> bool:
        pace.clock = min(share, end)
        shares.append(pace.clock)
        return pace.clock >= end

    def triages() -> None:
        pace.clock += drafting if len(shares) <= found else 0.0

    return shares, _in_rounds(pace, hunts, triages)  # type: ignore[arg-type]


def test_a_hunt_that_finds_nothing_goes_on_with_the_other_half_of_its_budget() -> None:
    assert rounds(0.0) == ([0.5, 0.75, 0.875], False)


def test_a_hunt_goes_on_when_all_is_drafted_long_before_its_budget_ends() -> None:
    assert rounds(0.2, found=1) == (pytest.approx([0.5, 0.85]), False)
    assert rounds(0.5, found=1) == ([0.5], False)


def test_a_hunt_ends_with_its_cases() -> None:
    assert rounds(0.0, end=0.3) == ([0.3], True)
    assert rounds(0.0, end=0.6) == ([0.5, 0.6], True)


def test_a_hunt_that_something_else_than_the_time_ends_begins_no_other_round() -> None:
    pace, begun = Clocked(), list[float]()

    def hunts(share: float) -> bool:
        begun.append(share)
        return False

    assert not _in_rounds(pace, hunts, lambda: None)  # type: ignore[arg-type]
    assert begun == [0.5]


def test_a_hunt_that_has_enough_to_draft_drafts_first_and_goes_on_with_the_rest() -> None:
    pace, begun = Clocked(), list[float]()

    def hunts(share: float) -> bool:
        pace.clock = 0.2 if not begun else share
        begun.append(pace.clock)
        return False

    def triages() -> None:
        pace.clock += 0.3

    assert not _in_rounds(pace, hunts, triages, lambda: len(begun) == 1)  # type: ignore[arg-type]
    assert begun == pytest.approx([0.2, 0.75])
