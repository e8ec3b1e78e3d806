"""Operator instances in PyTorch: an instance becomes a module with one call, and results become wire values.

Runs inside workers, in Python 3.8 syntax; torch is imported by the functions that need it.
"""

from __future__ import annotations

import functools
import inspect
import math
import warnings
from typing import Any, Callable, Dict, FrozenSet, List, NamedTuple, Tuple

import numpy as np

from fuzz import instance as instances
from fuzz.instance import Instance, InstanceError
from fuzz.wire import SMALL_DTYPES, Job, Raw, Value

#: Where functions may be looked up. The last name is an attribute; nothing else is ever traversed.
NAMESPACES = (
    "torch",
    "torch.functional",
    "torch.nn.functional",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "torch.Tensor",
)
#: Overridable in PyTorch, yet no operators: raw memory, shared memory, pickling, other devices.
_MEMORY = frozenset(("const_data_ptr", "data_ptr", "share_memory_", "storage", "storage_type", "untyped_storage"))
REFUSED = _MEMORY | frozenset(
    ("backward", "cuda", "ipu", "module_load", "numpy", "xpu", "__reduce_ex__", "__setstate__")
)
#: The properties of a tensor that are operators; the call is their getter's.
PROPERTIES = frozenset(("T", "H", "mT", "mH", "real", "imag"))
_IN_PLACE = frozenset("__i%s__" % name for name in ("add", "and", "div", "lshift", "mul", "or", "rshift", "sub", "xor"))
_SCALARS = {bool: "bool", int: "int64", float: "float64", complex: "complex128"}


class _Input(NamedTuple):
    """Stands for the run-time input at a position, within the arguments of a call."""

    position: int


# ---------------------------------------------------------------- the api's name


@functools.lru_cache(maxsize=None)
def _operators() -> FrozenSet[Any]:
    """Every function that PyTorch lets a tensor subclass override: its operators."""
    import torch.overrides

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # walking the namespaces touches deprecated names
        return frozenset(torch.overrides.get_testing_overrides())


def resolve(api: str) -> Any:
    """The function or module class called `api`, if it is an operator. Raises InstanceError otherwise."""
    import torch

    namespace, _, name = api.rpartition(".")
    if namespace == "torch.nn":
        found = getattr(torch.nn, name, None)
        if isinstance(found, type) and issubclass(found, torch.nn.Module):
            return found
        raise InstanceError("api %s is not a module class of torch.nn" % api)
    if namespace not in NAMESPACES:
        raise InstanceError("api %s: functions must be in one of %s, torch.nn" % (api, ", ".join(NAMESPACES)))
    holder = torch
    for part in namespace.split(".")[1:]:
        holder = getattr(holder, part)
    found = getattr(holder, name, None)
    if found is None:
        raise InstanceError("api %s does not exist in torch %s" % (api, torch.__version__))
    if namespace == "torch.Tensor" and name in PROPERTIES:
        return found.__get__
    if name not in REFUSED and callable(found) and found in _operators():
        return found
    raise InstanceError("api %s is not an operator that PyTorch lists (torch.overrides) and that may be called" % api)


# ---------------------------------------------------------------- building the module


def build(instance: Instance) -> Tuple[Any, Tuple[Any, ...], List[str]]:
    """The instance as a ``torch.nn.Module`` in evaluation mode, example inputs, and their names.

    The inputs are the tensors that the call refers to and that are not constant, in the order of
    `instance.tensors`, named ``input_0`` …. Raises InstanceError for an api or argument that cannot be used.
    """
    import torch

    target = resolve(instance.api)
    is_class = isinstance(target, type)
    if is_class != (instance.init is not None):
        mend = "give its constructor's arguments under 'init'" if is_class else "remove 'init', it is a function"
        raise InstanceError("api %s: %s" % (instance.api, mend))
    values = [to_torch(value) for value in instances.tensors(instance)]
    wanted = sorted(references([list(instance.args), dict(instance.kwargs)]))
    free = [at for at in wanted if not instance.tensors[at].constant]
    stands: Dict[int, Any] = {at: values[at] for at in wanted}
    stands.update((at, _Input(position)) for position, at in enumerate(free))
    args = [_decode(argument, stands) for argument in instance.args]
    kwargs = {name: _decode(argument, stands) for name, argument in instance.kwargs.items()}
    if instance.init is not None:
        constants = dict(enumerate(values))
        torch.manual_seed(0)
        target = target(
            *[_decode(argument, constants) for argument in instance.init[0]],
            **{name: _decode(argument, constants) for name, argument in instance.init[1].items()},
        )
    called = _spoken(instance.api, target)
    module = _call_module()(called, args, kwargs, works_in_place(instance, target)).eval()
    return module, tuple(values[at] for at in free), ["input_%d" % position for position in range(len(free))]


def _spoken(api: str, target: Any) -> Any:
    """The target as programs call it: a tensor's methods and properties through the tensor.

    Dynamo of PyTorch 2.11 traces no method that is called through its class, as programs do not.
    """
    namespace, _, name = api.rpartition(".")
    if namespace != "torch.Tensor":
        return target
    if name in PROPERTIES:
        return lambda tensor: getattr(tensor, name)
    return lambda tensor, *args, **kwargs: getattr(tensor, name)(*args, **kwargs)


def works_in_place(instance: Instance, target: Any) -> bool:
    """Whether the call of `target` may change its inputs (``add_``, ``out=``, ``inplace=True``): it then gets copies.

    Compilers may keep their inputs where they please, so that what is left in them is no result to compare.
    """
    name = instance.api.rpartition(".")[2]
    if (name.endswith("_") and not name.endswith("__")) or name in _IN_PLACE or "out" in instance.kwargs:
        return True
    if instance.init is not None:
        return getattr(target, "inplace", False) is True
    return "inplace" in instance.kwargs or (True in instance.args and _takes_in_place(target, instance))


def _takes_in_place(target: Any, instance: Instance) -> bool:
    """Whether one of the positional arguments is ``inplace=True``; functions in C++ have no such parameter."""
    try:
        bound = inspect.signature(target).bind(*instance.args, **instance.kwargs)
    except (TypeError, ValueError):
        return False
    return bound.arguments.get("inplace") is True


def references(encoded: Any) -> "set[int]":
    """The positions of the tensors that encoded arguments refer to."""
    if isinstance(encoded, list):
        return {at for item in encoded for at in references(item)}
    if isinstance(encoded, dict):
        if list(encoded) == ["tensor"] and type(encoded["tensor"]) is int:
            return {encoded["tensor"]}
        return {at for item in encoded.values() for at in references(item)}
    return set()


def _decode(encoded: Any, tensors: Dict[int, Any]) -> Any:
    """The Python value of an encoded argument; `tensors` says what stands for each tensor."""
    import torch

    if isinstance(encoded, list):
        return [_decode(item, tensors) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    (key, content), *_ = encoded.items()
    if key == "tensor":
        return tensors[content]
    if key == "tuple":
        return tuple(_decode(item, tensors) for item in content)
    if key in ("dtype", "memory_format", "layout"):
        return _constant(key, content)
    simple: Dict[str, Callable[[Any], Any]] = {
        "float": float,
        "complex": lambda parts: complex(*[float(part["float"] if isinstance(part, dict) else part) for part in parts]),
        "slice": lambda parts: slice(*parts),
        "ellipsis": lambda _: Ellipsis,
        "device": torch.device,
    }
    return simple[key](content)


def _constant(key: str, name: str) -> Any:
    import torch

    names = {"contiguous": "contiguous_format", "preserve": "preserve_format"} if key == "memory_format" else {}
    found = getattr(torch, names.get(name, name), None)
    if not isinstance(found, getattr(torch, key)):
        raise InstanceError("torch %s has no %s called %r" % (torch.__version__, key, name))
    return found


@functools.lru_cache(maxsize=None)
def _call_module() -> Any:
    """The module class of every instance; made on first use because torch is imported lazily."""
    import torch

    class Call(torch.nn.Module):  # type: ignore[misc]
        """Calls `target` with constants and with the inputs in their places."""

        def __init__(self, target: Any, args: List[Any], kwargs: Dict[str, Any], in_place: bool) -> None:
            super().__init__()
            self.target = target
            self.in_place = in_place
            self.kept = 0
            self.args = self._keep(args)
            self.kwargs = self._keep(kwargs)

        def _keep(self, value: Any) -> Any:
            """Register tensors as buffers, by name, so that they are weights of the exported program."""
            if isinstance(value, torch.Tensor):
                name = "constant_%d" % self.kept
                self.kept += 1
                self.register_buffer(name, value)
                return _Buffer(name)
            if isinstance(value, dict):
                return {key: self._keep(item) for key, item in value.items()}
            if isinstance(value, (list, tuple)) and not isinstance(value, _Input):
                return type(value)([self._keep(item) for item in value])
            return value

        def _place(self, value: Any, inputs: Tuple[Any, ...]) -> Any:
            if isinstance(value, _Input):
                found = inputs[value.position]
                return found.clone() if self.in_place else found
            if isinstance(value, _Buffer):
                found = getattr(self, value.name)
                return found.clone() if self.in_place else found
            if isinstance(value, (list, tuple)):
                return type(value)([self._place(item, inputs) for item in value])
            return value

        def forward(self, *inputs: Any) -> Any:
            args = [self._place(value, inputs) for value in self.args]
            kwargs = {key: self._place(value, inputs) for key, value in self.kwargs.items()}
            return self.target(*args, **kwargs)

    return Call


class _Buffer(NamedTuple):
    """Stands for the buffer of that name, within the arguments of a call."""

    name: str


# ---------------------------------------------------------------- values


def to_torch(value: Value) -> Any:
    """A wire value as a torch tensor of its own memory. Raises InstanceError for a dtype torch lacks."""
    import torch

    name = value.dtype if isinstance(value, Raw) else value.dtype.name  # type: ignore[union-attr]
    if name not in SMALL_DTYPES:
        return torch.from_numpy(np.array(value, copy=True))
    dtype = getattr(torch, name, None)
    if dtype is None or name.startswith(("int", "uint", "float4", "float6")):
        raise InstanceError("torch %s has no tensors of %s" % (torch.__version__, name))
    shape: Tuple[int, ...] = value.shape  # type: ignore[union-attr]
    data = value.data if isinstance(value, Raw) else np.ascontiguousarray(value).tobytes()
    if math.prod(shape) == 0:
        return torch.empty(shape, dtype=dtype)
    return torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)


def widened(tensor: Any) -> Any:
    """A floating-point or complex tensor in float64 or complex128, any other as it is."""
    import torch

    if tensor.is_complex():
        return tensor.to(torch.complex128)
    return tensor.double() if tensor.is_floating_point() else tensor


def to_wire(tensor: Any) -> Value:
    """A torch tensor (or Python number) as a wire value. Raises TypeError for what has none."""
    import torch

    if type(tensor) in _SCALARS:
        return np.asarray(tensor, dtype=_SCALARS[type(tensor)])
    if not isinstance(tensor, torch.Tensor):
        raise TypeError("a result of type %s is not a tensor" % type(tensor).__name__)
    dense = tensor.detach().cpu()
    if dense.layout is not torch.strided:
        dense = dense.to_dense()
    dense = dense.resolve_conj().resolve_neg().contiguous()
    name = str(dense.dtype)[len("torch.") :]
    if name not in SMALL_DTYPES:
        array: np.ndarray = dense.numpy()
        return array
    bits = dense.view(torch.uint8 if SMALL_DTYPES[name] == 1 else torch.int16).numpy()
    return named(Raw(name, tuple(dense.shape), bits.tobytes()))


def named(raw: Raw) -> Value:
    """The value as an ml_dtypes array, where that package has the dtype."""
    try:
        import ml_dtypes
    except ImportError:
        return raw
    small = getattr(ml_dtypes, raw.dtype, None)
    return raw if small is None else np.frombuffer(raw.data, small).reshape(raw.shape)


def flatten(result: Any) -> List[Tuple[str, Value]]:
    """A call's result as outputs ``output_0`` …: nested tuples, lists and dicts in order, None left out."""
    return [("output_%d" % at, to_wire(leaf)) for at, leaf in enumerate(_leaves(result))]


def _leaves(result: Any) -> List[Any]:
    if result is None:
        return []
    if isinstance(result, dict):
        return [leaf for item in result.values() for leaf in _leaves(item)]
    if isinstance(result, (list, tuple)):  # NamedTuples, torch.return_types and torch.Size are tuples
        return [leaf for item in result for leaf in _leaves(item)]
    return [result]


def run_eager(job: Job) -> List[Tuple[str, Value]]:
    """Run the instance with eager PyTorch, the reference of the compilers' PyTorch paths."""
    module, inputs, _ = build(instances.parse(job.model))
    return evaluate(module, inputs)


def evaluate(module: Any, inputs: Tuple[Any, ...]) -> List[Tuple[str, Value]]:
    """What a module of eager PyTorch gives, as outputs."""
    import torch

    with torch.no_grad():
        return flatten(module(*inputs))
