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
_SETTING = re.compile(
    r"(?i)-?\d[\dx_.e+-]*|b?float\d*|u?int\d*|bool|double|half|complex\d*|bfloat\d*|[fiu]\d+|true|false|none"
    r"|shape\w*|dtype\w*|case\w*|seed\w*|cpu|cuda\w*|gpu|static|dynamic|fp\d+|o\d|opset\w*|\w"
)
_NAME = re.compile(r"[A-Za-z_][\w.]*")
_MOST = 20_000


class Named(NamedTuple):
    """The test's own name, which may tell what is tested, and the operator; "" where unknown."""

    subject: str = ""
    operator: str = ""


NONE = Named()


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
