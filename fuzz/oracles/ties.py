"""PyTorch's functions that tell the place of a value they pick: of equal values any place is as good.

Whether the words say which of them is taken does not matter here; only a stable sort means nothing but an order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fuzz.oracles import undefined
from fuzz.oracles._site import Site, is_float
from fuzz.wire import Value


@dataclass(frozen=True)
class _Pick:
    """Where a function takes ``dim``, its default (None: all elements in a row), and which result tells places.

    With `each`, the places of a line differ from each other.
    """

    dim: int
    default: int | None
    places: int
    each: bool = False


_PICKS: Mapping[str, _Pick] = {
    "argmax": _Pick(1, None, 0),
    "argmin": _Pick(1, None, 0),
    "argsort": _Pick(1, -1, 0, each=True),
    "kthvalue": _Pick(2, -1, 1),
    "max": _Pick(1, None, 1),
    "median": _Pick(1, None, 1),
    "min": _Pick(1, None, 1),
    "mode": _Pick(1, -1, 1),
    "nanmedian": _Pick(1, None, 1),
    "sort": _Pick(1, -1, 1, each=True),
    "topk": _Pick(2, -1, 1, each=True),
}


def in_order(model: bytes, actual: Sequence[Value], expected: Sequence[Value]) -> list[Value] | None:
    """The results of a call with the reference's places wherever an equal value stands at the compiler's.

    None where the call tells no place of a value, or NaN is among the values. `model` is an operator instance.
    """
    site = undefined.call(model)
    pick, x = _pick(site), site.array("0", "input", "self")
    if pick is None or x is None or len(actual) != len(expected) or len(expected) <= pick.places:
        return None
    if is_float(x) and np.isnan(x.astype(np.float64)).any():
        return None
    got, want = actual[pick.places], expected[pick.places]
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or got.shape != want.shape:
        return None
    found = _in_any_order(site, actual, expected) if _is_unsorted(site) else list(actual)
    got = found[pick.places]
    assert isinstance(got, np.ndarray)
    found[pick.places] = _placed(pick, site, x, got, want)
    return found


def _is_unsorted(site: Site) -> bool:
    """Whether what a topk picks may stand in any order: "sorted: whether to return the elements in sorted order"."""
    return site.op_type.endswith(".topk") and site.attributes.get("sorted", site.attributes.get("4", True)) is False


def _in_any_order(site: Site, actual: Sequence[Value], expected: Sequence[Value]) -> list[Value]:
    """The results of such a topk, the values and then the places, with the values in the order of the reference's."""
    got, want = actual[0], expected[0]
    if not isinstance(got, np.ndarray) or not isinstance(want, np.ndarray) or got.shape != want.shape or not got.ndim:
        return list(actual)
    axis = int(site.attributes.get("dim", site.attributes.get("2", -1)))
    mine = np.argsort(got, axis=axis, kind="stable")
    ranks = np.argsort(np.argsort(want, axis=axis, kind="stable"), axis=axis, kind="stable")
    order = np.take_along_axis(mine, ranks, axis)
    return [
        np.take_along_axis(each, order, axis) if isinstance(each, np.ndarray) and each.shape == got.shape else each
        for each in actual
    ]


def _pick(site: Site) -> _Pick | None:
    if site.library != "torch" or site.attributes.get("stable") is True:
        return None
    return _PICKS.get(site.op_type.rpartition(".")[2])


def _placed(pick: _Pick, site: Site, x: np.ndarray, got: np.ndarray, want: np.ndarray) -> np.ndarray:
    """The places, those of equal values as the reference has them; unchanged where they are no places at all."""
    dim = site.attributes.get("dim", site.attributes.get(str(pick.dim), pick.default))
    lines, axis = (x.reshape(-1), 0) if dim is None else (x, int(dim))
    if got.dtype.kind not in "iu" or not lines.ndim or not -lines.ndim <= axis < lines.ndim:
        return got
    if not np.all((got >= 0) & (got < lines.shape[axis])):
        return got
    ones = tuple(np.expand_dims(each, axis) if each.ndim < lines.ndim else each for each in (got, want))
    if dim is None:
        ones = (got.reshape(-1), want.reshape(-1))
    values, wanted = (np.take_along_axis(lines, each.astype(np.int64), axis) for each in ones)
    equal = np.asarray(values == wanted)
    if pick.each:
        ordered = np.sort(ones[0], axis=axis)
        equal &= ~np.any(np.diff(ordered, axis=axis) == 0, axis=axis, keepdims=True)
    return np.where(equal.reshape(got.shape), want, got).astype(got.dtype)
