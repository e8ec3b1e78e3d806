"""Sequences that a model is fed with, made by the model: converters may know them only so."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper

from fuzz.case import Case
from triage.submodel import load
from triage.variants import Variant, neighbour

TEXT = "a sequence as an input of the model"


def variants(case: Case) -> Iterator[Variant]:
    """The model with a node in the place of each sequence among its inputs, all at once."""
    model = load(case)
    fed = [info.name for info in model.graph.input if info.type.WhichOneof("value") == "sequence_type"]
    if not fed or not all(_is_plain(case.inputs.get(name)) for name in fed):
        return
    for name in fed:
        _make(model, name, case)
    names = " and ".join(f"`{name}`" for name in fed)
    inputs = {name: value for name, value in case.inputs.items() if name not in fed}
    sentence = f"With {names} made by a node of the model the model passes."
    yield Variant("input", TEXT, sentence, (neighbour(case, model, inputs),))


def _is_plain(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, np.ndarray) and one.dtype.isbuiltin == 1 for one in value)


def _make(model: onnx.ModelProto, name: str, case: Case) -> None:
    """Take the input away, and put a node that makes it before all others, in place."""
    info = next(one for one in model.graph.input if one.name == name)
    members = case.inputs[name]
    assert isinstance(members, list)
    kind = info.type.sequence_type.elem_type.tensor_type.elem_type
    model.graph.input.remove(info)
    names = [f"{name}_{at}" for at in range(len(members))]
    model.graph.initializer.extend(numpy_helper.from_array(one, each) for one, each in zip(members, names, strict=True))
    made = helper.make_node("SequenceConstruct", names, [name])
    model.graph.node.insert(0, made if names else helper.make_node("SequenceEmpty", [], [name], dtype=kind))
