"""What each source of cases contributes: the bugs that it finds, alone or together with others (OPERA, figure 7).

A bug is a signature (triage/signature.py) of failures that repeated in fresh processes. Since a signature without a
conversion function names the operator as it was spelled, bugs are counted by *place*, too: the conversion function, or
the operators whatever their spelling. That is how OPERA counts them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fuzz.ranking.suspicion import family
from triage.lifecycle import NO_BUGS
from triage.records import Bug
from triage.store import Store
from triage.store_results import Recorded
from triage.subjects import NOT_RUN


@dataclass(frozen=True)
class Share:
    """What one source gave one target: the cases shown, those that failed, and the bugs and places they showed."""

    tests: frozenset[str]
    failing: frozenset[str]
    bugs: frozenset[str]
    places: frozenset[str]


@dataclass(frozen=True)
class Contributions:
    """The shares of one target by source, in alphabetical order."""

    target: str
    shares: Mapping[str, Share]

    def overlaps(self, places: bool = False) -> dict[tuple[str, ...], int]:
        """How many bugs (or places) exactly these sources found and no others did; each bug counts once."""
        finders: dict[str, list[str]] = defaultdict(list)
        for source, share in self.shares.items():
            for found in share.places if places else share.bugs:
                finders[found].append(source)
        return dict(Counter(map(tuple, finders.values())))


def contributions(stores: Iterable[Store]) -> list[Contributions]:
    """One for each target of the campaigns in all stores together. Raises StoreError."""
    results: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
    known: dict[str, Bug] = {}
    for store in stores:
        known |= {bug.fingerprint: bug for bug in store.bugs() if bug.state not in NO_BUGS}
        for campaign in store.campaigns():
            for each in store.recorded(campaign.id):
                if each.status not in NOT_RUN:
                    results[each.target_id, each.origin.generator].append(each)
    targets: dict[str, dict[str, Share]] = defaultdict(dict)
    for (target, source), own in sorted(results.items()):
        targets[target][source] = _share(own, known)
    return [Contributions(target, shares) for target, shares in targets.items()]


def _share(results: Sequence[Recorded], known: Mapping[str, Bug]) -> Share:
    bugs = {each.bug for each in results if each.bug in known}
    return Share(
        frozenset(each.case_id for each in results),
        frozenset(each.case_id for each in results if each.bug in known),
        frozenset(bugs),
        frozenset(place(known[bug]) for bug in bugs),
    )


def place(bug: Bug) -> str:
    """The conversion function of a bug, or its operators without their namespaces where no function is known."""
    return bug.conversion_function or " ".join(sorted({family(operator) for operator in bug.operators}))
