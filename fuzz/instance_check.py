"""Whether PyTorch itself accepts a recorded instance, and how steady its result is (issue 4, validity).

Runs in child processes of a migration; torch is imported by the functions that need it.
"""

from __future__ import annotations

import json
import math
import warnings
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from fuzz import instance as instances
from fuzz import instance_recipes, instance_torch
from fuzz.instance import Instance, InstanceError, Tensor
from fuzz.instance_store import ILL_CONDITIONED, NONDETERMINISTIC, content_id
from fuzz.wire import Raw, Value

#: By how much a result may differ from that in float64: a multiple of the dtype's resolution, relative to the
#: largest element; beyond it a comparison in this dtype says more about the operator than about a compiler.
_WORST = 1000.0
_RESOLUTION = {"float32": 2.0**-24, "float16": 2.0**-11, "bfloat16": 2.0**-8, "complex64": 2.0**-24}
_WIDE = {"float32": "float64", "float16": "float64", "bfloat16": "float64", "complex64": "complex128"}

_Results = list[tuple[str, Value]]


class Checked(NamedTuple):
    """An instance that PyTorch accepts: canonical, perhaps with seeds instead of recorded values; and its flags."""

    instance: Instance
    flags: tuple[str, ...]


class Rejected(Exception):
    """PyTorch does not accept the instance; says why in few words."""


class Checker:
    """Checks instances one after another; `known` contents are not checked again."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def check(self, document: dict[str, Any]) -> Checked | None:
        """The instance as it is worth keeping; None when an equal one was checked before. Raises Rejected."""
        try:
            exact = _without_garbage(replace(instances.parse(json.dumps(document)), version=""))
        except InstanceError as error:
            raise Rejected(str(error)) from error
        seeded = instance_recipes.drawn(exact)
        if self._is_known(exact) or (seeded is not None and self._is_known(seeded)):
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            recorded = _run(exact)
            if seeded is not None:
                found = _try(seeded)
                if found is not None and _alike(recorded, found):
                    exact, recorded = seeded, found
            flags = tuple(_flags(exact, recorded))
        self._known.add(_id(exact))
        return Checked(exact, flags)

    def _is_known(self, instance: Instance) -> bool:
        return _id(instance) in self._known


def _without_garbage(instance: Instance) -> Instance:
    """The instance with zeros in the tensor that ``out=`` names: what stood there is overwritten."""
    out = instance.kwargs.get("out")
    if not isinstance(out, dict) or list(out) != ["tensor"]:
        return instance
    at, tensors = out["tensor"], list(instance.tensors)
    rest = {name: value for name, value in instance.kwargs.items() if name != "out"}
    if at in instance_torch.references([list(instance.args), rest]):
        return instance
    tensors[at] = Tensor(tensors[at].dtype, tensors[at].shape, values=(0,) * math.prod(tensors[at].shape))
    return replace(instance, tensors=tuple(tensors))


def _id(instance: Instance) -> str:
    return content_id(instances.canonical(instance))


def results(document: dict[str, Any]) -> _Results:
    """What eager PyTorch gives for a call. Raises Rejected."""
    try:
        return _run(instances.parse(json.dumps(document)))
    except InstanceError as error:
        raise Rejected(str(error)) from error


# ---------------------------------------------------------------- running


def _run(instance: Instance) -> _Results:
    """The result of eager PyTorch. Raises Rejected with the class of its exception, since its words vary."""
    try:
        module, inputs, _ = instance_torch.build(instance)
        found = instance_torch.evaluate(module, inputs)
    except InstanceError as error:
        raise Rejected(str(error)) from error
    except Exception as error:
        raise Rejected(f"PyTorch raises {type(error).__name__} when the call is made alone") from error
    if not found:
        raise Rejected("the result holds no tensor")
    return found


def _try(instance: Instance) -> _Results | None:
    try:
        return _run(instance)
    except Rejected:
        return None


def _flags(instance: Instance, first: _Results) -> set[str]:
    second = _try(instance)
    if second is None or not equal(first, second):
        return {NONDETERMINISTIC}
    return {ILL_CONDITIONED} if _ill_conditioned(instance, first) else set()


def _ill_conditioned(instance: Instance, results: _Results) -> bool:
    """Whether PyTorch in float64 gives something else. Where it gives nothing there, nothing is known."""
    narrow = {_dtype(value) for _, value in results} & set(_RESOLUTION)
    if not narrow:
        return False
    wide = _try_wide(instance)
    if wide is None or len(wide) != len(results):
        return False
    unit = max(_RESOLUTION[name] for name in narrow)
    return any(_far(_numbers(a), _numbers(b), unit) for (_, a), (_, b) in zip(results, wide, strict=False))


def _try_wide(instance: Instance) -> _Results | None:
    document = json.loads(instances.canonical(instance))
    for key in ("args", "kwargs", "init"):
        if key in document:
            document[key] = _widened(document[key])
    try:
        module, inputs, _ = instance_torch.build(instances.parse(json.dumps(document)))
        wide = [instance_torch.widened(value) for value in inputs]
        return instance_torch.evaluate(module.double(), tuple(wide))
    except Exception:  # noqa: BLE001 not every operator exists in float64
        return None


def _widened(value: Any) -> Any:
    if isinstance(value, list):
        return [_widened(item) for item in value]
    if isinstance(value, dict):
        if len(value) == 1 and isinstance(value.get("dtype"), str) and value["dtype"] in _WIDE:
            return {"dtype": _WIDE[value["dtype"]]}
        return {key: _widened(item) for key, item in value.items()}
    return value


# ---------------------------------------------------------------- comparing


def _dtype(value: Value) -> str:
    return value.dtype if isinstance(value, Raw) else value.dtype.name  # type: ignore[union-attr]


def _numbers(value: Value) -> Any:
    """The elements as float64 or complex128; of dtypes that numpy lacks only where ml_dtypes is installed."""
    if isinstance(value, Raw):
        return np.frombuffer(value.data, np.uint8).astype(np.float64)
    array = np.asarray(value)
    return array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)


def equal(one: _Results, other: _Results) -> bool:
    """Bit by bit, but for the kinds of NaN."""
    return _kinds(one) == _kinds(other) and all(
        np.array_equal(_numbers(a), _numbers(b), equal_nan=True) for (_, a), (_, b) in zip(one, other, strict=False)
    )


def _kinds(results: _Results) -> list[tuple[str, tuple[int, ...]]]:
    return [(_dtype(value), tuple(value.shape)) for _, value in results]  # type: ignore[union-attr]


def _alike(recorded: _Results, drawn: _Results) -> bool:
    """Same dtypes and shapes, and finite and not all equal where the recorded result was."""
    return _kinds(recorded) == _kinds(drawn) and all(
        _shows(_numbers(a)) == _shows(_numbers(b)) for (_, a), (_, b) in zip(recorded, drawn, strict=False)
    )


def _shows(array: Any) -> tuple[bool, bool]:
    return bool(np.isfinite(array).all()), bool(array.size > 1 and (array == array.ravel()[0]).all())


def _far(narrow: Any, wide: Any, unit: float) -> bool:
    if narrow.shape != wide.shape:
        return False
    finite = np.isfinite(narrow) & np.isfinite(wide)
    if not finite.any():
        return False
    scale = max(1.0, float(np.abs(wide[finite]).max()))
    return bool(np.abs(narrow[finite] - wide[finite]).max() > _WORST * unit * scale)
