r"""Shapes as documentation writes them, such as :math:`(N, C_{in}, *)`, and sizes that satisfy them. Pure."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass

__all__ = ["ANY", "Shape", "alternatives", "sizes"]

#: Stands for any number of dimensions.
ANY = "*"
#: Most dimensions that `ANY` becomes.
MOST_FREE = 2
#: Symbols of batches and channels that read better small.
_SIZES = (1, 2, 3, 4, 5)
_TUPLE = re.compile(r"\(([^()]*(?:\([^()]*\)[^()]*)*)\)")
_MARKUP = re.compile(r"\\(?:text|mathrm|operatorname)\{([^{}]*)\}")
_FRACTION = re.compile(r"\\frac\{([^{}]*)\}\{([^{}]*)\}")
_DOTS = re.compile(r"\.\.\.|\\ldots|\\dots|…")


@dataclass(frozen=True)
class Shape:
    """A documented shape: one entry a dimension, a symbol, a whole number, ``a/b``, ``a+1`` or `ANY`."""

    dims: tuple[str, ...]


def alternatives(text: str) -> tuple[Shape, ...]:
    """The shapes that a text with LaTeX tuples offers, each once; what is no shape is left out."""
    plain = _plain(text)
    found = [_shape(inside) for inside in _TUPLE.findall(plain)]
    return tuple(dict.fromkeys(shape for shape in found if shape is not None))


def _plain(text: str) -> str:
    while _MARKUP.search(text):
        text = _MARKUP.sub(r"\1", text)
    while _FRACTION.search(text):
        text = _FRACTION.sub(r"\1/\2", text)
    text = text.replace("\\_", "_").replace("\\times", ",").replace("\\cdot", ",").replace("\\,", "").replace("\\ ", "")
    return re.sub(r"_?\{([^{}]*)\}", r"_\1", text).replace("\\", "")


def _shape(inside: str) -> Shape | None:
    dims: list[str] = []
    for part in inside.split(","):
        name = re.sub(r"\s+", "", part)
        if not name:
            continue
        if _DOTS.fullmatch(name) or name == ANY:
            # "(N, d_1, ..., d_K)": the last of a series is part of it
            dims.append(ANY)
        elif re.fullmatch(r"\w+|\w+/\w+|\w+[+-]\d+|\d+\w+", name):
            dims.append(name)
        else:
            return None
    while ANY in dims[:-1] and re.fullmatch(r"\w+_[Kn]", dims[-1]):
        dims.pop()
    return Shape(tuple(dims)) if dims or not inside.strip() else None


def sizes(shape: Shape, known: MutableMapping[str, int], rng: random.Random) -> list[int]:
    """Numbers for the dimensions; symbols without one get one, and `known` keeps it for the other parameters."""
    result: list[int] = []
    for dim in shape.dims:
        if dim == ANY:
            free = known.setdefault("the number of free dimensions", rng.randint(0, MOST_FREE))
            result += [known.setdefault(f"free {at}", rng.choice(_SIZES)) for at in range(free)]
        else:
            result.append(_size(dim, known, rng))
    return result


def _size(dim: str, known: MutableMapping[str, int], rng: random.Random) -> int:
    if dim.isdigit():
        return int(dim)
    sign = re.fullmatch(r"(\w+)([/+-])(\w+)", dim)
    if sign is None:
        factor = re.fullmatch(r"(\d+)([A-Za-z]\w*)", dim)
        if factor:
            return int(factor[1]) * _size(factor[2], known, rng)
        return known.setdefault(dim, rng.choice(_SIZES))
    left, right = _size(sign[1], known, rng), _size(sign[3], known, rng)
    return {"/": left // max(right, 1), "+": left + right, "-": left - right}[sign[2]]


def rank(shapes: Sequence[Shape], known: Mapping[str, int]) -> int | None:
    """The number of dimensions of the first shape that fixes it, None where all are open."""
    return next((len(shape.dims) for shape in shapes if ANY not in shape.dims), None)
