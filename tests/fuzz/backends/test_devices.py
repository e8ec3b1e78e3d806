"""The option `device`: what the machine has computes the same, what it lacks is told and is never a failure."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue, sequences
from fuzz.backends import onnxruntime, openvino
from fuzz.case import Case, Origin, Status
from fuzz.oracles import differential
from fuzz.runner import Runner
from fuzz.wire import CannotFeed, Job

#: By backend, a device that only other machines have.
ELSEWHERE = {"openvino": "NPU", "onnxruntime": "MIGraphX", "tvm": "metal", "inductor": "mps"}


def product() -> Case:
    info = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["a", "b"], ["c"]), helper.make_node("Relu", ["c"], ["y"])],
        "g",
        [info("a", TensorProto.FLOAT, [2, 3]), info("b", TensorProto.FLOAT, [3, 2])],
        [info("y", TensorProto.FLOAT, [2, 2])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    given = np.arange(-3, 3, dtype=np.float32)
    return Case("onnx", model.SerializeToString(), {"a": given.reshape(2, 3), "b": given.reshape(3, 2)}, Origin("test"))


@pytest.mark.parametrize("device", ["HETERO:CPU", "AUTO:CPU", "BATCH:CPU"])
def test_openvino_computes_the_same_on_a_device_that_is_put_together_of_others(runner: Runner, device: str) -> None:
    usual, other = (runner.run(product(), catalogue.target("openvino", {"device": name})) for name in ("CPU", device))
    assert (usual.status, other.status) == (Status.OK, Status.OK), other.error
    assert differential.compare([other.outputs[0][1]], [usual.outputs[0][1]]) is None


@pytest.mark.parametrize("backend", ELSEWHERE)
def test_a_device_that_the_machine_lacks_is_no_failure_of_the_compiler(runner: Runner, backend: str) -> None:
    target = catalogue.target(backend, {"device": ELSEWHERE[backend]})
    case = product() if backend != "inductor" else catalogue.tiny_case("instance")
    outcome = runner.run(case, target)
    assert outcome.status is Status.SKIPPED and outcome.error is not None
    assert f"{ELSEWHERE[backend]}" in outcome.error.message and "CPU" in outcome.error.message


@pytest.mark.filterwarnings("ignore:Specified provider")
def test_a_provider_that_quietly_gives_way_to_the_cpu_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    case, told = product(), ["CUDAExecutionProvider", "CPUExecutionProvider"]
    monkeypatch.setattr("onnxruntime.get_available_providers", lambda: told)  # as a build for a GPU on another machine
    with pytest.raises(CannotFeed, match="no working CUDAExecutionProvider here"):
        onnxruntime.execute(Job("onnx", case.model, case.inputs, {"device": "CUDA"}), lambda stage: None)


def test_scripts_run_on_the_device_of_the_failure() -> None:
    script = openvino.reproduce("onnx", {"device": "GPU", "threads": "2"})
    assert 'compile_model(ov_model, "GPU", {"INFERENCE_PRECISION_HINT": "f32"})' in script
    wanted = 'providers=["CUDAExecutionProvider", "CPUExecutionProvider"]'
    assert wanted in onnxruntime.reproduce("onnx", {"device": "CUDA"})


@pytest.mark.parametrize("backend", ["openvino", "onnxruntime", "tvm"])
def test_oracle_3_goes_to_every_device_that_is_found_but_the_usual_one(backend: str) -> None:
    here = sequences.devices(backend)
    assert sequences.devices(backend, ["CPU"]) == here
    assert sequences.devices(backend, ["CPU", "GPU.0"]) == [*here, {"device": "GPU.0"}]
