"""Optional inputs left out, inputs made constants, constants made inputs."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fuzz.case import Case
from fuzz.operators.graph import bodies
from triage.construct_meaning import parsed
from triage.schemas import formal_inputs
from triage.submodel import free_names
from triage.variants import Variant, neighbour
from triage.wording import enumerated

#: How a condition begins whose input is no constant, and what is before the last of several such inputs.
NON_CONSTANT, OR = "non-constant ", " or "
#: The condition that any input takes away, so many constants make it worth a question, and so many of them are asked.
ALONE, MANY, MOST = "constants alone", 3, 8
_PLAIN = (
    *(TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BOOL),
    *(TensorProto.INT64, TensorProto.INT32, TensorProto.INT4, TensorProto.UINT4),
)


def variants(case: Case) -> Iterator[Variant]:
    """The optional inputs first, then what frontends treat apart: a constant from an input."""
    yield from _optional_inputs(case)
    yield from _frozen(case)
    yield from _any_fed(case)
    yield from _fed(case)


def _optional_inputs(case: Case) -> Iterator[Variant]:
    """Each optional input left out."""
    model = parsed(case.model)
    for at, node in enumerate(model.graph.node):
        for position, formal in enumerate(formal_inputs(node, model)):
            if formal.option != onnx.defs.OpSchema.FormalParameterOption.Optional or not node.input[position]:
                continue
            other = parsed(case.model)
            other.graph.node[at].input[position] = ""
            sentence = f"Without the optional input `{formal.name}` the same model passes."
            yield Variant("input", f"optional input {formal.name}", sentence, (_unread_dropped(case, other),))


def _unread_dropped(case: Case, model: onnx.ModelProto) -> Case:
    """The case without graph inputs and initializers that no node reads any more."""
    read = {name for node in model.graph.node for name in node.input} | {info.name for info in model.graph.output}
    for field in (model.graph.input, model.graph.initializer):
        kept = [entry for entry in field if entry.name in read]
        del field[:]
        field.extend(kept)
    return neighbour(case, model, {name: value for name, value in case.inputs.items() if name in read})


def _frozen(case: Case) -> Iterator[Variant]:
    """Each input behind the first as a constant, then all of them: converters may want one and the other so.

    Another input is left: a model of constants is folded.
    """
    model = parsed(case.model)
    names = freezable(case)
    for name in names if len(model.graph.input) > 1 or _takes_a_shape(model) else ():
        sentence = f"With `{name}` as a constant (an initializer) instead of an input the same model passes."
        yield Variant("input", f"{NON_CONSTANT}{_called(model, name)}", sentence, (frozen(case, [name]),))
    if 1 < len(names) < len(model.graph.input):
        called = enumerated(list(dict.fromkeys(_called(model, name) for name in names)), OR)
        quoted = enumerated([f"`{name}`" for name in names])
        sentence = f"With {quoted} as constants instead of inputs the same model passes."
        yield Variant("input", f"{NON_CONSTANT}{called}", sentence, (frozen(case, names),))


def _takes_a_shape(model: onnx.ModelProto) -> bool:
    """Whether the first input is no data, so that the operator is made for a constant."""
    return [node.op_type for node in model.graph.node] in [["ConstantOfShape"], ["Range"]]


def freezable(case: Case) -> list[str]:
    """The inputs that no node reads first, unless that is no data, and that may be constants."""
    model = parsed(case.model)
    first = {node.input[0] for node in model.graph.node if node.input} if not _takes_a_shape(model) else set()
    values = {info.name: case.inputs.get(info.name) for info in model.graph.input if info.name not in first}
    return [name for name, value in values.items() if isinstance(value, np.ndarray) and value.dtype.kind in "fiub"]


def frozen(case: Case, names: Collection[str]) -> Case:
    """The case with some inputs as constants."""
    other = parsed(case.model)
    for name in names:
        other.graph.initializer.append(numpy_helper.from_array(np.asarray(case.inputs[name]), name))
    kept = [one for one in other.graph.input if one.name not in names]
    del other.graph.input[:]
    other.graph.input.extend(kept)
    return neighbour(case, other, {name: one for name, one in case.inputs.items() if name not in names})


def _called(model: onnx.ModelProto, name: str) -> str:
    """What the operator that reads a value calls it; of a value that a body reads, that it comes from outside.

    One of a list of inputs goes by its number: names of tensors say nothing to anybody.
    """
    variadic = onnx.defs.OpSchema.FormalParameterOption.Variadic
    for node in model.graph.node:
        for position, formal in enumerate(formal_inputs(node, model)):
            if node.input[position] == name and formal.option != variadic:
                return formal.name
    if any(name in free_names(body) for node in model.graph.node for body in bodies(node)):
        return "value from outside the body"
    return next((f"input {list(node.input).index(name) + 1}" for node in model.graph.node if name in node.input), name)


def _any_fed(case: Case) -> Iterator[Variant]:
    """Where a model has many constants and no input, each of them as an input, one after the other."""
    model = parsed(case.model)
    names = [tensor.name for tensor in model.graph.initializer if numpy_helper.to_array(tensor).dtype.isbuiltin == 1]
    if model.graph.input or len(names) < MANY:
        return
    quoted = enumerated([f"`{name}`" for name in names[:MOST]], OR)
    sentence = f"With {quoted} as an input instead of a constant the same model passes."
    yield Variant("input", ALONE, sentence, tuple(_with_input(case, name) for name in names[:MOST]))


def _with_input(case: Case, name: str) -> Case:
    """The case with one of its constants as an input."""
    other = parsed(case.model)
    tensor = next(one for one in other.graph.initializer if one.name == name)
    info = helper.make_tensor_value_info(name, tensor.data_type, list(tensor.dims))
    fed = {**case.inputs, name: numpy_helper.to_array(tensor)}
    kept = [one for one in other.graph.initializer if one.name != name]
    del other.graph.initializer[:]
    other.graph.initializer.extend(kept)
    other.graph.input.append(info)
    return neighbour(case, other, fed)


def _fed(case: Case) -> Iterator[Variant]:
    """Each constant behind the first input as an input; the first as well where the model has constants alone."""
    model = parsed(case.model)
    first = {node.input[0] for node in model.graph.node if node.input and model.graph.input}
    for tensor in model.graph.initializer:
        if tensor.name in first or tensor.name in case.inputs or tensor.data_type not in _PLAIN:
            continue
        sentence = f"With `{tensor.name}` as an input instead of a constant the same model passes."
        text = f"constant {_called(model, tensor.name)}"
        yield Variant("input", text, sentence, (_with_input(case, tensor.name),))
