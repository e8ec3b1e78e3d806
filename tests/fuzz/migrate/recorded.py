"""Somebody's program, for the recorder: every kind of call, one function each. The argument names the function."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading

import torch
from torch import nn


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


if __name__ == "__main__":
    torch.set_num_threads(1)
    for name in sys.argv[1:-1]:
        globals()[name]()
    sys.exit(int(sys.argv[-1]))
