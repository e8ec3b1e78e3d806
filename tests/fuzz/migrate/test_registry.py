"""Sources of instances are found by their file names."""

from __future__ import annotations

import pytest

from fuzz import migrate
from fuzz.migrate import Request, UnknownSource


def test_every_file_without_an_underscore_is_a_source_and_says_what_it_is() -> None:
    assert {"onnx", "pytorch"} <= set(migrate.names())
    for name in migrate.names():
        assert callable(migrate.load(name))
        assert migrate.about(name) and "\n" not in migrate.about(name)


@pytest.mark.parametrize("name", ["nothing", "_command", "../pytorch"])
def test_an_unknown_source_is_refused_in_a_line_that_names_the_known_ones(name: str) -> None:
    with pytest.raises(UnknownSource, match=r"choose one of .*onnx.*pytorch"):
        migrate.load(name)


def test_a_request_without_patterns_wants_every_operator() -> None:
    assert Request().wants("torch.relu")
    assert Request(operators=("*relu", "Conv")).wants("torch.relu")
    assert not Request(operators=("*relu", "Conv")).wants("torch.relu6")
