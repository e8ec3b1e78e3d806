"""What the ONNX specification says of a result that is wrong: of its shape, its type, its value. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np
import onnx
from onnx.defs import OpSchema

from fuzz.case import Case, Outcome
from fuzz.oracles import differential
from triage.differ import describe, differing
from triage.inquiry import Condition
from triage.literals import as_array
from triage.standard_text import FEWEST_WORDS, Place, fits, governed, sentences, stated

#: What a sentence about an output must speak of, by the symptom.
ABOUT = {differential.SHAPE: r"\b(?:shape|rank|dimensions)\b", differential.DTYPE: r"(?<!-)\btypes?\b"}
_EMPTY = re.compile(r"\bempty set of values\b")
_ROUNDING = re.compile(r"\bround(?:s|ed|ing)? to\b")
#: Windows that the specification leaves out of a size that is rounded up.
_LEFT_OUT = re.compile(r"\bwindows\b.*\bignored\b")
#: A first sentence that says what comes out, and not only what the operator is called or what goes in.
_DEFINING = re.compile(
    r"^(?:Comput|Calculat|Return|Map|Perform|Broadcast|Generat|Construct|Concatenat|Find|Remov|Insert|Produc|Retriev|Select"
    r"|Split|Filter|Reinterpret|Takes|Given|Matrix product|Element-wise|The operator (?:casts|computes|rearranges)"
    r"|\w[\w ]* takes .*\bwhere\b)"
)
_POINTS_ELSEWHERE = re.compile(r"\b(?:paper|described in|takes \w+ inputs|based on inputs)\b")


def of_output(
    node: onnx.NodeProto, schema: OpSchema, outcome: Outcome, reference: Outcome | None, symptom: str
) -> Iterator[tuple[Place, str]]:
    """What is said of the shape or type of the output that differs, or the equation that defines its value."""
    name = _wrong_output(node, schema, outcome, reference)
    formal = next((one for one in schema.outputs if one.name == name), None)
    if formal is None:
        return
    if symptom == differential.DTYPE and len(formal.types) == 1:
        yield from _of_type(schema, formal)
    output = Place(f"output `{name}`", formal.description)
    summary = Place("summary", schema.doc or "")
    about = ABOUT.get(symptom)
    if about is None:
        equations = _equations(summary.text, name) if len(schema.outputs) > 1 else []
        equations += [said for said in sentences(summary.text) if f"`{name} = " in said and fits(said, node, schema)]
        if len(equations) == 1 and symptom == "wrong:values":
            yield summary, equations[0]
        return
    for place in (output, summary):
        named = rf"`{re.escape(name)}`" if place is summary else ""
        told = [
            (stated(said, node, schema), said)
            for said in sentences(place.text)
            if re.search(about, said) and re.search(named, said) and fits(said, node, schema)
        ]
        told = [one for one in told if not governed(one[1], node, schema, about)]
        if told:
            yield place, max(told, key=lambda one: one[0])[1]
            return


def _of_type(schema: OpSchema, formal: OpSchema.FormalParameter) -> Iterator[tuple[Place, str]]:
    """What is said of the only type that an output may have."""
    for one in schema.type_constraints:
        if one.type_param_str == formal.type_str and one.description:
            yield Place(f"type constraint `{formal.type_str}`", one.description), " ".join(one.description.split())


def _equations(doc: str, name: str) -> list[str]:
    """The lines that say ``name = …``."""
    lines = (line.strip() for line in doc.splitlines())
    return [line.rstrip(",") for line in lines if re.match(rf"{re.escape(name)} = \S", line)]


def _wrong_output(node: onnx.NodeProto, schema: OpSchema, outcome: Outcome, reference: Outcome | None) -> str:
    """What the specification calls the first output that differs, "" where that cannot be told."""
    if reference is None or len(outcome.outputs) != len(reference.outputs):
        return ""
    pairs = zip(reference.outputs, outcome.outputs, strict=True)
    name = next((name for (name, want), (_, got) in pairs if describe(name, want, got)), "")
    position = list(node.output).index(name) if name in node.output else len(schema.outputs)
    return str(schema.outputs[position].name) if position < len(schema.outputs) else ""


# ---------------------------------------------------------------- what is said of the case, and of every case


def of_case(
    schema: OpSchema, case: Case, outcome: Outcome, reference: Outcome | None, conditions: Sequence[Condition]
) -> Iterator[tuple[Place, str]]:
    """Sentences of the summary on what the case shows: no numbers at all, rounding, windows that do not count."""
    summary = Place("summary", schema.doc or "")
    about = [
        *([_EMPTY] if _is_empty(case, conditions) else []),
        *([_ROUNDING] if _off_by_one(outcome, reference) else []),
        *([_LEFT_OUT] if any(one.needed and one.text == "ceil_mode=1" for one in conditions) else []),
    ]
    if about == [_EMPTY] and not _fed_empty(case) and _of_another(conditions):
        yield from definition(schema, "")
    for pattern in about:
        yield from ((summary, said) for said in sentences(summary.text) if pattern.search(said))


def _is_empty(case: Case, conditions: Sequence[Condition]) -> bool:
    """Whether an input is empty, or the report says that an empty one fails as well."""
    return _of_another(conditions) or _fed_empty(case) or any(one.text.startswith("empty ") for one in conditions)


def _of_another(conditions: Sequence[Condition]) -> bool:
    """Whether the report says of another case that it is empty and fails as well."""
    return any(" an empty `" in one.sentence for one in conditions)


def _fed_empty(case: Case) -> bool:
    return any(isinstance(value, np.ndarray) and not value.size for value in case.inputs.values())


def _off_by_one(outcome: Outcome, reference: Outcome | None) -> bool:
    """Whether integers are wrong by one, and nothing else is wrong."""
    pairs = zip(reference.outputs if reference else (), outcome.outputs, strict=False)
    distances: set[int] = set()
    for (_, want), (_, got) in pairs:
        if not isinstance(want, np.ndarray) or not isinstance(got, np.ndarray) or want.shape != got.shape:
            return False
        if want.dtype != got.dtype or want.dtype.kind not in "iu":
            return False
        mask = differing(as_array(want), as_array(got))
        distances |= {abs(int(one) - int(other)) for one, other in zip(want[mask], got[mask], strict=True)}
    return distances == {1}


def definition(schema: OpSchema, symptom: str) -> Iterator[tuple[Place, str]]:
    """The sentence that says what the operator computes, if the summary begins with one."""
    first = next(sentences(schema.doc or ""), "")
    defines = _DEFINING.match(first) and not _POINTS_ELSEWHERE.search(first)
    if defines and symptom != differential.DTYPE and len(first.split()) >= FEWEST_WORDS:
        yield Place("summary", schema.doc or ""), first
