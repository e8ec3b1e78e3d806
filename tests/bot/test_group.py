"""`graphwarden group`: one JSON document for a file of failures, one clear line for a bad one."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from tests.bot.support import Run

FOLD = {"message": "cannot fold", "trace": "#0 0x1 in ns::Fold (x=1) at a.cc:1\n#1 0x2 in ns::Run () at a.cc:9"}


def saved(path: Path, *lines: object) -> Path:
    path.write_text("".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines))
    return path


def test_failures_are_assigned_to_groups_that_say_why(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "f.jsonl", {"id": 7, **FOLD}, {"id": "b", **FOLD}, "", {"id": 2.5, "message": "no"})
    done = gw("group", path, "--json")
    assert done.code == 0 and not done.err
    assignment, groups = done.json["assignment"], done.json["groups"]
    assert list(done.json) == ["assignment", "groups"]
    assert assignment.keys() == {"7", "b", "2.5"}
    assert assignment["7"] == assignment["b"] != assignment["2.5"]
    assert groups.keys() == set(assignment.values())
    assert "ns::Fold" in groups[assignment["b"]]


def test_keys_that_are_not_known_and_nulls_change_nothing(gw: Run, tmp_path: Path) -> None:
    plain = [{"id": n, "message": "boom"} for n in range(4)]
    labelled = [{**line, "label": line["id"], "bug": "x", "trace": None, "frames": None} for line in plain]
    one, other = (
        gw("group", saved(tmp_path / f"{n}.jsonl", *lines), "--json").out for n, lines in enumerate((plain, labelled))
    )
    assert one == other


def test_a_failure_may_bring_a_trace_and_no_message(gw: Run, tmp_path: Path) -> None:
    trace = "#0 0x1 in ns::Fold (x=1) at f.cc:3"
    path = saved(tmp_path / "f.jsonl", {"id": 1, "trace": trace}, {"id": 2, "frames": ["ns::Fold"]})
    done = gw("group", path, "--json")
    assert done.code == 0
    assert len(set(json.loads(done.out)["assignment"].values())) == 1


def test_without_json_there_is_a_table_of_the_largest_group_first(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "f.jsonl", {"id": 1, "message": "rare"}, {"id": 2, **FOLD}, {"id": 3, **FOLD})
    done = gw("group", path)
    assert done.code == 0
    assert done.out.index("ns::Fold") < done.out.index("rare")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "is not JSON"),
        ("[1]", "is not a JSON object"),
        ("[" * 100_000, "is nested too deeply"),
        ({"message": "no id"}, "has no id"),
        ({"id": None, "message": "m"}, "the id is neither text nor a number"),
        ({"id": True, "message": "m"}, "the id is neither text nor a number"),
        ({"id": 2}, "has no message"),
        ({"id": 2, "message": 5}, "message is not text"),
        ({"id": 2, "message": "m", "trace": ["x"]}, "trace is not text"),
        ({"id": 2, "message": "m", "frames": 5}, "frames is not a list"),
        ({"id": 2, "message": "m", "frames": [5]}, "a frame is neither"),
        ({"id": 1, "message": "m"}, "id 1 is that of line 1 already"),
        ({"id": "1", "message": "m"}, "id 1 is that of line 1 already"),
        ('{"id": 3, "message": "\\ud800"', "is not JSON"),
    ],
)
def test_a_bad_line_is_named_with_what_is_wrong_with_it(gw: Run, tmp_path: Path, line: object, said: str) -> None:
    path = saved(tmp_path / "f.jsonl", {"id": 1, "message": "good"}, line)
    done = gw("group", path, "--json")
    assert done.code == 2 and not done.out
    assert done.err.startswith(f"graphwarden: {path}:2: ") and said in done.err
    assert done.err.count("\n") == 1


def test_bytes_that_are_no_text_are_named_too(gw: Run, tmp_path: Path) -> None:
    path = tmp_path / "f.jsonl"
    path.write_bytes(b'{"id": 1, "message": "\xff\xfe"}\n')
    done = gw("group", path, "--json")
    assert (done.code, done.out) == (2, "") and f"{path}:1: is not UTF-8" in done.err


@pytest.mark.parametrize("content", ["", "\n \n\t\n"])
def test_a_file_without_failures_is_refused(gw: Run, tmp_path: Path, content: str) -> None:
    path = tmp_path / "f.jsonl"
    path.write_text(content)
    done = gw("group", path, "--json")
    assert done.code == 2 and "holds no failures" in done.err


def test_a_missing_file_and_a_folder_are_refused(gw: Run, tmp_path: Path) -> None:
    assert "no such file" in gw("group", tmp_path / "none.jsonl").err
    done = gw("group", tmp_path)
    assert done.code == 2 and "is a folder, not a file" in done.err


def test_a_pipe_can_be_read(gw: Run) -> None:
    read, write = os.pipe()
    os.write(write, b'{"id": 1, "message": "boom"}\n')
    os.close(write)
    assert gw("group", f"/dev/fd/{read}", "--json").code == 0
    os.close(read)


def test_lone_surrogates_and_huge_messages_are_no_obstacle(gw: Run, tmp_path: Path) -> None:
    path = saved(tmp_path / "f.jsonl", '{"id": 1, "message": "\\ud800 x"}', {"id": 2, "message": "a/" * 5_000_000})
    done = gw("group", path, "--json")
    assert done.code == 0 and len(done.json["groups"]) == 2
    table = gw("group", path)
    assert table.code == 0 and "\\ud800 x" in table.out
