"""Targets of the installed backends, and whether they really work here (`graphwarden backends`)."""

from __future__ import annotations

import importlib.metadata
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from fuzz import registry
from fuzz.case import Case, Origin, Revision, Status, Target, options_from
from fuzz.limits import Limits
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


def interpreter(name: str, options: Mapping[str, str] | None = None) -> str:
    """The Python that a backend's workers run under: GRAPHWARDEN_PYTHON_NAME of the environment; "" means our own.

    For compilers whose packages cannot live beside ours. Where an option's value needs further packages (PACKAGES_WITH
    of the backend), the value is asked for before the backend: GRAPHWARDEN_PYTHON_TENSORFLOW for ``keras=tensorflow``.
    An environment beside ours that ends in the value's name (``.venv-tensorflow``) needs no variable.
    """
    known = registry.backend(name)
    for value in known.special(options or {}):
        beside = Path(f"{sys.prefix}-{value}", "bin", "python")
        found = os.environ.get(f"GRAPHWARDEN_PYTHON_{value.upper()}") or (str(beside) if beside.exists() else "")
        if found:
            return found
    return os.environ.get(f"GRAPHWARDEN_PYTHON_{known.name.upper()}", "")


def version(name: str, options: Mapping[str, str] | None = None) -> str:
    """The installed version of the package that a backend uses under these options, "" when it is not installed."""
    packages = registry.backend(name).packages_under(options or {})
    if not packages:
        return "0"
    return package_version(packages[0], interpreter(name, options))


@cache
def package_version(package: str, python: str = "") -> str:
    """The version of a package under a Python, "" when either is missing; `probe` tells which. "" means our own."""
    if not python:
        return _own_version(package)
    asked = [python, "-I", "-c", f"import importlib.metadata as m; print(m.version({package!r}))"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=60).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def recorded_version(package: str, python: str) -> str:
    """The version of a package in the environment of a Python, "" for none: read, without running what is there."""
    places = sorted(Path(python).absolute().parent.parent.glob("lib/python3*/site-packages"))
    found = importlib.metadata.distributions(name=package, path=[str(place) for place in places])
    return next((each.version or "" for each in found), "")


def _own_version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def target(name: str, options: Mapping[str, str] | None = None) -> Target:
    """The installed build of a backend with options. Raises registry.UnknownBackend."""
    settled = registry.backend(name).settle(dict(options or {}))
    revision = Revision(version(name, settled) or "unknown", python=interpreter(name, settled))
    return Target(name, revision, options_from(settled))


def probe(runner: Runner, name: str) -> Probe:
    """Compile and run one tiny model on a backend, in a worker like any case."""
    installed = version(name)
    shown = registry.backend(name).name
    try:
        devices = runner.devices(target(name))
        reason = trial(runner, target(name))
    except BackendUnavailable as problem:
        devices, reason = [], str(problem)
        if not installed and registry.backend(name).packages:
            reason = f"{registry.backend(name).packages[0]} is not installed ({reason})"
    return Probe(shown, installed, not reason, reason, tuple(devices))


def trial(runner: Runner, tried: Target) -> str:
    """Why the tiny model did not give the right numbers, "" when it did. Raises BackendUnavailable."""
    kind = registry.backend(tried.backend).kinds[0]
    case, expected = _tiny_model() if kind == "onnx" else _tiny_instance(kind)
    outcome = runner.run_fresh(case, tried, limits=PATIENT)
    if outcome.status is Status.SKIPPED and outcome.error:
        return outcome.error.message  # an option asks for what this machine lacks
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
