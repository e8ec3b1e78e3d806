"""Bisection as work of the bot, on real builds of the tiny compiler."""

from __future__ import annotations

import pytest

from tests.bot.checks.support import Shop
from tests.bot.life.support import bug_of
from triage.ledger.records import WorkState
from triage.lifecycle import State
from triage.revisions.environments import Environments, Untestable


def test_a_bisection_waits_for_an_end_that_is_in_passing_trouble(
    tiny_shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    bug = bug_of(tiny_shop, "Sub", tiny_shop.lands("sub swaps"), state=State.DRAFTED, number=None)
    payload = {"bug": bug.id, "project": "tiny", "from": tiny_shop.first}

    def ensure(*_: object, **__: object) -> None:
        raise Untestable(tiny_shop.first, "installing failed: Could not connect", passing=True)

    with monkeypatch.context() as away:
        away.setattr(Environments, "ensure", ensure)
        waits = tiny_shop.do("bisect", "it", **payload)
    assert waits.state is WorkState.QUEUED and "Could not connect" in waits.note
    assert not tiny_shop.queued("file")
    tiny_shop.ledger.work.wake("bisect", "it")
    done = tiny_shop.go_on(waits.id, "bisect")
    assert f"first bad revision: {bug.revision}" in done.note and tiny_shop.queued("file")
