"""Under a former name only the repository that was renamed is believed: anybody's may have that name now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bot import dispatch
from bot.settings import Project, Settings
from triage.ledger import Ledger
from triage.ledger.records import DeliveryState, NewDelivery
from triage.store import open_store

OLD, NEW = "octo/old", "octo/new"
OURS, THEIRS = 7, 666
BEFORE = Settings(projects={"tiny": Project(name="tiny", repository=OLD, compiler="tiny")})
AFTER = Settings(projects={"tiny": Project(name="tiny", repository=NEW, formerly=("Octo/old",), compiler="tiny")})


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with open_store(tmp_path / "bot.db", create=True) as store:
        yield Ledger(store)


def comes(ledger: Ledger, settings: Settings, name: str, **repository: Any) -> int:
    """How much work there is once somebody has closed an issue in the repository of this name."""
    told = {
        "action": "closed",
        "repository": {"full_name": name, **repository},
        "issue": {"number": 12, "state": "closed", "state_reason": "not_planned"},
        "sender": {"login": "somebody", "type": "User"},
    }
    number = sum(ledger.deliveries.counts().values())
    ledger.deliveries.add_many([NewDelivery(str(number), "issues", json.dumps(told).encode())])
    assert dispatch.once(ledger, settings) == 1
    return len(ledger.work.listed())


def test_who_takes_the_former_name_does_not_speak_for_the_project(ledger: Ledger) -> None:
    assert comes(ledger, AFTER, NEW, id=OURS) == 1
    assert comes(ledger, AFTER, OLD, id=THEIRS) == 1
    assert comes(ledger, AFTER, OLD) == comes(ledger, AFTER, OLD, id=str(OURS)) == 1
    assert ledger.deliveries.counts()[DeliveryState.IGNORED] == 3


def test_what_was_sent_before_the_renaming_is_still_heard(ledger: Ledger) -> None:
    assert comes(ledger, BEFORE, OLD, id=OURS) == 1
    assert comes(ledger, AFTER, OLD.upper(), id=OURS) == 2, "nothing has come under the new name yet"
    assert comes(ledger, AFTER, OLD, id=THEIRS) == 2
    assert comes(ledger, AFTER, NEW, id=OURS) == 3
    assert comes(ledger, AFTER, OLD, id=OURS) == 4


def test_while_the_repository_is_not_known_nothing_under_a_former_name_is_believed(ledger: Ledger) -> None:
    assert comes(ledger, AFTER, OLD, id=THEIRS) == comes(ledger, AFTER, OLD) == 0
    assert comes(ledger, AFTER, NEW) == 1, "its own name needs no id"
