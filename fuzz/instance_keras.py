"""Operator instances in Keras: an instance becomes a layer with weights, and its results become wire values.

The layer runs on whatever backend Keras was imported with (`use`); PyTorch's, run eagerly, is the reference.
`fuzz.instance_keras_export` turns a layer into a model. Runs inside workers, in Python 3.8 syntax; Keras is
imported by the functions that need it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from fuzz import instance as instances
from fuzz.instance import Instance, InstanceError
from fuzz.wire import CannotFeed, Job, Value

#: Where classes may be looked up, and what they must be subclasses of.
NAMESPACES = {
    "keras.layers": "keras.layers.Layer",
    "keras.initializers": "keras.initializers.Initializer",
    "keras.regularizers": "keras.regularizers.Regularizer",
    "keras.constraints": "keras.constraints.Constraint",
}
#: Layers that run a person's code, load a program or read a file named by an argument.
REFUSED = frozenset(
    ("FlaxLayer", "IntegerLookup", "JaxLayer", "Lambda", "StringLookup", "TFSMLayer", "TextVectorization")
) | frozenset(("TorchModuleWrapper",))
#: Keys by which Keras takes a dict for the description of an object, and imports what it names.
_DESCRIBE = frozenset(("class_name", "config", "module", "registered_name"))
#: Weights whose name holds the word lie in the range [low, high); all others in `_WEIGHTS`.
_DOMAINS = (("variance", (0.5, 1.5)), ("vector_u", (0.1, 1.0)))
_WEIGHTS = (-1.0, 1.0)
_DECIMALS = 3
#: What to do where a backend of Keras cannot be imported.
_MEND = {
    "jax": "pip install 'graphwarden[xla]'",
    "tensorflow": "make setup TF=1, or GRAPHWARDEN_PYTHON_TENSORFLOW=/path/to/its/python (docs/keras.md)",
}


class _Input(NamedTuple):
    """Stands for the run-time input at a position, within the arguments of a call."""

    position: int


# ---------------------------------------------------------------- Keras itself


def use(backend: str) -> None:
    """Import Keras with one of its backends (the keys of `_MEND` and others), for the whole life of this process.

    Raises RuntimeError with how to mend it when Keras is missing or has another backend already.
    """
    os.environ["KERAS_BACKEND"] = backend
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # TensorFlow tells of every processor feature otherwise
    try:
        import keras
    except ImportError as error:
        mend = _MEND.get(backend, "pip install 'graphwarden[keras]'")
        raise RuntimeError(f"Keras with its {backend} backend cannot be imported ({error}); {mend}") from error
    if keras.backend.backend() != backend:
        raise RuntimeError(f"this process has Keras with its {keras.backend.backend()} backend already")
    keras.config.disable_traceback_filtering()  # the frames tell bugs apart


@functools.cache
def resolve(api: str) -> Any:
    """The class called `api`, if it is a layer, initializer, regularizer or constraint. Raises InstanceError."""
    import keras

    namespace, _, name = api.rpartition(".")
    if namespace not in NAMESPACES:
        raise InstanceError("api {}: classes must be in one of {}".format(api, ", ".join(NAMESPACES)))
    found = getattr(getattr(keras, namespace.rpartition(".")[2]), name, None)
    if name in REFUSED:
        raise InstanceError(f"api {api} may not be used: it runs code or reads files")
    base = getattr(getattr(keras, namespace.rpartition(".")[2]), NAMESPACES[namespace].rpartition(".")[2])
    if not isinstance(found, type) or not issubclass(found, base):
        raise InstanceError(f"api {api} is no {base.__name__.lower()} of keras {keras.__version__}")
    return found


# ---------------------------------------------------------------- building the layer


class Built(NamedTuple):
    """A layer with its weights, and a call of it.

    `inputs` are the example inputs, `names` theirs (``input_0`` …): the tensors that the call refers to and
    that are not constant, in the order of ``tensors``.
    """

    layer: Any
    args: list[Any]
    kwargs: dict[str, Any]
    inputs: list[np.ndarray]
    names: list[str]

    def call(self, *inputs: Any) -> Any:
        """The layer's result for values of any form that Keras takes: arrays, symbolic tensors, tracers."""
        args = [_place(value, inputs) for value in self.args]
        return self.layer(*args, **{name: _place(value, inputs) for name, value in self.kwargs.items()})


def build(instance: Instance, seed: int = 0) -> Built:
    """The instance's layer, called once so that it has its weights, and these drawn anew (the same on every backend).

    `seed` is for what Keras itself draws. Raises InstanceError for an api or argument that cannot be used.
    """
    import keras

    kind = resolve(instance.api)
    if instance.init is None or not issubclass(kind, keras.layers.Layer):
        raise InstanceError(f"api {instance.api}: give a layer, and its constructor's arguments under 'init'")
    values = instances.tensors(instance)
    keras.utils.set_random_seed(seed)
    given = dict(enumerate(values))
    layer = kind(
        *[_decode(argument, given) for argument in instance.init[0]],
        **{name: _decode(argument, given) for name, argument in instance.init[1].items()},
    )
    wanted = sorted(_references([list(instance.args), dict(instance.kwargs)]))
    free = [at for at in wanted if not instance.tensors[at].constant]
    stands: dict[int, Any] = dict(given)
    stands.update((at, _Input(position)) for position, at in enumerate(free))
    kwargs = {name: _decode(argument, stands) for name, argument in instance.kwargs.items()}
    if getattr(layer, "_call_has_training_arg", False):
        kwargs.setdefault("training", False)
    args = [_decode(argument, stands) for argument in instance.args]
    built = Built(layer, args, kwargs, [_array(values[at]) for at in free], [f"input_{at}" for at in range(len(free))])
    built.call(*built.inputs)
    _draw_weights(layer)
    return built


def build_elsewhere(instance: Instance) -> Built:
    """`build` on another backend than the reference's. Raises CannotFeed where the layer does not run there eagerly."""
    import keras

    try:
        return build(instance)
    except Exception as error:  # whatever a layer raises on this backend
        said = (str(error).strip().splitlines() or [""])[0]
        name, kind = keras.backend.backend(), type(error).__name__
        raise CannotFeed(f"Keras's {name} backend does not run this layer: {kind}: {said[:500]}") from error


def _references(encoded: Any) -> set[int]:
    if isinstance(encoded, list):
        return {at for item in encoded for at in _references(item)}
    if isinstance(encoded, dict):
        if list(encoded) == ["tensor"] and type(encoded["tensor"]) is int:
            return {encoded["tensor"]}
        return {at for item in encoded.values() for at in _references(item)}
    return set()


def _decode(encoded: Any, tensors: Mapping[int, Any]) -> Any:
    """The Python value of an encoded argument; `tensors` says what stands for each tensor."""
    if isinstance(encoded, list):
        return [_decode(item, tensors) for item in encoded]
    if not isinstance(encoded, dict):
        return encoded
    (key, content), *_ = encoded.items()
    if key == "tensor":
        return tensors[content]
    if key == "tuple":
        return tuple(_decode(item, tensors) for item in content)
    if key == "dict":
        if _DESCRIBE.intersection(content):
            found = min(_DESCRIBE & set(content))
            raise InstanceError(f"a dict with the key {found!r} would have Keras look up code; use {{'object': …}}")
        return {name: _decode(item, tensors) for name, item in content.items()}
    if key == "object":
        kwargs = {name: _decode(item, tensors) for name, item in content.get("kwargs", {}).items()}
        return resolve(content["api"])(**kwargs)
    if key == "float":
        return float(content)
    if key == "dtype":
        return content
    raise InstanceError(f"an argument {{{key!r}: …}} means nothing to Keras")


def _place(value: Any, inputs: tuple[Any, ...]) -> Any:
    if isinstance(value, _Input):
        return inputs[value.position]
    if isinstance(value, (list, tuple)):
        return type(value)([_place(item, inputs) for item in value])
    if isinstance(value, dict):
        return {key: _place(item, inputs) for key, item in value.items()}
    return value


def _array(value: Value) -> np.ndarray:
    if not isinstance(value, np.ndarray):
        raise InstanceError(
            "Keras has no tensors of {} here; install ml_dtypes".format(getattr(value, "dtype", "this dtype"))
        )
    return value


def _draw_weights(layer: Any) -> None:
    """New values for the floating-point weights, by numpy and by their place, so that every backend has the same."""
    for at, variable in enumerate(layer.weights):
        if not str(variable.dtype).startswith(("float", "bfloat")):
            continue  # the states of random generators, tables, quantised kernels
        low, high = next((domain for word, domain in _DOMAINS if word in variable.name), _WEIGHTS)
        drawn = np.random.default_rng(at).uniform(low, high, tuple(variable.shape)).round(_DECIMALS)
        variable.assign(drawn.astype(np.float32))
    if hasattr(layer, "finalize_state"):
        layer.finalize_state()  # Normalization computes with what it has derived from its weights


# ---------------------------------------------------------------- running it


def flatten(result: Any) -> list[tuple[str, Value]]:
    """A call's result as outputs ``output_0`` …: nested structures in order, None left out."""
    import keras

    leaves = [leaf for leaf in keras.tree.flatten(result) if leaf is not None]
    return [(f"output_{at}", to_wire(leaf)) for at, leaf in enumerate(leaves)]


def to_wire(tensor: Any) -> Value:
    """A tensor of Keras's backend as an array of its own memory."""
    import keras

    if isinstance(tensor, (str, bytes)):
        raise TypeError(f"a result of type {type(tensor).__name__} is not a tensor")
    if str(getattr(tensor, "dtype", "")) == "torch.bfloat16":  # numpy has none
        from fuzz.instance_torch import to_wire as from_torch

        return from_torch(tensor)
    return np.array(keras.ops.convert_to_numpy(tensor), copy=True)


def run_eager(job: Job) -> list[tuple[str, Value]]:
    """Run the layer eagerly on Keras's PyTorch backend, the reference. Raises CannotFeed for what is random."""
    use("torch")
    import torch

    instance = instances.parse(job.model)
    change = _nudged if job.options.get("inputs") == "nudged" else _given
    with torch.no_grad():
        found = evaluate(change(build(instance)))
        again = evaluate(change(build(instance, seed=1)))
    if any(not _equal(one, other) for (_, one), (_, other) in zip(found, again, strict=True)):
        raise CannotFeed(f"{instance.api} is random here")
    return found


def evaluate(built: Built) -> list[tuple[str, Value]]:
    """What the layer gives for its example inputs. Raises CannotFeed if it draws random numbers meanwhile."""
    before = _generators(built.layer)
    found = flatten(built.call(*built.inputs))
    if _generators(built.layer) != before:
        raise CannotFeed(f"{type(built.layer).__name__} draws random numbers here")
    return found


def _given(built: Built) -> Built:
    return built


def _nudged(built: Built) -> Built:
    """With every floating-point input moved by one rounding step, up or down as drawn."""
    draw = np.random.default_rng(0)
    return built._replace(inputs=[_stepped(array, draw) for array in built.inputs])


def _stepped(array: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    if array.dtype.kind != "f":
        return array
    ends = np.where(draw.random(array.shape) < 0.5, -np.inf, np.inf).astype(array.dtype)
    return np.asarray(np.nextafter(array, ends), array.dtype)


def _generators(layer: Any) -> list[bytes]:
    """The states of the random generators within a layer."""
    import keras

    states = [variable for variable in layer.variables if "seed_generator" in variable.path]
    return [np.asarray(keras.ops.convert_to_numpy(state.value)).tobytes() for state in states]


def _equal(one: Value, other: Value) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.shape == other.shape and one.tobytes() == other.tobytes()
    return one == other
