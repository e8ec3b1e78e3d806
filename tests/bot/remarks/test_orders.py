"""Whatever people do in whatever order, and whenever the bot gets to speak: the last word is a person's."""

from __future__ import annotations

import itertools
import random
from datetime import UTC, datetime, timedelta

import pytest

from bot.life import human, saying
from tests.bot.remarks.support import Room
from triage.ledger.records import Issue, OutState, WorkState
from triage.lifecycle import State

BEGIN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
#: What may happen, each as a method of `_Story`.
STEPS = (
    *("closed_as_done", "refused", "reopened", "labelled", "unlabelled", "muted", "no_bug", "duplicate"),
    *("no_duplicate", "fixed", "back", "sends", "loses_an_answer", "transferred", "told_late"),
)


class _Story:
    """One bug with its issue, what people did there, and what the bot may say of it."""

    def __init__(self, room: Room) -> None:
        self.room = room
        self.other = room.issue(room.bug())
        self.bug = room.bug()
        self.number = room.issue(self.bug)
        self.fixes = itertools.count()
        self.seconds = itertools.count()
        self.gone = False

    def issue(self) -> Issue:
        found = self.room.ledger.issues.of_bug(self.bug)
        assert found is not None
        return found

    def at(self, late: int = 0) -> str:
        moment = BEGIN + timedelta(seconds=next(self.seconds) - late)
        return moment.strftime("%Y-%m-%dT%H:%M:%SZ")

    def acts(self, action: str, **issue: str) -> None:
        label = issue.pop("label", "")
        self.room.acts(action, self.number, label=label, **{"updated_at": self.at(), **issue})

    def patched(self, **told: str) -> None:
        self.room.world.ask(f"/issues/{self.number}", "PATCH", told)

    def closed_as_done(self) -> None:
        self.patched(state="closed", state_reason="completed")
        self.acts("closed", state_reason="completed")

    def refused(self) -> None:
        self.patched(state="closed", state_reason="not_planned")
        self.acts("closed", state_reason="not_planned")

    def reopened(self) -> None:
        self.patched(state="open")
        self.acts("reopened")

    def told_late(self) -> None:
        self.acts("closed", state_reason="completed", updated_at=self.at(late=3600))

    def labelled(self) -> None:
        self.acts("labeled", label="wontfix")

    def unlabelled(self) -> None:
        self.acts("unlabeled", label="wontfix")

    def transferred(self) -> None:
        self.acts("transferred")
        self.gone = True

    def muted(self) -> None:
        self.room.says("@graphwarden mute", self.number)

    def no_bug(self) -> None:
        self.room.says("@graphwarden not a bug", self.number)

    def duplicate(self) -> None:
        self.room.says(f"@graphwarden duplicate of #{self.other}", self.number)

    def no_duplicate(self) -> None:
        self.room.says("@graphwarden not a duplicate", self.number)

    def fixed(self) -> None:
        """A fix is seen to work; its closing is put forward as the bot does it."""
        fix = f"{next(self.fixes):040x}"
        if self._moves(State.FIXED):
            self._puts(f"close:bug:{self.bug}:{fix}", is_open=False, fix=fix)

    def back(self) -> None:
        if self._moves(State.REGRESSED):
            self._puts(f"reopen:bug:{self.bug}:{next(self.fixes):040x}", is_open=True, fix="")

    def _moves(self, state: State) -> bool:
        now = self.room.state(self.bug)
        ways = {State.FIXED: (State.REPORTED, State.REGRESSED), State.REGRESSED: (State.FIXED, State.CLOSED)}
        if now in ways[state]:
            self.room.ledger.store.advance(self.bug, now, state)
            return True
        return False

    def _puts(self, key: str, *, is_open: bool, fix: str) -> None:
        self.room.ledger.outbox.add(saying.state(key, self.issue(), is_open, fix, False))
        for one in saying.status(self.room.ledger, self.bug, False):
            self.room.ledger.outbox.add(one)

    def sends(self) -> None:
        self.room.answers(self.number)

    def loses_an_answer(self) -> None:
        one = self.room.ledger.outbox.next()
        if one is not None:
            self.room.ledger.outbox.later(one, 0, "the answer was lost")

    def state(self) -> str:
        return str(self.room.world.ask(f"/issues/{self.number}")["state"])


@pytest.mark.parametrize("seed", range(4))
def test_no_order_of_events_makes_the_bot_speak_against_people(room: Room, seed: int) -> None:
    story, draw = _Story(room), random.Random(seed)
    for _ in range(24):
        step = draw.choice(STEPS)
        before, said = story.state(), human.read(story.issue().human)
        texts = len(room.world.comments(story.number))
        getattr(story, step)()
        if step == "sends" and said.forbids_writing():
            mine = [one for one in room.out() if one.bug_id == story.bug and one.kind == "comment"]
            assert story.state() == before or room.state(story.bug) is State.INVALID, (seed, said)
            assert len(room.world.comments(story.number)) - texts <= _answers(room) and not mine
        if step == "sends" and said.closed in human.REFUSED:
            assert story.state() == "closed", (seed, said)
        if step == "sends" and said.reopened and before == "open" and room.state(story.bug) is not State.CLOSED:
            assert story.state() == "open", (seed, said)
    story.sends()
    failed = [work for work in room.ledger.work.listed(limit=1000) if work.state is WorkState.FAILED]
    assert not [work.note for work in failed]
    assert not [one.note for one in room.out() if one.state is OutState.FAILED]
    assert not [one.note for one in room.out() if "internal" in one.note]


def _answers(room: Room) -> int:
    return sum(one.key.startswith(("answer:", "help:")) for one in room.out())
