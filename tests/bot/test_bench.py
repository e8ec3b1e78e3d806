"""`graphwarden bench prioritize`: orders compared on what a campaign recorded."""

from __future__ import annotations

import itertools
import json
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from benchmarks.failed_before import collected
from fuzz import catalogue, generators, prioritize
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.generators import onnx_node
from fuzz.ranking import failed_before
from tests.bot.support import Run
from triage import comparing
from triage.records import NewFailure, Result
from triage.store import open_store
from triage.subjects import subjects

TARGET = catalogue.target("onnxruntime")
BUGS = {4: "first", 5: "first", 20: "second"}


def recorded(path: Path, cases: list[Case], sources: Sequence[str] = (), target: Target = TARGET) -> None:
    """A campaign with a result of every case, two bugs in three failures, a refusal and a skip."""
    with open_store(path, create=True) as store:
        campaign = store.begin_campaign({"seed": 0, "sources": list(sources), "targets": [target.id]})
        rows = []
        for at, case in enumerate(cases):
            status = Status.WRONG if at in BUGS else Status.UNSUPPORTED if at == 7 else Status.OK
            rows.append(Result(case.id, target.id, case.origin, status, Stage.RUN, "", 0.5))
        rows.append(Result("0" * 16, target.id, Origin("onnx_node", "none"), Status.SKIPPED))
        failures = [
            NewFailure(Failure(cases[at], target, Outcome(Status.WRONG, Stage.RUN), None, "o", "wrong", "d"), bug)
            for at, bug in BUGS.items()
        ]
        store.record(campaign.id, rows, failures)
        store.begin_campaign({"seed": 1})  # saw nothing


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench") / "hunt.db"
    found = (case for case in onnx_node.cases(0) if isinstance(case, Case))
    recorded(path, list(itertools.islice(found, 60)))
    return path


def test_every_strategy_is_measured_with_mean_and_spread(gw: Run, db: Path, tmp_path: Path) -> None:
    picture = tmp_path / "curves.svg"
    done = gw("bench", "prioritize", "--db", db, "--seeds", 3, "--plot", picture, "--json")
    assert done.code == 0
    (subject,) = done.json["subjects"]
    assert (subject["source"], subject["target"], subject["tests"]) == ("onnx_node", TARGET.id, 60)
    assert {bug: len(cases) for bug, cases in subject["bugs"].items()} == {"first": 2, "second": 1}
    assert subject["unknown"] == 0
    assert subject["strategies"].keys() == {*prioritize.names(), "graphwarden-learning"}
    for numbers in subject["strategies"].values():
        assert 0 < numbers["apfd"]["mean"] < 1 and numbers["apfd"]["stdev"] >= 0
        # With equal costs, cost changes nothing.
        assert numbers["apfdc"]["mean"] == pytest.approx(numbers["apfd"]["mean"])
        assert numbers["curve"][0] == 0 and numbers["curve"][-1] == 2
        assert numbers["apfd"]["mean"] == pytest.approx(1 - sum(numbers["ranks"].values()) / 120 + 1 / 120)
        assert numbers["seconds"]["first"] == pytest.approx(numbers["ranks"]["first"] / 2)
    lines = ElementTree.parse(picture).iter("{http://www.w3.org/2000/svg}polyline")
    assert len(list(lines)) == len(subject["strategies"])


def test_what_an_earlier_version_of_the_compiler_failed_comes_first_in_an_order_of_its_own(
    gw: Run, tmp_path: Path
) -> None:
    path = tmp_path / "hunt.db"
    cases = list(itertools.islice((case for case in onnx_node.cases(0) if isinstance(case, Case)), 60))
    other = Target(
        TARGET.backend, TARGET.revision, (("opt", "off"),)
    )  # the same build: its outcomes give this one's away
    old = Target(TARGET.backend, Revision("0.9"))
    for target in (other, TARGET, old, Target("tvm", Revision("0.9"))):
        recorded(path, cases, target=target)
    with open_store(path, create=False) as store:
        begun = {info.parameters["targets"][0]: info.id for info in store.campaigns() if "targets" in info.parameters}
        known = {each.id: subjects(store, begun[each.id]) for each in (other, TARGET, old)}
    assert [bool(subject.failed) for each in known.values() for subject in each] == [False, False, True]
    assert comparing.HISTORY in comparing.strategies(known[old.id])
    assert comparing.HISTORY not in comparing.strategies(known[other.id] + known[TARGET.id])
    both = ("--strategy", "graphwarden-learning", "--strategy", "graphwarden-history")
    (shown,) = gw("bench", "prioritize", "--db", path, "--campaign", begun[old.id], *both, "--json").json["subjects"]
    learning, first = (shown["strategies"][name] for name in both[1::2])
    assert sum(first["ranks"].values()) == pytest.approx(1 + 2) and first["apfd"]["stdev"] == 0
    assert learning["apfd"]["mean"] < first["apfd"]["mean"]


def test_what_is_shipped_of_an_earlier_release_is_history_too(tmp_path: Path) -> None:
    path, shipped = tmp_path / "hunt.db", failed_before.shipped("tvm")
    broken = shipped.by_case()
    known = [case for case in onnx_node.cases(0) if isinstance(case, Case) and case.id in broken][:30]
    newer, same = (Target("tvm", Revision(version)) for version in (f"{shipped.version}.1", shipped.version))
    for target in (newer, same):
        recorded(path, known, target=target)
    with open_store(path, create=False) as store:
        begun = {info.parameters["targets"][0]: info.id for info in store.campaigns() if "targets" in info.parameters}
        [later], [again] = (subjects(store, begun[each.id]) for each in (newer, same))
    assert {later.items[at].id: bugs for at, bugs in later.failed.items()} == {one.id: broken[one.id] for one in known}
    seen = {known[at].id for at in BUGS}  # of the newer version, in the campaign before
    assert {again.items[at].id for at in again.failed} == seen


def test_what_failed_on_one_release_is_what_may_be_shipped(tmp_path: Path) -> None:
    path, other = tmp_path / "hunt.db", tmp_path / "other.db"
    cases = list(itertools.islice((case for case in onnx_node.cases(0) if isinstance(case, Case)), 60))
    recorded(path, cases)
    recorded(other, cases, target=Target(TARGET.backend, Revision("0.9")))
    with open_store(path, create=False) as one, open_store(other, create=False) as two:
        version, bugs = collected([one], TARGET.backend)
        assert version == TARGET.revision.version
        assert bugs == {"first": sorted(cases[at].id for at in (4, 5)), "second": [cases[20].id]}
        for stores, backend in (([one, two], TARGET.backend), ([one], "tvm")):
            with pytest.raises(SystemExit, match="one release"):
                collected(stores, backend)


def test_numbers_of_a_pruned_campaign_are_told_to_be_of_what_is_left(gw: Run, tmp_path: Path) -> None:
    found = (case for case in onnx_node.cases(0) if isinstance(case, Case))
    recorded(tmp_path / "hunt.db", list(itertools.islice(found, 30)))
    with open_store(tmp_path / "hunt.db", create=False) as store:
        store.finish_campaign(1)
    asked = ("bench", "prioritize", "--db", tmp_path / "hunt.db", "--seeds", 1, "--strategy", "random")
    assert gw(*asked, "--json").json["pruned"] == 0 and "pruned" not in gw(*asked).err
    gone = gw("prune", "--db", tmp_path / "hunt.db", "--json").json["removed"]["results"]
    assert gone > 0 and gw(*asked, "--json").json["pruned"] == gone
    assert f"campaign 1 was pruned: {gone} results are gone" in gw(*asked).err
    sources = ("bench", "sources", "--db", tmp_path / "hunt.db")
    assert gw(*sources, "--json").json["pruned"] == gone and f"{gone} results were pruned" in gw(*sources).err


def test_a_table_is_for_people(gw: Run, db: Path) -> None:
    done = gw("bench", "prioritize", "--db", db, "--seeds", 2, "--strategy", "random", "--strategy", "graphwarden")
    assert done.code == 0 and "60 tests, 2 bugs" in done.out and "±" in done.out and "fast" not in done.out


def test_failing_cases_that_cannot_be_generated_again_are_not_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "gone.db"
    origins = [Origin("gone", f"test {at}") for at in range(30)]
    recorded(path, [Case("onnx", b"%d" % at, {"x": np.zeros(1)}, origin) for at, origin in enumerate(origins)])
    with open_store(path, create=False) as store:
        (subject,) = subjects(store, 1)
    assert subject.unknown == 30
    assert {len(item.call.parameters) for item in subject.items} == {0}


def test_a_campaign_on_a_file_of_instances_is_read_from_that_file(tmp_path: Path) -> None:
    instances, path = tmp_path / "mine.jsonl", tmp_path / "mine.db"
    lines = [
        {
            "api": "torch.sum",
            "args": [{"dtype": "float32", "shape": [2, 1 + at]}],
            "kwargs": {"keepdim": True, "dim": 0},
        }
        for at in range(30)
    ]
    instances.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    drawn = [case for case in generators.load(str(instances))(0) if isinstance(case, Case)]
    assert len(drawn) == 30
    recorded(path, drawn, [str(instances)])
    with open_store(path, create=False) as store:
        (subject,) = subjects(store, 1)
        instances.unlink()
        (gone,) = subjects(store, 1)
    assert subject.unknown == 0 and gone.unknown == len(drawn)
    assert {item.operator for item in subject.items} == {"torch.sum"}


def test_a_file_of_instances_is_found_beside_the_database_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hunt is told `--source mine.jsonl` in one folder, and compared in another one."""
    lines = [{"api": "torch.sum", "args": [{"dtype": "float32", "shape": [2, 1 + at]}]} for at in range(30)]
    monkeypatch.chdir(tmp_path)
    Path("mine.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    drawn = [case for case in generators.load("mine.jsonl")(0) if isinstance(case, Case)]
    recorded(tmp_path / "mine.db", drawn, ["mine.jsonl"])
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    with open_store(tmp_path / "mine.db", create=False) as store:
        (subject,) = subjects(store, 1)
    assert subject.unknown == 0 and {item.operator for item in subject.items} == {"torch.sum"}


def test_what_cannot_be_compared_is_refused_in_one_line(gw: Run, db: Path, tmp_path: Path) -> None:
    with open_store(tmp_path / "empty.db", create=True):
        pass
    for arguments, told in (
        (["--db", tmp_path / "no.db"], "no.db"),
        (["--db", tmp_path / "empty.db"], "no campaign has seen a bug"),
        (["--db", db, "--campaign", 9], "no campaign 9"),
        (["--db", db, "--campaign", 2], "no campaign has seen a bug"),
        (["--db", db, "--strategy", "best"], "unknown strategy 'best'"),
        (["--db", db, "--plot", tmp_path / "x.png"], "only SVG"),
    ):
        done = gw("bench", "prioritize", *arguments)
        assert done.code == 2 and told in done.err and done.err.count("\n") == 1, arguments


def test_labelled_files_are_compared_as_a_campaign_is(gw: Run, tmp_path: Path) -> None:
    instances, labels = tmp_path / "pads.jsonl", tmp_path / "bugs.json"
    lines = [
        {"op_type": "Pad", "kwargs": {}, "input_shape": [[at]], "input_dtype": ["FLOAT"], "line": at}
        for at in range(1, 31)
    ]
    instances.write_text("\n".join(map(json.dumps, lines)), "utf-8")
    labels.write_text(json.dumps({"first": [3], "second": [20, 30]}), "utf-8")
    files = ["--instances", instances, "--labels", labels]
    done = gw("bench", "prioritize", *files, "--equipped", instances, "--seeds", 2, "--json")
    assert done.code == 0 and done.json["campaign"] is None
    (subject,) = done.json["subjects"]
    assert (subject["source"], subject["target"], subject["tests"]) == ("pads.jsonl", "bugs.json", 30)
    assert subject["bugs"] == {"first": [3], "second": [20, 30]}
    assert subject["strategies"].keys() == {*prioritize.names(), "graphwarden-learning"}
    for arguments, told in (
        (["--instances", instances], "go together"),
        (["--labels", labels], "go together"),
        (["--equipped", instances], "go together"),
        ([*files, "--campaign", 1], "--campaign is of a database"),
        (["--instances", instances, "--labels", tmp_path / "no.json"], "no.json: No such file"),
        (["--instances", tmp_path / "no.jsonl", "--labels", labels], "no.jsonl: no such file"),
        (["--instances", instances, "--labels", instances], "is no JSON"),
    ):
        done = gw("bench", "prioritize", *arguments)
        assert done.code == 2 and told in done.err and done.err.count("\n") == 1, arguments
