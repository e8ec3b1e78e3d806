"""The core operators that an operator instance becomes, each as a call of PyTorch of its own.

What is known of calls (which results are open, say) is known by the names of PyTorch's functions. A call such as diff
has steps that are such functions, too: each is told with the values that eager PyTorch computes for it. Runs inside
workers, in Python 3.8 syntax; torch is imported by the functions that need it.
"""

from __future__ import annotations

from typing import Any, Dict, List, Tuple

import numpy as np

from fuzz import instance as instances
from fuzz import instance_parts, instance_torch
from fuzz.instance import Instance
from fuzz.instance_values import Tensor
from fuzz.wire import Job, dtype_name

#: Tensors of more elements are not told.
_MOST_ELEMENTS = 4096


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
    tensors: List[Tensor] = []
    try:
        args = tuple(_encoded(item, values, tensors) for item in node.args)
        kwargs = {name: _encoded(item, values, tensors) for name, item in node.kwargs.items()}
        made = Instance("torch", "", _function(str(node.target)), args, kwargs, tensors=tuple(tensors))
        return instances.canonical(made).decode()
    except (_Untold, ValueError, TypeError):
        return ""


def _function(operator: str) -> str:
    """``torch.relu`` for ``aten.relu.default``."""
    import torch

    name = operator.split(".")[1]
    for place, spelled in ((torch, "torch."), (torch.nn.functional, "torch.nn.functional.")):
        if not name.startswith("_") and hasattr(place, name):
            return spelled + name
    raise _Untold


def _encoded(item: Any, values: Dict[Any, Any], tensors: List[Tensor]) -> Any:
    """An argument as an instance has it; tensors are put behind those that there are."""
    import torch

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
