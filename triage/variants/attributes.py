"""Attributes left at their defaults."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.case import Case
from triage.construct_meaning import parsed
from triage.schemas import attribute_text, default_text, is_default, is_flag, schema_of
from triage.variants import Variant, neighbour


def variants(case: Case) -> Iterator[Variant]:
    """Each attribute left at its default, as far as it may be left out."""
    model = parsed(case.model)
    for at, node in enumerate(model.graph.node):
        schema = schema_of(node, model)
        for attribute in node.attribute:
            known = schema.attributes.get(attribute.name) if schema else None
            if known is None or known.required or is_default(attribute, known) or not attribute_text(attribute):
                continue
            other = parsed(case.model)
            kept = [one for one in other.graph.node[at].attribute if one.name != attribute.name]
            del other.graph.node[at].attribute[:]
            other.graph.node[at].attribute.extend(kept)
            default = f" (default {default_text(known)})" if default_text(known) else ""
            sentence = f"Without `{attribute.name}`{default} the same model passes."
            flag = attribute.type == attribute.INT and is_flag(attribute.i, known)
            yield Variant("attribute", attribute_text(attribute), sentence, (neighbour(case, other),), flag)
