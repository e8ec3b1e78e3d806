"""Targets of the installed backends, and whether they really work here (`graphwarden backends`)."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from fuzz import registry
from fuzz.case import Case, Origin, Revision, Status, Target, options_from
from fuzz.lane import Limits
from fuzz.oracles import differential
from fuzz.runner import Runner
from fuzz.zygote import BackendUnavailable

#: inductor compiles headers before its first kernel: 14 s on an idle machine, minutes on a busy one.
PATIENT = Limits(seconds=300.0)


#: What the tiny case consists of, in lower case.
TINY_OPERATOR = "relu"


@dataclass(frozen=True)
class Probe:
    """One line of the table of backends."""

    name: str
    version: str
    available: bool
    reason: str
    devices: tuple[str, ...]


def interpreter(name: str) -> str:
    """The Python that a backend's workers run under: GRAPHWARDEN_PYTHON_NAME of the environment; "" means our own.

    For compilers whose packages cannot live beside ours.
    """
    return os.environ.get(f"GRAPHWARDEN_PYTHON_{registry.backend(name).name.upper()}", "")


def version(name: str) -> str:
    """The installed version of a backend's package, "" when it is not installed."""
    packages = registry.backend(name).packages
    if not packages:
        return "0"
    if interpreter(name):
        return _version_under(interpreter(name), packages[0])
    try:
        return importlib.metadata.version(packages[0])
    except importlib.metadata.PackageNotFoundError:
        return ""


@cache
def _version_under(python: str, package: str) -> str:
    """The version of a package under another Python, "" when either is missing; `probe` tells which."""
    asked = [python, "-I", "-c", f"import importlib.metadata as m; print(m.version({package!r}))"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def target(name: str, options: Mapping[str, str] | None = None) -> Target:
    """The installed build of a backend with options. Raises registry.UnknownBackend."""
    known = registry.backend(name)
    revision = Revision(version(name) or "unknown", python=interpreter(name))
    return Target(name, revision, options_from(known.settle(dict(options or {}))))


def probe(runner: Runner, name: str) -> Probe:
    """Compile and run one tiny model on a backend, in a worker like any case."""
    installed = version(name)
    shown = registry.backend(name).name
    try:
        devices = runner.devices(target(name))
        reason = _trial(runner, name)
    except BackendUnavailable as problem:
        devices, reason = [], str(problem)
        if not installed and registry.backend(name).packages:
            reason = f"{registry.backend(name).packages[0]} is not installed ({reason})"
    return Probe(shown, installed, not reason, reason, tuple(devices))


def _trial(runner: Runner, name: str) -> str:
    """Why the tiny model did not give the right numbers, "" when it did."""
    kind = registry.backend(name).kinds[0]
    case, expected = _tiny_model() if kind == "onnx" else _tiny_instance(kind)
    outcome = runner.run_fresh(case, target(name), limits=PATIENT)
    if outcome.status is not Status.OK:
        said = f"{outcome.error.type} {outcome.error.message} {outcome.error.signal}".strip() if outcome.error else ""
        return f"a tiny model fails in stage {outcome.stage}: {outcome.status} {said}"[:500]
    difference = differential.compare([value for _, value in outcome.outputs], [expected])
    return f"a tiny model computes garbage: {difference.detail}" if difference else ""


def tiny_case(kind: str) -> Case:
    """The case that every working backend of this `kind` computes rightly: a single Relu."""
    return (_tiny_model() if kind == "onnx" else _tiny_instance(kind))[0]


def _tiny_model() -> tuple[Case, np.ndarray]:
    from onnx import TensorProto, helper

    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2, 3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [2, 3])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "tiny", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = np.array([[-1.5, 0.0, 2.0], [3.25, -4.0, 5.5]], dtype=np.float32)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("probe")), np.maximum(data, 0)


def _tiny_instance(kind: str) -> tuple[Case, np.ndarray]:
    called = b'"library":"torch","api":"torch.relu"'
    if kind == "keras":
        called = b'"library":"keras","api":"keras.layers.ReLU","init":{}'
    tensor = b'{"dtype":"float32","shape":[4],"values":[-1.5,0.0,2.0,3.25]}'
    text = b'{%s,"args":[{"tensor":0}],"kwargs":{},"tensors":[%s]}' % (called, tensor)
    return Case(kind, text, {}, Origin("probe")), np.array([0.0, 0.0, 2.0, 3.25], dtype=np.float32)
