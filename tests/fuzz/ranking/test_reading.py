"""Files of instances become items, in OPERA's format and the project's; what is wrong is told with its line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fuzz.ranking import reading
from fuzz.ranking.item import Tensor

PAD = {
    "op_type": "Pad",
    "kwargs": {"mode": {"bytes": "edge"}},
    "input_shape": [[1, 3], [4]],
    "input_dtype": ["FLOAT", "INT64"],
    "output_shape": [[1, 5]],
    "output_dtype": ["FLOAT"],
    "line": 7,
}
CONV = {
    "id": "ab12",
    "api": "torch.nn.functional.conv2d",
    "args": [{"tensor": 0}, {"dtype": "float32", "shape": [4, 3, 3, 3]}],
    "kwargs": {"stride": {"tuple": [2, 1]}},
    "tensors": [{"dtype": "float16", "shape": [1, 3, 8, 8], "constant": True}],
}


def saved(path: Path, *documents: object) -> Path:
    path.write_text("\n".join(each if isinstance(each, str) else json.dumps(each) for each in documents))
    return path


def test_an_onnx_instance_has_formal_names_texts_and_defaults(tmp_path: Path) -> None:
    (item,) = reading.items(saved(tmp_path / "i.jsonl", PAD))
    assert item.id == 7 and item.operator == "Pad"
    assert item.call.parameters == {"mode": "edge", "data": Tensor("float", (1, 3)), "pads": Tensor("int64", (4,))}
    assert item.call.defaults == {"mode": "constant"}
    assert item.call.results == (Tensor("float", (1, 5)),)


def test_a_library_instance_has_its_tensors_where_they_are_used(tmp_path: Path) -> None:
    (item,) = reading.items(saved(tmp_path / "i.jsonl", CONV))
    assert item.id == "ab12"
    assert item.call.parameters == {
        "0": Tensor("float16", (1, 3, 8, 8), True),
        "1": Tensor("float32", (4, 3, 3, 3)),
        "stride": [2, 1],
    }


def test_a_compressed_file_reads_like_a_plain_one(tmp_path: Path) -> None:
    plain = saved(tmp_path / "i.jsonl", PAD, CONV)
    packed = tmp_path / "i.jsonl.gz"
    packed.write_bytes(gzip.compress(plain.read_bytes()))
    assert reading.items(packed) == reading.items(plain)


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ("{", "2: is not JSON"),
        ([1], "2: is not a JSON object"),
        ({"id": 1}, "2: has neither op_type nor api"),
        ({"op_type": "Abs"}, "2: kwargs must be"),
        (dict(PAD, line=True), "2: the id must be text or a whole number"),
        (dict(CONV, args=[{"tensor": 5}]), "2: args.0.: there is no tensor 5"),
        (PAD, "2: id 7 is that of line 1 already"),
        (
            '{"op_type": "Abs", "kwargs": {"x": ' + "9" * 5000 + "}}",
            "2: is not JSON that can be read: Exceeds the limit",
        ),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, second: object, told: str) -> None:
    with pytest.raises(reading.UnreadableItem, match=told):
        reading.items(saved(tmp_path / "i.jsonl", PAD, second))


def test_an_instance_is_read_in_its_canonical_form_whatever_it_was_written_in(tmp_path: Path) -> None:
    written = {"api": "torch.abs", "args": [{"dtype": "half", "values": [[1, 2]]}]}
    (item,) = reading.items(saved(tmp_path / "i.jsonl", written))
    assert item.id == 1 and item.call.parameters == {"0": Tensor("float16", (1, 2))}


def test_what_is_not_known_of_an_onnx_instance_stays_unknown(tmp_path: Path) -> None:
    (item,) = reading.items(
        saved(tmp_path / "i.jsonl", dict(PAD, input_shape=[None, [4]], input_dtype=[None, "INT64"]))
    )
    assert item.call.parameters["data"] == Tensor("", None)


def test_bytes_that_are_no_text_and_broken_archives_are_told(tmp_path: Path) -> None:
    (tmp_path / "i.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(reading.UnreadableItem, match="not UTF-8"):
        reading.items(tmp_path / "i.jsonl")
    (tmp_path / "i.jsonl.gz").write_bytes(gzip.compress(b"{}" * 1000)[:-9])
    with pytest.raises(reading.UnreadableItem, match="gzip"):
        reading.items(tmp_path / "i.jsonl.gz")
