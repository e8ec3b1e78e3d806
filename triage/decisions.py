"""What a person has decided about bugs, and how that holds against every later run. Pure; the store keeps it.

Signatures are recomputed whenever a failure is seen again, so a decision is kept by fingerprint and by case, and
every failure that is recorded passes through the decisions first.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum

from triage.records import NewFailure


class Kind(StrEnum):
    """What may be decided."""

    MERGE = "merge"  # all failures of one bug are another's
    GIVEN = "given"  # this failure went along when its bug was merged: it comes back if that is undone
    SPLIT = "split"  # this failure is not its bug's but another's
    APART = "apart"  # these two bugs are not the same, however alike
    MUTE = "mute"  # nobody wants to hear of this bug


@dataclass(frozen=True)
class Decisions:
    """All decisions that hold.

    `merged` maps fingerprints to the one that took them in, `split` (case id, target id) to the fingerprint that it
    was given, `apart` holds unordered pairs of fingerprints, `muted` fingerprints.
    """

    merged: Mapping[str, str] = field(default_factory=dict)
    split: Mapping[tuple[str, str], str] = field(default_factory=dict)
    apart: frozenset[frozenset[str]] = frozenset()
    muted: frozenset[str] = frozenset()

    def fingerprint(self, signed: str) -> str:
        """The fingerprint under which failures signed so are kept."""
        seen = {signed}
        while (taken := self.merged.get(signed)) and taken not in seen:
            seen.add(taken)
            signed = taken
        return signed

    def settle(self, failures: Iterable[NewFailure]) -> list[NewFailure]:
        """Failures as signed, each under the fingerprint that was decided for it."""
        return [self._settled(new) for new in failures]

    def _settled(self, new: NewFailure) -> NewFailure:
        chosen = self.split.get((new.failure.case.id, new.failure.target.id), new.fingerprint)
        settled = self.fingerprint(chosen)
        return new if settled == new.fingerprint else replace(new, fingerprint=settled)

    def are_apart(self, one: str, other: str) -> bool:
        """Whether bugs with these fingerprints must not be taken for one."""
        return frozenset((one, other)) in self.apart


def split_fingerprint(fingerprint: str, failures: Iterable[tuple[str, str]]) -> str:
    """The fingerprint of what is split off: 16 hex digits, the same for the same failures (case id, target id)."""
    parts = "\0".join(["split", fingerprint, *(f"{case}@{target}" for case, target in sorted(failures))])
    return hashlib.sha256(parts.encode()).hexdigest()[:16]
