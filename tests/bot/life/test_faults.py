"""Every call that the life of an issue takes fails once, each in another way: nothing is said twice, nothing is lost.

How each thing that is sent fares at each of its calls is told by `tests/bot/github/test_faults.py`; here all that work
asks of GitHub fails as well: who may command, what the tracker has, whose issue it is.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator

import pytest
from sqlmodel import update

from bot import working
from bot.desk import Desk
from bot.github.auth import Access
from bot.github.markers import keys
from bot.github.pace import Pace
from bot.life import saying
from bot.sending import sender_of
from tests.bot.checks.support import Shop
from tests.bot.github.outgoing import Clock, hurry
from tests.bot.life.support import bug_of
from tests.github.faults import FAULTS, Fault, How
from tests.github.support import World
from triage.ledger.records import NewWork, OutState, WorkState
from triage.ledger.rows import WorkRow
from triage.lifecycle import State

#: Those that take no time.
QUICK = [fault for fault in FAULTS.values() if fault.how not in (How.SILENCE, How.LATE)]
#: Work that asks GitHub, or that says something there.
KINDS = ("command", "file", "human", "close", "reopen", "retest")


@pytest.fixture(params=[0, 5, 9], ids="from fault {}".format)
def failing(request: pytest.FixtureRequest, github_world: World, monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    """Each operation fails when it is asked for the first time; how often each was asked for."""
    ways: Iterator[Fault] = itertools.islice(itertools.cycle(QUICK), request.param, None)
    asked: Counter[str] = Counter()

    def fault(verb: str, target: str) -> Fault | None:
        place = f"{verb} {re.sub(r'[0-9]+|acme/compiler-[0-9a-f]+', '*', target.partition('?')[0])}"
        asked[place] += 1
        return next(ways) if asked[place] == 1 else None

    monkeypatch.setattr(github_world.proxy, "fault", fault)
    return asked


class Bot:
    """Work and sending in turns, whose waiting times pass at once."""

    def __init__(self, shop: Shop, world: World) -> None:
        self.shop, self.clock = shop, Clock()
        pace = Pace(self.clock)
        access = Access(world.settings(), pace)
        self.desk = Desk(shop.settings, shop.ledger, access.client)
        self.sender = sender_of(shop.ledger, access.client, pace, settled=0, settings=shop.settings)

    def does(self, work: NewWork) -> None:
        """This, and all that follows, to its end."""
        ledger = self.shop.ledger
        ledger.work.add(work)
        for _ in range(300):
            with ledger.store.writing() as session:
                session.exec(update(WorkRow).values(not_before=None))
            hurry(ledger)
            found = ledger.work.claim(KINDS)
            if found is not None:
                working.do(found, self.desk)
            self.clock.now += self.sender.step() or 0.0
            left = [*ledger.work.listed([WorkState.QUEUED]), *ledger.outbox.listed([OutState.READY, OutState.SENDING])]
            if not left:
                return
        pytest.fail(f"never done: {left}")


def test_each_call_of_the_life_of_an_issue_may_fail(
    tiny_shop: Shop, github_world: World, failing: Counter[str]
) -> None:
    shop, world = tiny_shop, github_world
    shop.configure(repository=world.repository, repository_id=None)
    bug = bug_of(shop, "Sub", shop.lands("sub swaps"), State.DRAFTED, None)
    bot = Bot(shop, world)
    bot.does(saying.to_file(bug.id, "tiny"))
    [issue] = world.issues()
    told = {"number": issue["number"], "comment": 1000, "author": world.maintainer, "text": "@graphwarden explain"}
    bot.does(NewWork("command", "1000", "tiny", {**told, "pull": False, "open": True}))
    fix = shop.lands()
    bot.does(NewWork("close", f"bug:{bug.id}", "tiny", {"bug": bug.id, "commit": fix}))
    assert world.issues()[0]["state"] == "closed"
    undone = shop.lands("sub swaps")
    bot.does(NewWork("reopen", f"bug:{bug.id}", "tiny", {"bug": bug.id, "commit": undone}))
    assert [each["state"] for each in world.issues()] == ["open"]
    acted = {"action": "closed", "actor": "ada", "program": False, "reason": "completed", "label": "", "to": ""}
    world.ask(f"/issues/{issue['number']}", "PATCH", {"state": "closed"})
    bot.does(NewWork("human", "1", "tiny", {"number": issue["number"], **acted, "at": "2027-01-01T00:00:00Z"}))
    assert not [one for one in shop.ledger.work.listed() if one.state is WorkState.FAILED]
    texts = [issue["body"], *(each["body"] for each in world.comments(issue["number"]))]
    marks = Counter(key.partition(":")[0] for text in texts for key in keys(text))
    assert marks == dict.fromkeys(("issue", "answer", "fixed", "status", "regressed"), 1)
    assert len(failing) > 12, failing
    assert not world.proxy.violations
