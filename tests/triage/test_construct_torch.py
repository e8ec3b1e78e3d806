"""PyTorch operator instances written as code compute what the instance computes."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from fuzz import instance as instances
from fuzz.instance_torch import build, flatten
from triage.construct_torch import instance_code

torch = pytest.importorskip("torch")

X = {"dtype": "float32", "shape": [1, 2, 6, 6], "seed": 1}
INSTANCES: dict[str, dict[str, Any]] = {
    "function": {
        "api": "torch.nn.functional.avg_pool2d",
        "args": [{"tensor": 0}, 2],
        "kwargs": {"ceil_mode": True},
        "tensors": [X],
    },
    "constant": {
        "api": "torch.nn.functional.conv2d",
        "args": [{"tensor": 1}, {"tensor": 0}],
        "kwargs": {"padding": {"tuple": [1, 1]}},
        "tensors": [{"dtype": "float32", "shape": [3, 2, 3, 3], "seed": 3, "constant": True}, X],
    },
    "module": {
        "api": "torch.nn.LSTM",
        "init": {"args": [4, 3]},
        "args": [{"dtype": "float32", "shape": [2, 1, 4], "seed": 0}],
    },
    "module with constants": {
        "api": "torch.nn.Upsample",
        "init": {"kwargs": {"scale_factor": 2, "mode": "nearest"}},
        "kwargs": {"input": {"tensor": 0}},
        "tensors": [X],
    },
    "bfloat16": {"api": "torch.add", "args": [{"dtype": "bfloat16", "shape": [9, 9], "seed": 2}, 1.5]},
    "special values": {
        "api": "torch.nan_to_num",
        "args": [{"dtype": "float64", "shape": [3], "values": ["nan", "inf", -0.0]}],
        "kwargs": {"nan": {"float": "-inf"}},
    },
    "list of tensors": {"api": "torch.cat", "args": [[{"tensor": 0}, {"tensor": 0}], -1], "tensors": [X]},
    "dtype": {"api": "torch.sum", "args": [X], "kwargs": {"dim": [0, -1], "dtype": {"dtype": "float64"}}},
    "memory format": {
        "api": "torch.Tensor.contiguous",
        "args": [X],
        "kwargs": {"memory_format": {"memory_format": "channels_last"}},
    },
    "property": {"api": "torch.Tensor.mT", "args": [X]},
    "index": {"api": "torch.Tensor.__getitem__", "args": [X, {"tuple": [{"ellipsis": True}, {"slice": [None, 4, 2]}]}]},
    "empty and scalar": {
        "api": "torch.mul",
        "args": [{"dtype": "int64", "shape": [0, 2]}, {"dtype": "int64", "shape": [], "values": [3]}],
    },
    "complex": {"api": "torch.mul", "args": [{"dtype": "complex64", "shape": [2], "seed": 1}, {"complex": [0, 1]}]},
}


@pytest.mark.parametrize("name", INSTANCES)
def test_the_code_computes_what_the_instance_computes(name: str) -> None:
    text = json.dumps({"library": "torch", **INSTANCES[name]}).encode()
    names: dict[str, Any] = {}
    exec(compile(instance_code(text), "generated", "exec"), names)
    module, inputs, _ = build(instances.parse(text))
    assert len(names["args"]) == len(inputs)
    with torch.no_grad():
        found, wanted = flatten(names["module"](*names["args"])), flatten(module(*inputs))
    assert [label for label, _ in found] == [label for label, _ in wanted]
    for (_, one), (_, two) in zip(found, wanted, strict=True):
        assert isinstance(one, np.ndarray) and isinstance(two, np.ndarray)
        assert (one.dtype, one.shape) == (two.dtype, two.shape)
        np.testing.assert_array_equal(one, two)


def test_a_function_reads_like_hand_written_code() -> None:
    text = b'{"api": "torch.add", "args": [{"dtype": "float32", "values": [1.5, 2]}, 2], "kwargs": {"alpha": 3}}'
    assert instance_code(text) == (
        "import torch\n\n\n"
        "class Module(torch.nn.Module):\n"
        "    def forward(self, x0):\n"
        "        return torch.add(x0, 2, alpha=3)\n\n\n"
        "module = Module().eval()\n"
        "args = (torch.tensor([1.5, 2.0], dtype=torch.float32),)\n"
    )


def test_what_is_no_instance_is_refused() -> None:
    with pytest.raises(instances.InstanceError):
        instance_code(b"{}")


def test_methods_and_indices_are_written_as_a_person_writes_them() -> None:
    index = {"tuple": [{"slice": [None, 4, 2]}, None, {"ellipsis": True}, {"slice": [1, None, None]}]}
    x = '{"dtype": "float32", "shape": [5, 3]}'
    wanted = {
        f'{{"api": "torch.Tensor.__getitem__", "args": [{x}, {json.dumps(index)}]}}': "return x0[:4:2, None, ..., 1:]",
        f'{{"api": "torch.Tensor.__getitem__", "args": [{x}, {{"tuple": [1]}}]}}': "return x0[1,]",
        f'{{"api": "torch.Tensor.sum", "args": [{x}, 1], "kwargs": {{"keepdim": true}}}}': "x0.sum(1, keepdim=True)",
        f'{{"api": "torch.Tensor.T", "args": [{x}]}}': "return x0.T",
        f'{{"api": "torch.Tensor.sum", "kwargs": {{"input": {x}}}}}': "return torch.Tensor.sum(input=x0)",
    }
    for text, line in wanted.items():
        assert line in instance_code(text.encode())


def test_what_works_in_place_gets_a_copy_as_the_compilers_do() -> None:
    text = b'{"api": "torch.Tensor.add_", "args": [{"dtype": "float32", "shape": [1], "values": [1.0]}, 2]}'
    assert "return x0.clone().add_(2)" in instance_code(text)
    text = b'{"api": "torch.Tensor.__add__", "args": [{"dtype": "float32", "shape": [1], "values": [1.0]}, 2]}'
    assert "return x0.__add__(2)" in instance_code(text)
