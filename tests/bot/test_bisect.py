"""`graphwarden bisect` on real builds of a tiny compiler: wheels, and commits laid over one of them."""

from __future__ import annotations

import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx.parser
import pytest

from fuzz import confine
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.support import Run, ended, saved, start
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.bisect import bisection
from triage.records import NewFailure, StoredDraft
from triage.store import open_store

#: Sub is right up to 1.1 and again from 1.5 on; Neg varies from 1.4 on; 1.3 and 1.6 cannot be tested.
WHEELS = {
    "1.0": [],
    "1.1": [],
    "1.2": ["sub swaps"],
    "1.3": ["garbage"],
    "1.4": ["sub swaps", "neg errs mostly"],
    "1.5": ["neg errs mostly"],
    "1.6": ["no import"],
    "1.7": ["neg errs mostly"],
}
#: These two are the same files.
NOTES = {"1.5": "again", "1.7": "again"}
SUB = '<ir_version: 7, opset_import: ["": 13]> g (float[3] x, float[3] y) => (float[3] z) { z = Sub (x, y) }'
NEG = '<ir_version: 7, opset_import: ["": 13]> g (float[3] x) => (float[3] z) { z = Neg (x) }'


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environments of the wheels are made once for all tests."""
    folder = tmp_path_factory.mktemp("bisect")
    for version, faults in WHEELS.items():
        tinyc.wheel(folder, version, *faults, note=NOTES.get(version, version))
    return folder


@pytest.fixture
def compiler(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(place / "root"))
    return support.wheels(place).source


@pytest.fixture(autouse=True)
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """What may be looked at besides is looked at, however long that takes here."""
    monkeypatch.setattr(bisection, "CHECK_SECONDS", 3600.0)


@pytest.fixture
def sub(tmp_path: Path) -> list[object]:
    """The arguments that name a subtraction with values."""
    values = tmp_path / "values.npz"
    np.savez(values, x=np.array([1, 2, 3], np.float32), y=np.array([5, 5, 7], np.float32))
    return [saved(tmp_path / "sub.onnx", onnx.parser.parse_model(SUB)), "--inputs", values]


def bisect(gw: Run, case: list[object], compiler: Path, first: str, last: str, *more: object) -> Any:
    return gw("bisect", *case, "--compiler", compiler, "--from", first, "--to", last, "--json", *more)


def test_the_first_bad_release_is_found(gw: Run, compiler: Path, sub: list[object]) -> None:
    done = bisect(gw, sub, compiler, "1.0", "1.4")
    assert done.code == 0, done.err
    found = done.json
    assert (found["first"], found["last_before"]) == ("1.2", "1.1")
    assert found["flips"] == [["1.1", "1.2", "ok", "wrong"]] and found["confidence"] > 0.99
    assert [(each["revision"], each["status"]) for each in found["tested"]] == [
        ("1.0", "ok"),
        ("1.1", "ok"),
        ("1.2", "wrong"),
        ("1.4", "wrong"),
    ]
    assert all(each["failed"] == (each["runs"] if each["status"] == "wrong" else 0) for each in found["tested"])
    [skipped] = found["skipped"]
    assert skipped["revision"] == "1.3" and "7 of 7 tiny models fail" in skipped["reason"]


def test_the_first_good_release_is_found_and_told_in_words(gw: Run, compiler: Path, sub: list[object]) -> None:
    done = gw("bisect", *sub, "--compiler", compiler, "--from", "1.2", "--to", "1.7", "--fix")
    assert done.code == 0, done.err
    assert done.out.startswith("first good revision: 1.5 (ok); last before: 1.4 (wrong); confidence 0.9999\n")
    assert "1.6 could not be tested: " in done.out and "same build as" in done.out


def test_a_failure_that_goes_and_comes_back_is_blamed_on_no_release(gw: Run, compiler: Path, sub: list[object]) -> None:
    done = bisect(gw, sub, compiler, "1.0", "1.7")
    assert done.code == 0, done.err
    assert (done.json["first"], done.json["last_before"]) == (None, None)
    assert done.json["flips"] == [["1.1", "1.2", "ok", "wrong"], ["1.4", "1.5", "wrong", "ok"]]


def test_a_result_that_varies_is_run_often_and_the_untestable_release_before_it_is_told(
    gw: Run, compiler: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bisection, "CHECK_SECONDS", 0.0)  # of what varies there is no end
    case = saved(tmp_path / "neg.onnx", onnx.parser.parse_model(NEG))
    done = bisect(gw, [case], compiler, "1.0", "1.7", "--seed", "1")
    assert done.code == 0, done.err
    found = done.json
    assert (found["first"], found["last_before"], found["between"]) == ("1.4", "1.2", ["1.3"])
    assert found["confidence"] < 0.9  # it may have come with 1.3 as well
    runs = {each["revision"]: (each["runs"], each["failed"]) for each in found["tested"]}
    assert runs["1.0"][1] == 0 and min(runs["1.0"][0], runs["1.7"][0], runs["1.4"][0]) >= 5


def test_a_planted_converter_fault_is_found_among_commits(gw: Run, tmp_path: Path, compiler: Path) -> None:
    """Laid over a wheel; the two commits that touch no source are the builds before them."""
    plain, faulty = tinyc.sources(), tinyc.sources("neg raises")
    noted = tinyc.sources(note="faster")
    changes = [plain, {"README": "one"}, noted, tinyc.sources(note="smaller"), faulty, {"README": "two"}]
    commits = tinyc.repository(tmp_path / "repository", changes)
    base = tinyc.wheel(tmp_path, "1.0")
    overlaid = support.overlaid(tmp_path, tmp_path / "repository", base).source
    case = saved(tmp_path / "neg.onnx", onnx.parser.parse_model(NEG))
    done = bisect(gw, [case], overlaid, commits[0][:12], "main")
    assert done.code == 0, done.err
    found = done.json
    assert (found["first"], found["last_before"]) == (commits[4], commits[3])
    assert found["flips"] == [[commits[3], commits[4], "ok", "exception"]]
    told = {each["revision"]: each for each in found["tested"]}
    assert told[commits[1]]["same_build_as"] == commits[0] and told[commits[1]]["runs"] == 0


@pytest.mark.skipif(not confine.means(), reason="programs cannot be confined on this machine")
def test_a_planted_fault_is_found_among_commits_that_a_command_builds(
    gw: Run, tmp_path: Path, compiler: Path, sub: list[object]
) -> None:
    """The commit after the first installs the same files as it; the build of the one before the fault fails."""
    plain, faulty = tinyc.sources(), tinyc.sources("sub swaps")
    changes = [{**plain, "no": "stop"}, {"NEWS": "one"}, {"stop": ""}, {**faulty, "stop": "mended"}, {"NEWS": "two"}]
    commits = tinyc.repository(tmp_path / "repository", changes)
    command = ["sh", "-c", "if [ -e stop -a ! -s stop ]; then exit 2; fi; cp -r tinyc {output}"]
    built = support.built(tmp_path, tmp_path / "repository", command).source
    done = bisect(gw, sub, built, commits[0], "main")
    assert done.code == 0, done.err
    found = done.json
    assert (found["first"], found["last_before"], found["between"]) == (commits[3], commits[1], [commits[2]])
    [skipped] = found["skipped"]
    assert skipped["revision"] == commits[2] and "its build failed with exit status 2" in skipped["reason"]
    same = {each["revision"]: each.get("same_build_as") for each in found["tested"]}
    assert same[commits[1]] == commits[0] and same[commits[3]] in (None, commits[4])


def test_a_killed_bisection_goes_on(gw: Run, compiler: Path, place: Path, sub: list[object], tmp_path: Path) -> None:
    arguments = ["bisect", *sub, "--compiler", compiler, "--from", "1.0", "--to", "1.5", "--json"]
    kept = place / "root" / "bisections"
    for _ in range(50):  # one that ended before it could be killed is begun again
        process = start(tmp_path, *arguments)
        while not list(kept.glob("*.json")) and process.poll() is None:
            time.sleep(0.001)
        process.send_signal(signal.SIGKILL)
        done = ended(process)
        if list(kept.glob("*.json")):
            break
    assert list(kept.glob("*.json")), done
    done = gw(*arguments)
    assert done.code == 0, done.err
    assert [flip[1] for flip in done.json["flips"]] == ["1.2", "1.5"]
    assert not list(kept.glob("*.json"))


def test_what_is_found_out_about_a_bug_is_kept_with_it_and_reported(gw: Run, compiler: Path, tmp_path: Path) -> None:
    db = tmp_path / "hunt.db"
    report = tmp_path / "report.md"
    footer = "It fails.\n\n*Found, reduced and drafted by Graphwarden.*\n"
    values = {name: np.array([1, 2, 3], np.float32) * scale for name, scale in (("x", 1), ("y", 5))}
    case = Case("onnx", onnx.parser.parse_model(SUB).SerializeToString(), values, Origin("file", "sub"))
    target = Target(str(tinyc.BACKEND), Revision("1.2"))
    failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "")
    report.write_text(footer)
    with open_store(db, create=True) as store:
        campaign = store.begin_campaign({})
        store.record(campaign.id, [], [NewFailure(failure, "f-1")])
        [bug] = store.bugs()
        store.amend(bug.id, bug.state, draft=StoredDraft("title", footer, ""), report_path=str(report))
    for name, ends, more, kind in (("1", ("1.0", "1.2"), [], "bad"), ("f-1", ("1.4", "1.5"), ["--fix"], "good")):
        assert bisect(gw, [name], compiler, *ends, "--db", db, *more).code == 0
        [kept] = gw("bugs", "--db", db, "--json").json
        assert kind in kept["bisected"]
    assert kept["bisected"]["bad"]["first"] == "1.2" and kept["bisected"]["good"]["first"] == "1.5"
    for text in (gw("report", "1", "--db", db).out, report.read_text()):
        assert "First bad revision: `1.2`. The last that passes before it: `1.1`" in text
        assert "First good revision: `1.5`. The last that fails before it: `1.4`" in text


REFUSED = {
    "ends that are alike": (["1.0", "1.1"], [], 1, "1.0 and 1.1 do not differ: both pass (16 and 16 runs)"),
    "ends that are the same build": (["1.5", "1.7"], [], 1, "1.5 and 1.7 do not differ: they are the same build (ok)"),
    "the other question": (["1.2", "1.5"], [], 1, "1.2 is wrong and 1.5 is ok: ask for the first good revision"),
    "an untestable end": (["1.0", "1.6"], [], 3, "1.6 cannot be tested, choose another end: "),
    "one revision": (["1.1", "1.1"], [], 2, "--from and --to are both 1.1: nothing lies between them"),
    "ends the wrong way round": (["1.2", "1.0"], [], 2, "1.2 is newer than 1.0: --from takes the older of the two"),
    "no such revision": (["1.0", "2.0"], [], 2, "has no revision '2.0'"),
    "no such option": (["1.0", "1.2"], ["--option", "opt=1"], 2, "has no option 'opt'"),
    "no time": (["1.0", "1.2"], ["--budget", "0.001s"], 1, "the time ran out before both ends were known"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_answered_is_told_in_one_line(name: str, gw: Run, compiler: Path, sub: list[object]) -> None:
    ends, more, code, told = REFUSED[name]
    done = bisect(gw, sub, compiler, *ends, *more)
    assert done.code == code
    assert told in done.err and done.err.count("\n") == 1
    if name == "ends that are alike":
        assert (done.json["first"], done.json["flips"]) == (None, [])


@pytest.mark.parametrize(
    ("case", "told"),
    [
        ("no.onnx", "no.onnx: no such file"),
        ("7", "7: no such file, and no bug of"),
        ("x", "x: no such file, and no bug"),
    ],
)
def test_a_case_that_is_not_there_is_told(gw: Run, compiler: Path, tmp_path: Path, case: str, told: str) -> None:
    db = tmp_path / "hunt.db"
    open_store(db, create=True).close()
    done = bisect(gw, [case], compiler, "1.0", "1.2", "--db", db)
    assert done.code == 2 and told in done.err
    done = bisect(gw, ["7"], compiler, "1.0", "1.2", "--db", tmp_path / "none.db")
    assert done.code == 2 and "7: no such file, and no database " in done.err
