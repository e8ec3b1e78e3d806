"""What the id of a parametrised test says of its subject: ``test_onnxruntime[LayerNormalization-float16]``. Pure.

Where a runner notes no operator, and a comparison of numbers names none, that is all there is to tell.
"""

from __future__ import annotations

import re
from typing import NamedTuple

#: A test's function and its parameters, as pytest prints them.
_ID = re.compile(r"\btest_?(?P<function>\w*)\[(?P<parameters>[^\[\]\n]{1,120})\]")
#: The same as other runners put it before what they say: ``[tvm/Resize] …``, ``onnxruntime:Gemm: …``.
_TAG = re.compile(r"\s*\[?(?P<subject>[A-Za-z][\w.-]{1,30})[/:](?P<operator>[A-Za-z_]\w{1,60})(?:\]|: )")
#: What a parameter is that names no operator: numbers, element types, shapes, devices.
_SETTINGS = (
    r"\d[\dx.e+-]*|b?float\d*|u?int\d*|bool|double|half|complex\d*|bfloat\d*|[fiu]\d+|true|false|none"
    r"|shape[^\W_]*|dtype[^\W_]*|case[^\W_]*|seed[^\W_]*|cpu|cuda[^\W_]*|gpu|static|dynamic|fp\d+|o\d|opset[^\W_]*"
)
_SETTING = re.compile(rf"(?i)-?(?:{_SETTINGS})|(?:shape|dtype|case|seed|cuda|opset)\w*|\w")
#: A test's name in the place of an operator: ``test_clip_float32``.
_TEST = re.compile(rf"[Tt]est(?:_|(?=[A-Z]))(?P<operator>[A-Za-z]\w*?)(?:_(?:{_SETTINGS}))*(?:\[[^\]]*\])?")
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_MOST = 20_000
#: No test's name is longer.
_LONGEST = 200


class Named(NamedTuple):
    """The test's own name, which may tell what is tested, and the operator; "" where unknown."""

    subject: str = ""
    operator: str = ""


NONE = Named()


def operator_of(operator: str) -> str:
    """What was noted as the operator, where that is a test's name the operator in it."""
    found = _TEST.fullmatch(operator) if operator[:4] in ("test", "Test") and len(operator) < _LONGEST else None
    return found["operator"] if found else operator


def named(*texts: str) -> Named:
    """What the first id of a test in these texts names."""
    for text in texts:
        if tag := _TAG.match(text[:120]):
            return Named(tag["subject"].replace("_", " "), tag["operator"])
        if "[" in text and "test" in text and (found := _ID.search(text[:_MOST]) or _ID.search(text[-_MOST:])):
            parameters = (part.strip() for part in found["parameters"].split("-"))
            operator = next((p for p in parameters if _NAME.fullmatch(p) and not _SETTING.fullmatch(p)), "")
            return Named(found["function"].replace("_", " "), operator)
    return NONE
