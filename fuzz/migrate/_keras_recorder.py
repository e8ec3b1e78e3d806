"""Records calls of Keras layers as operator instances (docs/instances.md). Runs in child processes of a migration."""

from __future__ import annotations

import base64
import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

#: A larger tensor is not recorded: its values would say no more than a small one's.
MOST_ELEMENTS = 1 << 12
#: How the constructor's arguments are kept on a layer.
_KEPT = "_graphwarden_init"
_OBJECTS = ("initializers", "regularizers", "constraints")


class Unencodable(Exception):
    """A call that cannot be written as an instance; says why in few words."""


class Recorder:
    """Watches the constructors and calls of Keras's layers from `install` on, and hands over instances.

    `keep` is given the document of each call that can be one, `omit` the reason of each that cannot.
    """

    def __init__(self, keep: Callable[[dict[str, Any]], None], omit: Callable[[str], None]) -> None:
        self._keep, self._omit = keep, omit
        self._seen: set[Any] = set()
        self.active = False

    def install(self) -> None:
        """Put the recorder between Keras's layers and their callers; no source is edited."""
        import keras
        from keras.src.ops.operation import Operation

        made, called = Operation.__new__, keras.layers.Layer.__call__
        recorder = self

        def new(cls: Any, *args: Any, **kwargs: Any) -> Any:
            instance = made(cls, *args, **kwargs)
            instance.__dict__[_KEPT] = (args, kwargs)
            return instance

        def call(layer: Any, *args: Any, **kwargs: Any) -> Any:
            if recorder.active:
                recorder._record(layer, args, kwargs)
            return called(layer, *args, **kwargs)

        Operation.__new__ = new
        keras.layers.Layer.__call__ = call

    def begin(self) -> None:
        """A test begins: layers of earlier ones are gone, and their ids may be used again."""
        self._seen.clear()

    def _record(self, layer: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        import keras

        api = _api(layer)
        leaves = keras.tree.flatten((args, kwargs))
        if not api or any(isinstance(leaf, keras.KerasTensor) for leaf in leaves):
            return  # a person's own layer, or a call that only builds a graph: no operator of Keras runs
        key = (id(layer), *(_kind(leaf) for leaf in leaves))
        if key in self._seen:
            return  # the next step of a training loop
        self._seen.add(key)
        self.active = False
        try:
            self._keep(_document(layer, api, args, kwargs))
        except Unencodable as problem:
            self._omit(str(problem))
        finally:
            self.active = True


def _api(layer: Any) -> str:
    import keras

    name = type(layer).__name__
    is_public = getattr(keras.layers, name, None) is type(layer) and not isinstance(layer, keras.Model)
    return f"keras.layers.{name}" if is_public else ""


def _kind(leaf: Any) -> Any:
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return (tuple(leaf.shape), str(leaf.dtype))
    return leaf if isinstance(leaf, (bool, int, float, str, type(None))) else type(leaf)


def _document(layer: Any, api: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    import keras

    if getattr(layer, "quantization_mode", None) or getattr(layer, "lora_enabled", False):
        raise Unencodable("a layer that was changed after it was made (quantised, LoRA)")
    tensors: list[dict[str, Any]] = []
    init = _constructor(layer, tensors)
    return {
        "library": "keras",
        "version": keras.__version__,
        "api": api,
        "init": {"kwargs": init},
        "args": [_encoded(value, tensors) for value in args],
        "kwargs": {name: _encoded(value, tensors) for name, value in kwargs.items() if value is not None},
        "tensors": tensors,
    }


def _constructor(layer: Any, tensors: list[dict[str, Any]]) -> dict[str, Any]:
    """The constructor's arguments by name, and what the process's settings stood in for."""
    args, kwargs = layer.__dict__.get(_KEPT, ((), {}))
    try:
        bound = inspect.signature(type(layer).__init__).bind(layer, *args, **kwargs)
    except TypeError as error:
        raise Unencodable("a constructor whose arguments cannot be named") from error
    found = dict(bound.arguments)
    for name, parameter in bound.signature.parameters.items():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD:
            found.update(found.pop(name, {}))
        elif parameter.kind is inspect.Parameter.VAR_POSITIONAL and found.pop(name, ()):
            raise Unencodable("a constructor with unnamed arguments")
    found = {
        name: value for name, value in found.items() if name not in ("self", "name", "dtype") and value is not None
    }
    if getattr(layer, "data_format", "channels_last") != "channels_last":
        found["data_format"] = layer.data_format
    init = {name: _encoded(value, tensors) for name, value in found.items()}
    policy = layer.dtype_policy.name
    return init if policy == "float32" else {**init, "dtype": policy}


def _encoded(value: Any, tensors: list[dict[str, Any]]) -> Any:
    """The value in the encoding of docs/instances.md; its tensors join `tensors`."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, (float, np.floating)):
        return float(value) if math.isfinite(value) else {"float": str(float(value))}
    if isinstance(value, list):
        return [_encoded(item, tensors) for item in value]
    if isinstance(value, tuple):
        return {"tuple": [_encoded(item, tensors) for item in value]}
    if isinstance(value, dict) and "class_name" in value:
        return _object(_described(value), tensors)
    if isinstance(value, dict):
        if not all(isinstance(key, str) for key in value):
            raise Unencodable("a dict whose keys are no strings")
        return {"dict": {key: _encoded(item, tensors) for key, item in value.items()}}
    return _object(value, tensors)


def _described(value: dict[str, Any]) -> Any:
    """The object that a description in Keras's own form stands for."""
    import keras

    try:
        return keras.saving.deserialize_keras_object(value)
    except (TypeError, ValueError) as error:
        raise Unencodable("a description of an object that Keras does not know") from error


def _object(value: Any, tensors: list[dict[str, Any]]) -> Any:
    import keras

    if isinstance(value, keras.layers.Layer):
        api = _api(value)
        if not api:
            raise Unencodable("a layer of the test's own")
        return {"object": {"api": api, "kwargs": _constructor(value, tensors)}}
    for space in _OBJECTS:
        if getattr(getattr(keras, space), type(value).__name__, None) is type(value):
            kwargs = {name: _encoded(item, tensors) for name, item in value.get_config().items()}
            return {"object": {"api": f"keras.{space}.{type(value).__name__}", "kwargs": kwargs}}
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        tensors.append(_tensor(value))
        return {"tensor": len(tensors) - 1}
    name = str(getattr(value, "__name__", ""))
    if callable(value) and getattr(keras.activations, name, None) is value:
        return name
    raise Unencodable(f"an argument of type {type(value).__name__}")


def _tensor(value: Any) -> dict[str, Any]:
    import keras

    if getattr(value, "is_sparse", False):
        raise Unencodable("a sparse tensor")
    try:
        array = np.asarray(keras.ops.convert_to_numpy(value))
    except Exception as error:
        raise Unencodable("a tensor without values") from error
    if array.size > MOST_ELEMENTS:
        raise Unencodable(f"a tensor of more than {MOST_ELEMENTS} elements")
    shape = list(array.shape)
    if array.dtype.name in ("bfloat16", "float8_e4m3fn", "float8_e5m2"):
        return {"dtype": array.dtype.name, "shape": shape, "values": [_number(item) for item in array.ravel().tolist()]}
    if array.dtype.kind not in "biuf":
        raise Unencodable(f"a tensor of {array.dtype.name}")
    data = base64.b64encode(array.astype(array.dtype.newbyteorder("<")).tobytes()).decode("ascii")
    return {"dtype": array.dtype.name, "shape": shape, "data": {array.dtype.name: data}}


def _number(item: float) -> Any:
    return item if math.isfinite(item) else {"float": str(item)}
