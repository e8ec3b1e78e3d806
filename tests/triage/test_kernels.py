"""Kernels of size 1 are told where larger ones are right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.conditions import conditions
from triage.variants import kernels


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def convolution(*kernel: int) -> Case:
    data = np.resize(np.arange(1, 10, dtype=np.int8), (1, 1, *[3] * len(kernel)))
    pads = [0] * len(kernel) + [1] + [0] * (len(kernel) - 1)
    strides = [2] + [1] * (len(kernel) - 1)
    node = helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], strides=strides, pads=pads)
    held = [
        numpy_helper.from_array(np.ones((1, 1, *kernel), np.uint8), "w"),
        numpy_helper.from_array(np.array(3, np.int8), "z"),
    ]
    infos = [helper.make_tensor_value_info("x", TensorProto.INT8, data.shape)]
    outs = [helper.make_tensor_value_info("y", TensorProto.INT32, [None] * data.ndim)]
    model = helper.make_model(
        helper.make_graph([node], "g", infos, outs, held), opset_imports=[helper.make_opsetid("", 10)], ir_version=5
    )
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("test"))


def test_a_kernel_of_one_place_is_told_with_the_operator(judge: Judge) -> None:
    pytest.importorskip("openvino")
    case = convolution(1, 1)
    failure = judge.examine(case, catalogue.target("openvino")).failure
    assert failure is not None, "the compiler no longer has this bug: find another for the test"
    told = titles.subject(case, ["ConvInteger"], conditions(judge, failure))
    assert told == "ConvInteger (kernel of 1x1) with pads and strides on some inputs"


def test_the_kernel_grows_and_so_do_the_data() -> None:
    [only] = kernels.variants(convolution(1))
    assert only.text == "kernel of 1"
    assert [case.inputs["x"].shape for case in only.cases] == [(1, 1, 4), (1, 1, 5)]


def test_a_kernel_that_is_larger_along_some_axis_stays() -> None:
    assert not list(kernels.variants(convolution(1, 2)))
