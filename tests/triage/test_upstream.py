"""What a project's own suite says of the tests that a bug was found with."""

from __future__ import annotations

import tomllib

import pytest

from fuzz.case import Case
from fuzz.data import data_path
from fuzz.generators import onnx_node
from triage import upstream


def test_a_test_that_the_project_expects_to_fail_is_told_with_ticket_and_source() -> None:
    [sentence] = upstream.sentences("openvino", ["test_lstm_with_peepholes"])
    assert "expects `test_lstm_with_peepholes` to fail (ticket 113506" in sentence
    assert "tests_python/test_backend.py at commit 00325b7" in sentence and "is not known" in sentence


def test_a_mark_is_told_once_for_all_its_tests_and_a_skip_is_called_so() -> None:
    tests = ["test_resize_upsample_sizes_nearest_not_larger", "node/test_resize_upsample_sizes_nearest_not_smaller_cpu"]
    [sentence] = upstream.sentences("openvino", tests)
    assert "not_larger` and 1 more of these tests to fail" in sentence
    [sentence] = upstream.sentences("/somewhere/openvino.py", ["test_reduce_max_empty_set"])
    assert "skips `test_reduce_max_empty_set` (" in sentence and "ticket" not in sentence


def test_what_no_list_names_is_not_told() -> None:
    assert list(upstream.sentences("openvino", ["test_relu", ""])) == []
    assert list(upstream.sentences("newcomer", ["test_lstm_with_peepholes"])) == []


def test_no_more_than_a_few_marks_are_told() -> None:
    known = upstream.listing("openvino")
    assert known is not None
    assert len(list(upstream.sentences("openvino", [mark.tests[0] for mark in known.marks]))) == upstream.MOST


@pytest.mark.parametrize("path", sorted(data_path("known").glob("*.toml")), ids=lambda path: path.stem)
def test_every_list_says_where_it_comes_from_and_names_real_tests(path: object) -> None:
    document = tomllib.loads(path.read_text("utf-8"))  # type: ignore[attr-defined]
    assert len(document["commit"]) == 40 and document["read"] and document["repository"] and document["path"]
    listed = {test for mark in document["mark"] for test in mark["tests"]}
    shipped = {case.origin.test.rpartition("/")[2] for case in onnx_node.cases(0) if isinstance(case, Case)}
    assert len(listed & shipped) > 0.7 * len(listed)  # the others are of other folders or older releases
