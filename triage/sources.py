"""Where the cases of a hunt come from, and how those sources that learn are told what their cases did."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path

from fuzz import generators
from fuzz.case import Case, Status, Target
from fuzz.generators import Feedback, Kept, Skip
from fuzz.ranking import failed_before
from fuzz.ranking.history import History, Meaning, meaning, meaning_of
from fuzz.ranking.stream import Mixed, Ordered
from fuzz.runner import Runner
from triage import recognising
from triage.recognising import Recognised, Recogniser
from triage.records import CampaignInfo, NewFailure
from triage.store import Store


class SourceError(ValueError):
    """A source that gives no cases: which, and how to mend it."""


class Sources:
    """The cases of all sources of a campaign, in turns, while it tells what they did.

    Those of a source that learns come in its own order, and what it keeps from hunt to hunt lies in a file of its own.
    All others come in the order of a strategy.
    """

    def __init__(
        self, store: Store, campaign: CampaignInfo, names: Sequence[str], strategy: str, beside: Path | None = None
    ) -> None:
        """What the source NAME keeps lies in ``BESIDE.NAME.json``, `beside` being the database where it is not given.

        Raises UnknownGenerator, UnknownStrategy, StoreError of a file of instances, and SourceError.
        """
        self._store, self._campaign = store, campaign
        self._learns = any(map(generators.learns, names))
        self._known = {key for bug in store.bugs() for key in recognising.keys(bug)} if self._learns else set[str]()
        targets = campaign.parameters.get("targets", ())
        failed, history = _failed(store, campaign.id, targets), store.history(targets)
        found = {name: self._source(name, strategy, failed, history) for name in names}
        self._ordered = [each for each in found.values() if isinstance(each, Ordered)]
        self._kept = {name: each for name, each in found.items() if isinstance(each, Kept)}
        for name, each in self._kept.items():
            file = f"{name}.json"
            _keep(each, beside.with_name(f"{beside.name}.{file}") if beside else store.beside(file))
        self._mixed = Mixed([(each, generators.per_turn(name)) for name, each in found.items()])

    def _source(self, name: str, strategy: str, failed: Mapping[str, Collection[str]], history: History) -> Feedback:
        seed = int(self._campaign.parameters["seed"])
        if generators.learns(name) and (learning := generators.stream(name, seed, self._known, self._begun(name))):
            return learning
        found = Ordered(generators.load(name)(seed), strategy, seed, failed, history)
        if name not in generators.names() and not found.has_cases:
            raise SourceError(f"{name}: holds no case{found.why_none}")
        return found

    def _begun(self, name: str) -> int:
        """The index of the first case of a source that the campaign has not had."""
        had = (each.origin.test for each in self._store.recorded(self._campaign.id) if each.origin.generator == name)
        return max((int(test) + 1 for test in had if test.isdecimal()), default=0)

    def __iter__(self) -> Iterator[Case | Skip]:
        return iter(self._mixed)

    def observe(self, case_id: str, status: Status, bug: str = "", suspects: Collection[str] = ()) -> None:
        """Tell every source what a case did."""
        self._mixed.observe(case_id, status, bug, suspects)

    def mean(self, case: Case) -> Meaning:
        """What a case stands for; sources that had to read theirs to order them know it."""
        read = next((item for each in self._ordered if (item := each.item(case.id))), None)
        return meaning_of(read) if read else meaning(case)

    def write(self) -> None:
        """Keep what was learnt so far for the next hunt."""
        for each in self._kept.values():
            each.write()

    def recognise(self, runner: Runner, reference: Target) -> Callable[[NewFailure], Recognised]:
        """By what failures are told apart; fingerprints tell large models apart by all of their operators."""
        return Recogniser(runner, reference, self._known).recognise if self._learns else recognising.fingerprint


def _failed(store: Store, campaign_id: int, targets: Sequence[str]) -> dict[str, set[str]]:
    """The bugs that cases showed before, by case id: in this store, and as shipped those of which it knows nothing.

    What an earlier campaign ran tells by itself whether it still fails.
    """
    shipped = failed_before.of(target.partition("@")[0] for target in targets)
    known = {bug.fingerprint for bug in store.bugs()}
    ran = store.ran(sorted({case_id for cases in shipped.values() for case_id in cases}), campaign_id)
    new = {bug: cases for bug, cases in shipped.items() if bug not in known and ran.isdisjoint(cases)}
    return failed_before.together(new, store.failed())


def _keep(source: Kept, file: Path) -> None:
    try:
        source.keep(file)
    except ValueError as error:
        raise SourceError(str(error)) from error
