"""Whether a model of one of the newest operator sets fails in an older one as well: then it needs none of them."""

from __future__ import annotations

import onnx

from triage.inquiry import Condition, Inquiry
from triage.passes import opset

KIND = "opset"
#: Opsets this many versions behind the newest are not yet to be expected of a compiler.
RECENT = 3
#: Runs that the question is worth, of the newest older ones.
MOST_RUNS = 3


def is_recent(version: int) -> bool:
    """Whether a compiler need not know an opset yet."""
    return version > onnx.defs.onnx_opset_version() - RECENT


def in_older(inquiry: Inquiry) -> Condition | None:
    """The newest opset that is not recent in which the model fails in the same way; None where there is none."""
    case = inquiry.failure.case
    if case.kind != "onnx" or not is_recent(opset.default_opset(case)):
        return None
    settled = [one for one in opset.older(case) if not is_recent(opset.default_opset(one))]
    for one in settled[:MOST_RUNS]:
        if inquiry.passes(one) is False:
            told = f"opset {opset.default_opset(one)}"
            return Condition(KIND, told, f"In {told} the same model fails as well.", needed=False)
    return None
