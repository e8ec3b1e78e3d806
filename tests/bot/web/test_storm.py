"""kill -9 of the server and of the dispatcher: nothing acknowledged is lost, nothing is done twice."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from tests.bot.web import storm
from triage import store_file
from triage.ledger.records import DeliveryState

DELIVERIES, KILLS = 1500, 4


def test_killed_at_random_moments_every_delivery_is_handled_exactly_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_file, "BUSY_SECONDS", 600.0)
    with storm.place(tmp_path) as place:
        storm.rage(place, DELIVERIES, seed=11, kills=KILLS)
        assert place.kills == KILLS, "the server and the dispatcher"
        acknowledged = {guid for guid, status in place.statuses.items() if status == 202}
        stored = storm.known(place)
        assert set(place.statuses.values()) == {0, 202}, "some were refused, none was answered with an error"
        assert acknowledged <= stored

        note = storm.fetch(place)
        assert f"{DELIVERIES - len(stored)} fetched" in note
        end = storm.found(place)
        assert end.states == {DeliveryState.HANDLED: DELIVERIES}
        assert end.works == Counter(range(DELIVERIES)), "one piece of work each"
        assert "0 deliveries missed" in storm.fetch(place)
        assert not place.github.violations and not place.github.oddities
