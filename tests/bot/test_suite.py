"""`graphwarden suite run` on real builds of the tiny compiler."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest

from bot import suitefile
from bot.suitefile import Wanted
from tests.bot import suites
from tests.bot.support import Run, ended, start
from triage.suite.entries import Expected, Source


def test_a_suite_tells_what_every_case_does_on_a_build(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases", ("Relu", "Neg", "Sub", "Abs"))
    done = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.0", "--cases", folder, "--json")
    assert (done.code, done.err) == (0, "")
    assert (done.json["revision"], done.json["ran"], done.json["of"]) == ("1.0", 4, 4)
    assert done.json["seconds"] > 0
    letters = {one["case"]: one["status"] for one in done.json["outcomes"]}
    assert letters == {"Relu": "ok", "Neg": "ok", "Sub": "wrong", "Abs": "exception"}


def test_what_failed_last_time_runs_first(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases")
    arguments = (
        "suite",
        "run",
        "--compiler",
        tiny.compiler,
        "--revision",
        "1.0",
        "--cases",
        folder,
        "--jobs",
        "1",
        "--json",
    )
    gw(*arguments)
    assert gw(*arguments).json["outcomes"][0]["case"] == "Sub"


def test_people_are_shown_counts_and_examples(gw: Run, place: Path, tiny: suites.Builds) -> None:
    done = gw(
        "suite", "run", "--compiler", tiny.compiler, "--revision", "1.0", "--cases", suites.cases(place / "cases")
    )
    assert "wrong result" in done.out and "Sub" in done.out and "5 of 5 cases" in done.out


def test_a_committed_entry_that_does_something_else_is_told(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = place / "entries"
    [sub] = suitefile.gather(Wanted(folder=suites.cases(place / "cases", ("Sub",))), "onnxruntime", None)  # type: ignore[arg-type]
    suitefile.keep(folder, sub, Expected("tinyc: as it was.", "made by hand", {"tinyc": {"1.0": "P"}}))
    done = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.0", "--cases", folder)
    assert "Sub: W where P is expected of tinyc 1.0" in done.err
    document = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.0", "--cases", folder, "--json").json
    assert document["outcomes"][0]["expected"] == "P"


def test_a_build_that_computes_garbage_is_told_as_environment(gw: Run, place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases")
    done = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.2", "--cases", folder)
    assert done.code == 3
    assert "1.2 cannot be tested: its environment is broken" in done.err


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--cases", "nowhere"], "nowhere: no such folder"),
        (["--tests", "test_rellu"], "no such node test; near it: test_relu"),
        (["--tests", "test_relu", "--form", "odd"], "--form 'odd' must be one of: plain, frozen"),
        (["--source", "nowhere"], "--source: unknown source 'nowhere'"),
        (["--db", "nowhere.db"], "nowhere.db: no such database"),
        (["--budget", "soon"], "is not a duration"),
    ],
)
def test_what_cannot_be_used_is_said_in_one_line(
    gw: Run, place: Path, tiny: suites.Builds, more: list[str], told: str
) -> None:
    done = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.0", *more)
    assert done.code == 2
    assert told in done.err and len(done.err.strip().splitlines()) == 1


def test_an_empty_folder_is_told(gw: Run, place: Path, tiny: suites.Builds) -> None:
    (place / "empty").mkdir()
    done = gw("suite", "run", "--compiler", tiny.compiler, "--revision", "1.0", "--cases", place / "empty")
    assert (done.code, "holds no case" in done.err) == (2, True)


def test_an_interrupted_suite_goes_on_where_it_was(place: Path, tiny: suites.Builds) -> None:
    folder = suites.cases(place / "cases")
    arguments = ["suite", "run", "--compiler", tiny.compiler, "--revision", "1.3", "--cases", str(folder), "--json"]
    before = set(_journals(tiny))
    kept: list[str] = []
    for _ in range(50):  # one that ended before it could be killed is begun again
        first = start(place, *arguments)
        while first.poll() is None and not _records(tiny, before):
            time.sleep(0.001)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        if kept := [json.loads(line)["name"] for line in _records(tiny, before)]:
            break
    assert kept
    second = ended(start(place, *arguments))
    assert second.code == 0
    names = [one["case"] for one in second.json["outcomes"]]
    assert sorted(names) == sorted((*suites.UNARY, *suites.BINARY))
    assert names[: len(kept)] == kept
    assert set(_journals(tiny)) == before  # it has ended: the next one begins anew


def _journals(tiny: suites.Builds) -> list[Path]:
    return list((tiny.root / "runs").glob("suite-*.jsonl"))


def _records(tiny: suites.Builds, before: set[Path]) -> list[str]:
    return [line for path in _journals(tiny) if path not in before for line in path.read_text().splitlines()[1:]]


def test_a_suite_holds_committed_entries_bugs_and_a_slice() -> None:
    found = suitefile.gather(Wanted(slice_size=40), "openvino", None)  # type: ignore[arg-type]
    sources = [entry.source for entry in found]
    assert sources.count(Source.COMMITTED) >= 14 + 20
    assert 0 < sources.count(Source.SLICE) <= 40
    assert len({entry.id for entry in found}) == len({entry.name for entry in found}) == len(found)
    assert all(entry.title and entry.expected.letters for entry in found if entry.source is Source.COMMITTED)


def test_node_tests_come_in_the_form_that_is_asked_for() -> None:
    frozen, plain = (
        suitefile.gather(Wanted(tests=("test_reshape_allowzero_reordered", "test_relu"), form=form), "tvm", None)  # type: ignore[arg-type]
        for form in ("frozen", "plain")
    )
    assert [entry.case.origin.variant for entry in frozen] == ["frozen", "plain"]  # Relu has nothing to freeze
    assert [entry.case.origin.variant for entry in plain] == ["plain", "plain"]
    assert [entry.name for entry in frozen] == [entry.name for entry in plain]
