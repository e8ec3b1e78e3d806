"""The operator table: one file a family, each with ``SPECIFICATIONS``. There is no list of files to edit.

`operators(opset)` is the table at one opset, for generators, coverage metrics and mutators alike.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fuzz.operators.specification import Operator, Specification, bind

#: The newest opset, and the IR version with it, that every compiler loads (ONNX Runtime 1.31 refuses opset 27).
OPSET, IR_VERSION = 26, 13


@cache
def specifications() -> tuple[Specification, ...]:
    """Every row of the table, by name. An operator has several where its form changed between opsets."""
    files = sorted(path.stem for path in Path(__file__).parent.glob("*.py") if not path.stem.startswith("_"))
    modules = [importlib.import_module(f"{__name__}.{stem}") for stem in files]
    rows = [row for module in modules for row in module.SPECIFICATIONS]
    return tuple(sorted(rows, key=lambda row: (row.op_type, row.since)))


@cache
def operators(opset: int = OPSET) -> Mapping[str, Operator]:
    """The operators of the table at an opset, by name."""
    bound = (bind(row, opset) for row in specifications())
    return {each.op_type: each for each in bound if each}
