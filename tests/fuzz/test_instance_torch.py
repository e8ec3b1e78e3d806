"""Operator instances in PyTorch: the allow-list, the module, the outputs, and the instances that are shipped."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch

from fuzz import instance_torch
from fuzz.instance import Instance, InstanceError, canonical, parse
from fuzz.instance_torch import build, flatten, resolve, run_eager, to_torch, to_wire
from fuzz.wire import Job, Value

SHIPPED = sorted((Path(__file__).parents[2] / "data" / "instances" / "torch").glob("*.json"))
X = {"dtype": "float32", "shape": [2, 3], "seed": 0}


def instance(api: str, *args: Any, **keys: Any) -> Instance:
    return parse(json.dumps({"api": api, "args": list(args), **keys}))


def eager(found: Instance) -> list[tuple[str, Value]]:
    return run_eager(Job("instance", canonical(found), {}, {}))


@pytest.mark.parametrize(
    "api", ["torch.add", "torch.nn.functional.conv2d", "torch.linalg.norm", "torch.Tensor.__getitem__", "torch.nn.LSTM"]
)
def test_operators_and_modules_are_found(api: str) -> None:
    assert callable(resolve(api))


@pytest.mark.parametrize(
    "api",
    [
        *["torch.load", "torch.save", "torch.from_file", "torch.compile", "torch.set_num_threads", "torch._C"],
        *["torch.hub.load", "os.system", "torch.os.system", "builtins.eval", "eval", "torch.nn.functional.torch"],
        *["torch.Tensor.data_ptr", "torch.Tensor.__setstate__", "torch.Tensor.__class__", "torch.Tensor.grad"],
        *["torch.nn.init.ones_", "torch.nn.Parameter", "torch.nn.functional", "torch.nn.functional.nope"],
    ],
)
def test_what_is_no_operator_is_refused(api: str) -> None:
    with pytest.raises(InstanceError, match="api " + api.replace(".", r"\.")) as caught:
        resolve(api)
    assert "\n" not in str(caught.value)


def test_only_free_tensors_become_inputs() -> None:
    found = instance("torch.nn.functional.linear", X, {**X, "seed": 1, "constant": True})
    module, inputs, names = build(found)
    assert names == ["input_0"] and [tuple(one.shape) for one in inputs] == [(2, 3)]
    assert [tuple(buffer.shape) for buffer in module.buffers()] == [(2, 3)]
    np.testing.assert_allclose(module(*inputs), inputs[0] @ next(module.buffers()).T)


def test_inputs_keep_the_order_of_the_tensors() -> None:
    listed = [{"dtype": "float32", "shape": [1]}, {"dtype": "int64", "shape": [2]}]
    module, inputs, _ = build(instance("torch.add", {"tensor": 1}, {"tensor": 0}, tensors=listed))
    assert [str(one.dtype) for one in inputs] == ["torch.float32", "torch.int64"]
    torch.testing.assert_close(module(*inputs), inputs[1] + inputs[0])


def test_a_tensor_used_twice_is_one_input() -> None:
    module, inputs, _ = build(instance("torch.mul", {"tensor": 0}, {"tensor": 0}, tensors=[X]))
    assert len(inputs) == 1
    torch.testing.assert_close(module(*inputs), inputs[0] ** 2)


def test_every_kind_of_argument_reaches_the_call() -> None:
    index = {"tuple": [{"ellipsis": True}, None, {"slice": [0, None, 2]}]}
    ((_, value),) = eager(instance("torch.Tensor.__getitem__", X, index))
    assert isinstance(value, np.ndarray) and value.shape == (2, 1, 2)
    ((_, value),) = eager(instance("torch.full_like", X, {"float": "-inf"}, kwargs={"dtype": {"dtype": "float16"}}))
    assert isinstance(value, np.ndarray) and value.dtype == np.float16 and np.isneginf(value).all()
    ((_, value),) = eager(instance("torch.mul", X, {"complex": [0, {"float": "inf"}]}))
    assert isinstance(value, np.ndarray) and value.dtype == np.complex64
    kwargs = {"memory_format": {"memory_format": "preserve_format"}, "device": {"device": "cpu"}}
    assert len(eager(instance("torch.ones_like", X, kwargs={**kwargs, "layout": {"layout": "strided"}}))) == 1


@pytest.mark.parametrize(
    ("argument", "message"),
    [({"dtype": "float33"}, "no dtype called 'float33'"), ({"memory_format": "nope"}, "no memory_format"),
     ({"layout": "float32"}, "no layout called 'float32'")],
)  # fmt: skip
def test_an_unknown_constant_is_named(argument: dict[str, str], message: str) -> None:
    with pytest.raises(InstanceError, match=message):
        build(instance("torch.relu", X, argument))


@pytest.mark.parametrize(("api", "more"), [("torch.Tensor.add", (1,)), ("torch.Tensor.mT", ())])
def test_methods_and_properties_are_asked_of_the_tensor_as_programs_do(api: str, more: tuple[int, ...]) -> None:
    """Dynamo of PyTorch 2.11 took every method called through torch.Tensor for one that it does not know."""

    class Asked:
        mT = "its property"

        def add(self, other: int) -> tuple[str, int]:
            return "its method", other

    module, _, _ = build(instance(api, {"dtype": "float32", "shape": [2, 2]}, *more))
    assert module(Asked()) == (("its method", 1) if more else "its property")


def test_a_module_class_needs_its_constructor_arguments() -> None:
    with pytest.raises(InstanceError, match="under 'init'"):
        build(instance("torch.nn.ReLU", X))
    with pytest.raises(InstanceError, match="remove 'init'"):
        build(instance("torch.relu", X, init={}))


def test_parameters_are_the_same_in_every_build() -> None:
    found = instance("torch.nn.Linear", X, init={"args": [3, 2]})
    first, second = (build(found)[0] for _ in range(2))
    for one, other in zip(first.parameters(), second.parameters(), strict=True):
        torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_a_tensor_of_the_constructor_is_a_constant() -> None:
    listed: list[dict[str, Any]] = [{"dtype": "float32", "shape": [2, 3]}, {"dtype": "int64", "values": [0, 2]}]
    weight = {"tensor": 2}
    listed.append({"dtype": "float32", "shape": [3], "low": 0.5, "high": 1.0})
    found = instance(
        "torch.nn.CrossEntropyLoss", {"tensor": 0}, {"tensor": 1}, tensors=listed, init={"kwargs": {"weight": weight}}
    )
    assert len(build(found)[1]) == 2


def test_modules_run_in_evaluation_mode() -> None:
    module, inputs, _ = build(instance("torch.nn.Dropout", X, init={"args": [0.9]}))
    torch.testing.assert_close(module(*inputs), inputs[0])


def test_dtypes_that_torch_lacks_are_refused() -> None:
    with pytest.raises(InstanceError, match="no tensors of int4"):
        build(instance("torch.relu", {"dtype": "int4", "shape": [2]}))


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e8m0fnu"])
@pytest.mark.parametrize("shape", [(), (0, 2), (2, 3)])
def test_small_dtypes_survive_the_way_to_torch_and_back(dtype: str, shape: tuple[int, ...]) -> None:
    value = np.full(shape, 0.5).astype(getattr(ml_dtypes, dtype))
    back = to_wire(to_torch(value))
    assert isinstance(back, np.ndarray) and back.dtype == value.dtype and back.shape == shape
    assert back.tobytes() == value.tobytes()


def test_wire_values_are_dense_and_resolved() -> None:
    conjugate = to_wire(torch.tensor([1 + 2j]).conj())
    assert isinstance(conjugate, np.ndarray) and conjugate[0] == 1 - 2j
    sparse = to_wire(torch.eye(2).to_sparse())
    np.testing.assert_array_equal(sparse, np.eye(2, dtype=np.float32))
    transposed = to_wire(torch.arange(6).reshape(2, 3).T)
    assert isinstance(transposed, np.ndarray) and transposed.flags.c_contiguous


def test_a_zero_dimensional_result_stays_zero_dimensional() -> None:
    ((_, value),) = eager(instance("torch.sum", X))
    assert isinstance(value, np.ndarray) and value.shape == ()


def test_results_are_flattened_in_order() -> None:
    one, two = torch.zeros(1), torch.ones(2)
    found = [(name, np.asarray(value).shape) for name, value in flatten([one, (two, None), {"k": True}])]
    assert found == [("output_0", (1,)), ("output_1", (2,)), ("output_2", ())]
    assert [name for name, _ in eager(instance("torch.max", X, kwargs={"dim": 0}))] == ["output_0", "output_1"]


def test_a_result_that_is_no_tensor_is_an_error() -> None:
    with pytest.raises(TypeError, match="type str is not a tensor"):
        eager(instance("torch.Tensor.type", X))


def test_at_least_45_instances_over_40_apis_are_shipped() -> None:
    assert len(SHIPPED) >= 45
    assert len({json.loads(path.read_text())["api"] for path in SHIPPED}) >= 40


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_every_shipped_instance_runs_in_eager_torch_and_repeats(path: Path) -> None:
    found = parse(path.read_bytes())
    first, second = eager(found), eager(found)
    assert first and [name for name, _ in first] == [name for name, _ in second]
    for (_, one), (_, other) in zip(first, second, strict=True):
        assert isinstance(one, np.ndarray) and isinstance(other, np.ndarray)
        assert one.dtype == other.dtype and one.tobytes() == other.tobytes()


@pytest.mark.parametrize("name", ["conv2d_dilated_groups", "module_lstm_bidirectional", "einsum_diagonal"])
def test_the_module_can_be_exported(name: str) -> None:
    module, inputs, _ = build(parse(next(path for path in SHIPPED if path.stem == name).read_bytes()))
    exported = torch.export.export(module, inputs)
    for one, other in zip(
        instance_torch._leaves(exported.module()(*inputs)), instance_torch._leaves(module(*inputs)), strict=True
    ):
        torch.testing.assert_close(one, other)


IN_PLACE = {
    "a method": instance("torch.Tensor.add_", X, 1),
    "an operator": instance("torch.Tensor.__imul__", X, 2),
    "an argument": instance("torch.nn.functional.relu", X, True),
    "a keyword": instance("torch.nn.functional.relu", X, kwargs={"inplace": True}),
    "an output": instance("torch.sin", X, kwargs={"out": {"dtype": "float32", "shape": [2, 3], "values": [0] * 6}}),
    "a module": instance("torch.nn.ReLU", X, init={"args": [True]}),
}


@pytest.mark.parametrize("how", IN_PLACE)
def test_a_call_in_place_leaves_the_inputs_as_they_were(how: str) -> None:
    module, inputs, _ = build(IN_PLACE[how])
    before = [value.clone() for value in inputs]
    first = module(*inputs).clone()
    for value, other in zip(inputs, before, strict=True):
        assert torch.equal(value, other)
    assert torch.equal(module(*inputs), first)


def test_a_call_that_is_not_in_place_gets_its_inputs_themselves() -> None:
    module, inputs, _ = build(instance("torch.Tensor.view", X, 6))
    assert module(*inputs).data_ptr() == inputs[0].data_ptr()
