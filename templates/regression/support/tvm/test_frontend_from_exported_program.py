"""A stand-in for the file of this name in TVM's tests/python/relax: its helper compares values with eager PyTorch."""

import numpy as np
import torch
import tvm
from torch.export import export
from tvm import relax
from tvm.relax.frontend.torch import from_exported_program


def verify_model_numerically(torch_model, example_args, rtol=1e-7, atol=1e-7):
    mod = from_exported_program(export(torch_model, args=example_args))
    vm = relax.VirtualMachine(tvm.compile(mod, target="llvm"), tvm.cpu())
    found = vm["main"](*[tvm.runtime.tensor(one.numpy()) for one in example_args])
    expected = torch.utils._pytree.tree_leaves(torch_model(*example_args))
    found = [found] if hasattr(found, "numpy") else list(found)
    for one, wanted in zip(found, expected, strict=True):
        values = one.numpy()
        assert values.shape == tuple(wanted.shape)
        np.testing.assert_allclose(values, wanted.detach().numpy(), rtol=rtol, atol=atol)
