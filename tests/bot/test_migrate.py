"""`graphwarden migrate` and `graphwarden instances`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzz.instance_store import load
from tests.bot.support import Run, ended, start

PROGRAM = (
    "import torch; torch.relu(torch.ones(2)); torch.relu(torch.ones(2)); torch.exp(torch.ones(3)); raise SystemExit(4)"
)


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_source_is_written_and_counted(gw: Run) -> None:
    done = gw("migrate", "--source", "onnx", "--operator", "Conv*", "--out", "conv.jsonl.gz", "--json")
    assert done.code == 0
    assert set(done.json["sources"]) == {"onnx-node", "onnx-model"}
    counted = gw("instances", "conv.jsonl.gz", "--json").json
    assert counted["instances"] == done.json["instances"] == sum(counted["operators"].values())
    assert set(counted["operators"]) == {"Conv", "ConvInteger", "ConvTranspose"}
    assert counted["libraries"] == {"onnx": counted["instances"]}
    assert "ConvTranspose" in gw("instances", "conv.jsonl.gz").out


def test_at_most_so_many_instances_of_an_operator_are_kept(gw: Run) -> None:
    done = gw("migrate", "--source", "onnx", "--operator", "Conv*", "--most", 2, "--out", "conv.jsonl", "--json")
    assert done.json["instances"] == 6
    assert any("more than 2 of one operator" in reason for reason in done.json["omitted"])


def test_a_command_is_recorded_and_its_exit_status_is_told(gw: Run, tmp_path: Path) -> None:
    done = gw("migrate", "--out", tmp_path / "mine.jsonl", "--json", "--", sys.executable, "-c", PROGRAM)
    assert done.code == 0
    assert (done.json["command_status"], done.json["processes"], done.json["instances"]) == (4, 1, 2)
    assert {each.operator for each in load(tmp_path / "mine.jsonl")} == {"torch.relu", "torch.exp"}


def test_a_command_that_calls_nothing_is_told(gw: Run) -> None:
    done = gw("migrate", "--out", "none.jsonl", "--", sys.executable, "-c", "pass")
    assert done.code == 1
    assert "nothing was recorded" in done.err and "PYTHONPATH" in done.err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--out", "x.jsonl"], "give either --source"),
        (["--out", "x.jsonl", "--source", "onnx", "--", "true"], "give either --source"),
        (["--out", "x.jsonl", "--source", "nothing"], "unknown source 'nothing': choose one of"),
        (["--out", "x.jsonl", "--", "no-such-program"], "no-such-program: No such file or directory"),
        (["--out", "no/folder/x.jsonl", "--source", "onnx"], "there is no folder"),
    ],
)
def test_what_cannot_be_done_is_told_in_one_line(gw: Run, arguments: list[str], message: str) -> None:
    done = gw("migrate", *arguments)
    assert done.code == 2
    assert message in done.err
    assert len(done.err.strip().splitlines()) == 1


def test_a_file_that_is_no_file_of_instances_is_refused(gw: Run, tmp_path: Path) -> None:
    assert gw("instances", "none.jsonl").code == 2
    (tmp_path / "odd.jsonl").write_text('{"api": "torch.relu", "id": "0000000000000000"}\n')
    done = gw("instances", tmp_path / "odd.jsonl")
    assert done.code == 2
    assert "odd.jsonl:1: the id '0000000000000000' is not that of the instance" in done.err


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("script.py", "name a file of instances, NAME.jsonl or NAME.jsonl.gz"),
        (".", "name a file of instances"),
        ("nowhere/mine.jsonl", "there is no folder"),
        ("folder.jsonl", "is a folder"),
    ],
)
def test_a_place_that_cannot_be_written_is_told_before_anything_runs(
    name: str, said: str, gw: Run, tmp_path: Path
) -> None:
    (tmp_path / "folder.jsonl").mkdir()
    (tmp_path / "script.py").write_text("print()")
    done = gw("migrate", "--out", tmp_path / name, "--", "touch", tmp_path / "ran")
    assert done.code == 2 and said in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "ran").exists() and (tmp_path / "script.py").read_text() == "print()"


def test_a_run_that_records_nothing_leaves_an_older_file_alone(gw: Run, tmp_path: Path) -> None:
    kept = tmp_path / "kept.jsonl"
    kept.write_text("older\n")
    done = gw("migrate", "--out", kept, "--", "false")
    assert done.code == 1 and "was not written" in done.err
    assert kept.read_text() == "older\n" and list(tmp_path.iterdir()) == [kept]


def test_with_json_the_commands_own_output_is_no_part_of_the_document(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("import torch\nprint('loud')\ntorch.relu(torch.ones(2))\n")
    done = ended(start(tmp_path, "migrate", "--json", "--out", "mine.jsonl", "--", sys.executable, script))
    assert done.code == 0 and done.json["instances"] == 1 and "loud" in done.err
