"""The sentences of the ONNX specification, and whether one holds for a given node. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

import onnx
from onnx.defs import OpSchema

from triage.schemas import attribute_text, default_text, is_default

_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z`\"'(*])|(?<=:)\s*\n|\n\s*\n|```")
#: The last item of a list, whose text goes on with the next line.
_LAST_ITEM = re.compile(r"^([-*] .*)\n(?=[A-Z`(])", re.MULTILINE)
#: Sentences that list choices, that say nothing, or that are no whole ones.
_IDLE = re.compile(
    r"must be (?:either|one of)|one of:|[Mm]odes:|[Vv]alues? (?:are|can be)|[Mm]odes (?:are|include)|can be one of"
    r"|are functions of|\{name\}|,$|^(?:Otherwise|For example)\b"
)
FEWEST_WORDS = 5
#: Mentions of an attribute's value: `axis=1`, `axis` is `1`, `axis = "x"`.
_STATED = r"(?<!\w){name}`?\s*(?:=|is|equals|set to|to)\s*[`\"']*(?P<value>[-\w.]+)"


@dataclass(frozen=True)
class Place:
    """A text of the specification: `where` names it, `attribute` is the one whose description it is."""

    where: str
    text: str
    attribute: str = ""


def sentences(text: str) -> Iterator[str]:
    """The sentences of a description, each on one line; code blocks are none."""
    for at, block in enumerate(text.split("```")):
        if at % 2 == 0:
            for part in _END.split(_LAST_ITEM.sub(r"\1\n\n", block)):
                said = " ".join(part.split()).removesuffix(":")
                if said and not said.startswith(("|", "-", "*", "$$")):
                    yield said


def values_of(node: onnx.NodeProto, schema: OpSchema) -> Mapping[str, str]:
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


def fits(said: str, node: onnx.NodeProto, schema: OpSchema) -> bool:
    """Whether a sentence says something of this node: nothing is stated to be what it is not, or left open."""
    given = {one.name for one in node.attribute}
    left_open = any(_left_open(said, name, given=name in given) for name in schema.attributes)
    return not _IDLE.search(said) and not left_open and all(_mentions(said, values_of(node, schema)))


def _left_open(said: str, name: str, *, given: bool) -> bool:
    """Whether a sentence holds only if an attribute is something that it does not name, or is there at all."""
    condition = re.search(rf"\b(?:[Ii]f|[Ww]hen) `?{re.escape(name)}(?!\w)(?P<rest>.*)", said)
    if condition is None:
        return False
    if re.match(r"`? (?:is|are) (?:not )?(?:specified|provided|given|set)\b", condition["rest"]):
        return not given or " not " in condition["rest"][:10]
    return re.match(r"`?\s*(?:is|=|equals)", condition["rest"]) is None


def stated(said: str, node: onnx.NodeProto, schema: OpSchema) -> int:
    """How many of the node's own values a sentence states: the more, the more it is about this case."""
    return sum(_mentions(said, values_of(node, schema)))


def governed(said: str, node: onnx.NodeProto, schema: OpSchema, about: str) -> bool:
    """Whether an attribute that is not at its default may make a sentence on shapes or types untrue for this node."""
    for attribute in node.attribute:
        known = schema.attributes.get(attribute.name)
        changed = known is not None and not known.required and not is_default(attribute, known)
        stated = re.search(rf"(?<!\w){re.escape(attribute.name)}(?!\w)", said)
        if known is not None and changed and not stated and re.search(about, known.description):
            return True
    return False
