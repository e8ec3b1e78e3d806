"""What HirGen counts as covered, and the file that keeps it over campaigns."""

from __future__ import annotations

from pathlib import Path

import pytest
from onnx import TensorProto

from fuzz.hirgen.coverage import CRITERIA, PAPER, Coverage, CoverageError, Insertion

FLOAT, INT64 = TensorProto.FLOAT, TensorProto.INT64


def relu(
    dtype: int = FLOAT, shape: tuple[int, ...] = (2, 3), source: str = "Add", before: str = ""
) -> list[tuple[str, str]]:
    paths = frozenset({(before, source)}) if before else frozenset()
    return list(Insertion("Relu", dtype, (shape,), frozenset({source}), paths).items())


def test_an_insertion_covers_its_data_type_its_shape_and_its_edges() -> None:
    assert relu(before="Sub") == [
        ("datatype", "Relu float"),
        ("shape", "Relu 2x3"),
        ("edge", "Add Relu"),
        ("path", "Sub Add Relu"),
    ]


@pytest.mark.parametrize("other", [relu(INT64), relu(shape=(2,)), relu(shape=()), relu(source="Mul")])
def test_one_new_item_is_enough(other: list[tuple[str, str]]) -> None:
    coverage = Coverage(PAPER)
    assert coverage.add(relu()) == 3 and not coverage.is_new(relu())
    assert coverage.is_new(other) and coverage.add(other) == 1 and not coverage.is_new(other)


def test_a_criterion_that_does_not_guide_counts_nothing() -> None:
    path, plain = Coverage(CRITERIA), Coverage()
    for coverage in (path, plain):
        coverage.add(relu())
    assert path.is_new(relu(before="Sub")) and not plain.is_new(relu(before="Sub"))
    assert "path" not in plain.counts() and path.counts()["path"] == 0


def test_the_file_keeps_what_several_campaigns_covered(tmp_path: Path) -> None:
    path = tmp_path / "covered.json"
    first, second, third = Coverage(PAPER), Coverage(("edge",)), Coverage(PAPER)
    first.load(path)
    first.add(relu())
    first.save(path)
    second.load(path)
    assert not second.is_new(relu())
    second.add(relu(source="Mul"))
    second.save(path)
    third.load(path)
    assert third.counts() == {"datatype": 1, "shape": 1, "edge": 2}


def test_equal_coverage_has_equal_bytes_whatever_the_order(tmp_path: Path) -> None:
    items = [relu(), relu(INT64), relu(shape=(4,)), relu(source="Mul")]
    for name, order in (("a", items), ("b", items[::-1])):
        coverage = Coverage(PAPER)
        for each in order:
            coverage.add(each)
        coverage.save(tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"format": 1}', '{"format": 2, "covered": {}}', "\x00"])
def test_another_file_is_refused_in_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "covered.json"
    path.write_text(text)
    with pytest.raises(CoverageError, match="name another file to begin anew") as refused:
        Coverage().load(path)
    assert str(path) in str(refused.value) and len(str(refused.value).splitlines()) == 1
    assert path.read_text() == text


@pytest.mark.parametrize("criteria", [("colour",), ()])
def test_an_unknown_criterion_is_told_with_the_known_ones(criteria: tuple[str, ...]) -> None:
    with pytest.raises(CoverageError, match="choose from datatype, shape, edge, path"):
        Coverage(criteria)
