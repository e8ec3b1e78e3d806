"""Empties the outbox, one thing at a time, strictly in order within a stream; may be killed at any moment."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import structlog

from bot.github.client import Client
from bot.github.deliver import deliver, found
from bot.github.errors import GitHubError, Later, Limited, Refused, Unsure
from bot.github.pace import Pace
from bot.settings import BadSettings
from triage.ledger import Ledger
from triage.ledger.issues import Taken
from triage.ledger.records import Issue, Outgoing, OutKind, OutState

#: Seconds after which an effect whose answer was lost has taken place or never will: GitHub ends requests after ten.
SETTLED = 15.0
#: A thing whose sending raised a fault of ours so often in this process is given up.
MOST_FAULTS = 4
#: Seconds until the bot's key or token is looked for again.
NO_IDENTITY = 30.0
#: The longest wait between two attempts, in seconds: while GitHub is away, and while it answers other calls.
LONGEST, ANSWERING = 900.0, 120.0

log = structlog.get_logger(__name__)


class Unwanted(Exception):
    """People do not want this to be said any more; the text says why."""


def _nothing(one: Outgoing) -> str:
    return ""


def _leave(one: Outgoing, refused: Refused) -> bool:
    return False


class Sender:
    """Sends what is in the outbox. One a database: two would count their writes apart."""

    def __init__(
        self,
        ledger: Ledger,
        client: Callable[[str], Client],
        pace: Pace,
        settled: float = SETTLED,
        longest: float = LONGEST,
        after: Callable[[Outgoing, Mapping[str, Any]], None] | None = None,
        against: Callable[[Outgoing], str] = _nothing,
        refused: Callable[[Outgoing, Refused], bool] = _leave,
    ) -> None:
        """`after` does what follows from something that has arrived; `against` tells why it must not be sent any more,
        "" where it may: it is asked right before. `refused` does what follows from what GitHub will never take, and
        tells whether it is to be tried again all the same, as it stands in the ledger then.
        """
        self._ledger = ledger
        self._client = client
        self._pace = pace
        self._settled = settled
        self._longest = longest
        self._after = after or self._linked
        self._against = against
        self._refused = refused
        self._faults: Counter[int] = Counter()
        self._failures: Counter[int] = Counter()
        for each in ledger.outbox.since(datetime.now(UTC) - timedelta(hours=1)):
            if each.state == OutState.SENT:
                pace.wrote(max((datetime.now(UTC) - each.updated).total_seconds(), 0.0))

    def step(self) -> float | None:
        """Send the next thing. 0 if there was one, the seconds that limits ask to wait, None where nothing is to do."""
        wait = self._pace.wait()
        if wait > 0:
            return wait
        one = self._ledger.outbox.next()
        if one is None:
            return None
        told = log.bind(outgoing=one.id, kind=one.kind.value, key=one.key, repository=one.repository)
        if self._unsettled(one):
            self._ledger.outbox.later(one, self._settled, "its sender died; GitHub may still be at it")
            return 0.0
        before = self._pace.answers
        try:
            self._send(one)
            told.info("sent")
        except Unwanted as error:
            self._ledger.outbox.forgone(one, str(error))
            told.info("unwanted", why=str(error))
        except Refused as error:
            if self._refused(one, error):
                self._ledger.outbox.later(one, 0.0, str(error))
            else:
                self._ledger.outbox.refused(one, str(error))
            told.warning("refused", why=str(error))
        except BadSettings as error:  # no key, no token: that is no fault of this thing, and all others would meet it
            self._ledger.outbox.later(one, NO_IDENTITY, str(error))
            self._pace.hold(NO_IDENTITY)
            told.error("no_identity", why=str(error))
        except (Later, Unsure) as error:
            seconds = self._seconds(one, error, self._pace.answers > before)
            self._ledger.outbox.later(one, seconds, str(error))
            told.warning("later", why=str(error), seconds=seconds)
        except Exception as error:  # noqa: BLE001 the process edge: one thing must not hold up all others
            told.exception("not_sent")
            why = f"internal error: {type(error).__name__}: {error}"
            self._faults[one.id] += 1
            if self._faults[one.id] >= MOST_FAULTS:
                self._ledger.outbox.refused(one, why)
            else:
                self._ledger.outbox.later(one, self._settled, why)
        return 0.0

    def _send(self, one: Outgoing) -> None:
        number = one.number
        issue = None if one.bug_id is None else self._ledger.issues.of_bug(one.bug_id)
        if number is None and issue is not None and one.kind is not OutKind.FILE:
            number = issue.number
        if one.kind is OutKind.ISSUE and issue is not None and not (issue.ours and one.attempts):
            raise Refused(f"bug {one.bug_id} has an issue: {issue.repository}#{issue.number}")
        client = self._client(one.repository)
        client.keep(self._pace)
        why = self._against(one)
        result = self._arrived(one, client, number, why) if why else deliver(self._linked_file(one), client, number)
        # Before it counts as sent: killed in between, the next sender finds it by its mark, and does this again.
        self._after(replace(one, number=number), result)
        self._ledger.outbox.sent(one, result)

    def _linked_file(self, one: Outgoing) -> Outgoing:
        """An issue as it is sent: with other words where the file that it links was refused, rejected or taken back."""
        key = one.payload.get("file")
        file = self._ledger.outbox.by_key(key) if key else None
        if key is None or (file is not None and file.state is OutState.SENT):
            return one
        return replace(one, payload={**one.payload, "body": one.payload["without_file"]})

    def _arrived(self, one: Outgoing, client: Client, number: int | None, why: str) -> Mapping[str, Any]:
        """What an earlier attempt made, whose answer was lost: that was said before people decided. Raises Unwanted."""
        result = found(one, client, number) if one.attempts else None
        if result is None:
            raise Unwanted(why)
        return result

    def _linked(self, one: Outgoing, result: Mapping[str, Any]) -> None:
        if one.kind is OutKind.ISSUE and one.bug_id is not None:
            self._link(one, one.bug_id, int(result["number"]))

    def _link(self, one: Outgoing, bug_id: int, number: int) -> None:
        try:
            self._ledger.issues.link(Issue(bug_id, one.repository, number, ours=True))
        except Taken as taken:
            log.warning("issue not linked", bug=bug_id, number=number, why=str(taken))

    def _unsettled(self, one: Outgoing) -> bool:
        """Whether its last sender died so shortly ago that what it asked for may still happen."""
        age = (datetime.now(UTC) - one.updated).total_seconds()
        return one.state is OutState.SENDING and age < self._settled

    def _seconds(self, one: Outgoing, error: GitHubError, answering: bool) -> float:
        """How long it is left alone: twice as long each time that it fails in this process, limits left out.

        Of many calls that a thing takes a few may fail by chance; where others succeed GitHub is there (`answering`).
        """
        if isinstance(error, Limited):
            return error.seconds
        least = error.seconds if isinstance(error, Later) else self._settled
        doubled = least * 2.0 ** min(self._failures[one.id], 10)
        self._failures[one.id] += 1
        return min(doubled, max(least, ANSWERING) if answering else self._longest, self._longest)
