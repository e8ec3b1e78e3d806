"""The core operators that an operator instance becomes, each as a call of PyTorch of its own.

What is known of calls (which results are open, say) is known by the names of PyTorch's functions. A call such as diff
has steps that are such functions, too: each is told with the values that eager PyTorch computes for it. Runs inside
workers, in Python 3.8 syntax; torch is imported by the functions that need it.
"""

from __future__ import annotations

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Sequence, Tuple

import numpy as np

from fuzz import instance as instances
from fuzz import instance_parts, instance_torch
from fuzz.instance import Instance, InstanceError
from fuzz.instance_values import Tensor
from fuzz.wire import Job, dtype_name

#: Tensors of more elements are not told.
_MOST_ELEMENTS = 4096
#: Where the name of a core operator is looked up.
_NAMESPACES = ("torch", "torch.nn.functional", "torch.special", "torch.linalg", "torch.Tensor")
#: Core operators that are functions by another name: which of their arguments by position go where.
_SPELLED: Dict[str, Tuple[str, Tuple[int, ...], Dict[str, int]]] = {
    "_softmax": ("torch.softmax", (0, 1), {}),
    "_log_softmax": ("torch.log_softmax", (0, 1), {}),
    "_to_copy": ("torch.Tensor.to", (0,), {}),
    "_adaptive_avg_pool2d": ("torch.nn.functional.adaptive_avg_pool2d", (0, 1), {}),
    "_adaptive_avg_pool3d": ("torch.nn.functional.adaptive_avg_pool3d", (0, 1), {}),
    "_native_batch_norm_legit_no_training": (
        "torch.nn.functional.batch_norm",
        (0, 3, 4, 1, 2),
        {"momentum": 5, "eps": 6},
    ),
    **dict.fromkeys(
        ("_native_batch_norm_legit", "_native_batch_norm_legit_functional"),
        ("torch.nn.functional.batch_norm", (0, 3, 4, 1, 2), {"training": 5, "momentum": 6, "eps": 7}),
    ),
}
#: What a slice without an end has as its end.
_ENDLESS = 2**63 - 1


class _Untold(Exception):
    """A step that is no call of a function by plain arguments."""


def steps(job: Job) -> List[str]:
    """Each of `instance_parts.parts` as the canonical text of an instance; "" for one that cannot be told so."""
    import torch

    module, arguments, _ = instance_torch.build(instances.parse(job.model))
    graph_module, nodes = instance_parts.core(module, arguments)
    recorder = torch.fx.Interpreter(graph_module, garbage_collect_values=False)
    with torch.no_grad():
        recorder.run(*arguments)
    return [_told(node, recorder.env) for node in nodes]


def _told(node: Any, values: Dict[Any, Any]) -> str:
    """The step as the first call that computes the very values that the step has in the program."""
    for api, args, kwargs in _spellings(node, values):
        tensors: List[Tensor] = []
        try:
            encoded = tuple(_encoded(item, values, tensors) for item in args)
            named = {name: _encoded(item, values, tensors) for name, item in kwargs.items()}
            made = Instance("torch", "", api, encoded, named, tensors=tuple(tensors))
            if _gives(made, values[node]):
                return instances.canonical(made).decode()
        except (_Untold, ValueError, TypeError, RuntimeError):  # a function of that name may want other arguments
            continue
    return ""


def _spellings(node: Any, values: Dict[Any, Any]) -> Iterator[Tuple[str, Sequence[Any], Mapping[str, Any]]]:
    """Functions of PyTorch that the operator may be, each with its arguments: ``torch.relu`` of ``aten.relu.default``.

    A slice is spelled as ``Tensor.__getitem__``.
    """
    name = str(node.target).split(".")[1]
    if name in _SPELLED:
        api, order, named = _SPELLED[name]
        given = dict(enumerate(node.args))
        yield (
            api,
            [given.get(at) for at in order],
            {**{word: given[at] for word, at in named.items() if at in given}, **node.kwargs},
        )
    if name == "slice":
        index = _Index(*node.args[1:])
        dim = index.dim + values[node.args[0]].dim() if index.dim < 0 else index.dim
        yield "torch.Tensor.__getitem__", [node.args[0], index._replace(dim=dim)], {}
    if not name.startswith("_"):
        for namespace in _NAMESPACES:
            yield "%s.%s" % (namespace, name), node.args, node.kwargs


def _gives(made: Instance, value: Any) -> bool:
    """Whether a call gives a step's values to the bit. Raises what PyTorch raises where it does not take the call.

    A function that returns one tensor is held against the first of several that an operator returns.
    """
    import torch

    try:
        module, arguments, _ = instance_torch.build(made)
    except InstanceError:
        return False
    with torch.no_grad():
        found = module(*arguments)
    if isinstance(found, torch.Tensor) and isinstance(value, (list, tuple)):
        value = value[0]
    mine, theirs = ([item] if isinstance(item, torch.Tensor) else item for item in (found, value))
    if not all(isinstance(item, (list, tuple)) for item in (mine, theirs)) or len(mine) != len(theirs):
        return False
    return all(_same(one, other) for one, other in zip(mine, theirs))


def _same(one: Any, other: Any) -> bool:
    import torch

    if not isinstance(one, torch.Tensor) or not isinstance(other, torch.Tensor) or one.dtype != other.dtype:
        return False
    return one.shape == other.shape and bool(((one == other) | ((one != one) & (other != other))).all())


class _Index(NamedTuple):
    """The arguments of ``aten.slice`` behind the tensor."""

    dim: int = 0
    start: Any = None
    end: Any = None
    step: Any = 1

    def encoded(self) -> Any:
        """The index as an instance has it. Raises _Untold where a bound is no plain number."""
        if not all(item is None or type(item) is int for item in (self.start, self.end, self.step)):
            raise _Untold
        end = None if self.end is not None and self.end >= _ENDLESS else self.end
        return {"tuple": [{"slice": [None, None, None]}] * self.dim + [{"slice": [self.start, end, self.step]}]}


def _encoded(item: Any, values: Dict[Any, Any], tensors: List[Tensor]) -> Any:
    """An argument as an instance has it; tensors are put behind those that there are."""
    import torch

    if isinstance(item, _Index):
        return item.encoded()
    if isinstance(item, torch.fx.Node):
        item = values[item]
    if isinstance(item, torch.Tensor):
        tensors.append(_tensor(item))
        return {"tensor": len(tensors) - 1}
    if isinstance(item, (list, tuple)):
        return [_encoded(each, values, tensors) for each in item]
    if isinstance(item, torch.dtype):
        return {"dtype": str(item)[len("torch.") :]}
    if item is None or isinstance(item, (bool, int, float, str)):
        return item
    raise _Untold


def _tensor(value: Any) -> Tensor:
    array = instance_torch.to_wire(value)
    if not isinstance(array, np.ndarray) or array.size > _MOST_ELEMENTS:
        raise _Untold
    plain = array if array.dtype.kind in "biufc" else array.astype(np.float32)
    shape: Tuple[int, ...] = tuple(array.shape)
    return Tensor(dtype_name(array), shape, values=tuple(plain.ravel().tolist()))
