"""The inductor backend on the real torch.compile (seconds per case: kernels are built by the C++ compiler)."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fuzz import instance, instance_torch
from fuzz.backends import inductor as backend
from fuzz.wire import Job


@pytest.fixture(autouse=True, scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """One cache folder for this file's cases, removed with pytest's other temporary folders."""
    folder = tmp_path_factory.mktemp("inductor")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(folder))
        patch.setitem(backend._CACHE, os.getpid(), str(folder))
        patch.setenv("TORCHINDUCTOR_CACHE_DIR", str(folder))
        yield folder


def job(api: str, *args: Any, options: dict[str, str] | None = None, **keys: Any) -> Job:
    found = instance.parse(json.dumps({"api": api, "args": list(args), **keys}))
    return Job("instance", instance.canonical(found), {}, options or {})


X = {"dtype": "float32", "shape": [4, 5]}


def test_a_cpu_needs_a_c_plus_plus_compiler() -> None:
    assert backend.devices() == ["CPU"]


def test_without_a_compiler_the_reason_is_given() -> None:
    from torch._inductor import config

    with config.patch({"cpp.cxx": ("no-such-compiler",)}), pytest.raises(RuntimeError, match=r"install g\+\+"):
        backend.devices()


@pytest.mark.parametrize("options", [{}, {"shapes": "dynamic"}], ids=["static", "dynamic"])
def test_an_instance_gives_what_eager_torch_gives(options: dict[str, str], cache: Path) -> None:
    asked = job("torch.var_mean", X, kwargs={"dim": -1, "keepdim": True}, options=options)
    stages: list[str] = []
    found = backend.execute(asked, stages.append)
    assert stages == ["convert", "compile", "run"]
    for (name, value), (_, expected) in zip(found, instance_torch.run_eager(asked), strict=True):
        np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5, err_msg=name)  # type: ignore[arg-type]
    assert any(cache.iterdir())


def test_graphs_are_not_cached_across_cases() -> None:
    backend._isolate()
    assert not torch._inductor.config.fx_graph_cache
    assert not torch._functorch.config.enable_autograd_cache


def test_instruction_sets_are_tested_once_for_all_workers(cache: Path) -> None:
    backend._isolate()
    assert (cache / "inductor-instruction-sets-build").exists()
    backend._isolate()
    assert torch._inductor.config.cpp.vec_isa_ok


def test_what_dynamo_cannot_trace_fails_in_convert() -> None:
    asked = job("torch.nn.LSTM", {"dtype": "float32", "shape": [2, 1, 3]}, init={"args": [3, 2]})
    stages: list[str] = []
    with pytest.raises(torch._dynamo.exc.Unsupported):
        backend.execute(asked, stages.append)
    assert stages == ["convert"]


def test_a_failing_lowering_is_blamed() -> None:
    from torch._inductor.exc import LoweringException

    error: BaseException = LoweringException(ValueError("bad"), torch.ops.aten.sort.stable, (), {})
    assert backend.blame(error, job("torch.sort", X))[0] == "aten.sort.stable"
    wrapper = RuntimeError("backend='inductor' raised")
    wrapper.__cause__ = error
    assert backend.blame(wrapper, job("torch.sort", X)) == backend.blame(error, job("torch.sort", X))


def test_an_error_without_an_operator_blames_nobody() -> None:
    assert backend.blame(ValueError("no operator here"), job("torch.relu", X)) == ("", "")


def test_converters_are_keyed_on_the_operator() -> None:
    asked = ["aten.relu.default", "aten.convolution.default", "aten.sort.stable", "aten.elu.default"]
    found = backend.converters([("torch", name, 0) for name in asked])
    assert found[:2] == ["lowering aten.relu", "lowering aten.convolution"]
    assert found[2].endswith("aten.sort") and found[3].endswith("aten.elu")
    unknown = [("torch", "torch.relu", 0), ("torch", "aten.no_such_operator.default", 0), ("", "Relu", 14)]
    assert backend.converters(unknown) == ["", "", ""]


def asked_for(show: str, api: str, *args: Any, **options: str) -> list[str]:
    [(_, names)] = backend.execute(job(api, *args, options={"show": show, **options}), lambda stage: None)
    assert isinstance(names, np.ndarray)
    return [str(name) for name in names.tolist()]


def test_it_tells_which_operators_an_instance_becomes() -> None:
    """torch.nn.functional.linear is no operator of inductor's."""
    assert "aten.addmm.default" in asked_for("operators", "torch.nn.functional.linear", X, X, {**X, "shape": [4]})
    assert asked_for("operators", "torch.relu", X) == ["aten.relu.default"]


def test_a_lowering_that_is_disabled_is_replaced_by_the_library_and_gives_the_same(cache: Path) -> None:
    met = asked_for("passes", "torch.atan", X)
    assert {"lowerings atan", "fusion", "vectorisation"} <= set(met)
    asked = job("torch.atan", X, options={"disable": "lowerings atan,fusion,vectorisation"})
    [(_, found)] = backend.execute(asked, lambda stage: None)
    [(_, expected)] = instance_torch.run_eager(asked)
    np.testing.assert_array_equal(np.asarray(found), np.asarray(expected))
    code = "".join(path.read_text() for path in cache.rglob("*.py"))
    assert "torch.ops.aten.atan" in code


@pytest.mark.parametrize("stop", ["eager", "aot_eager", "aot_eager_decomp_partition"])
def test_a_case_may_stop_before_inductor(stop: str) -> None:
    stages: list[str] = []
    backend.execute(job("torch.relu", X, options={"stop": stop}), stages.append)
    assert stages == ["convert"]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_snippet_gives_the_outputs(dtype: str) -> None:
    module, args, _ = instance_torch.build(instance.parse(job("torch.neg", {**X, "dtype": dtype}).model))
    scope: dict[str, Any] = {"torch": torch, "module": module, "args": args}
    exec(backend.reproduce("instance", {}, [dtype], [dtype]), scope)
    expected = instance_torch.to_wire(-args[0])
    assert scope["actual"].tobytes() == np.asarray(expected).tobytes()
    assert scope["actual"].dtype == dtype


def test_onnx_models_have_no_snippet() -> None:
    with pytest.raises(ValueError, match="takes operator instances"):
        backend.reproduce("onnx", {})


def test_what_dynamo_says_of_a_failing_compiler_reads_as_in_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    """A script calls torch.compile(backend="inductor") and is told ``backend='inductor' raised``."""
    from torch._inductor import decomposition

    def broken(*given: Any) -> Any:
        raise NotImplementedError("no such decomposition")

    remembered = decomposition.fast_random_decomps()  # what inductor looks at after its first use
    monkeypatch.setitem(remembered, torch.ops.aten.take.default, broken)
    asked = job("torch.take", X, {"dtype": "int64", "values": [1, 2]})
    with pytest.raises(Exception, match=r"^backend='inductor' raised:\nNotImplementedError: no such decomposition"):
        backend.execute(asked, lambda stage: None)


def test_eager_pytorch_is_what_is_left_without_a_compiler() -> None:
    asked = job("torch.var_mean", X, options={"stop": "none"})
    stages: list[str] = []
    found, known = backend.execute(asked, stages.append), instance_torch.run_eager(asked)
    assert stages == ["run"] and [name for name, _ in found] == [name for name, _ in known]
    assert all(np.array_equal(one, other) for (_, one), (_, other) in zip(found, known, strict=True))  # type: ignore[arg-type]
