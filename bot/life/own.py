"""Whether the bot itself did what GitHub tells of: with a plain token its account is a person's, too.

GitHub names the account that acted and no more. What the bot has sent is in the outbox, with GitHub's time of it: an
act of that account which none of it explains is the person's.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import UTC, datetime, timedelta

from bot.life.human import Act, Done
from triage.ledger import Ledger
from triage.ledger.records import Outgoing, OutKind, OutState

#: GitHub's times of one act, in its answer and in its delivery, lie no further apart.
_SAME = timedelta(seconds=60)
#: Since then something may have arrived whose answer is not known: how far clocks may lie apart.
_SKEW = timedelta(minutes=10)
_BEGUN = (OutState.READY, OutState.SENDING, OutState.SENT)
#: More than is ever said about one bug.
_ALL = 10_000


def acted(ledger: Ledger, bug_id: int, done: Done) -> bool:
    """Whether an act in a bug's issue, by the bot's account, is something that the bot has sent.

    What is sent explains one act: the next one like it is a person's. The same delivery again is the same act.
    """
    for one in _like(ledger, bug_id, done):
        heard = one.result.get("heard", {}).get(_name(done), "")
        if heard == done.at or (not heard and _at_that_time(one, done.at)):
            ledger.outbox.heard(one.id, _name(done), done.at)
            return True
    return False


def wrote(ledger: Ledger, keys: Collection[str], comment: int) -> bool:
    """Whether a comment of the bot's account that carries these marks is the bot's.

    A person may quote one with its mark, or the text of an issue or a check, which is no comment.
    """
    found = (ledger.outbox.by_key(key) for key in keys)
    mine = (one for one in found if one is not None and one.kind in (OutKind.COMMENT, OutKind.EDIT_COMMENT))
    return any(one.result.get("comment", comment) == comment for one in mine)


def _name(done: Done) -> str:
    return f"{done.act}:{done.label}" if done.label else str(done.act)


def _like(ledger: Ledger, bug_id: int, done: Done) -> Iterator[Outgoing]:
    """What the bot has sent, or may have, that does such a thing."""
    for one in ledger.outbox.listed(_BEGUN, bug_id, limit=_ALL):
        if (one.attempts or one.state is not OutState.READY) and _does(one, done):
            yield one


def _does(one: Outgoing, done: Done) -> bool:
    told = one.payload
    if done.act in (Act.CLOSED, Act.REOPENED):
        alike = one.kind is OutKind.STATE and bool(told["open"]) is (done.act is Act.REOPENED)
        return alike and (done.act is Act.REOPENED or not done.reason or done.reason == told.get("reason"))
    if done.act in (Act.LABELED, Act.UNLABELED):
        put_on, taken_off = told.get("labels", told.get("add", ())), told.get("remove", ())
        names = put_on if done.act is Act.LABELED else taken_off
        return one.kind in (OutKind.ISSUE, OutKind.LABELS) and done.label.lower() in {name.lower() for name in names}
    return False


def _at_that_time(one: Outgoing, at: str) -> bool:
    moment = _time(at)
    if moment is None:
        return True  # GitHub always says when; without that nothing speaks for a person
    known = _time(str(one.result.get("at", "")))
    if known is not None:
        return abs(moment - known) <= _SAME
    return _utc(one.created) - _SKEW <= moment <= _utc(one.updated) + _SKEW


def _time(text: str) -> datetime | None:
    try:
        return _utc(datetime.fromisoformat(text))
    except ValueError:
        return None


def _utc(moment: datetime) -> datetime:
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
