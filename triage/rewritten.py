"""How a title tells that a case fails only once the compiler has rewritten it, or on so many threads. Pure."""

from __future__ import annotations

from fuzz import sequences
from fuzz.case import Target

#: TVM's option ``functions``: where the model's operators are (HirGen, section 3.3.2).
_FUNCTIONS = {
    "wrapped": "in a function",
    "call-through": "in a function that another one calls",
    "closure": "in a local function",
    "returned": "in a function that another one returns",
}


def rewritten(target: Target) -> str:
    """``in a function after FuseOps and FuseTIR``, ``on one thread``; "" where the compiler takes the case as usual."""
    steps = sequences.of(target)
    found = [_FUNCTIONS.get(dict(target.options).get("functions", ""), "")]
    found += (
        [f"after {', '.join(steps[:-1])} and {steps[-1]}" if len(steps) > 1 else f"after {steps[0]}"] if steps else []
    )
    return " ".join(text for text in [*found, _on_threads(target)] if text)


def _on_threads(target: Target) -> str:
    """Options that a failure does not need are gone by then, and who leaves this one out sees nothing fail."""
    count = dict(target.options).get("threads", "")
    return {"": "", "1": "on one thread"}.get(count, f"on {count} threads")
