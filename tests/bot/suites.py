"""What tests of suites share: wheels and commits of the tiny compiler, and cases that it can run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from tests.bot.support import saved
from tests.builds import tinyc
from tests.triage.revisions import support

UNARY, BINARY = ("Relu", "Neg"), ("Add", "Sub", "Mul")


def cases(folder: Path, operators: Sequence[str] = (*UNARY, *BINARY), copies: int = 1) -> Path:
    """A folder of one model an operator with its inputs; Abs is one that the tiny compiler refuses.

    With `copies` there are so many of each, with other inputs each.
    """
    folder.mkdir()
    for operator in operators:
        names = ["x", "z"] if operator in BINARY else ["x"]
        infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in [*names, "y"]]
        graph = helper.make_graph([helper.make_node(operator, names, ["y"])], "g", infos[:-1], infos[-1:])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
        for copy in range(copies):
            name = operator if copies == 1 else f"{operator}-{copy}"
            saved(folder / f"{name}.onnx", model)
            values = {each: np.array([-2.0, 0.5, 3.0], np.float32) * (at + 2 + copy) for at, each in enumerate(names)}
            np.savez(folder / f"{name}.npz", **values)  # type: ignore[arg-type]
    return folder


@dataclass(frozen=True)
class Builds:
    """The configuration of the wheels below, and the folder of their environments."""

    compiler: str
    root: Path


#: version -> planted faults. 1.2 and 1.4 cannot be tested.
FAULTS: Mapping[str, tuple[str, ...]] = {
    "1.0": ("sub swaps",),
    "1.1": ("neg dies",),
    "1.2": ("garbage",),
    "1.3": (),
    "1.4": ("no import",),
}


def builds(folder: Path) -> Builds:
    """A wheel for each of `FAULTS`; environments are made when they are asked for."""
    for version, planted in FAULTS.items():
        tinyc.wheel(folder, version, *planted)
    return Builds(str(support.wheels(folder).source), folder / "root")
