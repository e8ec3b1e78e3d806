"""A hunt in the foreground that others steer."""

import time
from pathlib import Path

from triage import campaign_control as control
from triage.obeying import Pace
from triage.store import open_store


def test_a_hunt_that_is_cancelled_just_before_its_last_part_ends_knows_it(tmp_path: Path) -> None:
    with open_store(tmp_path / "hunt.db", create=True) as store:
        number = store.begin_campaign({"sources": ["isra"], "targets": ["tvm@1"], "seed": 0}).id
        pace = Pace(store, number, time.monotonic(), None, print)
        assert not pace.cancelled
        assert pace.through(lambda: control.cancel(store, str(number)))
        assert pace.cancelled and pace.through(lambda: "more") is None
