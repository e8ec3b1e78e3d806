"""Where a failure lies, and how that is known."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum


class Part(StrEnum):
    """The parts of a compiler. UNKNOWN is an honest answer; a wrong part would send a maintainer astray."""

    UNKNOWN = ""
    FRONTEND = "frontend"  # reads the model and makes the compiler's own graph of it
    BEHIND = "behind the frontend"  # one of the three below, and nothing tells which
    OPTIMISATION = "graph optimisation"
    LOWERING = "lowering"  # from the graph to kernels and machine code
    RUNTIME = "runtime"  # the kernels themselves and what calls them


@dataclass(frozen=True)
class Location:
    """What is known of where a failure lies; "" for what is not.

    `operator` is the guilty operator, e.g. ``Resize`` or ``aten.bmm``; `pass_` the guilty pass or optimiser by its
    own name; `root_cause` a guess in the taxonomy of the studies of compiler bugs (OPERA section IV-E, HirGen
    section 5.1). `evidence` holds one sentence a claim, in the order in which they were established.
    """

    stage: Part = Part.UNKNOWN
    operator: str = ""
    pass_: str = ""
    conversion_function: str = ""
    root_cause: str = ""
    evidence: tuple[str, ...] = field(default=())

    def learn(self, sentence: str, **found: str) -> Location:
        """This location with more known, and the sentence that says how, "" where it needs none.

        What is known already stays, except that BEHIND gives way to the part that it turns out to be.
        """
        news = {name: value for name, value in found.items() if value and getattr(self, name) in ("", Part.BEHIND)}
        return replace(self, **news, evidence=(*self.evidence, *filter(None, [sentence])))  # type: ignore[arg-type]
