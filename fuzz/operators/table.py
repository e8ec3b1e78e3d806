"""The table of ONNX operators: ``data/operators/onnx.toml`` as types, loaded once.

It holds what the operator schemas of ONNX do not say. Arity, dtypes and attributes come from
`onnx.defs` and are not repeated. An operator or input that the table does not list takes the defaults.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from typing import Any

import onnx
from onnx.defs import OpSchema

from fuzz.data import data_path


class Role(StrEnum):
    """What an input is for. Everything but DATA is a constant in most real models."""

    DATA = "data"
    PARAMETER = "parameter"  # learned: weights, statistics, quantization scales
    CONFIGURATION = "configuration"  # shapes, axes, pads, repeats, counts ...


class TableError(ValueError):
    """The operator table does not have the form that its head describes."""


@dataclass(frozen=True)
class Input:
    """One formal input: its role and the domain of its values.

    `of` is the formal input or output that the domain refers to (``indices`` of ``data``), `axis`
    the attribute that holds the axis of `of`, or the axis itself.
    """

    name: str
    role: Role = Role.DATA
    domain: str = "any"
    of: str = ""
    axis: str | int = ""


@dataclass(frozen=True)
class Operator:
    """One operator. `forwards` names the inputs whose elements its output consists of."""

    op_type: str
    domain: str = ""
    forwards: tuple[str, ...] = ()
    inputs: Mapping[str, Input] = field(default_factory=dict)

    def input(self, name: str) -> Input:
        """The formal input `name`; defaults where the table is silent."""
        return self.inputs.get(name) or Input(name)


def _operator(key: str, entry: dict[str, Any]) -> Operator:
    domain, _, op_type = key.rpartition(":")
    unknown = set(entry) - {"forwards", "in"}
    if unknown:
        raise TableError(f"data/operators/onnx.toml: [{key}] has unknown keys {sorted(unknown)}")
    try:
        inputs = {
            name: Input(name, **{**spec, "role": Role(spec.get("role", "data"))})
            for name, spec in entry.get("in", {}).items()
        }
    except (TypeError, ValueError) as error:
        raise TableError(f"data/operators/onnx.toml: [{key}]: {error}") from error
    return Operator(op_type, domain, tuple(entry.get("forwards", ())), inputs)


@cache
def table() -> Mapping[tuple[str, str], Operator]:
    """Every listed operator by (domain, op_type). Raises TableError for a malformed table."""
    document = tomllib.loads(data_path("operators", "onnx.toml").read_text("utf-8"))
    operators = (_operator(key, entry) for key, entry in document.items())
    return {(operator.domain, operator.op_type): operator for operator in operators}


def operator(op_type: str, domain: str = "") -> Operator:
    """What the table says of an operator; the defaults when it is not listed."""
    domain = "" if domain == "ai.onnx" else domain
    return table().get((domain, op_type)) or Operator(op_type, domain)


def opsets(model: onnx.ModelProto) -> dict[str, int]:
    """The opset version of every domain that the model imports ("" for ai.onnx)."""
    return {"" if o.domain == "ai.onnx" else o.domain: o.version for o in model.opset_import}


def schema(node: onnx.NodeProto, versions: Mapping[str, int]) -> OpSchema | None:
    """The schema of the node in the model's opset, None for a model-local or custom operator."""
    domain = "" if node.domain == "ai.onnx" else node.domain
    if domain not in versions or not onnx.defs.has(node.op_type, domain):
        return None
    try:
        return onnx.defs.get_schema(node.op_type, versions[domain], domain)
    except onnx.defs.SchemaError:
        return None


def formal_inputs(node: onnx.NodeProto, versions: Mapping[str, int]) -> list[str]:
    """The formal name of each actual input, ``""`` where the schema is unknown or has no such input."""
    found = schema(node, versions)
    formals = [] if found is None else list(found.inputs)
    variadic = bool(formals) and formals[-1].option == OpSchema.FormalParameterOption.Variadic
    names = [formal.name for formal in formals]
    names += [names[-1] if variadic else ""] * max(0, len(node.input) - len(names))
    return names[: len(node.input)]
