"""What earlier runs saw decides on the order of the next one."""

from __future__ import annotations

from pathlib import Path

from fuzz.case import Status
from tests.triage.suite import support
from triage.suite import memory
from triage.suite.entries import Expected
from triage.suite.running import Ran


def test_letters_of_two_runs_of_one_revision_come_together(tmp_path: Path) -> None:
    memory.remember("tvm", "0.27.0", {"a": "P", "b": "W"}, folder=tmp_path)
    memory.remember("tvm", "0.27.0", {"b": "P", "c": "?", "d": "-"}, folder=tmp_path)
    memory.remember("openvino", "0.27.0", {"a": "C"}, folder=tmp_path)
    assert memory.recall("tvm", folder=tmp_path) == {"0.27.0": {"a": "P", "b": "P"}}


def test_revisions_with_strange_names_stay_inside_the_folder(tmp_path: Path) -> None:
    memory.remember("../tvm", "../../x/y", {"a": "P"}, folder=tmp_path / "runs")
    assert memory.recall("../tvm", folder=tmp_path / "runs") == {"../../x/y": {"a": "P"}}
    assert {path.relative_to(tmp_path).parts[0] for path in tmp_path.rglob("*.json")} == {"runs"}


def test_a_damaged_file_is_left_out(tmp_path: Path) -> None:
    memory.remember("tvm", "1", {"a": "P"}, folder=tmp_path)
    memory.remember("tvm", "2", {"a": "W"}, folder=tmp_path)
    (tmp_path / "seen" / "tvm" / "1.json").write_text('{"revision": ')
    (tmp_path / "seen" / "tvm" / "3.json").write_text("[1]")
    assert memory.recall("tvm", folder=tmp_path) == {"2": {"a": "W"}}


def test_the_past_of_entries_comes_from_earlier_runs_and_from_what_is_expected(tmp_path: Path) -> None:
    history = {"tvm": {"0.25.0": "W", "0.27.0": "P"}}
    relu, known = support.entry("Relu"), support.entry("Abs", expected=Expected("", "", history))
    memory.remember("tvm", "0.25.0", {relu.id: "P"}, folder=tmp_path)
    memory.remember("tvm", "0.26.0", {relu.id: "C"}, folder=tmp_path)
    past = memory.past([relu, known, support.entry("Neg")], "tvm", "0.26.0", folder=tmp_path)
    assert past.failed == {relu.id, known.id}
    assert past.changed == {relu.id, known.id}
    assert past.known == {relu.id, known.id}
    assert memory.past([relu], "openvino", "0.26.0", folder=tmp_path) == memory.Past()


def test_an_honest_refusal_is_told_apart_from_a_failure(tmp_path: Path) -> None:
    refused = Ran("Relu", support.case("Relu").id, "E", Status.UNSUPPORTED)
    memory.remember("tvm", "1", {refused.id: refused.remembered}, folder=tmp_path)
    past = memory.past([support.entry("Relu")], "tvm", "1", folder=tmp_path)
    assert (past.failed, past.known, past.refused) == (frozenset(), {refused.id}, {refused.id})
    memory.remember("tvm", "2", {refused.id: "E"}, folder=tmp_path)
    assert not memory.past([support.entry("Relu")], "tvm", "1", folder=tmp_path).changed


def test_what_the_nearest_release_did_stands_for_one_that_was_never_run(tmp_path: Path) -> None:
    relu, neg = support.entry("Relu"), support.entry("Neg")
    for version, letter in (("1.9", "W"), ("1.10", "P"), ("1.12", "C"), ("1.11.post1", "W")):
        memory.remember("tvm", version, {relu.id: letter}, folder=tmp_path)
    assert not memory.past([relu, neg], "tvm", "1.11", folder=tmp_path).failed  # 1.10 passes
    assert memory.past([relu], "tvm", "1.13", folder=tmp_path).failed == {relu.id}
    memory.remember("tvm", "1.11", {relu.id: "E"}, folder=tmp_path)
    past = memory.past([relu, neg], "tvm", "1.11", folder=tmp_path)
    assert (past.failed, past.known) == ({relu.id}, {relu.id})


def test_of_commits_the_one_that_ran_last_stands_for_a_new_one(tmp_path: Path) -> None:
    relu, neg = support.entry("Relu"), support.entry("Neg")
    for commit, letters in (("b" * 40, {relu.id: "W", neg.id: "E"}), ("a" * 40, {relu.id: "P"})):
        memory.remember("tvm", commit, letters, folder=tmp_path)
    past = memory.past([relu, neg], "tvm", "c" * 40, folder=tmp_path)
    assert (past.failed, past.known) == ({neg.id}, {relu.id, neg.id})


def test_costs_come_from_the_nearest_revision_that_ran_them(tmp_path: Path) -> None:
    relu, neg = support.entry("Relu"), support.entry("Neg")
    memory.remember("tvm", "1.9", {relu.id: "P", neg.id: "P"}, {relu.id: 3.0, neg.id: 4.0}, folder=tmp_path)
    memory.remember("tvm", "1.10", {relu.id: "P"}, {relu.id: 0.5}, folder=tmp_path)
    memory.remember("tvm", "1.10", {neg.id: "?"}, {neg.id: 30.0}, folder=tmp_path)  # it told nothing
    assert memory.past([relu, neg], "tvm", "1.10", folder=tmp_path).seconds == {relu.id: 0.5, neg.id: 4.0}


def test_what_was_remembered_before_costs_were_is_read(tmp_path: Path) -> None:
    relu = support.entry("Relu")
    (tmp_path / "seen" / "tvm").mkdir(parents=True)
    (tmp_path / "seen" / "tvm" / "1.json").write_text(f'{{"revision": "1", "letters": {{"{relu.id}": "W"}}}}')
    past = memory.past([relu], "tvm", "1", folder=tmp_path)
    assert past.failed == {relu.id} and not past.seconds


def test_a_failure_costs_its_repeat_as_well() -> None:
    assert Ran("a", "a", "P", Status.OK, seconds=2.0).cost == 2.0
    assert Ran("a", "a", "W", Status.WRONG, seconds=2.0).cost == 4.0
