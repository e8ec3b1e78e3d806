"""Every event reads what GitHub shows as examples, and whatever else arrives in their place."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot import events
from bot.events import Event
from bot.kinds import names as kinds
from tests.bot.events.support import project
from tests.github import hooks
from triage.ledger import Ledger
from triage.ledger.records import NewDelivery, NewWork
from triage.records import dump
from triage.store import open_store

HOSTILE: list[Any] = [
    None,
    True,
    -1,
    10**30,
    1e308,
    "",
    "\ud800\udfff",
    "../../etc/passwd",
    "x" * 100_000,
    [],
    [None],
    {},
    {"sha": None},
    "a\0b",
    "@everyone",
]


def examples() -> list[tuple[str, dict[str, Any]]]:
    return [(name, one) for name, some in hooks.examples().items() if name in events.names() for one in some]


def spoiled(document: Any) -> Iterator[Any]:
    """The document with each of its values in turn replaced by something hostile."""
    for at, name in enumerate(document):
        value = document[name]
        yield {**document, name: HOSTILE[at % len(HOSTILE)]}
        yield {**document, name: HOSTILE[(at * 7 + 3) % len(HOSTILE)]}
        yield {other: kept for other, kept in document.items() if other != name}
        if isinstance(value, dict):
            yield from ({**document, name: inner} for inner in spoiled(value))


def works(answer: list[NewWork] | str) -> list[NewWork]:
    """The work in an answer; a reason is short and can be shown anywhere."""
    if isinstance(answer, str):
        assert len(answer) < 300 and answer.encode().isascii()
        return []
    return answer


def save(ledger: Ledger, found: list[NewWork]) -> None:
    """All of it, as the dispatcher does."""
    assert {one.kind for one in found} <= set(kinds())
    ledger.deliveries.add_many([NewDelivery("guid", "push", b"{}")])
    different = list({(one.kind, one.key, dump(one.payload)): one for one in found}.values())
    assert len(ledger.deliveries.handled("guid", different)) == len(different)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_store(tmp_path / "bot.db", create=True) as store:
        yield Ledger(store)


def test_github_has_an_example_of_every_event_that_means_something() -> None:
    assert {name for name, _ in examples()} == set(events.names())


def test_every_example_of_github_is_understood(ledger: Ledger) -> None:
    found = []
    for name, payload in examples():
        for branch in ("main", "master"):
            found += works(events.load(name).handle(Event("guid", name, payload), project(branch=branch)))
    save(ledger, found)
    assert {one.kind for one in ledger.work.listed(limit=1000)} >= {"suite", "pull", "gate", "human", "release", "wake"}


def test_nothing_that_stands_in_a_payload_can_break_a_handler(ledger: Ledger) -> None:
    found = []
    for name in events.names():
        handle = events.load(name).handle
        asked = hooks.examples()[name][0]
        if name == "pull_request":
            asked = hooks.payload(name, "opened", {"pull_request": {"base": {"ref": "main"}}})
        if name == "issue_comment":
            asked = hooks.payload(name, "created", {"comment": {"body": "@graphwarden retest"}})
        for payload in itertools.chain(spoiled(asked), (dict.fromkeys(asked, bad) for bad in HOSTILE), [{}]):
            found += works(handle(Event("guid", name, payload), project()))
    save(ledger, found)


def test_what_cannot_be_part_of_an_address_becomes_no_work() -> None:
    for author in ("../../..", "a b", "a/b", "", "x" * 200, "ü"):
        payload = hooks.payload(
            "issue_comment", "created", {"comment": {"body": "@graphwarden mute", "user": {"login": author}}}
        )
        answer = events.load("issue_comment").handle(Event("guid", "issue_comment", payload), project())
        assert isinstance(answer, str)


def test_the_answers_are_the_same_for_the_same_event() -> None:
    for name, payload in examples():
        again = json.loads(json.dumps(payload))
        first, second = (events.load(name).handle(Event("guid", name, each), project()) for each in (payload, again))
        assert first == second
