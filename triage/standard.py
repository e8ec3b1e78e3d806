"""The sentences of the ONNX specification that a wrong result breaks: quoted word for word, or not at all. Pure.

They are looked for where the report says what the bug hangs on: in the description of the attribute or input without
which the model passes, and in what is written of the output whose shape, type or value is wrong. A sentence counts if
it fits the attributes of the very node. Where none does, a wrong result quotes the sentence that says what the operator
computes. Where a valid model is refused, the words are quoted that allow what is refused, if that is known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import onnx
from onnx.defs import OpSchema

from fuzz.case import Case, Outcome, Status
from triage.conditions import Condition
from triage.construct_meaning import parsed
from triage.likeness import KIND as LIKE
from triage.schemas import schema_of
from triage.standard_result import ABOUT, definition, of_case, of_output
from triage.standard_text import FEWEST_WORDS, Place, fits, sentences, values_of
from triage.variants import relations, stretched, told_types

__all__ = ["FEWEST_WORDS", "LONGEST", "MOST", "Quotation", "quotations", "sentences"]

#: Quotations that a report has room for, and the characters of one: a longer one is left out rather than cut.
MOST, LONGEST = 2, 600
#: How the specification says that a number may be negative: in words, or by a range such as [-r, r-1].
_NEGATIVE = re.compile(r"\b[Nn]egative (?:value|ax|ind|dim)|\[-\w+, ?\w+-1\]")
#: By the first word of a condition on numbers, how the specification speaks of such numbers.
_OF_NUMBERS = {
    "negative": _NEGATIVE,
    "fractional": re.compile(r"\bnon-integer\b|\bfraction|\btruncat"),
    "zero": re.compile(r"\b(?:zero|strictly|equal to)\b"),
}
#: What is left of a description that is a mere name of the thing has none of these words.
_SAYS = re.compile(
    r"\b(?:is|are|be|if|whether|to|will|must|should|can|used|not|for|specif\w+|constrain|indicat\w+)\b",
    re.I,
)
#: How the specification says what becomes of values that are equal to a limit.
_AT_THE_LIMIT = re.compile(r"\b(?:strictly|exactly equal|equal to|or equal)\b|[<>]=?")
#: The words that a condition on a limit has before the limit's name.
_EQUAL = " equal to "
#: How sentences on a flag spell its values.
_TRUTHS = {"0": "false", "1": "true"}


@dataclass(frozen=True)
class Quotation:
    """Words of the specification as they stand there (line breaks apart), where in it they stand, and its address."""

    text: str
    where: str
    url: str


def quotations(
    case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, conditions: Sequence[Condition] = ()
) -> tuple[Quotation, ...]:
    """What the specification says of what is wrong or refused; nothing for models of several nodes, and for deaths."""
    if case.kind != "onnx" or outcome.status not in (Status.WRONG, Status.EXCEPTION):
        return ()
    model = parsed(case.model)
    schema = schema_of(model.graph.node[0], model) if len(model.graph.node) == 1 else None
    if schema is None or schema.domain:
        return ()
    node = model.graph.node[0]
    found = [*_of_conditions(node, schema, conditions), *_of_mistaken(node, schema, conditions)]
    if outcome.status is Status.EXCEPTION and any(one.needed and one.text.startswith("empty ") for one in conditions):
        found += [*of_case(schema, case, outcome, reference, conditions)]  # who refuses no numbers must read of them
    if outcome.status is Status.WRONG:
        found += [*of_case(schema, case, outcome, reference, conditions)]
        found += [*of_output(node, schema, outcome, reference, symptom)]
        found += [] if found else [*definition(schema, symptom)]
    if symptom in ABOUT:
        found = _nearest(found)
    label = f"{schema.name}-{schema.since_version}"
    url = f"https://onnx.ai/onnx/operators/onnx__{schema.name}.html#l-onnx-op-{label.lower()}"
    kept = {words: f"{label}, {place.where}" for place, words in found if len(words) <= LONGEST}
    return tuple(Quotation(words, where, url) for words, where in list(kept.items())[:MOST])


def _nearest(found: Sequence[tuple[Place, str]]) -> list[tuple[Place, str]]:
    """Of a wrong shape or type what is said of the output first; beside that, which types inputs may have is idle."""
    of_output = [one for one in found if one[0].where.startswith("output")]
    rest = [one for one in found if one not in of_output]
    kept = [one for one in rest if not of_output or not one[0].where.startswith("type constraint")]
    return [*of_output, *sorted(kept, key=lambda one: one[0].where.startswith(("attribute", "input")))]


def _of_conditions(
    node: onnx.NodeProto, schema: OpSchema, conditions: Sequence[Condition]
) -> Iterator[tuple[Place, str]]:
    """A sentence or two for each attribute, input or relation without which the model passes."""
    needed = [one for one in conditions if one.needed]
    typed = {told_types.NAME} & set(schema.attributes)
    for one in [one for one in needed if one.ignored] or needed:  # what is ignored is the title's only subject
        name = re.split(r"[=\s]", one.text, maxsplit=1)[0]
        if one.kind == "attribute" and name in schema.attributes:
            place = Place(f"attribute `{name}`", schema.attributes[name].description, name)
            yield from _best(node, schema, place)
        elif one.kind == relations.KIND and name in schema.attributes:
            place = Place(f"attribute `{name}`", schema.attributes[name].description, name)
            ranges = [said for said in sentences(place.text) if "range" in said and fits(said, node, schema)]
            yield from ((place, said) for said in ranges[:1])
        elif one.kind == relations.KIND and stretched.SHORTER in one.text:
            yield from _of_length(schema, one.text.partition(stretched.SHORTER)[0])
        elif one.kind == relations.TYPES:
            told = Place(f"attribute `{name}`", schema.attributes[name].description, name) if name in typed else None
            yield from _best(node, schema, told) if told else _of_types(schema)
        elif one.kind == "input" and one.text.startswith("optional input "):
            yield from _of_input(schema, one.text.removeprefix("optional input "))
        elif one.kind == "value" and _EQUAL in one.text:
            yield from _of_limit(schema, one.text.partition(_EQUAL)[2])
        elif one.kind == "value" and name in _OF_NUMBERS:
            yield from _of_numbers(schema, one.text.removeprefix(f"{name} "), _OF_NUMBERS[name])


def _of_mistaken(
    node: onnx.NodeProto, schema: OpSchema, conditions: Sequence[Condition]
) -> Iterator[tuple[Place, str]]:
    """A sentence of the attribute that the compiler seems to have taken for another value."""
    for one in conditions:
        name = one.text.partition(" ")[0]
        if one.kind == LIKE and name in schema.attributes:
            yield from _best(node, schema, Place(f"attribute `{name}`", schema.attributes[name].description, name))


def _of_input(schema: OpSchema, name: str) -> Iterator[tuple[Place, str]]:
    """The first sentence of an input's description, if it is more than a name, and what it says of the default."""
    for formal in schema.inputs:
        if formal.name == name:
            place = Place(f"input `{name}`", formal.description)
            first, second, *_ = [*sentences(formal.description), "", ""]
            if len(first.split()) > 2:
                yield place, f"{first} {second}" if second.startswith("Default") else first


def _of_types(schema: OpSchema) -> Iterator[tuple[Place, str]]:
    """What is said of the types of the inputs, one constraint for each of those that may differ."""
    names = list(dict.fromkeys(one.type_str for one in schema.inputs))
    for one in schema.type_constraints:
        if one.type_param_str in names and one.description:
            yield Place(f"type constraint `{one.type_param_str}`", one.description), " ".join(one.description.split())


def _of_length(schema: OpSchema, name: str) -> Iterator[tuple[Place, str]]:
    """The sentence that allows an input to be shorter than it might be."""
    for formal in schema.inputs:
        if formal.name == name:
            place = Place(f"input `{name}`", formal.description)
            yield from ((place, said) for said in [one for one in sentences(place.text) if "shorter" in one][:1])


def _of_limit(schema: OpSchema, name: str) -> Iterator[tuple[Place, str]]:
    """The sentence that says what becomes of a value that is equal to a limit."""
    own = {one.name: one.description for one in schema.inputs}
    own |= {one.name: one.description for one in schema.attributes.values()}
    places = [Place("summary", schema.doc or ""), Place(f"`{name}`", own.get(name, ""))]
    for place in places:
        for said in sentences(place.text):
            if _AT_THE_LIMIT.search(said) and (place.where != "summary" or re.search(rf"\b{re.escape(name)}\b", said)):
                yield place, said
                return


def _of_numbers(schema: OpSchema, name: str, kind: re.Pattern[str]) -> Iterator[tuple[Place, str]]:
    """The sentence that says what numbers of a kind mean in an input: negative ones in indices, fractions in sizes."""
    for formal in schema.inputs:
        if formal.name == name:
            place = Place(f"input `{name}`", formal.description)
            yield from ((place, said) for said in [one for one in sentences(place.text) if kind.search(one)][:1])


def _best(node: onnx.NodeProto, schema: OpSchema, place: Place) -> Iterator[tuple[Place, str]]:
    """The sentence that speaks of the attribute's very value, else of this very operator; else the first that says
    something."""
    fitting = [said for said in sentences(place.text) if fits(said, node, schema)]
    value = values_of(node, schema).get(place.attribute, "")
    of_value = [said for said in fitting if value and _names_value(said, place.attribute, value)]
    is_word = schema.attributes[place.attribute].type == OpSchema.AttrType.STRING
    own = [said for said in fitting if re.search(rf"\b{schema.name}\b", said)]
    truth = re.compile(rf"If (?:set to )?{_TRUTHS[value]}\b", re.IGNORECASE) if value in _TRUTHS else None
    of_truth = [said for said in fitting if truth and truth.match(said)]
    telling = own + of_truth + [said for said in fitting if len(said.split()) >= FEWEST_WORDS and _SAYS.search(said)]
    chosen = of_value[:1] or ([] if is_word else telling[:1])  # of another word than ours it says nothing
    yield from ((place, said) for said in chosen if len(said.split()) >= FEWEST_WORDS)


def _names_value(said: str, name: str, value: str) -> bool:
    """Whether a sentence names a value: a word anywhere, a number quoted or behind "to", "If", "of" or "="."""
    word = re.escape(value)
    if re.fullmatch(r"-\d+", value) and _NEGATIVE.search(said):
        return True
    if value[:1].isalpha():
        return re.search(rf"(?<!\w){word}(?!\w)", said) is not None
    return re.search(rf"[`\"']{word}[`\"']|\b(?:to|[Ii]f|of|is|{re.escape(name)}`?)\s*=?\s*{word}\b", said) is not None
