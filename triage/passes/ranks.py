"""Fewer axes: one dropped from every tensor of the highest rank, those of size 1 first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from onnx import ValueInfoProto

from fuzz.case import Case
from fuzz.wire import Value
from triage.submodel import load, open_shapes, tensors, with_tensors

KINDS = ("onnx",)


def candidates(case: Case, values: Mapping[str, Value]) -> Iterator[Case]:
    """One candidate for every axis of the highest rank, down to rank 1; of a longer axis the first element stays."""
    arrays = tensors(case, load(case))
    rank = max((array.ndim for array in arrays.values()), default=0)
    highest = {name: array for name, array in arrays.items() if array.ndim == rank}
    single = [axis for axis in range(rank) if all(array.shape[axis] == 1 for array in highest.values())]
    longer = [axis for axis in range(rank) if axis not in single and all(a.shape[axis] for a in highest.values())]
    for axis in [*single, *longer] if rank > 1 else ():
        model = load(case)
        open_shapes(model)
        for info in model.graph.output:
            _drop_axis(info, rank)
        yield with_tensors(case, model, {name: array.take(0, axis) for name, array in highest.items()})


def _drop_axis(info: ValueInfoProto, rank: int) -> None:
    dims = info.type.tensor_type.shape.dim
    if len(dims) == rank:
        del dims[-1]
