"""Known bugs of the tiny compiler, seen on real commits of it, in the state and with the issue that a test needs."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bot import builds
from bot.life import sent
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.bot.checks.support import Shop
from triage.ledger.records import Issue, Outgoing
from triage.lifecycle import State
from triage.records import Bug, NewFailure, StoredDraft
from triage.replay import Replay
from triage.revisions.environments import Environments
from triage.signing import Signer
from triage.store import Store

#: The moves that lead to a state.
JOURNEY = (
    State.NEW,
    State.CONFIRMED,
    State.REDUCED,
    State.LOCATED,
    State.JUDGED,
    State.DRAFTED,
    State.REPORTED,
    State.FIXED,
    State.CLOSED,
)
BODY = "### Actual behavior\n\nIt is wrong.\n\n*Found, reduced and drafted by Graphwarden.*\n"
DRAFT = StoredDraft("[Bug] Sub returns 2 instead of -2", BODY, "print('PASS')\n", ("type: bug",))


def bug_of(shop: Shop, operator: str, version: str, state: State = State.REPORTED, number: int | None = 7) -> Bug:
    """A bug that the operator's case shows on a build, as wrong values; with an issue of the bot's own."""
    target = Target(builds.compiler(shop.project.compiler).backend, Revision(version))
    outcome = Outcome(Status.WRONG, Stage.RUN)
    failure = Failure(case(shop, operator), target, outcome, None, "inconsistency", "wrong:values", "values differ")
    return _recorded(shop, NewFailure(failure, f"f-{operator}", "", (operator,)), state, number)


def seen_on(shop: Shop, operator: str, commit: str, state: State = State.NEW) -> Bug:
    """The bug that the operator's case really shows on a commit, as a suite records it."""
    compiler = builds.compiler(shop.project.compiler)
    with Runner(Limits(600, 2048), jobs=1) as runner:
        revision = Environments(runner).ensure(compiler, builds.revision(compiler, commit))
        [answer] = Replay(runner, compiler).run([case(shop, operator)], revision)
        assert answer.verdict is not None and answer.verdict.failure is not None, answer
        return _recorded(shop, Signer(runner).describe(answer.verdict.failure), state, None)


def _recorded(shop: Shop, new: NewFailure, state: State, number: int | None) -> Bug:
    store = shop.ledger.store
    store.record(0, (), [new])
    [bug] = [bug for bug in store.bugs() if bug.fingerprint == new.fingerprint]
    moved(store, bug, state)
    if number is not None:
        is_open = state is not State.CLOSED
        shop.ledger.issues.link(Issue(bug.id, shop.project.repository, number, ours=True, open=is_open))
    return store.bug(bug.id)


def moved(store: Store, bug: Bug, state: State, draft: StoredDraft = DRAFT) -> None:
    """Take a new bug to a state; what has a draft gets one."""
    for old, new in itertools.pairwise(JOURNEY[: JOURNEY.index(state) + 1]):
        fields: dict[str, Any] = {"draft": draft} if new is State.DRAFTED else {}
        store.advance(bug.id, old, new, **fields)


def case(shop: Shop, operator: str) -> Case:
    """The operator's case, as the suite has it."""
    assert shop.project.cases is not None
    path = shop.project.cases / f"{operator}.onnx"
    with np.load(path.with_suffix(".npz")) as values:
        return Case("onnx", path.read_bytes(), dict(values), Origin("file", operator))


def said(shop: Shop) -> list[tuple[str, str, str]]:
    """What is in the outbox: kind, state, and the beginning of its key."""
    return [(str(one.kind), str(one.state), one.key.split(":")[0]) for one in shop.ledger.outbox.listed()]


def text(shop: Shop, start: str) -> str:
    """The text of the one outgoing thing whose key begins so."""
    [one] = [one for one in shop.ledger.outbox.listed() if one.key.startswith(start)]
    return str(one.payload["body"])


def arrived(shop: Shop, **result: Any) -> list[Outgoing]:
    """Everything that is ready arrives at GitHub, as the sender does it."""
    found = []
    while (one := shop.ledger.outbox.next()) is not None:
        sent.after(one, result, shop.ledger)
        shop.ledger.outbox.sent(one, result)
        found.append(one)
    return found
