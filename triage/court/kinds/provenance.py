"""Where a NaN or an infinity comes from: the first node that makes one."""

from __future__ import annotations

from triage.court.evidence import Evidence, Side
from triage.court.hearing import Hearing

SYMPTOMS = ("wrong",)
_NAMES = {"wrong:nan": "NaN", "wrong:inf": "infinity"}


def gather(hearing: Hearing) -> Evidence | None:
    """Only for results that differ in their NaNs or infinities."""
    name = _NAMES.get(hearing.symptom[0])
    if name is None or hearing.widened is None:
        return None
    first = hearing.widened.said.get("first", {}).get(name, "")
    if first:
        return Evidence(
            "provenance", Side.NEUTRAL, f"in the reference, the first {name} comes out of {first}", {"node": first}
        )
    sentence = (
        f"no node of the reference makes a {name}" if name == "NaN" else "no node of the reference makes an infinity"
    )
    return Evidence("provenance", Side.NEUTRAL, sentence, {"node": ""})
