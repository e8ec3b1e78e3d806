"""The sentences of the ONNX specification that a wrong result breaks: quoted word for word, or not at all. Pure.

They are looked for only where the report says what the bug hangs on: in the description of the attribute or optional
input without which the model passes, and in what is written of the output whose shape, type or value is wrong. A
sentence counts if it fits the attributes of the very node. Where none does, nothing is quoted.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import onnx
from onnx.defs import OpSchema

from fuzz.case import Case, Outcome, Status
from triage.conditions import Condition
from triage.construct_meaning import parsed
from triage.differ import describe
from triage.schemas import attribute_text, default_text, is_default, schema_of

#: Quotations that a report has room for, and the characters of one: a longer one is left out rather than cut.
MOST, LONGEST = 2, 600
#: What a sentence about an output must speak of, by the symptom.
_ABOUT = {"wrong:shape": r"\b(?:shape|rank|dimensions)\b", "wrong:dtype": r"(?<!-)\btypes?\b"}
_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*])|(?<=:)\s*\n|\n\s*\n|```")
#: Sentences that list choices, that say nothing, or that are no whole ones.
_IDLE = re.compile(
    r"must be (?:either|one of)|one of:|[Mm]odes:|[Vv]alues? (?:are|can be)|[Mm]odes (?:are|include)|can be one of"
    r"|are functions of|\{name\}|,$|^(?:Otherwise|For example)\b"
)
FEWEST_WORDS = 5
#: How the specification says that a number may be negative: in words, or by a range such as [-r, r-1].
_NEGATIVE = re.compile(r"\b[Nn]egative (?:value|ax|ind|dim)|\[-\w+, ?\w+-1\]")
#: Mentions of an attribute's value: `axis=1`, `axis` is `1`, `axis = "x"`.
_STATED = r"(?<!\w){name}`?\s*(?:=|is|equals|set to|to)\s*[`\"']*(?P<value>[-\w.]+)"


@dataclass(frozen=True)
class Quotation:
    """Words of the specification as they stand there (line breaks apart), where in it they stand, and its address."""

    text: str
    where: str
    url: str


@dataclass(frozen=True)
class _Place:
    """A text of the specification: `where` names it, `attribute` is the one whose description it is."""

    where: str
    text: str
    attribute: str = ""


def quotations(
    case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, conditions: Sequence[Condition] = ()
) -> tuple[Quotation, ...]:
    """What the specification says of what is wrong; nothing for models of several nodes, and for other failures."""
    if case.kind != "onnx" or outcome.status is not Status.WRONG:
        return ()
    model = parsed(case.model)
    schema = schema_of(model.graph.node[0], model) if len(model.graph.node) == 1 else None
    if schema is None or schema.domain:
        return ()
    node = model.graph.node[0]
    found = [*_of_conditions(node, schema, conditions), *_of_output(node, schema, outcome, reference, symptom)]
    found.sort(key=lambda one: symptom in _ABOUT and not one[0].where.startswith("output"))
    label = f"{schema.name}-{schema.since_version}"
    url = f"https://onnx.ai/onnx/operators/onnx__{schema.name}.html#l-onnx-op-{label.lower()}"
    kept = {words: f"{label}, {place.where}" for place, words in found if len(words) <= LONGEST}
    return tuple(Quotation(words, where, url) for words, where in list(kept.items())[:MOST])


def _of_conditions(
    node: onnx.NodeProto, schema: OpSchema, conditions: Sequence[Condition]
) -> Iterator[tuple[_Place, str]]:
    """A sentence for each attribute, optional input or emptiness without which the model passes."""
    needed = [one for one in conditions if one.needed]
    for one in [one for one in needed if one.ignored] or needed:  # what is ignored is the title's only subject
        name = re.split(r"[=\s]", one.text, maxsplit=1)[0]
        if one.kind == "attribute" and name in schema.attributes:
            place = _Place(f"attribute `{name}`", schema.attributes[name].description, name)
            yield from _best(node, schema, place)
        elif one.kind == "input" and one.text.startswith("optional input "):
            yield from _of_input(schema, one.text.removeprefix("optional input "))
        elif one.kind == "value" and one.text.startswith("empty "):
            doc = _Place("summary", schema.doc or "")
            yield from ((doc, said) for said in sentences(doc.text) if re.search(r"\bempty set of values\b", said))
        elif one.kind == "value" and one.text.startswith("negative "):
            yield from _of_negative(schema, one.text.removeprefix("negative "))


def _of_input(schema: OpSchema, name: str) -> Iterator[tuple[_Place, str]]:
    """The first sentence of an input's description, if it is more than a name."""
    for formal in schema.inputs:
        if formal.name == name:
            first = next(sentences(formal.description), "")
            if len(first.split()) > 2:
                yield _Place(f"input `{name}`", formal.description), first


def _of_negative(schema: OpSchema, name: str) -> Iterator[tuple[_Place, str]]:
    """The sentence that says that an input may be negative, as indices and axes may."""
    for formal in schema.inputs:
        if formal.name == name:
            place = _Place(f"input `{name}`", formal.description)
            yield from ((place, said) for said in [one for one in sentences(place.text) if _NEGATIVE.search(one)][:1])


def _best(node: onnx.NodeProto, schema: OpSchema, place: _Place) -> Iterator[tuple[_Place, str]]:
    """The sentence that speaks of the attribute's very value; else the first that says something."""
    fitting = [said for said in sentences(place.text) if _fits(said, node, schema)]
    value = _values(node, schema).get(place.attribute, "")
    of_value = [said for said in fitting if value and _names_value(said, place.attribute, value)]
    is_word = schema.attributes[place.attribute].type == OpSchema.AttrType.STRING
    chosen = of_value[:1] or ([] if is_word else fitting[:1])  # of another word than ours it says nothing
    yield from ((place, said) for said in chosen if len(said.split()) >= FEWEST_WORDS)


def _names_value(said: str, name: str, value: str) -> bool:
    """Whether a sentence names a value: a word anywhere, a number quoted or behind "to", "If", "of" or "="."""
    word = re.escape(value)
    if re.fullmatch(r"-\d+", value) and _NEGATIVE.search(said):
        return True
    if value[:1].isalpha():
        return re.search(rf"(?<!\w){word}(?!\w)", said) is not None
    return re.search(rf"[`\"']{word}[`\"']|\b(?:to|[Ii]f|of|is|{re.escape(name)}`?)\s*=?\s*{word}\b", said) is not None


def _of_output(
    node: onnx.NodeProto, schema: OpSchema, outcome: Outcome, reference: Outcome | None, symptom: str
) -> Iterator[tuple[_Place, str]]:
    """What is said of the shape or type of the output that differs, or the equation that defines its value."""
    name = _wrong_output(node, schema, outcome, reference)
    formal = next((one for one in schema.outputs if one.name == name), None)
    if formal is None:
        return
    output = _Place(f"output `{name}`", formal.description)
    summary = _Place("summary", schema.doc or "")
    about = _ABOUT.get(symptom)
    if about is None:
        equations = _equations(summary.text, name) if len(schema.outputs) > 1 else []
        equations += [said for said in sentences(summary.text) if f"`{name} = " in said and _fits(said, node, schema)]
        if len(equations) == 1 and symptom == "wrong:values":
            yield summary, equations[0]
        return
    for place in (output, summary):
        named = rf"`{re.escape(name)}`" if place is summary else ""
        told = [
            (_stated(said, node, schema), said)
            for said in sentences(place.text)
            if re.search(about, said) and re.search(named, said) and _fits(said, node, schema)
        ]
        told = [one for one in told if not _governed(one[1], node, schema, about)]
        if told:
            yield place, max(told, key=lambda one: one[0])[1]
            return


def _governed(said: str, node: onnx.NodeProto, schema: OpSchema, about: str) -> bool:
    """Whether an attribute that is not at its default may make a sentence on shapes or types untrue for this node."""
    for attribute in node.attribute:
        known = schema.attributes.get(attribute.name)
        changed = known is not None and not known.required and not is_default(attribute, known)
        stated = re.search(rf"(?<!\w){re.escape(attribute.name)}(?!\w)", said)
        if known is not None and changed and not stated and re.search(about, known.description):
            return True
    return False


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


# ---------------------------------------------------------------- sentences and what they state


def sentences(text: str) -> Iterator[str]:
    """The sentences of a description, each on one line; code blocks are none."""
    for at, block in enumerate(text.split("```")):
        if at % 2 == 0:
            for part in _END.split(block):
                said = " ".join(part.split()).removesuffix(":")
                if said and not said.startswith(("|", "-", "*", "$$")):
                    yield said


def _values(node: onnx.NodeProto, schema: OpSchema) -> Mapping[str, str]:
    """What every attribute of the node is, defaults included, as a sentence would spell it."""
    known = {name: default_text(one) for name, one in schema.attributes.items()}
    given = {one.name: attribute_text(one).partition("=")[2] for one in node.attribute}
    return {name: value for name, value in {**known, **given}.items() if value}


def _mentions(said: str, values: Mapping[str, str]) -> Iterable[bool]:
    """For each attribute's value that a sentence states, whether it is the node's."""
    for name, value in values.items():
        for match in re.finditer(_STATED.format(name=re.escape(name)), said):
            stated = match["value"].rstrip(".")
            if _comparable(stated, value):
                yield stated.lower() in (value.lower(), _truth(value))


def _comparable(stated: str, value: str) -> bool:
    """Whether a word behind an attribute's name can be its value at all: a number for a number, a truth for 0 or 1."""
    number = re.fullmatch(r"-?\d+(?:\.\d+)?", value) is not None
    return re.fullmatch(r"-?\d+(?:\.\d+)?|[Tt]rue|[Ff]alse", stated) is not None if number else stated.islower()


def _truth(value: str) -> str:
    return {"0": "false", "1": "true"}.get(value, value)


def _fits(said: str, node: onnx.NodeProto, schema: OpSchema) -> bool:
    """Whether a sentence says something of this node: nothing is stated to be what it is not, or left open."""
    given = {one.name for one in node.attribute}
    left_open = any(_left_open(said, name, given=name in given) for name in schema.attributes)
    return not _IDLE.search(said) and not left_open and all(_mentions(said, _values(node, schema)))


def _left_open(said: str, name: str, *, given: bool) -> bool:
    """Whether a sentence holds only if an attribute is something that it does not name, or is there at all."""
    condition = re.search(rf"\b(?:[Ii]f|[Ww]hen) `?{re.escape(name)}(?!\w)(?P<rest>.*)", said)
    if condition is None:
        return False
    if re.match(r"`? (?:is|are) (?:not )?(?:specified|provided|given|set)\b", condition["rest"]):
        return not given or " not " in condition["rest"][:10]
    return re.match(r"`?\s*(?:is|=|equals)", condition["rest"]) is None


def _stated(said: str, node: onnx.NodeProto, schema: OpSchema) -> int:
    """How many of the node's own values a sentence states: the more, the more it is about this case."""
    return sum(_mentions(said, _values(node, schema)))
