"""An exception that PyTorch raises in its own code, which a compiler's frontend only calls.

Frontends decompose exported programs by PyTorch's own rules. A rule that fails is no bug of who asked for it: PyTorch's
own compiler, which none of them has a part in, then fails with the same words.
"""

from __future__ import annotations

import re

from fuzz import catalogue, registry
from fuzz.case import Outcome, Status
from fuzz.zygote import BackendUnavailable
from triage.court.evidence import Evidence, Ruling, Side
from triage.court.hearing import Hearing
from triage.projects import project
from triage.wording import telling

SYMPTOMS = ("death",)
#: The compiler that is PyTorch's own.
_OWN = "inductor"
_FILE = re.compile(r"(?:^|/)(torch/[\w./-]+\.py)$")
_SECONDS = 60.0


def gather(hearing: Hearing) -> Evidence | None:
    """Settles a case of PyTorch whose exception is PyTorch's by its place, and by its own compiler's words."""
    error, accused = hearing.outcome.error, registry.backend(hearing.target.backend).name
    if hearing.case.kind != "instance" or error is None or not error.frames:
        return None
    if accused == _OWN or _OWN not in registry.names():
        return None
    place, words = _FILE.search(error.frames[-1].file), telling(error.message)
    if place is None or not words:
        return None
    other = _asked(hearing)
    if other is None or other.error is None or words not in other.error.message:
        return None
    said = f"PyTorch itself raises it in {place[1]}, and {project(_OWN)} fails with the same words: {words}"
    return Evidence("library", Side.FOR, said, {"file": place[1]}, Ruling.REFERENCE_BUG)


def _asked(hearing: Hearing) -> Outcome | None:
    """What PyTorch's own compiler says of the case."""
    try:
        outcome = hearing.runner.run_fresh(hearing.case, catalogue.target(_OWN), limits=hearing.limits(_SECONDS))
    except BackendUnavailable:
        return None
    return outcome if outcome.status is Status.EXCEPTION else None
