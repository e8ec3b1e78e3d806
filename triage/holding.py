"""Whether the predicate feeds the inputs of the original model and no others, as a script that knows its model does.

Then no candidate with a new input fails, whatever the bug is; what dropped nodes made must be constants, or come from
the inputs that there are. Seen where some such candidates were refused and none ever failed, though others did.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from fuzz.case import Case

#: So many candidates with new inputs were refused, and none has failed, before one without them is asked about.
_SUSPECTED = 3


@dataclass
class Holding:
    """What the answers tell of it. `inputs` are the original's; without `possible` the predicate is given all of them.

    `holds` is set once a candidate without new inputs fails where those with them were refused.
    """

    inputs: Collection[str] = ()
    possible: bool = False
    holds: bool = False
    refused: int = 0
    taken: bool = False  # a candidate with a new input has failed
    spared: bool = False  # one without has

    def saw(self, case: Case, fails: bool) -> None:
        """Take note of an answer."""
        new = not case.inputs.keys() <= set(self.inputs)
        self.taken |= fails and new
        self.spared |= fails and not new
        self.refused += new and not fails

    @property
    def suspected(self) -> bool:
        """Whether it may be so, and is not known yet."""
        return self.possible and not self.holds and self.spared and not self.taken and self.refused >= _SUSPECTED
