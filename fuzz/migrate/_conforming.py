"""Calls that satisfy documented constraints, and calls that break exactly one. Pure: nothing is run here.

In the manner of DocTer (Xie et al., ISSTA 2022, section 4): conforming inputs explore what the documentation allows,
violating ones break one constraint each. Both are only proposals; what the library itself refuses is thrown away by
whoever asked for them (OPERA, section III-A).
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from fuzz.migrate._docstrings import Documented, Parameter
from fuzz.migrate._shapes import ANY, Shape, sizes

__all__ = ["Proposal", "conforming", "violating"]

#: Shapes of tensors of which nothing is said, for the first, plain calls: most operators take one of them.
_PLAIN: Sequence[tuple[int, ...]] = ((2, 3), (3, 3), (2, 4, 6, 6), (4,))
#: The same for the others; all open tensors of a call begin with the same one.
_SHAPES: Sequence[tuple[int, ...]] = (
    (2, 3),
    (4,),
    (),
    (2, 3, 4),
    (1, 3, 5, 5),
    (3, 1),
    (0, 3),
    (3, 3),
    (1,),
    (2, 2, 2, 2, 2),
)
_DTYPES = (
    "float32",
    "float32",
    "float32",
    "int64",
    "float64",
    "int32",
    "float16",
    "bool",
    "bfloat16",
    "uint8",
    "complex64",
)
_INTS = (1, 0, 2, -1, 3, -2)
_FLOATS = (0.5, 1.0, -1.5, 2.0, 0.0, 1e-5)
_LISTS: Sequence[tuple[int, ...]] = ((1,), (0, 1), (2, 2), (-1,), (1, 2, 1), (1, 1, 0, 0))
_BROADCAST = "open shape"


@dataclass(frozen=True)
class Proposal:
    """A call in the encoding of docs/instances.md, with `what` it is for: "conforming" or the broken constraint."""

    what: str
    document: dict[str, Any]


@dataclass
class _Call:
    """A call while it is put together; `known` holds the sizes of symbols."""

    rng: random.Random
    shape: tuple[int, ...]
    dtype: str
    known: MutableMapping[str, int] = field(default_factory=dict)
    tensors: list[dict[str, Any]] = field(default_factory=list)


def conforming(function: Documented, count: int, seed: int) -> Iterator[Proposal]:
    """`count` calls within the constraints: the required parameters first, then more and more optional ones."""
    for at in range(count):
        rng = _rng(function.api, seed, at)
        optional = [p for p in function.parameters if not p.required]
        chosen = (
            set() if at < len(_PLAIN) else {p.name for p in rng.sample(optional, min(len(optional), rng.randint(1, 3)))}
        )
        yield Proposal("conforming", _document(function, chosen, rng, at))


def violating(function: Documented, seed: int) -> Iterator[Proposal]:
    """For each stated constraint a call that breaks it, and no other."""
    for at, (what, broken) in enumerate(_violations(function)):
        rng = _rng(function.api, seed, 1000 + at)
        chosen = {p.name for p in broken.parameters if not p.required and p not in function.parameters}
        yield Proposal(what, _document(broken, chosen, rng, at % 2))


def _rng(api: str, seed: int, at: int) -> random.Random:
    return random.Random(zlib.crc32(f"{api} {seed} {at}".encode()))


# ---------------------------------------------------------------- one call


def _document(function: Documented, chosen: set[str], rng: random.Random, at: int) -> dict[str, Any]:
    plain = at < len(_PLAIN)
    call = _Call(rng, _PLAIN[at] if plain else rng.choice(_SHAPES), "float32" if plain else rng.choice(_DTYPES))
    args: list[Any] = []
    kwargs: dict[str, Any] = {}
    positional = True
    for parameter in function.parameters:
        if not parameter.required and parameter.name not in chosen:
            positional = False  # what follows must be named
            continue
        value = _value(parameter, call)
        if positional and not parameter.keyword:
            args.append(value)
        else:
            kwargs[parameter.name] = value
    document = {"library": "torch", "api": function.api, "args": args, "tensors": call.tensors}
    return {**document, "kwargs": kwargs} if kwargs else document


def _value(parameter: Parameter, call: _Call) -> Any:
    kind = call.rng.choice(parameter.kinds)
    if kind in ("tensor", "tensors"):
        count = call.rng.randint(1, 3) if kind == "tensors" else 1
        made = [_tensor(parameter, call) for _ in range(count)]
        return made if kind == "tensors" else made[0]
    return _SCALARS[kind](parameter, call) if kind in _SCALARS else None


def _tensor(parameter: Parameter, call: _Call) -> dict[str, int]:
    dtype = call.rng.choice(parameter.dtypes) if parameter.dtypes else call.dtype
    entry: dict[str, Any] = {"dtype": dtype, "shape": _shape(parameter, call), "seed": len(call.tensors)}
    low, high = parameter.low, parameter.high
    if dtype == "int64" and parameter.dtypes and low is None:
        low, high = 0, 2  # most integer tensors are indices
    if low is not None or high is not None:
        entry["low"] = low if low is not None else (high or 0) - 5
        entry["high"] = high if high is not None else entry["low"] + 5
    call.tensors.append(entry)
    return {"tensor": len(call.tensors) - 1}


def _shape(parameter: Parameter, call: _Call) -> list[int]:
    if parameter.shapes:
        return [max(size, 0) for size in sizes(call.rng.choice(parameter.shapes), call.known, call.rng)]
    shape = list(call.shape)
    if call.tensors and shape and call.rng.random() < 0.3:  # broadcast: one dimension less, or of size one
        at = call.rng.randrange(len(shape))
        return shape[1:] if call.rng.random() < 0.5 else [*shape[:at], 1, *shape[at + 1 :]]
    return shape


def _int(parameter: Parameter, call: _Call) -> int:
    if parameter.name in call.known:  # ``groups`` divides the channels
        return call.known[parameter.name]
    if "group" in parameter.name:
        return call.known.setdefault(parameter.name, 1)
    return int(_within(parameter, call.rng.choice(_INTS)))


def _ints(parameter: Parameter, call: _Call) -> list[int]:
    return [int(_within(parameter, value)) for value in call.rng.choice(_LISTS)]


def _float(parameter: Parameter, call: _Call) -> float:
    return _within(parameter, call.rng.choice(_FLOATS))


def _number(parameter: Parameter, call: _Call) -> float:
    return _int(parameter, call) if call.rng.random() < 0.5 else _float(parameter, call)


def _str(parameter: Parameter, call: _Call) -> str | None:
    return call.rng.choice(parameter.choices) if parameter.choices else None


def _dtype(parameter: Parameter, call: _Call) -> dict[str, str]:
    return {"dtype": call.rng.choice(_DTYPES)}


def _bool(parameter: Parameter, call: _Call) -> bool:
    default = parameter.default == "True"
    return not default if call.rng.random() < 0.8 else default


_SCALARS = {"int": _int, "ints": _ints, "float": _float, "number": _number, "str": _str, "dtype": _dtype, "bool": _bool}


def _within(parameter: Parameter, value: float) -> float:
    if parameter.low is not None:
        value = max(value, parameter.low)
    return value if parameter.high is None else min(value, parameter.high)


# ---------------------------------------------------------------- one broken constraint


def _violations(function: Documented) -> Iterator[tuple[str, Documented]]:
    for at, parameter in enumerate(function.parameters):
        for what, broken in _broken(parameter):
            parameters = (*function.parameters[:at], broken, *function.parameters[at + 1 :])
            yield f"{what} of {parameter.name}", replace(function, parameters=parameters)


def _broken(parameter: Parameter) -> Iterator[tuple[str, Parameter]]:
    """What can be broken of a parameter: its bounds, its choices, its rank, its sizes, its dtype, its kind."""
    if parameter.low is not None:
        yield "lower bound", replace(parameter, low=parameter.low - 3, high=parameter.low - 1)
    if parameter.high is not None:
        yield "upper bound", replace(parameter, low=parameter.high + 1, high=parameter.high + 3)
    if parameter.choices:
        yield "choice", replace(parameter, choices=(parameter.choices[0].upper(),))
    if parameter.shapes and parameter.shapes[0].dims:
        first = parameter.shapes[0].dims
        yield "rank", replace(parameter, shapes=(Shape((*first, "1")),))
        yield "rank below", replace(parameter, shapes=(Shape(first[1:]),))
        if ANY not in first:
            yield "size", replace(parameter, shapes=(Shape((*first[:-1], f"another {first[-1]}")),))
            yield "emptiness", replace(parameter, shapes=(Shape((*first[:-1], "0")),))
    if "tensor" in parameter.kinds:
        other = "float32" if parameter.dtypes else "int64"
        yield "dtype", replace(parameter, dtypes=(other,), low=0, high=3)
    elif parameter.kinds in (("int",), ("ints",)):
        yield "sign", replace(parameter, low=-3, high=-1)
        yield "size", replace(parameter, low=7, high=9)
    elif parameter.kinds == ("bool",):
        yield "kind", replace(parameter, kinds=("int",))
