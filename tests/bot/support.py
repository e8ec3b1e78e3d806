"""Running the command line in a process of its own, and small models to give it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto, helper

ROOT = Path(__file__).parents[2]
PLANTED = ROOT / "tests" / "triage" / "planted.py"
FAULTY = ROOT / "tests" / "faulty" / "faulty.py"


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout; what stderr says where there is none."""
        assert self.out, f"nothing on stdout, exit code {self.code}: {self.err}"
        return json.loads(self.out)


Run = Callable[..., Done]


def start(folder: Path, *arguments: object, **options: Any) -> subprocess.Popen[str]:
    """`graphwarden` in a process of its own, in `folder`."""
    command = [sys.executable, "-m", "bot.cli", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        text=True,
        **pipes,
        # A shell's background job ignores interrupts, and so would its children.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def ended(process: subprocess.Popen[str]) -> Done:
    out, err = process.communicate(timeout=900)
    return Done(process.returncode, out, err)


def relu(
    doc: str = "", shape: Sequence[int | str | None] | None = (3,), kind: int = TensorProto.FLOAT
) -> onnx.ModelProto:
    """Relu of one input `x`; `doc` is where the planted backends look for the fault they are to show."""
    infos = [helper.make_tensor_value_info(name, kind, shape) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", infos[:1], infos[1:], doc_string=doc)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def one_node(op_type: str, dtypes: Sequence[int], result: onnx.TypeProto, **attributes: Any) -> onnx.ModelProto:
    """One operator on inputs of shape [3]."""
    names = [f"x{at}" for at in range(len(dtypes))]
    inputs = [helper.make_tensor_value_info(name, dtype, [3]) for name, dtype in zip(names, dtypes, strict=True)]
    graph = helper.make_graph(
        [helper.make_node(op_type, names, ["y"], **attributes)], "g", inputs, [helper.make_value_info("y", result)]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def tensor(dtype: int, *shape: int) -> onnx.TypeProto:
    return helper.make_tensor_type_proto(dtype, shape)


def saved(path: Path, model: onnx.ModelProto) -> Path:
    path.write_bytes(model.SerializeToString())
    return path
