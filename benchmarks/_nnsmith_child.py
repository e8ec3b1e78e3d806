"""Runs in NNSmith's environment: generates one model for every line on stdin, in the manner of NNSmith's own loop.

`python _nnsmith_child.py FOLDER OPERATORS SEED`. Each answer on stdout is one line of JSON: ``index`` of the files
``INDEX.onnx`` and ``INDEX.npz`` in FOLDER, and the CPU seconds of the parts; or ``error``, where no model came out.
"""

from __future__ import annotations

import functools
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch


def prepared() -> tuple[Any, Any]:
    """NNSmith's class of ONNX models and the operators that ONNX Runtime takes, as its own loop chooses them."""
    from nnsmith.abstract.extension import activate_ext
    from nnsmith.backends.factory import BackendFactory
    from nnsmith.materialize import Model
    from nnsmith.narrow_spec import auto_opset

    # It was written for the exporter by TorchScript, the only one then, and for a name that onnx no longer has.
    torch.onnx.export = functools.partial(torch.onnx.export, dynamo=False)
    onnx._serialize = onnx.ModelProto.SerializeToString
    kind = Model.init("onnx", backend_target="cpu")
    kind.add_seed_setter()
    factory = BackendFactory.init("onnxruntime", target="cpu", optmax=True)
    operators = auto_opset(kind, factory, vulops=False)
    activate_ext(opset=operators, factory=factory)
    return kind, operators


def generate(kind: Any, operators: Any, count: int, seed: int) -> tuple[bytes, dict[str, np.ndarray], dict[str, float]]:
    """A model of `count` operators at most, its inputs, PyTorch's outputs, and CPU seconds: the graph's, and all."""
    from nnsmith.graph_gen import model_gen

    started = time.process_time()
    made = model_gen(
        opset=operators,
        method="symbolic-cinit",
        max_nodes=count,
        seed=seed,
        timeout_ms=10_000,
        max_elem_per_tensor=65536,
        rank_choices=None,
        dtype_choices=None,
    )
    graph = made.make_concrete()
    grown = time.process_time() - started
    model = kind.from_gir(graph)
    model.refine_weights()
    data = model.native_model.SerializeToString()
    whole = time.process_time() - started
    oracle = model.make_oracle()
    values = {f"in:{name}": value for name, value in oracle.input.items()}
    values |= {f"out:{name}": value for name, value in oracle.output.items()}
    return data, values, {"graph": grown, "whole": whole}


def main(folder: Path, count: int, seed: int) -> None:
    """Answer until stdin ends."""
    from nnsmith.util import set_seed

    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # whatever else prints
    torch.set_num_threads(1)
    kind, operators = prepared()
    print(json.dumps({"operators": len(operators)}), file=answers)
    for index, _ in enumerate(sys.stdin):
        set_seed(seed + index)
        try:
            data, values, seconds = generate(kind, operators, count, seed + index)
        except Exception as error:  # noqa: BLE001 its own loop counts these and goes on, too
            print(json.dumps({"error": f"{type(error).__name__}: {error}"[:200]}), file=answers)
            continue
        (folder / f"{index}.onnx").write_bytes(data)
        np.savez(folder / f"{index}.npz", **values)
        nodes = len(onnx.load_from_string(data).graph.node)
        print(json.dumps({"index": index, "nodes": nodes, **seconds}), file=answers)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
