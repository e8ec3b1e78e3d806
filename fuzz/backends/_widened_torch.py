"""An operator instance in float64, plain and under rounding noise: `_widened_onnx` for PyTorch.

The library itself computes in float64; a dispatch mode moves every tensor that one of its kernels
returns within the bound of that kernel's class (``data/court.toml``).
"""

from __future__ import annotations

import json
import time
import warnings
from typing import Any, Dict, List, Optional, Tuple

import numpy as np

from fuzz import instance as instances
from fuzz.backends import _ranges as ranges
from fuzz.backends import _rounding as rounding
from fuzz.backends import _upsampled as upsampled
from fuzz.backends._normalised import of_moments
from fuzz.backends._trials import Trial, moved, trials
from fuzz.wire import Job

_NUDGED = rounding.FUNCTIONS | {"composite"}


class _Recorded:
    """What the plain evaluation has seen, for the choice of trials."""

    subnormal = zeros = overflow = False


def evaluate(job: Job) -> Tuple[List[Any], List[Any], Dict[str, Any], Dict[str, Any]]:
    """As `_widened_onnx.evaluate`. Raises ValueError where the instance has no float64 form."""
    from fuzz.instance_torch import run_eager

    native = [value for _, value in run_eager(job)]
    narrow = _narrowest(job)
    if narrow is None:
        raise ValueError("the instance has no floating-point tensor to widen")
    prepared = _prepared(job.model)
    recorded = _Recorded()
    clean = _run(prepared, narrow, None, recorded)
    if len(clean) != len(native) or any(_shape(a) != _shape(b) for a, b in zip(clean, native)):
        raise ValueError("the instance means something else in float64")
    table, begun, done = rounding.model(), time.monotonic(), 0
    noise, finite = (list(map(rounding.still, clean)) for _ in range(2))
    for trial in trials(table["trials"], recorded):
        if done >= 2 and time.monotonic() - begun > table["seconds"]:
            break
        found = _run(prepared, narrow, trial, recorded)
        rounding.cover(noise, clean, found)
        rounding.cover(finite, clean, found, finite=True)
        done += 1
    spread, bounded = (
        [value if value is None else value * table["spread"] for value in each] for each in (noise, finite)
    )
    said = {"trials": done, "unwidened": [], "first": {}, "resized": []}
    return clean, spread, said, {"finite/%d" % at: value for at, value in enumerate(bounded) if value is not None}


def _narrowest(job: Job) -> Optional[str]:
    """The floating-point dtype of the instance that has the fewest bits."""
    found = {tensor.dtype for tensor in instances.parse(job.model).tensors} & set(rounding.NARROW)
    return max(found, key=lambda name: rounding.UNITS[name]) if found else None


def _prepared(model: bytes) -> Any:
    """The instance as a module and its inputs in float64: arguments that name a dtype, parameters, tensors."""
    from fuzz.instance_torch import build

    document = json.loads(model)
    for key in ("args", "kwargs", "init"):
        if key in document:
            document[key] = _wide_arguments(document[key])
    module, inputs, _ = build(instances.parse(json.dumps(document)))
    # Parameters are drawn in their own dtype first: drawn in float64 they would be others.
    return module.double(), [value.double() if value.is_floating_point() else value for value in inputs]


def _wide_arguments(value: Any) -> Any:
    if isinstance(value, list):
        return [_wide_arguments(item) for item in value]
    if isinstance(value, dict):
        if value.get("dtype") in rounding.NARROW and len(value) == 1:
            return {"dtype": "float64"}
        return {key: _wide_arguments(item) for key, item in value.items()}
    return value


def _run(prepared: Any, narrow: str, trial: Optional[Trial], recorded: _Recorded) -> List[Any]:
    import torch

    from fuzz.instance_torch import flatten

    module, inputs = prepared
    copies = [value.clone() for value in inputs]  # some operators work in place
    with warnings.catch_warnings(), torch.no_grad(), _mode(narrow, trial, recorded):
        warnings.simplefilter("ignore")
        found = module(*copies)
    return [rounding.stored(value, narrow) for _, value in flatten(found)]


def _mode(narrow: str, trial: Optional[Trial], recorded: _Recorded) -> Any:
    """The dispatch mode that adds noise; made here because torch is imported lazily."""
    import torch
    from torch.utils._python_dispatch import TorchDispatchMode

    class Noise(TorchDispatchMode):  # type: ignore[misc]
        """Moves what kernels return."""

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            kwargs = kwargs or {}
            if trial is not None and _name(func) in upsampled.NAMES:
                return func(*upsampled.disturbed(args, trial), **kwargs)
            kind = rounding.class_of(_name(func), "torch")
            if kind == "exact" or func._schema.is_mutable:  # a copy must not take the place of what is written to
                return func(*args, **kwargs)
            given = args
            if trial is not None and _rounds_quotient(func, kwargs):
                given = _near_quotient(args, narrow, trial)
            elif trial is not None and kind in _NUDGED:
                given = _nudged(args, narrow, trial)
            found = func(*given, **kwargs)
            single = isinstance(found, torch.Tensor)
            parts = [found] if single else list(found)
            if given is not args and any(map(_has_nan, parts)):
                plain = func(*args, **kwargs)
                parts = list(map(_inside_the_domain, parts, [plain] if single else list(plain)))
            parts = [
                _noisy(kind, func, args, kwargs, part, at, narrow, trial, recorded) for at, part in enumerate(parts)
            ]
            return parts[0] if single else tuple(parts)

    return Noise()


def _name(func: Any) -> str:
    """``prod`` of ``aten::prod.dim_int``."""
    return str(func._schema.name.rpartition(":")[2].rstrip("_"))


def _has_nan(value: Any) -> bool:
    return hasattr(value, "is_floating_point") and value.is_floating_point() and bool(value.isnan().any())


def _inside_the_domain(moved: Any, plain: Any) -> Any:
    """What a kernel gives for moved inputs, and for its own where only the move made a NaN: acos(1)."""
    return moved.where(~moved.isnan() | plain.isnan(), plain) if _has_nan(moved) else moved


def _rounds_quotient(func: Any, kwargs: Any) -> bool:
    """Whether a division jumps: its quotient is rounded to a whole number."""
    return _name(func) == "floor_divide" or (_name(func) == "div" and bool(kwargs.get("rounding_mode")))


def _near_quotient(args: Any, narrow: str, trial: Trial) -> Any:
    """The operands of a division with the dividend moved by two units, but where the quotient loses nothing."""
    import torch

    if not isinstance(args[0], torch.Tensor) or args[0].dtype != torch.float64:
        return args
    divisor = args[1].detach().numpy() if isinstance(args[1], torch.Tensor) else args[1]
    dividend, divisor = np.broadcast_arrays(args[0].detach().numpy(), np.asarray(divisor, np.float64))
    with np.errstate(all="ignore"):
        exact = rounding.exact_quotients([dividend, divisor], dividend / divisor, narrow)
    moved_by_two = trial.nudged(trial.nudged(dividend, narrow), narrow)
    return (torch.from_numpy(np.where(exact, dividend, moved_by_two)), *args[1:])


def _nudged(args: Any, narrow: str, trial: Trial) -> Any:
    import torch

    def nudged(value: Any) -> Any:
        if isinstance(value, torch.Tensor) and value.dtype == torch.float64:
            return torch.from_numpy(trial.nudged(value.detach().numpy(), narrow))
        return value

    return tuple(nudged(value) for value in args)


def _noisy(
    kind: str,
    func: Any,
    args: Any,
    kwargs: Any,
    value: Any,
    at: int,
    narrow: str,
    trial: Optional[Trial],
    seen: _Recorded,
) -> Any:
    import torch

    if not isinstance(value, torch.Tensor) or value.dtype != torch.float64:
        return value
    output = value.detach().numpy()
    tensors = [place for place, given in enumerate(args) if isinstance(given, torch.Tensor)]

    def evaluate(inputs: Any) -> Any:
        other = list(args)
        for place, given in zip(tensors, inputs):
            other[place] = torch.from_numpy(np.ascontiguousarray(given))
        found = func(*other, **kwargs)
        return (found if isinstance(found, torch.Tensor) else found[at]).numpy()

    inputs = [args[place].detach().numpy() for place in tensors]
    try:
        axis = args[1] if kind == "softmax" and len(args) > 1 and isinstance(args[1], int) else None
        bound = rounding.bound(kind, inputs, output, narrow, evaluate, axis)
        bound = bound + ranges.leaving(_name(func), inputs, output, narrow, evaluate)
        arrays = [given.detach().numpy() if isinstance(given, torch.Tensor) else given for given in args]
        bound = bound + (of_moments(_name(func), arrays, output, narrow) if at == 0 else 0.0)
    except Exception:  # noqa: BLE001  foreign code: absolute values may be outside its domain
        bound = rounding.bound("composite", inputs, output, narrow, evaluate)
    seen.subnormal |= rounding.has_subnormals(output, narrow)
    seen.zeros |= bool(np.any(output == 0))
    seen.overflow |= bool(np.any(np.abs(output) > rounding.LARGEST[narrow]))
    if trial is None:
        return torch.from_numpy(np.ascontiguousarray(rounding.in_range(output, narrow)).reshape(output.shape))
    shifted = moved(trial, output, np.broadcast_to(bound, output.shape), narrow)
    return torch.from_numpy(np.ascontiguousarray(shifted).reshape(output.shape))


def _shape(value: Any) -> Any:
    return value.shape if isinstance(value, np.ndarray) else None
