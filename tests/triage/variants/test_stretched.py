"""An optional input that is shorter than it may be is told as that, where all of it passes."""

from __future__ import annotations

import numpy as np
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Origin
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage.conditions import conditions
from triage.variants import stretched


def attention(masked: int) -> Case:
    """Attention over three keys with a mask for the first `masked`."""
    rng = np.random.default_rng(3)
    sizes = {"q": (1, 1, 2, 2), "k": (1, 1, 3, 2), "v": (1, 1, 3, 2), "m": (2, masked)}
    fed = {name: rng.normal(size=size).astype(np.float32) for name, size in sizes.items()}
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in sizes.items()]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 1, 2, 2])
    graph = helper.make_graph([helper.make_node("Attention", list(sizes), ["y"])], "g", infos, [out])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=11)
    return Case("onnx", model.SerializeToString(), fed, Origin("test", "attention"))


def test_a_mask_for_a_part_of_the_keys_is_tried_as_long_as_they_are() -> None:
    [one] = stretched.variants(attention(2))
    assert one.text == "attn_mask shorter than K"
    mask = one.cases[0].inputs["m"]
    assert isinstance(mask, np.ndarray) and mask.shape == (2, 3) and np.array_equal(mask[:, 1], mask[:, 2])
    assert list(stretched.variants(attention(3))) == []


def test_a_compiler_that_takes_whole_masks_is_not_said_to_take_none() -> None:
    with Runner(jobs=1) as runner:
        judge = Judge(runner, catalogue.target("reference"))
        failure = judge.examine(attention(2), catalogue.target("onnxruntime")).failure
        assert failure is not None, "the compiler no longer has this bug: find another for the test"
        told = [one.text for one in conditions(judge, failure) if one.needed]
    assert told == ["attn_mask shorter than K"]
