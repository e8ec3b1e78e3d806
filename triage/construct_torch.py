"""PyTorch operator instances as readable source: a small module and the tensors it is called with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzz import instance as instances
from fuzz.instance import Instance
from fuzz.wire import SMALL_DTYPES, Raw, Value
from triage.layout import STEP, Expr, call, followed, named, one_line, quote, render, tuple_display, with_imports
from triage.literals import RECIPE_FROM, SMALL, Array, array_expr, as_array, nested, number_texts

#: Tensor attributes, which are called through their descriptor.
_PROPERTIES = frozenset(f"torch.Tensor.{name}" for name in ("T", "H", "mT", "mH", "real", "imag"))
_GETTER = ".__get__"
#: A tensor that takes more lines than this is written as numpy would make it, which has shorter ways.
_MOST_LINES = 4
_MEMORY_FORMATS = {"contiguous": "contiguous_format", "preserve": "preserve_format"}


def instance_code(instance_json: bytes) -> str:
    """Source that defines `module` (a torch.nn.Module) and `args` (a tuple of tensors).

    Parameters of module classes are drawn after ``torch.manual_seed(0)``. Raises
    fuzz.instance.InstanceError for what is no instance.
    """
    instance = instances.parse(instance_json)
    values = instances.tensors(instance)
    lines = _module(instance, values)
    inputs = [_tensor(values[at]) for at in _inputs(instance)]
    lines += render(named("args = ", tuple_display(inputs)))
    return with_imports("\n".join(lines))


def module_and_inputs(instance_json: bytes) -> tuple[str, list[Value]]:
    """Source that defines `module` alone, without imports, and the values that `instance_code` passes to it."""
    instance = instances.parse(instance_json)
    values = instances.tensors(instance)
    return "\n".join(_module(instance, values)), [values[at] for at in _inputs(instance)]


def _inputs(instance: Instance) -> list[int]:
    """The tensors that are arguments of the module: those the call refers to and that vary."""
    referred = _references([list(instance.args), dict(instance.kwargs)])
    return sorted(at for at in referred if not instance.tensors[at].constant)


def _references(encoded: Any) -> set[int]:
    if isinstance(encoded, dict):
        if list(encoded) == ["tensor"]:
            return {encoded["tensor"]}
        encoded = list(encoded.values())
    return {at for item in encoded for at in _references(item)} if isinstance(encoded, list) else set()


def _module(instance: Instance, values: list[Value]) -> list[str]:
    inputs = _inputs(instance)
    names = {at: f"x{at}" if at in inputs else f"self.c{at}" for at in range(len(instance.tensors))}
    is_class = instance.init is not None
    made = _call(instance.api, *(instance.init or ((), {})), names)
    seed = ["torch.manual_seed(0)"] if is_class else []
    if is_class and not instance.kwargs and [{"tensor": at} for at in range(len(names))] == list(instance.args):
        return [*seed, *render(named("module = ", followed(made, ".eval()")))]
    result = _call("self.inner", instance.args, instance.kwargs, names) if is_class else _applied(instance, names)
    inner = render(named("self.inner = ", made), STEP * 2) if is_class else []
    parameters = ", ".join(["self", *(names[at] for at in inputs)])
    return [
        "class Module(torch.nn.Module):",
        *_constructor(instance, values, inner),
        f"{STEP}def forward({parameters}):",
        *render(named("return ", result), STEP * 2),
        "",
        "",
        *seed,
        "module = Module().eval()",
    ]


def _constructor(instance: Instance, values: list[Value], inner: list[str]) -> list[str]:
    buffers = [
        line
        for at in sorted(set(range(len(values))) - set(_inputs(instance)))
        for line in render(call("self.register_buffer", quote(f"c{at}"), _tensor(values[at])), STEP * 2)
    ]
    if not (inner or buffers):
        return []
    return [f"{STEP}def __init__(self):", f"{STEP * 2}super().__init__()", *inner, *buffers, ""]


def _applied(instance: Instance, names: Mapping[int, str]) -> Expr:
    """The call of a function; a method or property of a tensor, and indexing, as a person writes them."""
    api, (first, *rest) = instance.api, instance.args or (None,)
    if not api.startswith("torch.Tensor.") or not isinstance(first, dict) or list(first) != ["tensor"]:
        return _call(api + _GETTER * (api in _PROPERTIES), instance.args, instance.kwargs, names)
    tensor, method = names[first["tensor"]], api.removeprefix("torch.Tensor.")
    if method.endswith("_") and not method.endswith("__"):
        tensor += ".clone()"  # the reference and the compilers are given a copy, too (`instance_torch.works_in_place`)
    if api in _PROPERTIES:
        return f"{tensor}.{method}"
    if method == "__getitem__" and len(rest) == 1 and not instance.kwargs:
        return f"{tensor}[{_subscript(rest[0], names)}]"
    return _call(f"{tensor}.{method}", tuple(rest), instance.kwargs, names)


def _subscript(encoded: Any, names: Mapping[int, str]) -> str:
    """What stands between the brackets: ``x1, None, :4:2``."""
    items = encoded.get("tuple") if isinstance(encoded, dict) else None
    if items:
        return ", ".join(_subscript(item, names) for item in items) + "," * (len(items) == 1)
    bounds = encoded.get("slice") if isinstance(encoded, dict) else None
    if bounds is None:
        return _argument(encoded, names)
    start, stop, step = ("" if bound is None else repr(bound) for bound in bounds)
    return f"{start}:{stop}" + (f":{step}" if step else "")


def _call(function: str, args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Mapping[int, str]) -> Expr:
    named_arguments = [f"{name}={_argument(value, names)}" for name, value in kwargs.items() if name.isidentifier()]
    unusual = {name: _argument(value, names) for name, value in kwargs.items() if not name.isidentifier()}
    spread = [f"**{{{', '.join(f'{quote(key)}: {text}' for key, text in unusual.items())}}}"] if unusual else []
    return call(function, *(_argument(value, names) for value in args), *named_arguments, *spread)


def argument_text(value: Any) -> str:
    """An encoded argument without tensors as source, e.g. ``torch.float32``."""
    return _argument(value, {})


def _argument(value: Any, names: Mapping[int, str]) -> str:
    if isinstance(value, list):
        return f"[{', '.join(_argument(item, names) for item in value)}]"
    if isinstance(value, str):
        return quote(value)
    if not isinstance(value, dict):
        return repr(value)
    ((key, content),) = value.items()
    if key == "tensor":
        return names[content]
    if key == "tuple":
        return one_line(tuple_display([_argument(item, names) for item in content]))
    if key == "memory_format":
        return f"torch.{_MEMORY_FORMATS.get(content, content)}"
    if key == "complex":
        return f"complex({', '.join(_argument(part, names) for part in content)})"
    return _SPELLING[key].format(*content) if key == "slice" else _SPELLING[key].format(content)


_SPELLING = {
    "dtype": "torch.{}",
    "float": 'float("{}")',
    "slice": "slice({}, {}, {})",
    "layout": "torch.{}",
    "device": 'torch.device("{}")',
    "ellipsis": "...",
}


def _tensor(value: Value) -> Expr:
    """A tensor literal, or the exact bits by way of numpy when it is long."""
    assert isinstance(value, np.ndarray | Raw)
    array = as_array(value)
    dtype = f"dtype=torch.{array.dtype.name}"
    shape = repr(array.shape)
    if not array.size:
        return call("torch.zeros", shape, dtype)
    if array.size >= RECIPE_FROM and array.tobytes() == np.repeat(array.ravel()[:1], array.size).tobytes():
        return call("torch.full", shape, number_texts(array.ravel()[:1])[0][0], dtype)
    written = call("torch.tensor", nested(number_texts(array)[0], array.shape), dtype) if array.size <= SMALL else None
    if written and (len(render(written)) <= _MOST_LINES or array.dtype.name in SMALL_DTYPES):
        return written
    if array.dtype.name not in SMALL_DTYPES:
        return call("torch.from_numpy", array_expr(array))
    return followed(call("torch.from_numpy", array_expr(_bits(array))), f".view(torch.{array.dtype.name})")


def _bits(array: Array) -> Array:
    return array.view(np.uint16 if array.dtype.itemsize == 2 else np.uint8)
