"""Keras layers as readable source: the layer, its inputs and its weights, drawn as `fuzz.instance_keras` does it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from fuzz import instance as instances
from fuzz.instance import Instance
from fuzz.wire import Raw
from triage.layout import (
    STEP,
    Expr,
    call,
    listing,
    mapping,
    named,
    one_line,
    quote,
    render,
    tuple_display,
    with_imports,
)
from triage.literals import array_expr, as_array

#: What a compiler's snippet says, and the backend of Keras that it is about.
_BACKENDS = (
    ("import jax", "jax"),
    ("import tensorflow", "tensorflow"),
    ("tf_saved_model", "tensorflow"),
    ("model.predict", "openvino"),
)
_WEIGHTS = """\
call(**inputs)  # creates the weights
for at, weight in enumerate(layer.weights):
    low, high = (0.5, 1.5) if "variance" in weight.name else (0.1, 1.0) if "vector_u" in weight.name else (-1.0, 1.0)
    if str(weight.dtype).startswith(("float", "bfloat")):
        weight.assign(np.random.default_rng(at).uniform(low, high, weight.shape).round(3).astype(np.float32))"""


def layer_code(instance_json: bytes, snippet: str) -> str:
    """Source that defines `layer`, `inputs` (arrays by name) and `call`, on the backend of Keras that `snippet` needs.

    `snippet` is the compiler's ``reproduce()``. Raises fuzz.instance.InstanceError for what is no instance.
    """
    instance = instances.parse(instance_json)
    values = [as_array(value) for value in instances.tensors(instance) if isinstance(value, np.ndarray | Raw)]
    free = sorted(at for at in _references([list(instance.args), dict(instance.kwargs)]) if _is_free(instance, at))
    names = {at: f"input_{position}" for position, at in enumerate(free)}
    constants = {at: one_line(array_expr(values[at])) for at in range(len(values)) if at not in names}
    spelled = {**constants, **names}
    arrays = [named(f"{quote(names[at])}: ", array_expr(values[at])) for at in free]
    made = call(instance.api, *_arguments(*(instance.init or ((), {})), constants))
    parameters = ", ".join(names.values())
    lines = [
        *render(named("layer = ", made)),
        *render(mapping("inputs = ", arrays)),
        "",
        "",
        f"def call({parameters}):",
        *render(named("return ", call("layer", *_arguments(instance.args, instance.kwargs, spelled))), STEP),
        "",
        "",
        _WEIGHTS,
    ]
    backend = next((ours for theirs, ours in _BACKENDS if theirs in snippet), "torch")
    head = f'import os\n\nos.environ["KERAS_BACKEND"] = "{backend}"  # before Keras is imported\nimport keras\n\n'
    return with_imports(head + "\n".join(lines))


def _is_free(instance: Instance, at: int) -> bool:
    return not instance.tensors[at].constant


def _references(encoded: Any) -> set[int]:
    if isinstance(encoded, dict):
        if list(encoded) == ["tensor"]:
            return {encoded["tensor"]}
        encoded = list(encoded.values())
    return {at for item in encoded for at in _references(item)} if isinstance(encoded, list) else set()


def _arguments(args: tuple[Any, ...], kwargs: Mapping[str, Any], names: Mapping[int, str]) -> list[Expr]:
    return [_argument(value, names) for value in args] + [
        named(f"{name}=", _argument(value, names)) for name, value in kwargs.items()
    ]


def argument_text(value: Any) -> str:
    """An encoded argument without tensors as source, e.g. ``keras.initializers.Constant(value=0.5)``."""
    return one_line(_argument(value, {}))


def _argument(value: Any, names: Mapping[int, str]) -> Expr:
    if isinstance(value, list):
        return listing(_argument(item, names) for item in value)
    if isinstance(value, str):
        return quote(value)
    if not isinstance(value, dict):
        return repr(value)
    ((key, content),) = value.items()
    if key == "tensor":
        return names[content]
    if key == "tuple":
        return tuple_display([_argument(item, names) for item in content])
    if key == "dict":
        return mapping("", [named(f"{quote(name)}: ", _argument(item, names)) for name, item in content.items()])
    if key == "object":
        return call(content["api"], *_arguments((), content["kwargs"], names))
    return f'float("{content}")' if key == "float" else quote(str(content))
