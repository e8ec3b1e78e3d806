"""kill -9 of the server and of the dispatcher: nothing acknowledged is lost, nothing is done twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.bot.web import storm
from triage import store_file
from triage.ledger.records import DeliveryState
from triage.store_place import is_server

#: A server that shares this machine's processors with all else takes longer for each.
DELIVERIES, KILLS = {"sqlite": 1500, "postgresql": 300}, 4


def test_killed_at_random_moments_every_delivery_is_handled_exactly_once(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    deliveries = DELIVERIES["postgresql" if is_server(database) else "sqlite"]
    monkeypatch.setattr(store_file, "BUSY_SECONDS", 600.0)
    with storm.place(tmp_path, database) as place:
        storm.rage(place, deliveries, seed=11, kills=KILLS)
        assert place.kills == KILLS, "the server and the dispatcher"
        acknowledged = {guid for guid, status in place.statuses.items() if status == 202}
        stored = storm.known(place)
        assert set(place.statuses.values()) == {0, 202}, "some were refused, none was answered with an error"
        assert acknowledged <= stored

        note = storm.fetch(place)
        assert f"{deliveries - len(stored)} fetched" in note
        end = storm.found(place)
        assert end.states == {DeliveryState.HANDLED: deliveries}
        assert end.works == Counter(range(deliveries)), "one piece of work each"
        assert "0 deliveries missed" in storm.fetch(place)
        assert not place.github.violations and not place.github.oddities
