"""`graphwarden migrate` and `graphwarden instances`."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fuzz.instance_store import load
from tests.bot.support import Run

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
        (["--out", "no/folder/x.jsonl", "--source", "onnx"], "No such file or directory"),
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
