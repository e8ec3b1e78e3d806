"""Drawing the inputs of an ONNX model, within the domains of the operators that consume them."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import onnx
import onnx.inliner

from fuzz.operators.arrays import ARRAYS, FIRST
from fuzz.operators.domains import Interval, interval, named
from fuzz.operators.slots import Shape, Slot, find_slots, know
from fuzz.wire import Value

#: Sizes of dimensions that the model leaves open, and how many axes a tensor of unknown rank gets.
OPEN_SIZES = (2, 3)
OPEN_RANK = 2

#: The largest input drawn, in elements: a model with larger ones is refused rather than exhausting memory.
MAX_ELEMENTS = 1 << 26

#: Words for string tensors: empty, plain, with blanks, not ASCII, an e-mail address (RegexFullMatch).
WORDS = ("", "a", "Hello World", "graph", "12", "übermäßig", "www.example.com", "x@example.org", "a,b,c")


def draw_inputs(model: onnx.ModelProto, seed: int) -> dict[str, Value]:
    """Values for the graph inputs of `model` that have no initializer, the same for the same seed.

    Dimensions with the same name get the same size. Values lie within the domains of the operators
    they reach where those can be known; a draw can still be refused by the model, see
    `candidate_inputs`. Raises ValueError for an input that cannot be drawn.
    """
    return next(candidate_inputs(model, seed, 1))


def candidate_inputs(model: onnx.ModelProto, seed: int, tries: int) -> Iterator[dict[str, Value]]:
    """`tries` different draws, for a caller that picks the first one a reference accepts."""
    for attempt in range(tries):
        yield _draw_all(model, np.random.default_rng((seed, attempt)))


def _draw_all(model: onnx.ModelProto, rng: np.random.Generator) -> dict[str, Value]:
    concrete = _with_sizes(_inlined(model), rng)
    constants = {tensor.name for tensor in concrete.graph.initializer}
    constants |= {tensor.values.name for tensor in concrete.graph.sparse_initializer}
    wanted = [info for info in concrete.graph.input if info.name not in constants]
    known = know(concrete)
    slots = find_slots(concrete, known)
    drawn: dict[str, Value] = {}
    for info in sorted(wanted, key=lambda info: _turn(slots.get(info.name, []))):
        value = _draw(info.name, info.type, slots.get(info.name, []), rng)
        drawn[info.name] = value
        if isinstance(value, np.ndarray):
            known.values[info.name] = value
    return {info.name: drawn[info.name] for info in wanted}


def _inlined(model: onnx.ModelProto) -> onnx.ModelProto:
    """Bodies of model-local functions in place of their calls, so that slots inside them are found."""
    return onnx.inliner.inline_local_functions(model) if model.functions else model


def _turn(slots: list[Slot]) -> int:
    """What other draws depend on comes first."""
    ranks = [FIRST.index(slot.spec.domain) for slot in slots if slot.spec.domain in FIRST]
    return min(ranks, default=len(FIRST))


def _with_sizes(model: onnx.ModelProto, rng: np.random.Generator) -> onnx.ModelProto:
    """A copy of `model` whose input dimensions are numbers; equal names get equal numbers everywhere."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    sizes: dict[str, int] = {}
    for info in result.graph.input:
        for dim in _dims(info.name, info.type):
            if not dim.HasField("dim_value"):
                name = dim.dim_param
                size = sizes.get(name) if name else None
                dim.dim_value = int(rng.choice(OPEN_SIZES)) if size is None else size
                if name:
                    sizes[name] = dim.dim_value
            elif dim.dim_value < 0:
                raise ValueError(f"input {info.name!r} has the dimension {dim.dim_value}: it must not be negative")
    for info in result.graph.output:
        for dim in info.type.tensor_type.shape.dim:
            if dim.dim_param in sizes:
                dim.dim_value = sizes[dim.dim_param]
    return result


def _tensor_type(name: str, kind: onnx.TypeProto) -> onnx.TypeProto.Tensor:
    """The tensor type at the bottom of a tensor, sequence or optional type."""
    which = kind.WhichOneof("value")
    if which == "tensor_type" and kind.tensor_type.elem_type:
        return kind.tensor_type
    if which == "sequence_type":
        return _tensor_type(name, kind.sequence_type.elem_type)
    if which == "optional_type":
        return _tensor_type(name, kind.optional_type.elem_type)
    what = which.removesuffix("_type") if which else "missing"
    raise ValueError(f"input {name!r} cannot be drawn: its type is {what}, not a tensor, sequence or optional")


def _dims(name: str, kind: onnx.TypeProto) -> list[onnx.TensorShapeProto.Dimension]:
    """The dimensions of the tensor type, made up where the model gives no shape at all."""
    tensor = _tensor_type(name, kind)
    if not tensor.HasField("shape"):
        tensor.shape.dim.extend(onnx.TensorShapeProto.Dimension() for _ in range(OPEN_RANK))
    return list(tensor.shape.dim)


def _draw(name: str, kind: onnx.TypeProto, slots: list[Slot], rng: np.random.Generator) -> Value:
    """One value of the given type. Optionals are always present: an absent one is rarely valid."""
    if kind.HasField("optional_type"):
        return _draw(name, kind.optional_type.elem_type, slots, rng)
    if kind.HasField("sequence_type"):
        element = kind.sequence_type.elem_type
        return [_draw(name, element, slots, rng) for _ in range(int(rng.integers(2, 4)))]
    tensor = _tensor_type(name, kind)
    shape = tuple(dim.dim_value for dim in _dims(name, kind))
    if math.prod(shape) > MAX_ELEMENTS:
        raise ValueError(f"input {name!r} of shape {shape} is too large to draw: give its values in a file")
    try:
        dtype = np.dtype(onnx.helper.tensor_dtype_to_np_dtype(tensor.elem_type))
    except KeyError as error:
        raise ValueError(f"input {name!r} has the unknown element type {tensor.elem_type}") from error
    if tensor.elem_type == onnx.TensorProto.STRING:
        return _strings(slots, shape, rng)
    return _numbers(slots, shape, dtype, rng)


def _strings(slots: list[Slot], shape: Shape, rng: np.random.Generator) -> np.ndarray:
    """Words; numerals where they are cast to numbers, which is undefined for other words."""
    numerals = any(slot.spec.domain == "castable" for slot in slots)
    words = [str(number) for number in range(-3, 4)] if numerals else list(WORDS)
    return np.array([words[i] for i in rng.integers(0, len(words), math.prod(shape))], dtype=object).reshape(shape)


def _numbers(slots: list[Slot], shape: Shape, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    for slot in slots:
        structured = ARRAYS.get(slot.spec.domain)
        array = structured(slot, shape, rng) if structured is not None else None
        if array is not None:
            return array.astype(dtype)
    return _sample(_demanded(slots), shape, dtype, rng)


def _demanded(slots: list[Slot]) -> Interval:
    """What all slots demand together; what is farther from the input yields to what is nearer."""
    bounds = named()["any"]
    limited = False
    for slot in sorted(slots, key=lambda slot: slot.direct):
        found = interval(slot) if slot.spec.domain != "any" else None
        if found is not None:
            bounds = bounds & found if limited else found
            limited = True
    return bounds


def _sample(bounds: Interval, shape: Shape, dtype: np.dtype, rng: np.random.Generator) -> np.ndarray:
    """Values within `bounds` that the dtype can hold: floats with two decimals, whole numbers else."""
    if dtype.kind == "b":
        constant = bounds.low == bounds.high
        return np.full(shape, bool(bounds.low)) if constant else np.asarray(rng.integers(0, 2, shape), bool)
    if dtype.kind == "c":
        real, imaginary = (np.round(rng.uniform(bounds.low, bounds.high, shape), 2) for _ in range(2))
        return np.asarray(real + 1j * imaginary, dtype)
    whole = dtype.kind in "iu" or "int" in dtype.name
    step = 1.0 if whole else 0.01
    grid = np.arange(math.ceil(bounds.low / step), math.floor(bounds.high / step) + 1)
    values = _representable(grid * step, dtype, bounds.nonzero)
    count = math.prod(shape)
    if bounds.distinct and count > len(np.unique(values.astype(dtype).astype(np.float64))):
        values = _representable(np.arange(-(count // 2), count - count // 2), dtype, bounds.nonzero)
    picked = rng.permutation(len(values))[:count] if bounds.distinct and count <= len(values) else None
    indices = rng.integers(0, len(values), count) if picked is None else picked
    return values[indices].astype(dtype).reshape(shape)


def _representable(values: np.ndarray, dtype: np.dtype, nonzero: bool) -> np.ndarray:
    """Those of `values` that stay finite, keep their sign and, if asked, nonzero in the dtype."""
    with np.errstate(all="ignore"):
        cast = values.astype(dtype).astype(np.float64)
    good = np.isfinite(cast) & (np.abs(cast - values) <= 0.5 * np.abs(values)) | (cast == values)
    good &= (cast != 0) | (values == 0)
    if nonzero:
        good &= cast != 0
    return values[good] if good.any() else np.ones(1)
