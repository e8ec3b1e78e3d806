"""What a person decides about bugs holds against every later hunt on the same database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage.decisions import Decisions, split_fingerprint
from triage.lifecycle import IllegalMove, State
from triage.records import NewFailure
from triage.store import Store, StoreError, Unknown, open_store

TVM = Target("tvm", Revision("0.27.0"))
OV = Target("openvino", Revision("2026.4.1"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def failing(name: str, fingerprint: str, target: Target = TVM) -> NewFailure:
    case = Case("onnx", name.encode(), {}, Origin("test", name))
    failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "off")
    return NewFailure(failure, fingerprint, conversion_function=fingerprint.partition("|")[0])


def hunted(store: Store, *failures: NewFailure) -> None:
    store.record(0, (), failures)


def ids(store: Store) -> dict[str, int]:
    return {bug.fingerprint: bug.id for bug in store.bugs()}


def names(store: Store, bug_id: int) -> set[str]:
    return {origin.test for origin in store.origins(bug_id)}


def test_a_merged_bug_takes_the_failures_of_later_hunts_too(store: Store) -> None:
    hunted(store, failing("a", "Resize|x"), failing("bb", "Upsample|x"))
    kept, given = ids(store)["Resize|x"], ids(store)["Upsample|x"]
    store.merge(kept, given)
    assert names(store, kept) == {"a", "bb"} and names(store, given) == set()
    hunted(store, failing("bb", "Upsample|x"), failing("ccc", "Upsample|x"))  # the same signature, seen again
    assert names(store, kept) == {"a", "bb", "ccc"} and names(store, given) == set()
    bug = store.bug(given)
    assert (bug.state, bug.note) == (State.DUPLICATE, f"merged into bug {kept} by hand")


def test_merging_goes_on_through_bugs_that_were_merged_before(store: Store) -> None:
    hunted(store, failing("a", "A|x"), failing("b", "B|x"), failing("c", "C|x"))
    a, b, c = (ids(store)[key] for key in ("A|x", "B|x", "C|x"))
    store.merge(b, c)
    store.merge(a, b)
    hunted(store, failing("d", "C|x"))
    assert names(store, a) == {"a", "b", "c", "d"}


def test_a_merge_that_is_undone_gives_back_what_was_given_and_keeps_the_bugs_apart(store: Store) -> None:
    hunted(store, failing("a", "Resize|x"), failing("bb", "Upsample|x"), failing("ccc", "Upsample|x"))
    kept, given = ids(store)["Resize|x"], ids(store)["Upsample|x"]
    store.merge(kept, given)
    hunted(store, failing("dddd", "Upsample|x"))  # met while they were one
    store.unmerge(given, "not the same, says ada")
    assert names(store, kept) == {"a", "dddd"} and names(store, given) == {"bb", "ccc"}
    bug = store.bug(given)
    assert (bug.state, bug.note) == (State.NEW, "not the same, says ada") and bug.best_failure_id is not None
    assert store.decisions().are_apart("Resize|x", "Upsample|x")
    hunted(store, failing("dddd", "Upsample|x"), failing("eeeee", "Upsample|x"))
    assert names(store, kept) == {"a"} and names(store, given) == {"bb", "ccc", "dddd", "eeeee"}
    with pytest.raises(StoreError, match="was not merged"):
        store.unmerge(given)


def test_merges_that_went_on_are_undone_one_by_one(store: Store) -> None:
    hunted(store, failing("a", "A|x"), failing("b", "B|x"), failing("c", "C|x"))
    a, b, c = (ids(store)[key] for key in ("A|x", "B|x", "C|x"))
    store.merge(b, c)
    store.merge(a, b)
    store.unmerge(c)
    assert [names(store, number) for number in (a, b, c)] == [{"a", "b"}, set(), {"c"}]
    store.unmerge(b)
    assert [names(store, number) for number in (a, b, c)] == [{"a"}, {"b"}, {"c"}]


def test_what_is_split_off_stays_its_own_bug(store: Store) -> None:
    hunted(store, failing("a", "Resize|x"), failing("bb", "Resize|x"), failing("ccc", "Resize|x"))
    bug = ids(store)["Resize|x"]
    first, second, third = store.failure_ids(bug)
    new = store.split(bug, [second, third])
    assert names(store, bug) == {"a"} and names(store, new) == {"bb", "ccc"}
    made = store.bug(new)
    assert (made.state, made.best_failure_id, made.why) == (State.NEW, second, f"split from bug {bug}: by hand")
    hunted(store, failing("bb", "Resize|x"), failing("dddd", "Resize|x"))
    assert names(store, bug) == {"a", "dddd"} and names(store, new) == {"bb", "ccc"}
    assert store.decisions().are_apart(made.fingerprint, "Resize|x")
    assert store.failure_ids(bug)[0] == first


def test_the_failure_that_a_bug_stands_on_cannot_be_split_off(store: Store) -> None:
    """The reduced case and the report are made of it."""
    hunted(store, failing("a", "Resize|x"), failing("bb", "Resize|x"))
    bug = ids(store)["Resize|x"]
    with pytest.raises(StoreError, match="split the others off instead"):
        store.split(bug, store.failure_ids(bug))
    assert len(store.bugs()) == 1 and store.bug(bug).count == 2


def test_merging_takes_a_split_back(store: Store) -> None:
    hunted(store, failing("a", "Resize|x"), failing("bb", "Resize|x"))
    bug = ids(store)["Resize|x"]
    new = store.split(bug, [store.failure_ids(bug)[1]])
    store.merge(bug, new)
    hunted(store, failing("bb", "Resize|x"))
    assert names(store, bug) == {"a", "bb"}
    assert not store.decisions().are_apart("Resize|x", store.bug(new).fingerprint)


def test_a_muted_bug_stays_put_aside_when_it_is_seen_again(store: Store) -> None:
    hunted(store, failing("a", "Resize|x"))
    bug = ids(store)["Resize|x"]
    store.mute(bug, "known to the maintainers")
    hunted(store, failing("a", "Resize|x"), failing("bb", "Resize|x"))
    found = store.bug(bug)
    assert (found.state, found.note) == (State.INVALID, "muted by hand: known to the maintainers")
    assert store.decisions().muted == {"Resize|x"}


def test_decisions_that_make_no_sense_are_refused_with_what_to_do(store: Store) -> None:
    hunted(store, failing("a", "A|x"), failing("b", "B|x", OV), failing("c", "C|x"), failing("d", "D|x"))
    a, b, c, d = (ids(store)[key] for key in ("A|x", "B|x", "C|x", "D|x"))
    with pytest.raises(StoreError, match="itself"):
        store.merge(a, a)
    with pytest.raises(StoreError, match="a bug has one compiler"):
        store.merge(a, b)
    store.merge(a, c)
    with pytest.raises(StoreError, match="name the bug that is kept"):
        store.merge(c, d)
    with pytest.raises(StoreError, match="is not of bug"):
        store.split(a, store.failure_ids(d))
    for unknown in (lambda: store.merge(a, 99), lambda: store.split(99, [1]), lambda: store.split(a, [99])):
        with pytest.raises(Unknown):
            unknown()
    with pytest.raises(Unknown):
        store.mute(99)


def test_a_decision_that_the_life_of_a_bug_forbids_changes_nothing(store: Store) -> None:
    hunted(store, failing("a", "A|x"), failing("b", "B|x"))
    a, b = ids(store)["A|x"], ids(store)["B|x"]
    for old, new in ((State.NEW, State.CONFIRMED), (State.CONFIRMED, State.REDUCED), (State.REDUCED, State.LOCATED)):
        store.advance(b, old, new)
    with store.writing() as session:
        store._row(session, b).state = State.STALE
    with pytest.raises(IllegalMove):
        store.merge(a, b)
    assert store.bug(b).count == 1 and not store.decisions().merged


def test_a_circle_of_merges_ends() -> None:
    decided = Decisions(merged={"a": "b", "b": "a"})
    assert decided.fingerprint("a") in ("a", "b")


def test_a_failure_that_was_split_off_and_merged_elsewhere_goes_there() -> None:
    new = failing("a", "A|x")
    key = new.failure.case.id, new.failure.target.id
    decided = Decisions(merged={"S": "B|x"}, split={key: "S"})
    assert [one.fingerprint for one in decided.settle([new, failing("b", "A|x")])] == ["B|x", "A|x"]


def test_the_fingerprint_of_a_split_hangs_on_the_failures_alone() -> None:
    one = split_fingerprint("A", [("c", "t"), ("d", "t")])
    assert one == split_fingerprint("A", [("d", "t"), ("c", "t")]) != split_fingerprint("A", [("c", "t")])
    assert len(one) == 16 and replace(failing("a", one)).fingerprint == one
