"""What the specification says of the key that a converter looks up in vain. Pure."""

from __future__ import annotations

import re

from fuzz.case import Case, Error
from triage.construct_meaning import parsed
from triage.schemas import schema_of

_KEY = re.compile(r"""^['"]?(\w+)['"]?$""")


def key_of(error: Error, name: str) -> str:
    """The key of a KeyError, which is all that its message is, if it is a name; else ""."""
    found = _KEY.match(error.message.strip()) if name == "KeyError" else None
    return found[1] if found else ""


def told(case: Case, error: Error, name: str) -> str:
    """``, no attribute of Attention-23`` or ``, which Softmax-13 may lack`` behind the words of a KeyError; else "".

    `name` is that of the exception's class. Of a model of several nodes nothing is said.
    """
    key = key_of(error, name)
    model = parsed(case.model) if key and case.kind == "onnx" else None
    schema = schema_of(model.graph.node[0], model) if model and len(model.graph.node) == 1 else None
    if not key or schema is None:
        return ""
    operator = f"{schema.name}-{schema.since_version}"
    known = schema.attributes.get(key)
    if known is None:
        return f", no attribute of {operator}"
    assert model is not None
    absent = key not in {one.name for one in model.graph.node[0].attribute}
    return f", which {operator} may lack" if absent and not known.required else ""
