"""Models with bodies in ONNX's own textual syntax: a line a node, where calls of `onnx.helper` take several each."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator

import onnx
from onnx import numpy_helper, parser, printer

from triage.construct_meaning import normalise
from triage.construct_values import Inexpressible, tensors
from triage.layout import STEP, WIDTH, call, render
from triage.literals import SMALL
from triage.submodel import inner_tensors

#: Types of attributes that the parser sees by their values.
_SEEN = re.compile(r"(?<=\w): (?:int|float|string|ints|floats|strings|tensor)(?= = )")
#: The head of a model or a function, which the printer spreads over lines.
_HEAD = re.compile(r"^<\n\s*([^\n]*)\n(?:\s*([^\n]*)\n)?>", re.MULTILINE)
#: Line breaks before constants and braces, and what the printer leaves beside them.
_BROKEN = re.compile(r"\) *\n? *(?=<)|(?<=[)>]) *\n *(?={)|(?<== ) ")
#: A step of the printer's, in columns.
_STEP = 3
#: What cannot stand between triple quotes as it is, or would hide in a report.
_UNQUOTABLE = ('"""', "\\", "<!--")
#: A space that is not behind a comma, and what stands for it while lines are broken.
_INNER_SPACE, _GLUE = re.compile(r"(?<!,) "), "\0"


def text_lines(model: onnx.ModelProto) -> list[str]:
    """The statements that define `model`, which must be as `normalise` leaves it.

    Raises Inexpressible where the syntax has no words for it, or where tensors in bodies are too large to be read.
    """
    bare, constants = onnx.ModelProto(), model.graph.initializer
    bare.CopyFrom(model)
    del bare.graph.initializer[:]  # raw bytes, most of them, of which the syntax makes numbers
    if any(numpy_helper.to_array(tensor).size > SMALL for tensor in inner_tensors(bare.graph)):
        raise Inexpressible("TensorProto")
    text = next((one for one in _spellings(bare) if _says(one, bare)), "")
    if not text or any(part in text for part in _UNQUOTABLE):
        raise Inexpressible("ModelProto")
    fed = render(call("model.graph.initializer.extend", tensors(constants))) if constants else []
    return ['model = parser.parse_model("""', *text.splitlines(), '""")', *fed]


def _says(text: str, model: onnx.ModelProto) -> bool:
    try:
        return normalise(parser.parse_model(text)) == model
    except (parser.ParseError, RuntimeError, UnicodeDecodeError):
        return False


def _spellings(model: onnx.ModelProto) -> Iterator[str]:
    """The text without the types that can be seen, and with them."""
    try:
        printed = printer.to_text(model)
    except (RuntimeError, UnicodeDecodeError):
        return
    laid = "\n".join(line for row in _joined(printed).splitlines() for line in _fitting(row))
    yield from (_SEEN.sub("", laid), laid)


def _joined(printed: str) -> str:
    """The head on one line, and braces where a person has them."""
    headed = _HEAD.sub(lambda found: f"<{' '.join(filter(None, found.groups()))}>", printed)
    return _BROKEN.sub(lambda found: ") " if ")" in found[0] else " " if "\n" in found[0] else "", headed)


def _fitting(row: str) -> list[str]:
    """A row of the printer's in our steps, over several lines if it is too long for one, each ending with a comma."""
    plain = row.strip()
    indent = STEP * ((len(row) - len(row.lstrip())) // _STEP)
    kept = [line.replace(_GLUE, " ") for line in _wrapped(_INNER_SPACE.sub(_GLUE, plain), indent)]
    return kept if max(map(len, kept), default=0) <= WIDTH else _wrapped(plain, indent)


def _wrapped(plain: str, indent: str) -> list[str]:
    return textwrap.wrap(
        plain,
        WIDTH,
        initial_indent=indent,
        subsequent_indent=indent + 2 * STEP,
        break_long_words=False,
        break_on_hyphens=False,
    )
