"""Labelled cases: what a file may say, and what the figures mean."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from fuzz.case import Case, Origin
from fuzz.catalogue import target
from fuzz.data import data_path
from triage.court.calibration import CalibrationError, Heard, Labelled, read, summary
from triage.court.evidence import Judgement, Ruling

MODEL = '<ir_version: 8, opset_import: ["": 17]> g (float[2] x) => (float[2] y) { y = Relu (x) }'
LINE = {
    "id": "a",
    "label": "bug",
    "backend": "onnxruntime",
    "options": {"opt": "off"},
    "model": MODEL,
    "inputs": {"x": {"dtype": "float32", "shape": [2], "values": [1.0, -1.0]}},
}


def written(path: Path, *lines: object) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def test_a_line_holds_a_model_as_text_or_names_a_file(tmp_path: Path) -> None:
    model = onnx.parser.parse_model(MODEL).SerializeToString()
    (tmp_path / "m.onnx").write_bytes(model)
    instance = {"api": "torch.relu", "args": [{"dtype": "float32", "shape": [1], "values": [1.0]}]}
    (tmp_path / "i.json").write_text(json.dumps(instance))
    plain = {key: value for key, value in LINE.items() if key != "model"}
    alone = {"id": "c", "label": "not-a-bug", "backend": "openvino"}
    found = read(
        written(
            tmp_path / "cases.jsonl",
            LINE,
            "",
            {**plain, "id": "b", "case": "m.onnx"},
            {**alone, "instance": instance},
            {**alone, "id": "d", "case": "i.json"},
        )
    )
    assert [each.case.kind for each in found] == ["onnx", "onnx", "instance", "instance"]
    assert found[0].case.id == found[1].case.id and found[2].case.id == found[3].case.id
    assert np.array_equal(np.asarray(found[0].case.inputs["x"]), np.float32([1, -1]))
    assert found[0].target.options == (("opt", "off"),)
    assert [each.is_bug for each in found] == [True, True, False, False]


BROKEN: dict[str, tuple[object, str]] = {
    "no JSON": ("{", "line 1: Expecting property name"),
    "a list": ([1], "is not a JSON object"),
    "no label": ({key: value for key, value in LINE.items() if key != "label"}, "lacks 'label'"),
    "another label": ({**LINE, "label": "maybe"}, "label 'maybe' must be 'bug' or 'not-a-bug'"),
    "an unknown key": ({**LINE, "inptus": {}}, "has unknown keys inptus"),
    "an unknown backend": ({**LINE, "backend": "tmv"}, "unknown backend 'tmv'"),
    "an unknown option": ({**LINE, "options": {"opt": "huge"}}, "must be one of"),
    "two models": ({**LINE, "case": "m.onnx"}, "must have one of case, model and instance"),
    "a missing file": (
        {key: value for key, value in {**LINE, "case": "none.onnx"}.items() if key != "model"},
        "No such file",
    ),
    "no ONNX text": ({**LINE, "model": "g (x) => y"}, "line 1: "),
    "a kind that the backend does not take": (
        {"id": "i", "label": "bug", "backend": "onnxruntime", "instance": {"api": "torch.relu"}},
        "onnxruntime does not take this kind of case",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_line_is_named_with_its_number(name: str, tmp_path: Path) -> None:
    line, says = BROKEN[name]
    with pytest.raises(CalibrationError, match="line 1: ") as caught:
        read(written(tmp_path / "cases.jsonl", line))
    assert says in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"), [("backend", 7), ("options", [1]), ("model", 5), ("inputs", [1]), ("id", None), ("case", 7)]
)
def test_a_value_of_another_kind_is_named_by_its_key(key: str, value: object, tmp_path: Path) -> None:
    line = {name: each for name, each in LINE.items() if (name, key) != ("model", "case")}
    with pytest.raises(CalibrationError, match=f"line 1: {key} must be ") as caught:
        read(written(tmp_path / "cases.jsonl", {**line, key: value}))
    assert "\n" not in str(caught.value)


def test_a_line_nested_without_end_is_named(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="line 1: "):
        read(written(tmp_path / "cases.jsonl", "[" * 100_000))


def test_an_id_that_stands_twice_is_named(tmp_path: Path) -> None:
    """Verdicts are told by the id: one of two would be lost."""
    with pytest.raises(CalibrationError, match="line 3: the id 'a' stands in line 1 already"):
        read(written(tmp_path / "cases.jsonl", LINE, {**LINE, "id": "b"}, LINE))


def test_a_file_without_cases_is_told(tmp_path: Path) -> None:
    with pytest.raises(CalibrationError, match="holds no labelled case"):
        read(written(tmp_path / "empty.jsonl", ""))
    with pytest.raises(CalibrationError, match="No such file"):
        read(tmp_path / "none.jsonl")


def heard(name: str, is_bug: bool, verdict: Ruling | None, confidence: float) -> Heard:
    case = Case("onnx", b"", {}, Origin("test"))
    return Heard(Labelled(name, case, target("onnxruntime"), is_bug), Judgement(verdict, "", confidence=confidence))


def test_precision_and_recall_count_what_is_filed() -> None:
    found = summary(
        [
            heard("right", True, Ruling.COMPILER_BUG, 0.98),
            heard("false alarm", False, Ruling.COMPILER_BUG, 0.98),
            heard("the reference's", True, Ruling.REFERENCE_BUG, 0.9),
            heard("missed", True, Ruling.NOISE, 0.02),
            heard("trap", False, Ruling.UNDEFINED, 0.02),
            heard("passes", True, None, 0.0),
        ]
    )
    assert (found["cases"], found["judged"], found["bugs"]) == (6, 5, 3)
    assert (found["precision"], found["recall"]) == (0.6667, 0.6667)
    assert (found["false_alarms"], found["missed"], found["not_failing"]) == (["false alarm"], ["missed"], ["passes"])
    rows = [(row["cases"], row["claimed"], row["observed"]) for row in found["reliability"]]
    assert rows == [(2, 0.02, 0.5), (1, 0.9, 1.0), (2, 0.98, 0.5)]


def test_figures_of_nothing_are_unknown() -> None:
    found = summary([heard("trap", False, Ruling.NOISE, 0.02)])
    assert (found["precision"], found["recall"]) == (None, None)


def test_the_projects_own_set_is_large_and_balanced() -> None:
    found = read(data_path("calibration", "cases.jsonl"))
    bugs = sum(each.is_bug for each in found)
    assert len(found) >= 40 and 0.4 < bugs / len(found) < 0.6
    assert len({each.id for each in found}) == len(found)
