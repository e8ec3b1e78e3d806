"""The model in the most ordinary type of its kind, and in the other types of that kind."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper
from onnx.defs import OpSchema

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.drawing import dtype_text
from triage.passes.dtypes import with_element_types
from triage.schemas import formal_inputs, schema_of
from triage.submodel import load, open_shapes, tensors, with_tensors

_PLAIN = {
    **dict.fromkeys((TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE), TensorProto.FLOAT),
    **dict.fromkeys((TensorProto.INT8, TensorProto.INT16, TensorProto.UINT8, TensorProto.UINT16), TensorProto.INT32),
    **dict.fromkeys((TensorProto.UINT32, TensorProto.UINT64), TensorProto.INT64),
}
#: Types that are handled alike, so that a failure in one is to be expected in the others. float32 and int64 stay: to
#: change them would change scales, axes and indices as well.
_KINDS = (
    (TensorProto.UINT8, TensorProto.INT8, TensorProto.UINT16, TensorProto.INT16),
    (TensorProto.UINT32, TensorProto.UINT64),
    (TensorProto.FLOAT16, TensorProto.BFLOAT16, TensorProto.DOUBLE),
    (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E4M3FNUZ, TensorProto.FLOAT8E5M2, TensorProto.FLOAT8E5M2FNUZ),
    (TensorProto.UINT4, TensorProto.INT4),
)


#: Types of data that are tried in one that most operators are made for, the first of these that is allowed.
_OF_DATA = ("int64", "int32", "bool")
_ORDINARY = ("float32", "int32", "int64")
#: The attribute that holds the number of ConstantOfShape.
_VALUE = "value"
#: How the specification's type strings call numpy's types, where not by the same name.
_SPELLED = {"float32": "float"}


@dataclass(frozen=True)
class Alternatives:
    """An unusual type of a case, and the cases with others in its place: the plain one, if any, and its `kin`.

    `limits` is the plain one with its own limits where numbers are at those of the unusual type, and what these are in
    words; None where no number is.
    """

    name: str
    plain: tuple[str, Case] | None
    kin: tuple[tuple[str, Case], ...]
    limits: tuple[str, Case] | None = None


def alternatives(case: Case) -> Iterator[Alternatives]:
    """For each unusual type of inputs, constants and outputs the case in the other types, everywhere at once."""
    graph = parsed(case.model).graph
    types = [info.type.tensor_type.elem_type for info in graph.input]
    types += [tensor.data_type for tensor in graph.initializer]
    types += [info.type.tensor_type.elem_type for info in graph.output]
    for unusual in dict.fromkeys(types):
        kin = [one for kind in _KINDS if unusual in kind for one in kind if one not in (unusual, _PLAIN.get(unusual))]
        if kin:
            plain = _with(case, unusual, _PLAIN[unusual]) if unusual in _PLAIN else None
            others = tuple(_with(case, unusual, other) for other in kin)
            limits = _at_limits(case, unusual, plain[1]) if plain else None
            yield Alternatives(dtype_text(unusual), plain, others, limits)


def of_data(case: Case) -> Iterator[Alternatives]:
    """What the only node reads first, and all that must have its type, in the ordinary types that the operator allows.

    Only of types whose change everywhere would change scales, axes and indices as well, and which say something: what
    a bug needs of int64 data is seldom that they are int64.
    """
    model = load(case)
    if len(model.graph.node) != 1:
        return
    formals = _repeated(formal_inputs(model.graph.node[0], model), len(model.graph.node[0].input))
    arrays = tensors(case, model)
    names = [name for name, formal in zip(model.graph.node[0].input, formals, strict=False) if _is_of(formal, formals)]
    array = next((arrays[name] for name in names if name in arrays), None)
    if array is None or array.dtype.name not in _OF_DATA or not formals[0].is_homogeneous:
        return
    spelled = {f"tensor({_SPELLED.get(name, name)})": name for name in _ORDINARY if name != array.dtype.name}
    allowed = [name for kind, name in spelled.items() if kind in formals[0].types]
    others = [(name, _retyped(case, formals[0].type_str, name)) for name in allowed]
    if others:
        yield Alternatives(array.dtype.name, others[0], tuple(others[1:]))


def of_value(case: Case) -> Iterator[Alternatives]:
    """The number that the only node fills its result with, which is of no input's type, in the ordinary types."""
    model = load(case)
    node = model.graph.node[0] if len(model.graph.node) == 1 else onnx.NodeProto()
    held = next((one for one in node.attribute if one.name == _VALUE and one.type == onnx.AttributeProto.TENSOR), None)
    if held is None or not node.input:
        return
    array = onnx.numpy_helper.to_array(held.t)
    if array.dtype.isbuiltin != 1 or array.dtype.name == _ORDINARY[0]:
        return
    held.t.CopyFrom(onnx.numpy_helper.from_array(array.astype(_ORDINARY[0])))
    for info in model.graph.output:
        info.type.tensor_type.elem_type = TensorProto.FLOAT
    yield Alternatives(array.dtype.name, (_ORDINARY[0], with_tensors(case, model, {})), ())


def _is_of(formal: OpSchema.FormalParameter, formals: Sequence[OpSchema.FormalParameter]) -> bool:
    return bool(formal.type_str == formals[0].type_str)


def _retyped(case: Case, kind: str, dtype: str) -> Case:
    """The case with all that is of one of the only node's formal types in another type.

    What may be of another type than that, and is not, goes along: Pow's exponent.
    """
    model = load(case)
    open_shapes(model)
    node = model.graph.node[0]
    schema, arrays = schema_of(node, model), tensors(case, model)
    assert schema is not None
    pairs = (
        *zip(node.input, _repeated(formal_inputs(node, model), len(node.input)), strict=False),
        *zip(node.output, _repeated(schema.outputs, len(node.output)), strict=False),
    )
    named = {name for name, formal in pairs if formal.type_str == kind}
    was = next((arrays[name].dtype for name in node.input if name in named & arrays.keys()), None)
    named |= {name for name, formal in pairs if name in arrays and arrays[name].dtype == was and _may_be(formal, dtype)}
    for info in (*model.graph.input, *model.graph.output):
        if info.name in named:
            info.type.tensor_type.elem_type = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return with_tensors(
        case, model, {name: arrays[name].astype(dtype) for name in node.input if name in named & arrays.keys()}
    )


def _may_be(formal: OpSchema.FormalParameter, dtype: str) -> bool:
    return f"tensor({_SPELLED.get(dtype, dtype)})" in formal.types


def _repeated(formals: Sequence[OpSchema.FormalParameter], count: int) -> list[OpSchema.FormalParameter]:
    """One formal parameter for each of so many; that of a list stands for all of its members."""
    last = [formals[-1]] if formals and formals[-1].option == OpSchema.FormalParameterOption.Variadic else []
    return [*formals, *last * (count - len(formals))]


def _with(case: Case, old: int, new: int) -> tuple[str, Case]:
    return dtype_text(new), with_element_types(case, {old: new})


def _at_limits(case: Case, old: int, plain: Case) -> tuple[str, Case] | None:
    """A maximum that starts from the least number of its type goes wrong on 0 in uint8 alone, and yet in all types."""
    kind = helper.tensor_dtype_to_np_dtype(old)
    if kind.kind not in "iu":
        return None
    was, model = tensors(case, load(case)), load(plain)
    moved, said = {}, set()
    for name, array in tensors(plain, model).items():
        if was[name].dtype != kind or array.dtype == kind:
            continue
        least, most = was[name] == np.iinfo(kind).min, was[name] == np.iinfo(kind).max
        said |= {word for word, places in (("smallest number", least), ("largest number", most)) if places.any()}
        ends = np.iinfo(array.dtype)
        moved[name] = np.where(least, ends.min, np.where(most, ends.max, array)).astype(array.dtype)
    return (" and ".join(sorted(said, reverse=True)), with_tensors(plain, model, moved)) if said else None
