"""Operators by family: the spellings and the dimensions of one operator. Pure."""

from __future__ import annotations

import re
from functools import lru_cache

#: What operators of as many families meet alike, in words that name none of them, is about no operator.
OF_NO_OPERATOR = 4

_DIMENSION = re.compile(r"(?<=[a-z])[123]d(?=_|$)")
#: The same within a name (Conv2DTranspose), and the version of an operator of ONNX behind it.
_BETWEEN = re.compile(r"(?<=[a-z])[123]D(?=[A-Z])|-\d+$")
#: Which of several functions of one name ``aten.add.Tensor_out`` is; PyTorch's public names have no such ending.
_OVERLOAD = re.compile(r"^(?!torch\.(?!ops\.))(.*)\.(?:default|Tensor|Scalar|out|int|dim|self)\w*$")


@lru_cache(maxsize=1 << 14)
def family(operator: str) -> str:
    """An operator without the number of its dimensions and the form of its name: AvgPool2d and avg_pool3d are one."""
    spaced = _BETWEEN.sub("", _OVERLOAD.sub(r"\1", operator).rpartition(".")[2].rpartition("::")[2])
    lowered = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", spaced).lower().strip("_")
    return _DIMENSION.sub("", lowered).replace("_", "")
