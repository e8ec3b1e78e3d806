"""What calls of PyTorch compute on whole numbers, exactly: beside it shows which results their type cannot hold.

One function per operation, over arrays of Python integers, which do not overflow.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from fuzz.oracles._site import Site, is_integer
from fuzz.oracles._values import as_exact

#: Beyond this exponent every base but -1, 0 and 1 leaves 64 bits.
_BITS = 64
#: More multiplications than these, and the exact result is not worked out (a second or so).
_MOST_STEPS = 4_000_000


class _Unknown(Exception):
    """An operand that is no whole number, or more work than an oracle may take."""


def partial_results(site: Site) -> Iterator[np.ndarray]:
    """The exact result of a call and of the steps on the way to it; nothing where an operand is not known."""
    operation = _OPERATIONS.get(_name(site))
    try:
        if operation is not None:
            yield from operation(site)
    except _Unknown:
        return


#: Where an element of the result hangs on more than the steps on the way to itself.
_RUNNING = frozenset({"cumprod", "cumsum", "diff", "matrix_power", "multi_dot", "nansum", "prod", "sum", "trace"})


def element_results(site: Site) -> list[np.ndarray]:
    """The exact result of a call and of the steps on the way to it, if each element has steps of its own."""
    return [] if _name(site) in _RUNNING else list(partial_results(site))


#: What adds up or multiplies along axes does so in 64 bits, unless a type is asked for.
_ACCUMULATING = frozenset({"cumprod", "cumsum", "nansum", "prod", "sum", "trace"})


def result_type(site: Site) -> np.dtype | None:
    """The integer type of the result: that of the tensors with dimensions, or of all; None for any other type."""
    arrays = [array for array in site.inputs.values() if isinstance(array, np.ndarray)]
    if not arrays or not all(is_integer(array) for array in arrays):
        return None
    if _name(site) in _ACCUMULATING:
        asked = str(site.attributes.get("dtype") or "int64").removeprefix("torch.")
        return np.dtype(asked) if re.fullmatch(r"u?int\d+", asked) else None
    deciding = [array for array in arrays if array.ndim] or arrays
    promoted = np.result_type(*(array.dtype for array in deciding))
    return promoted if promoted.kind in "iu" else None


_CASTS = {"int": "int32", "long": "int64", "short": "int16", "char": "int8", "byte": "uint8"}


def cast_target(site: Site) -> np.dtype | None:
    """The integer type that a call casts to, None where it names none."""
    method = site.op_type.rpartition(".")[2]
    target = _CASTS.get(method) or str(_given(site, 1, "dtype", "")).removeprefix("torch.")
    return np.dtype(target) if re.fullmatch(r"u?int\d+", target) else None


def _name(site: Site) -> str:
    """``torch.Tensor.__iadd__``, ``add_`` and ``torch.add`` are ``add``."""
    name = site.op_type.rpartition(".")[2]
    if name.startswith("__"):
        bare = name.strip("_")
        return bare if bare in _OPERATIONS else bare[1:]
    return name.rstrip("_")


def _operand(site: Site, position: int, *names: str) -> np.ndarray:
    """A tensor or a whole number among the arguments, as Python integers."""
    keys = (*names, str(position))
    array = site.array(*keys)
    if array is not None and is_integer(array):
        return as_exact(array)
    return _number(site, *keys)


def _optional(site: Site, position: int, name: str) -> np.ndarray | None:
    """A tensor that may be left out, or None in its place."""
    given = site.attributes.get(name, site.attributes.get(str(position)))
    return None if given is None and site.array(name, str(position)) is None else _operand(site, position, name)


def _number(site: Site, *keys: str, default: int | None = None) -> np.ndarray:
    value = next((site.attributes[key] for key in keys if key in site.attributes), default)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _Unknown
    return np.array(value, dtype=object)


def _scaled(site: Site, position: int, name: str) -> np.ndarray:
    return _number(site, name, str(position), default=1)


def _add(site: Site) -> Iterator[np.ndarray]:
    yield _operand(site, 0, "input") + _operand(site, 1, "other") * _scaled(site, 2, "alpha")


def _sub(site: Site) -> Iterator[np.ndarray]:
    yield _operand(site, 0, "input") - _operand(site, 1, "other") * _scaled(site, 2, "alpha")


def _rsub(site: Site) -> Iterator[np.ndarray]:
    yield _operand(site, 1, "other") - _operand(site, 0, "input") * _scaled(site, 2, "alpha")


def _mul(site: Site) -> Iterator[np.ndarray]:
    yield _operand(site, 0, "input") * _operand(site, 1, "other")


def _pow(site: Site) -> Iterator[np.ndarray]:
    yield _power(_operand(site, 0, "input", "self"), _operand(site, 1, "exponent"))


def _rpow(site: Site) -> Iterator[np.ndarray]:
    yield _power(_operand(site, 1, "other"), _operand(site, 0, "input"))


def _power(base: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    def one(number: int, times: int) -> int:
        if times < 0:
            return 0  # an error or a fraction in PyTorch: no overflow
        return int(number**times) if abs(number) < 2 or times <= _BITS else 2 ** (2 * _BITS)

    return np.asarray(np.frompyfunc(one, 2, 1)(base, exponent), dtype=object)


def _matmul(site: Site) -> Iterator[np.ndarray]:
    yield _product(_operand(site, 0, "input", "self"), _operand(site, 1, "other", "mat2", "vec", "vec2", "tensor"))


def _rmatmul(site: Site) -> Iterator[np.ndarray]:
    yield _product(_operand(site, 1, "other"), _operand(site, 0, "input", "self"))


def _outer(site: Site) -> Iterator[np.ndarray]:
    yield np.multiply.outer(_operand(site, 0, "input"), _operand(site, 1, "vec2"))


def _product(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    if not left.ndim or not right.ndim or left.size * right.shape[-1] > _MOST_STEPS:
        raise _Unknown
    try:
        return np.asarray(np.matmul(left, right), dtype=object)
    except ValueError as error:
        raise _Unknown from error  # shapes that do not go together: not a call that PyTorch accepted


def _multi_dot(site: Site) -> Iterator[np.ndarray]:
    """Every product on the way, from the left: another order of multiplication may overflow elsewhere."""
    listed = [key for key in site.inputs if key.partition(".")[0] in ("0", "tensors")]
    running = _operand(site, 0, *listed[:1])
    for key in listed[1:]:
        running = _product(running, _operand(site, 0, key))
        yield running


def _plus_product(site: Site) -> Iterator[np.ndarray]:
    """``beta * input + alpha * (first @ second)`` of addmm, addmv, baddbmm; addbmm sums over the batch."""
    product = _product(_operand(site, 1, "mat1", "mat", "batch1"), _operand(site, 2, "mat2", "vec", "batch2"))
    if _name(site) == "addbmm":
        product = np.asarray(product.sum(axis=0), dtype=object)
    yield from _weighed(site, product)


def _plus_outer(site: Site) -> Iterator[np.ndarray]:
    yield from _weighed(site, np.multiply.outer(_operand(site, 1, "vec1"), _operand(site, 2, "vec2")))


def _weighed(site: Site, product: np.ndarray) -> Iterator[np.ndarray]:
    scaled = product * _scaled(site, 4, "alpha")
    yield product
    yield scaled
    yield _operand(site, 0, "input") * _scaled(site, 3, "beta") + scaled


def _addcmul(site: Site) -> Iterator[np.ndarray]:
    product = _operand(site, 1, "tensor1") * _operand(site, 2, "tensor2") * _scaled(site, 3, "value")
    yield product
    yield _operand(site, 0, "input") + product


def _neg(site: Site) -> Iterator[np.ndarray]:
    yield -_operand(site, 0, "input", "self")


def _abs(site: Site) -> Iterator[np.ndarray]:
    yield np.abs(_operand(site, 0, "input", "self"))


def _square(site: Site) -> Iterator[np.ndarray]:
    yield _operand(site, 0, "input", "self") ** 2


def _diff(site: Site) -> Iterator[np.ndarray]:
    axis = int(_given(site, 2, "dim", -1))
    at_both_ends = (_optional(site, 3, "prepend"), _operand(site, 0, "input", "self"), _optional(site, 4, "append"))
    running = np.concatenate([part for part in at_both_ends if part is not None], axis=axis)
    for _ in range(int(_given(site, 1, "n", 1))):
        running = np.diff(running, axis=axis)
        yield running


def _given(site: Site, position: int, name: str, default: Any) -> Any:
    return site.attributes.get(name, site.attributes.get(str(position), default))


def _sums(site: Site) -> Iterator[np.ndarray]:
    """What has been added up after every element: along the axes, or of all elements."""
    yield np.cumsum(_lines(site), axis=-1)


def _products(site: Site) -> Iterator[np.ndarray]:
    yield np.cumprod(_lines(site), axis=-1)


def _lines(site: Site) -> np.ndarray:
    """The elements, cast to the type that is asked for, with all axes that are reduced as the last one."""
    array, kept = site.array("input", "self", "0"), result_type(site)
    if array is None or kept is None:
        raise _Unknown
    exact = as_exact(array.astype(kept))
    asked = _given(site, 1, "dim", None)
    axes = [] if asked is None else [asked] if isinstance(asked, int) else list(asked)
    if not axes or not exact.ndim:
        return exact.reshape(-1)
    moved = np.moveaxis(exact, axes, range(-len(axes), 0))
    return moved.reshape(*moved.shape[: -len(axes)], -1)


def _trace(site: Site) -> Iterator[np.ndarray]:
    yield np.cumsum(np.diagonal(_operand(site, 0, "input", "self")))


def _einsum(site: Site) -> Iterator[np.ndarray]:
    equation = site.attributes.get("equation", site.attributes.get("0"))
    operands = [as_exact(array) for array in site.inputs.values() if isinstance(array, np.ndarray)]
    if not isinstance(equation, str) or _loops(equation, operands) > _MOST_STEPS:
        raise _Unknown
    yield np.asarray(np.einsum(equation, *operands), dtype=object)


def _loops(equation: str, operands: Sequence[np.ndarray]) -> int:
    """How many products an einsum sums up; with an ellipsis, a bound of it."""
    if "." in equation:
        return math.prod(operand.size for operand in operands)
    terms = equation.replace(" ", "").partition("->")[0].split(",")
    sizes: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=True):
        sizes.update(zip(term, operand.shape, strict=True))
    return math.prod(sizes.values())


def _tensordot(site: Site) -> Iterator[np.ndarray]:
    left, right = _pair(site)
    along = _given(site, 2, "dims", 2)
    summed = list(range(-along, 0)) if isinstance(along, int) else list(along[0])
    if left.size * right.size // math.prod(left.shape[axis] or 1 for axis in summed) > _MOST_STEPS:
        raise _Unknown
    yield np.asarray(np.tensordot(left, right, along), dtype=object)


def _inner(site: Site) -> Iterator[np.ndarray]:
    left, right = _pair(site)
    if left.size * right.size > _MOST_STEPS:
        raise _Unknown
    yield np.asarray(np.inner(left, right), dtype=object)


def _kron(site: Site) -> Iterator[np.ndarray]:
    left, right = _pair(site)
    if left.size * right.size > _MOST_STEPS:
        raise _Unknown
    yield np.asarray(np.kron(left, right), dtype=object)


def _pair(site: Site) -> tuple[np.ndarray, np.ndarray]:
    return _operand(site, 0, "input", "a", "self"), _operand(site, 1, "other", "b")


def _matrix_power(site: Site) -> Iterator[np.ndarray]:
    """Every power up to the one that is asked for: squaring takes another way, and meets some of them."""
    matrix = _operand(site, 0, "input", "A", "self")
    running = matrix
    for _ in range(min(_BITS, int(_number(site, "n", "1"))) - 1):
        running = _product(running, matrix)
        yield running


def _linear(site: Site) -> Iterator[np.ndarray]:
    product = _product(_operand(site, 0, "input"), _operand(site, 1, "weight").T)
    yield product
    if site.array("bias", "2") is not None:
        yield product + _operand(site, 2, "bias")


_OPERATIONS: Mapping[str, Callable[[Site], Iterator[np.ndarray]]] = {
    "add": _add,
    "sub": _sub,
    "subtract": _sub,
    "rsub": _rsub,
    "mul": _mul,
    "multiply": _mul,
    "pow": _pow,
    "rpow": _rpow,
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot", "vdot", "dsmm"), _matmul),
    "rmatmul": _rmatmul,
    **dict.fromkeys(("outer", "ger"), _outer),
    **dict.fromkeys(("addmm", "addmv", "addbmm", "baddbmm"), _plus_product),
    "addr": _plus_outer,
    "addcmul": _addcmul,
    "multi_dot": _multi_dot,
    **dict.fromkeys(("neg", "negative"), _neg),
    **dict.fromkeys(("abs", "absolute"), _abs),
    "square": _square,
    "diff": _diff,
    **dict.fromkeys(("sum", "nansum", "cumsum"), _sums),
    **dict.fromkeys(("prod", "cumprod"), _products),
    "trace": _trace,
    "einsum": _einsum,
    "tensordot": _tensordot,
    "inner": _inner,
    "kron": _kron,
    "matrix_power": _matrix_power,
    "linear": _linear,
}
