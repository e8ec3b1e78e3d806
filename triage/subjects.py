"""Subjects of a comparison of orders: what one recorded campaign ran from one source on one target, and its bugs.

A store keeps the models of failing cases only, so the tests are generated again by their source and seed and known by
their content ids.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz import generators
from fuzz.case import Case, Origin, Status
from fuzz.ranking import cases, failed_before
from fuzz.ranking.item import Call, Item
from triage.lifecycle import NO_BUGS
from triage.store import Store
from triage.store_results import Recorded
from triage.suite.entries import as_release

#: Never shown to the compiler, so no test of it.
NOT_RUN = (Status.SKIPPED, Status.INVALID)


@dataclass(frozen=True, eq=False)
class Subject:
    """Tests by position. `refused` says which were unsupported, `unknown` how many could not be generated again.

    `tested` holds the compiler's own tests, where they are known; `failed` says which bugs tests showed in earlier
    campaigns on other versions of the compiler, or in those that the project ships (`fuzz.ranking.failed_before`).
    """

    source: str
    target: str
    items: tuple[Item, ...]
    bugs: Mapping[str, tuple[int, ...]]
    seconds: tuple[float, ...]
    refused: tuple[bool, ...]
    unknown: int
    tested: tuple[Item, ...] = ()
    failed: Mapping[int, Collection[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """``source, target``."""
        return f"{self.source}, {self.target}"


def subjects(store: Store, campaign_id: int) -> list[Subject]:
    """One subject for each source and target of a campaign that saw at least one bug. Raises StoreError."""
    counted = {bug.fingerprint for bug in store.bugs() if bug.state not in NO_BUGS}
    earlier = _earlier(store, campaign_id, counted)
    results = [each for each in store.recorded(campaign_id) if each.status not in NOT_RUN]
    files = _files(store, campaign_id)
    known = _items((each.origin for each in results), files)
    groups: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
    for each in results:
        groups[each.origin.generator, each.target_id].append(each)
    found = [_subject(source, target, own, known, counted, earlier) for (source, target), own in groups.items()]
    return [subject for subject in found if subject.bugs]


def _earlier(store: Store, campaign_id: int, counted: set[str]) -> dict[str, list[Recorded]]:
    """What cases showed in the campaigns before this one, by case id."""
    found: dict[str, list[Recorded]] = defaultdict(list)
    for info in store.campaigns():
        for each in store.recorded(info.id) if info.id < campaign_id else ():
            if each.bug in counted:
                found[each.case_id].append(each)
    return found


def build(target_id: str) -> tuple[str, str]:
    """The backend and the version of a target: what ``tvm@0.27.0[opt=off]`` begins with."""
    backend, _, rest = target_id.partition("@")
    return backend, rest.partition("[")[0]


def _failed(case_id: str, target_id: str, earlier: Mapping[str, Sequence[Recorded]]) -> set[str]:
    """The bugs that a case showed earlier on other versions of the compiler: those of this one are its outcome."""
    backend, version = build(target_id)
    builds = [(each.bug, *build(each.target_id)) for each in earlier.get(case_id, ())]
    return {bug for bug, other, built in builds if other == backend and built != version}


def _shipped(target_id: str) -> dict[str, set[str]]:
    """What a hunt knows beforehand of an earlier release, by case id; of this one it would be the outcome."""
    backend, version = build(target_id)
    before = failed_before.shipped(backend)
    old, own = as_release(before.version), as_release(version)
    return before.by_case() if old is not None and own is not None and old < own else {}


def _files(store: Store, campaign_id: int) -> dict[str, str]:
    """The files of instances that a campaign drew from and that are still there, by the name that origins give them.

    They are looked for where the hunt found them and beside the database: who compares may stand in another folder.
    """
    sources = next((info.parameters.get("sources", ()) for info in store.campaigns() if info.id == campaign_id), ())
    found: dict[str, str] = {}
    for source in sources:
        places = (Path(source), store.beside("").with_name(Path(source).name))
        if there := next((path for path in places if path.is_file()), None):
            found[there.name] = str(there)
    return found


def _items(origins: Iterable[Origin], files: Mapping[str, str]) -> dict[str, Item]:
    """The items of all cases of the generators and seeds that the origins name; of unknown generators none."""
    found: dict[str, Item] = {}
    for name, seed in sorted({(origin.generator, origin.seed) for origin in origins}):
        if name in generators.names() or name in files:
            entries = generators.load(files.get(name, name))(seed)
            found.update((case.id, cases.item(case)) for case in entries if isinstance(case, Case))
    return found


def _subject(
    source: str,
    target: str,
    results: Sequence[Recorded],
    known: Mapping[str, Item],
    counted: set[str],
    earlier: Mapping[str, Sequence[Recorded]],
) -> Subject:
    items: list[Item] = []
    bugs: dict[str, list[int]] = defaultdict(list)
    failed: dict[int, set[str]] = {}
    shipped = _shipped(target)
    unknown = 0
    for at, result in enumerate(results):
        item = known.get(result.case_id)
        unknown += item is None
        # Failing cases have their models in the store; to read those alone would give away which tests fail.
        items.append(item or Item(result.case_id, (Call(result.origin.test, {}),), result.origin.test))
        if result.bug in counted:
            bugs[result.bug].append(at)
        if before := _failed(result.case_id, target, earlier) | shipped.get(result.case_id, set()):
            failed[at] = before
    return Subject(
        source,
        target,
        tuple(items),
        {bug: tuple(tests) for bug, tests in bugs.items()},
        tuple(result.seconds for result in results),
        tuple(result.status is Status.UNSUPPORTED for result in results),
        unknown,
        failed=failed,
    )
