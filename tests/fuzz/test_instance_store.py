"""Files of operator instances: one a line, under ids made of their content."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from fuzz import instance_store
from fuzz.case import Origin
from fuzz.instance import InstanceError, parse
from fuzz.instance_store import Source, Stored, StoreError, Writer, load, stored, thinned

RELU = {"library": "torch", "api": "torch.relu", "args": [{"dtype": "float32", "shape": [3], "seed": 1}]}
ONNX = {
    "library": "onnx",
    "op_type": "Relu",
    "kwargs": {},
    "input_name": ["x"],
    "input_shape": [[3]],
    "input_dtype": ["FLOAT"],
}


def relu(size: int = 3, **told: Any) -> Stored:
    document = {**RELU, "args": [{"dtype": "float32", "shape": [size]}]}
    return stored(document, Source("test", f"relu {size}"), **told)


def written(path: Path, *instances: Stored) -> Path:
    with Writer(path) as writer:
        for each in instances:
            writer.add(each)
    return path


def lines(path: Path, *documents: object) -> Path:
    path.write_text("".join(json.dumps(document) + "\n" for document in documents))
    return path


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    one = relu(3, flags=["ill-conditioned"], version="2.13.0")
    other = stored(ONNX, Source("onnx-node", 'a test named ","id":"x'))
    assert load(written(tmp_path / name, one, other)) == [one, other]


def test_an_id_is_that_of_the_case_and_is_documented() -> None:
    found = relu()
    assert found.id == found.case(Origin("x")).id
    digest = hashlib.sha256()
    for part in (b"instance", found.content):
        digest.update(len(part).to_bytes(8, "little") + part)
    assert found.id == digest.hexdigest()[:16]


def test_ids_depend_on_the_content_alone() -> None:
    other = stored({**RELU, "version": "1.0", "comment": "no matter"}, Source("other"))
    assert stored(RELU, Source("a")).id == other.id
    assert stored({**RELU, "api": "torch.exp"}, Source("a")).id != other.id


def test_the_content_of_an_instance_can_be_parsed() -> None:
    assert parse(relu().content).api == relu().operator == "torch.relu"


def test_equal_instances_are_written_once_and_counted(tmp_path: Path) -> None:
    with Writer(tmp_path / "a.jsonl") as writer:
        assert writer.add(relu())
        assert not writer.add(relu(version="other"))
    assert (len(writer), writer.duplicates, writer.operators["torch.relu"]) == (1, 1, 1)
    assert len(load(tmp_path / "a.jsonl")) == 1


def test_equal_lines_are_read_once(tmp_path: Path) -> None:
    line = instance_store.line(relu()) + b"\n"
    (tmp_path / "a.jsonl").write_bytes(line * 3 + b"\n")
    assert load(tmp_path / "a.jsonl") == [relu()]


def test_a_line_by_hand_needs_no_id(tmp_path: Path) -> None:
    [found] = load(lines(tmp_path / "a.jsonl", {**RELU, "version": "2.13.0"}))
    assert (found.id, found.version, found.source) == (stored(RELU, Source("")).id, "2.13.0", Source(""))


def test_a_changed_line_is_refused_by_its_id(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(instance_store.line(relu()).replace(b"torch.relu", b"torch.exp_"))
    with pytest.raises(StoreError, match=r"a\.jsonl:1: the id '\w{16}' is not that of the instance \(\w{16}\)"):
        load(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("{", "1: is not JSON"),
        ("[]", "1: is not a JSON object"),
        ('{"api": "rm -rf"}', "1: api must be a dotted name"),
        ('{"library": "onnx"}', "1: op_type must be an operator's name"),
        ('{"api": "torch.relu", "flags": ["odd"]}', "1: unknown flag 'odd'"),
        ('{"api": "torch.relu", "source": "here"}', "1: source must be"),
        ("\x00\x01", "1: is not JSON"),
    ],
)
def test_a_line_that_cannot_be_used_is_told_in_one_line(tmp_path: Path, line: str, message: str) -> None:
    (tmp_path / "a.jsonl").write_text(line + "\n")
    with pytest.raises(StoreError) as caught:
        load(tmp_path / "a.jsonl")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


def test_missing_files_folders_and_cut_gzip_files_are_told(tmp_path: Path) -> None:
    with pytest.raises(StoreError, match="no such file"):
        load(tmp_path / "none.jsonl")
    with pytest.raises(StoreError, match="is a folder"):
        load(tmp_path)
    whole = written(tmp_path / "a.jsonl.gz", relu()).read_bytes()
    (tmp_path / "a.jsonl.gz").write_bytes(whole[:-9])
    with pytest.raises(StoreError, match="no whole gzip file"):
        load(tmp_path / "a.jsonl.gz")
    (tmp_path / "b.jsonl.gz").write_bytes(b"plain text")
    with pytest.raises(StoreError, match="no whole gzip file"):
        load(tmp_path / "b.jsonl.gz")


def test_a_file_appears_whole_or_not_at_all(tmp_path: Path) -> None:
    with pytest.raises(KeyError), Writer(tmp_path / "a.jsonl") as writer:
        writer.add(relu())
        raise KeyError
    assert list(tmp_path.iterdir()) == []


def test_the_same_instances_give_the_same_bytes(tmp_path: Path) -> None:
    one, other = (written(tmp_path / name, relu(1), relu(2)) for name in ("a.jsonl.gz", "b.jsonl.gz"))
    assert one.read_bytes() == other.read_bytes()
    assert gzip.decompress(one.read_bytes()).count(b"\n") == 2


def test_an_instance_of_onnx_keeps_its_own_keys(tmp_path: Path) -> None:
    [found] = load(lines(tmp_path / "a.jsonl", ONNX))
    assert (found.library, found.operator) == ("onnx", "Relu")
    assert found.document["input_shape"] == [[3]]


def test_thinning_keeps_a_fixed_draw_of_every_operator() -> None:
    many = [relu(size) for size in range(1, 30)]
    other = stored({**RELU, "api": "torch.exp"}, Source("a"))
    kept = thinned([*many, other, other], 5)
    assert len(kept) == 6
    assert kept[-1] == other
    assert set(thinned(reversed([*many, other]), 5)) == set(kept)
    assert kept[:5] != many[:5]


def test_what_is_no_instance_is_not_stored() -> None:
    with pytest.raises(InstanceError):
        stored({"api": "torch.relu", "surprise": 1}, Source("a"))
