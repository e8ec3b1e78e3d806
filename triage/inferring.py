"""The types of a model's inner values: what shape inference tells, guessed beyond operators that it does not know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache

import onnx
from onnx import ValueInfoProto, helper, shape_inference

from fuzz.operators.inference import infer_shapes


@lru_cache(maxsize=8)
def inferred_types(model: bytes) -> dict[str, ValueInfoProto]:
    """The values of the main graph between inputs and outputs, by name; nothing where shape inference fails.

    The first result of an operator without a schema is taken to be of the type of its first input: one such operator
    would hide the types of all that follows. Raises google.protobuf.message.DecodeError for damaged bytes.
    """
    found = onnx.load_model_from_string(model)
    while True:
        try:
            found = infer_shapes(found)
        except (shape_inference.InferenceError, RuntimeError):
            return {}
        guesses = list(_guesses(found))
        if not guesses:
            return {info.name: info for info in found.graph.value_info}
        told = {info.name for info in guesses}
        kept = [info for info in found.graph.value_info if info.name not in told]
        del found.graph.value_info[:]
        found.graph.value_info.extend([*kept, *guesses])


def _guesses(model: onnx.ModelProto) -> Iterator[ValueInfoProto]:
    """A type for the first result of each unknown operator that has none, where its first input has one."""
    types = _types(model.graph)
    functions = {(function.domain, function.name) for function in model.functions}
    for node in model.graph.node:
        known = (node.domain, node.op_type) in functions or onnx.defs.has(node.op_type, node.domain)
        if known or not node.input or not node.output or not node.output[0]:
            continue
        if node.input[0] in types and node.output[0] not in types:
            guess = ValueInfoProto()
            guess.CopyFrom(types[node.input[0]])
            guess.name = node.output[0]
            yield guess


def _types(graph: onnx.GraphProto) -> Mapping[str, ValueInfoProto]:
    """What is known whole: with a rank, or no tensor."""
    constants = [helper.make_tensor_value_info(each.name, each.data_type, each.dims) for each in graph.initializer]
    infos = [*constants, *graph.value_info, *graph.input, *graph.output]
    return {
        info.name: info
        for info in infos
        if info.type.WhichOneof("value") != "tensor_type" or info.type.tensor_type.HasField("shape")
    }
