"""Somebody's program, for the recorder: every kind of call, one function each. The argument names the function."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
from typing import Any

import torch
from torch import nn
from torch._subclasses import FakeTensorMode
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import FlopCounterMode


class Net(nn.Module):
    """A module of the program's own, of modules of PyTorch."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(3, 4, 3, padding=1)
        self.rest = nn.Sequential(nn.BatchNorm2d(4), nn.ReLU(inplace=True))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return (self.rest(self.first(x)) + 1).flatten(1).softmax(-1)


def modules() -> None:
    assert Net()(torch.randn(2, 3, 8, 8)).shape == (2, 256)


def operators() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    torch.relu(x), x.T, x[1:, None], x @ x.mT, torch.nn.functional.pad(x, (1, 0), value=float("inf"))
    torch.sum(x, dim=(0, 1), dtype=torch.float64), x.to(torch.bfloat16), torch.cat([x, x])


def in_place() -> None:
    x = torch.zeros(3)
    x.add_(2)
    torch.sin(torch.zeros(3), out=x)


def failing() -> None:
    with contextlib.suppress(RuntimeError):
        torch.matmul(torch.ones(2, 3), torch.ones(2, 3))


def threads() -> None:
    thread = threading.Thread(target=lambda: torch.cumsum(torch.ones(4), 0))
    thread.start()
    thread.join()


def children() -> None:
    program = "import os, torch; torch.tril(torch.ones(2, 2)); os._exit(0)"
    subprocess.run([sys.executable, "-c", program], check=True)
    child = os.fork()
    if not child:
        torch.triu(torch.ones(2, 2))
        os._exit(0)
    os.waitpid(child, 0)


def gradients() -> None:
    x = torch.ones(4, requires_grad=True)
    torch.sigmoid(x).sum().backward()
    assert x.grad is not None


def unusual() -> None:
    torch.sum(torch.ones(3, 3).to_sparse())
    torch.vmap(torch.exp)(torch.ones(3, 2))
    torch.nn.functional.dropout(torch.ones(40), 0.5)
    torch.nn.functional.triplet_margin_with_distance_loss(
        torch.ones(2, 3), torch.ones(2, 3), torch.zeros(2, 3), distance_function=lambda a, b: (a - b).sum(-1)
    )
    torch.ones(2**14 + 1).neg()
    torch.rand(2**14 + 1).exp()


def compiled() -> None:
    function = torch.compile(lambda x: torch.tanh(x) * 2, backend="eager")
    assert function(torch.zeros(3)).tolist() == [0, 0, 0]


def traced() -> None:
    x = torch.ones(2, 3)
    graph = make_fx(lambda x: torch.sin(x) + 1)(x).graph
    assert len([node for node in graph.nodes if node.op == "call_function"]) == 2
    assert "aten::detach" not in str(torch.jit.trace(nn.Sequential(nn.Linear(3, 2), nn.Tanh()), x).inlined_graph)
    with FlopCounterMode(display=False), Seen() as seen:
        torch.cos(x), nn.ReLU()(x)
    assert seen.names == ["aten.cos.default", "aten.relu.default"]
    with FakeTensorMode() as mode:
        assert nn.Linear(3, 2)(mode.from_tensor(x)).shape == (2, 2)


class Seen(TorchDispatchMode):
    """What reaches PyTorch's kernels."""

    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.names.append(str(func))
        return func(*args, **(kwargs or {}))


class Equal(nn.Module):
    """A module that has no hash."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.expm1(x)


def unhashable() -> None:
    Equal()(torch.ones(2))


def changed() -> None:
    x = torch.tensor([[-1.0, 2.0]])
    slope = nn.LeakyReLU()
    slope.negative_slope = 0.5
    slope(x)
    hooked = nn.Softplus()
    hooked.register_forward_pre_hook(lambda module, given: (torch.erf(given[0]),))
    hooked(x)
    nn.Dropout(0.5).eval()(x)


def other_types() -> None:
    nn.Linear(2, 3).double()(torch.ones(1, 2, dtype=torch.float64))
    nn.GRU(2, 3).to(torch.bfloat16)(torch.ones(1, 2, dtype=torch.bfloat16))
    torch.set_default_dtype(torch.float64)
    nn.Conv1d(1, 1, 2)(torch.ones(1, 1, 3))
    nn.CrossEntropyLoss(weight=torch.ones(3).float())(torch.ones(1, 3).float(), torch.tensor([1]))
    torch.set_default_dtype(torch.float32)
    nn.NLLLoss(weight=torch.ones(3)).double()(torch.ones(1, 3, dtype=torch.float64), torch.tensor([1]))
    torch.ones(3).to(torch.float8_e4m3fn).to(torch.float16)


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:-1]:
        globals()[name]()
    sys.exit(int(sys.argv[-1]))
