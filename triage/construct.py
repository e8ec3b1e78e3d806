"""Cases as readable Python source: the model, its inputs, and operator instances.

The code uses `onnx.helper` the way a person would, and for bodies and many nodes ONNX's textual syntax, in which each
node is one line. What `onnx.helper` cannot say (quantisation annotations, training information, external data, damaged
tensors …) and what would be too long to read is packed as base64 instead, so the code always defines the same model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby, islice

import onnx

from fuzz.operators.graph import walk
from fuzz.wire import Value
from triage.construct_graph import Builder
from triage.construct_meaning import normalise, parsed
from triage.construct_text import text_lines
from triage.construct_values import Inexpressible
from triage.layout import Expr, call, listing, mapping, named, one_line, quote, render, with_imports
from triage.literals import bytes_expr, value_expr

__all__ = ["case_code", "construction_code", "normalise", "parsed", "values_code"]

#: A model whose code is longer than this is packed.
MOST_LINES = 120
#: A script has some ten lines besides the model and is to have thirty: what takes more of them in calls of
#: `onnx.helper`, as bodies, many nodes and many inputs do, is written in ONNX's textual syntax, if that is shorter.
MOST_STATEMENT_LINES = 14
#: A model of one node is written so only where it takes more lines than this with its inputs.
MOST_SUBJECT_LINES = 22
#: So many inputs of one value are written as one entry.
_ALIKE = 3
#: How many nodes the comment above a packed model names.
_SKETCH = 20


def construction_code(model: onnx.ModelProto) -> str:
    """Source that defines `model`, equal to the given one after `normalise`."""
    return with_imports("\n".join(_construction(model, {})))


def case_code(model: bytes, inputs: Mapping[str, Value], *, short: bool = False) -> list[str]:
    """Pieces of source that define `inputs` and `model`; `short`: in as few lines as can be."""
    return [values_code(inputs), with_imports("\n".join(_construction(parsed(model), inputs, short)))]


def _construction(model: onnx.ModelProto, inputs: Mapping[str, Value], short: bool = False) -> list[str]:
    model = normalise(model)
    try:
        lines = Builder(inputs).model(model)
    except Inexpressible:
        return _packed_model(model)
    if short or len(lines) > _most_lines(model, inputs):
        lines = min(lines, _as_text(model) or lines, key=len)
    packed = _packed_model(model) if len(lines) > MOST_LINES else lines
    return packed if len(packed) < len(lines) else lines


def _most_lines(model: onnx.ModelProto, inputs: Mapping[str, Value]) -> int:
    """How many lines of calls of `onnx.helper` are not too many: a single node is best read as a call."""
    single = sum(1 for _ in islice(walk(model.graph), 2)) < 2
    return MOST_SUBJECT_LINES - len(values_code(inputs).splitlines()) if single else MOST_STATEMENT_LINES


def _as_text(model: onnx.ModelProto) -> list[str]:
    """The model in ONNX's textual syntax; empty where that has no words for it."""
    try:
        return text_lines(model)
    except Inexpressible:
        return []


def values_code(inputs: Mapping[str, Value]) -> str:
    """Source that defines `inputs`, a dict of the given values, bit for bit."""
    written = ((name, value_expr(value)) for name, value in inputs.items())
    runs = [list(run) for _, run in groupby(written, key=lambda entry: one_line(entry[1]))]
    entries = [entry for run in runs for entry in _entries(run)]
    return with_imports("\n".join(render(mapping("inputs = ", entries))))


def _entries(run: Sequence[tuple[str, Expr]]) -> list[Expr]:
    """The entries of some names in a row that have one value: in one, where they are many."""
    names, value = [quote(name) for name, _ in run], run[0][1]
    if len(run) < _ALIKE:
        return [named(f"{name}: ", value) for name in names]
    return [call("**dict.fromkeys", listing(names), value)]


def _packed_model(model: onnx.ModelProto) -> list[str]:
    """The serialised model in base64, below a sketch of its first nodes."""
    nodes = model.graph.node
    sketch = [f"{', '.join(node.output)} = {node.op_type}({', '.join(node.input)})" for node in nodes[:_SKETCH]]
    if len(nodes) > _SKETCH:
        sketch.append(f"... and {len(nodes) - _SKETCH} more nodes")
    data = bytes_expr(model.SerializeToString(deterministic=True))
    return [
        f"# The model in base64: {len(nodes)} nodes",
        *(f"#   {_comment(line)}" for line in sketch),
        *render(named("model = ", call("onnx.load_model_from_string", data))),
    ]


def _comment(line: str) -> str:
    """One line that cannot leave its comment."""
    plain = "".join(character if character.isprintable() else "?" for character in line)
    return plain.replace("<!--", "<!..")[:90]
