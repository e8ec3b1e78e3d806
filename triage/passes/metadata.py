"""Texts and notes that no compiler needs: doc strings, node names, metadata, producer, inferred shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import onnx

from fuzz.case import Case
from fuzz.operators.graph import bodies, walk
from fuzz.wire import Value
from triage.submodel import load, with_model

KINDS = ("onnx",)

#: Fields that hold nothing but notes, wherever a message has them.
_NOTES = ("doc_string", "metadata_props")
_OF_MODEL = ("producer_name", "producer_version", "domain", "model_version", "training_info", "configuration")


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """Everything stripped at once; then one kind of note at a time."""
    for steps in (STEPS, *((step,) for step in STEPS)):
        model = load(case)
        for step in steps:
            step(model)
        if model.SerializeToString() != load(case).SerializeToString():
            yield with_model(case, model)


def _texts(model: onnx.ModelProto) -> None:
    for field in (*_NOTES, *_OF_MODEL):
        _clear(model, field)
    for part in _parts(model):
        infos = [*part.input, *part.output, *part.initializer] if isinstance(part, onnx.GraphProto) else []
        attributes = [attribute for node in part.node for attribute in node.attribute]
        for message in [part, *part.node, *infos, *attributes]:
            for field in _NOTES:
                _clear(message, field)


def _node_names(model: onnx.ModelProto) -> None:
    for part in _parts(model):
        for node in part.node:
            node.ClearField("name")


def _inferred(model: onnx.ModelProto) -> None:
    for part in _parts(model):
        del part.value_info[:]
    model.graph.ClearField("quantization_annotation")


def _parts(model: onnx.ModelProto) -> Iterator[Any]:
    """The main graph, all bodies and all functions."""
    for part in (model.graph, *model.functions):
        yield part
        for node in walk(part):
            yield from bodies(node)


def _clear(message: Any, field: str) -> None:
    if field in message.DESCRIPTOR.fields_by_name:
        message.ClearField(field)


STEPS: tuple[Callable[[onnx.ModelProto], None], ...] = (_texts, _node_names, _inferred)
