"""Generators are found by their file names."""

import pytest

from fuzz import generators


def test_every_generator_file_is_a_source():
    assert {"onnx_models", "onnx_node", "pytorch"} <= set(generators.names())
    assert not any(name.startswith("_") for name in generators.names())


def test_every_source_can_be_loaded():
    assert all(callable(generators.load(name)) for name in generators.names())


def test_an_unknown_source_is_refused_in_one_line_that_names_the_known_ones():
    with pytest.raises(generators.UnknownGenerator, match=r"^unknown source 'nothing': choose one of .*onnx_node.*$"):
        generators.load("nothing")
