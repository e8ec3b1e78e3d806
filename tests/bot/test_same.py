"""Only the repository that is meant is believed, and spoken to: anybody's may get a name that is free again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from bot import dispatch
from bot.github.auth import Access
from bot.github.errors import Later
from bot.same import Vouched
from bot.settings import Project, Settings
from triage.ledger import Ledger
from triage.ledger.records import DeliveryState, NewDelivery
from triage.store import open_store

if TYPE_CHECKING:
    from tests.github.support import World

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


def test_who_takes_the_very_name_of_the_project_does_not_speak_for_it(ledger: Ledger) -> None:
    assert comes(ledger, BEFORE, OLD, id=OURS) == 1
    assert comes(ledger, BEFORE, OLD, id=THEIRS) == 1
    assert comes(ledger, BEFORE, OLD, id=OURS) == 2
    assert ledger.deliveries.counts()[DeliveryState.IGNORED] == 1


def test_the_new_name_is_believed_only_for_the_repository_that_had_the_former_one(ledger: Ledger) -> None:
    assert comes(ledger, BEFORE, OLD, id=OURS) == 1
    assert comes(ledger, AFTER, NEW, id=THEIRS) == 1
    assert comes(ledger, AFTER, NEW, id=OURS) == 2


def test_the_configured_id_is_the_last_word(ledger: Ledger) -> None:
    assert comes(ledger, BEFORE, OLD, id=OURS) == 1
    project = BEFORE.projects["tiny"].model_copy(update={"repository_id": THEIRS})
    assert comes(ledger, Settings(projects={"tiny": project}), OLD, id=THEIRS) == 2


@pytest.fixture
def vouched(ledger: Ledger, github_world: World) -> Vouched:
    settings = github_world.settings()
    return Vouched(Access(settings).client, settings, ledger)


def test_a_repository_is_asked_for_its_id_before_anything_is_said_there(
    vouched: Vouched, ledger: Ledger, github_world: World
) -> None:
    world = github_world
    for _ in range(2):
        assert vouched(world.repository).default_branch() == "main"
    assert ledger.repositories.id_of(world.repository) == world.ask("")["id"]
    asked = [call.path for call in world.proxy.calls if call.path == f"/repos/{world.repository}"]
    assert len(asked) == 3, "once for the id, twice for the branch"


def test_nothing_is_said_in_a_repository_that_has_taken_the_name(
    vouched: Vouched, ledger: Ledger, github_world: World
) -> None:
    ledger.repositories.note(github_world.repository, THEIRS)
    for _ in range(2):
        with pytest.raises(Later, match=f"is another repository now.*known is {THEIRS}.*repository_id = "):
            vouched(github_world.repository)


def test_while_a_repository_cannot_be_seen_what_is_to_be_said_waits(vouched: Vouched, github_world: World) -> None:
    github_world.proxy.refuse("GET", f"/repos/{github_world.repository}", 404)
    with pytest.raises(Later, match="nobody knows which repository it is"):
        vouched(github_world.repository)
