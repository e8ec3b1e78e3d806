"""The lists of operators are what the installed libraries have, and a name that is not in them is told."""

from __future__ import annotations

import subprocess
import sys
from importlib.util import find_spec

import pytest

from fuzz import instance_names
from fuzz.instance import InstanceError

#: Prints the library's version and every name that is an operator.
_TORCH = """
import warnings; warnings.simplefilter("ignore")
import torch
from fuzz import instance_torch as own
print(torch.__version__)
for namespace in (*own.NAMESPACES, "torch.nn"):
    holder = torch
    for part in namespace.split(".")[1:]:
        holder = getattr(holder, part)
    for name in dir(holder):
        try:
            own.resolve(f"{namespace}.{name}")
        except own.InstanceError:
            continue
        print(f"{namespace}.{name}")
"""
_KERAS = """
from fuzz import instance_keras as own
own.use("torch")
import keras
print(keras.__version__)
for namespace in own.NAMESPACES:
    for name in dir(getattr(keras, namespace.rpartition(".")[2])):
        try:
            own.resolve(f"{namespace}.{name}")
        except (own.InstanceError, AttributeError):
            continue
        print(f"{namespace}.{name}")
"""


@pytest.mark.parametrize(("library", "program"), [("torch", _TORCH), ("keras", _KERAS)])
def test_a_list_holds_what_the_installed_library_has(library: str, program: str) -> None:
    if find_spec(library) is None:
        pytest.skip(f"{library} is not installed")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    version, *names = done.stdout.split()
    listed = instance_names.listed(library)
    with pytest.raises(InstanceError, match=f"is no operator of {library} {version.partition('+')[0]};"):
        instance_names.check(library, f"{library}.nothing.of.the.kind")
    assert set(names) == listed


def test_a_slip_of_the_pen_is_mended() -> None:
    instance_names.check("torch", "torch.nn.functional.conv2d")
    with pytest.raises(InstanceError, match=r"api torch\.nn\.functional\.conv2 is no .* did you mean torch\.nn\.func"):
        instance_names.check("torch", "torch.nn.functional.conv2")


def test_operators_of_onnx_are_not_judged() -> None:
    instance_names.check("onnx", "QAttention")
