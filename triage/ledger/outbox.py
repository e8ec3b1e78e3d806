"""Everything that is said at GitHub passes through here: held, ready, being sent, sent. Nothing is said twice.

Within a stream (one bug, one check run) things go out strictly in order. A thing that was being sent when its sender
died may have arrived: its `attempts` say so, and the next sender looks before it repeats.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, func, or_
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from triage import store_acts
from triage.acts import Deed, NewAct
from triage.ledger.owners import LEASE, free, me, now
from triage.ledger.queueing import queue
from triage.ledger.records import REPLACED, Counted, NewOutgoing, NewWork, Outgoing, OutKind, OutState
from triage.ledger.rows import OutgoingRow, SwitchRow
from triage.records import clean, dump
from triage.store import Store, Unknown

#: The emergency stop's name among the switches.
STOP = "stop"
#: In a result: the acts that GitHub has told of, and when they took place.
_HEARD = "heard"
_UNSENT = (OutState.HELD.value, OutState.READY.value, OutState.SENDING.value)
_GOING = (OutState.READY.value, OutState.SENDING.value)
_NEVER_SAID = (OutState.REJECTED.value, OutState.FAILED.value, OutState.WITHDRAWN.value)


#: What a moderator decides about, in words.
_SAID = {
    OutKind.ISSUE: "the report",
    OutKind.COMMENT: "a comment",
    OutKind.EDIT_COMMENT: "a comment",
    OutKind.STATE: "a change of the issue's state",
    OutKind.LABELS: "labels",
    OutKind.CHECK: "a check run",
    OutKind.FILE: "a file",
    OutKind.NOTICE: "a notice",
}


class Outbox:
    """The outgoing things of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def add(self, new: NewOutgoing) -> int:
        """Put something in; its id. What was put in under the same key stays, or takes the newer payload (REPLACED)."""
        with self._store.writing() as session:
            return put(session, new)

    def next(self) -> Outgoing | None:
        """The first thing that may be sent now, marked as being sent; None where there is none, or all is stopped."""
        with self._store.writing() as session:
            stop = session.get(SwitchRow, STOP)
            if stop is not None and stop.value:
                return None
            earlier = aliased(OutgoingRow)
            blocked = (
                select(earlier.id)
                .where(
                    earlier.stream == OutgoingRow.stream,
                    col(earlier.id) < col(OutgoingRow.id),
                    col(earlier.state).in_(_UNSENT),
                )
                .exists()
            )
            ready = or_(col(OutgoingRow.not_before).is_(None), col(OutgoingRow.not_before) <= now())
            query = select(OutgoingRow).where(col(OutgoingRow.state).in_(_GOING), ready, ~blocked)
            for row in session.exec(query.order_by(col(OutgoingRow.id))):
                if row.state == OutState.SENDING and not free(row.owner, row.lease):
                    continue
                found = _outgoing(row)  # `attempts` as they were: whether an earlier one may have arrived
                row.state, row.owner, row.lease = OutState.SENDING.value, me(), now() + LEASE
                row.attempts += 1
                row.updated = now()
                return found
        return None

    def sent(self, one: Outgoing, result: Mapping[str, Any]) -> None:
        """It arrived. Where its payload has been replaced meanwhile, the newer one still has to go out."""
        with self._store.writing() as session:
            row = _row(session, one.id)
            newer = row.version != one.version
            row.state = (OutState.READY if newer else OutState.SENT).value
            heard = {name: value for name, value in json.loads(row.result).items() if name == _HEARD}
            row.result = dump({**heard, **result})
            row.note, row.owner, row.lease, row.updated = "", "", None, now()
            if newer:
                row.attempts = 0

    def heard(self, outgoing_id: int, act: str, at: str) -> None:
        """GitHub has told of an act that this was (`bot.life.own`), and when it took place there. Raises Unknown."""
        with self._store.writing() as session:
            row = _row(session, outgoing_id)
            result = json.loads(row.result)
            row.result = dump({**result, _HEARD: {**result.get(_HEARD, {}), act: at}})

    def later(self, one: Outgoing, seconds: float, why: str) -> None:
        """It could not be sent, or nobody knows; try again after `seconds`."""
        with self._store.writing() as session:
            row = _row(session, one.id)
            row.state, row.not_before = OutState.READY.value, now() + timedelta(seconds=seconds)
            row.note, row.owner, row.lease, row.updated = clean(why), "", None, now()

    def refused(self, one: Outgoing, why: str) -> None:
        """GitHub will never take it. What has replaced it meanwhile still has to go out."""
        self._ended(one, OutState.FAILED, why)

    def forgone(self, one: Outgoing, why: str) -> None:
        """Whoever was to send it saw that it must not be said. What has replaced it meanwhile is looked at anew."""
        self._ended(one, OutState.WITHDRAWN, why)

    def withdraw(
        self, bug_id: int, why: str, kinds: Collection[OutKind], starts: tuple[str, ...], spared: tuple[str, ...] = ()
    ) -> int:
        """Take back what nobody has begun to send about a bug, of these kinds and beginnings of keys; how many.

        `spared` are beginnings of keys that stay.
        """
        query = select(OutgoingRow).where(
            OutgoingRow.bug_id == bug_id,
            col(OutgoingRow.kind).in_(list(kinds)),
            or_(
                col(OutgoingRow.state) == OutState.HELD.value,
                and_(col(OutgoingRow.state) == OutState.READY.value, col(OutgoingRow.attempts) == 0),
            ),
        )
        with self._store.writing() as session:
            rows = [row for row in session.exec(query) if row.key.startswith(starts) and not row.key.startswith(spared)]
            for row in rows:
                row.state, row.note, row.updated = OutState.WITHDRAWN.value, clean(why), now()
            return len(rows)

    def approve(self, outgoing_id: int, by: str, version: int | None = None) -> None:
        """A moderator lets it go, or has read it (NOTICE).

        `version` is the one that he has seen, None for whatever it says by now. Raises Unknown, NotHeld.
        """
        read = self.get(outgoing_id).kind is OutKind.NOTICE
        self._moderate(outgoing_id, OutState.SENT if read else OutState.READY, Deed.APPROVE, by, version=version)

    def reject(
        self, outgoing_id: int, by: str, why: str = "", version: int | None = None, works: Iterable[NewWork] = ()
    ) -> None:
        """A moderator does not let it go, and `works` follow. `version` as for `approve`. Raises Unknown, NotHeld."""
        self._moderate(outgoing_id, OutState.REJECTED, Deed.REJECT, by, why, version, works)

    def get(self, outgoing_id: int) -> Outgoing:
        """One outgoing thing. Raises Unknown."""
        with self._store.reading() as session:
            return _outgoing(_row(session, outgoing_id))

    def by_keys(self, keys: Collection[str]) -> dict[str, Outgoing]:
        """What was put in under these keys, as far as there is any."""
        with self._store.reading() as session:
            rows = session.exec(select(OutgoingRow).where(col(OutgoingRow.key).in_(keys)))
            return {row.key: _outgoing(row) for row in rows}

    def by_key(self, key: str) -> Outgoing | None:
        """What was put in under a key."""
        with self._store.reading() as session:
            row = session.exec(select(OutgoingRow).where(OutgoingRow.key == key)).first()
            return None if row is None else _outgoing(row)

    def listed(
        self, states: Collection[OutState] | None = None, bug_id: int | None = None, limit: int = 200
    ) -> list[Outgoing]:
        """Outgoing things, in the order in which they were put in."""
        query = select(OutgoingRow).order_by(col(OutgoingRow.id)).limit(limit)
        if states is not None:
            query = query.where(col(OutgoingRow.state).in_(list(states)))
        if bug_id is not None:
            query = query.where(OutgoingRow.bug_id == bug_id)
        with self._store.reading() as session:
            return [_outgoing(row) for row in session.exec(query)]

    def counts(self) -> dict[OutState, int]:
        """How many things there are in each state."""
        query = select(OutgoingRow.state, func.count()).group_by(col(OutgoingRow.state))
        with self._store.reading() as session:
            return {OutState(state): number for state, number in session.exec(query)}

    def since(self, moment: datetime, kind: OutKind | None = None, repository: str = "") -> list[Outgoing]:
        """What was put in since a moment (UTC) and is or may yet be said: for limits."""
        with self._store.reading() as session:
            return [_outgoing(row) for row in session.exec(_since(moment, kind, repository))]

    def _ended(self, one: Outgoing, state: OutState, why: str) -> None:
        with self._store.writing() as session:
            row = _row(session, one.id)
            newer = row.version != one.version
            row.state = (OutState.READY if newer else state).value
            row.attempts = 0 if newer else row.attempts
            row.note, row.owner, row.lease, row.updated = clean(why), "", None, now()

    def _moderate(
        self,
        outgoing_id: int,
        state: OutState,
        deed: Deed,
        by: str,
        why: str = "",
        version: int | None = None,
        works: Iterable[NewWork] = (),
    ) -> None:
        done = "rejected" if deed is Deed.REJECT else "read" if state is OutState.SENT else "approved"
        with self._store.writing() as session:
            row = _row(session, outgoing_id)
            _check_held(row, version)
            reason = f": {why}" if why else ""
            row.state, row.note, row.updated = state.value, clean(f"{done} by {by}{reason}"), now()
            named = _SAID.get(OutKind(row.kind), row.kind)
            store_acts.add(session, NewAct(by, deed, f"{done} {named} for {row.repository}{reason}", row.bug_id))
            for each in works:
                queue(session, each)


def _check_held(row: OutgoingRow, version: int | None) -> None:
    if row.state != OutState.HELD:
        note = f" ({row.note})" if row.note else ""
        raise NotHeld(f"outgoing {row.id} is {row.state}{note}, it waits for no moderator")
    if version not in (None, row.version):
        raise NotHeld(f"outgoing {row.id} has changed since it was looked at: look again")


class NotHeld(Exception):
    """A moderator's word about something that does not wait for one."""


class Overtaken(Exception):
    """Another process has said something of the kind since it was counted: what was decided may exceed a limit."""


def recount(session: Session, counted: Counted) -> None:
    """See within a transaction whether a count still holds. Raises Overtaken. For this package alone."""
    rows = session.exec(_since(counted.since, counted.kind, counted.repository))
    new = [row.key for row in rows if row.key.startswith(counted.prefix) and row.id not in counted.ids]
    if new:
        raise Overtaken(f"decided anew, since {new[0]} was said meanwhile")


def _since(moment: datetime, kind: OutKind | None, repository: str) -> SelectOfScalar[OutgoingRow]:
    query = select(OutgoingRow).where(col(OutgoingRow.created) >= moment, col(OutgoingRow.state).not_in(_NEVER_SAID))
    if kind is not None:
        query = query.where(OutgoingRow.kind == kind.value)
    if repository:
        query = query.where(OutgoingRow.repository == repository)
    return query.order_by(col(OutgoingRow.id))


def put(session: Session, new: NewOutgoing) -> int:
    """Put something in within a transaction; its id. For this package alone."""
    row = session.exec(select(OutgoingRow).where(OutgoingRow.key == new.key)).first()
    if row is None:
        row = OutgoingRow(
            kind=new.kind.value,
            key=new.key,
            repository=new.repository,
            payload=dump(new.payload),
            stream=new.stream,
            state=(OutState.HELD if new.held else OutState.READY).value,
            number=new.number,
            bug_id=new.bug_id,
            note=clean(new.note),
            created=now(),
            updated=now(),
        )
        session.add(row)
    elif new.kind in REPLACED and (row.payload != dump(new.payload) or row.state == OutState.WITHDRAWN):
        row.payload, row.updated, row.not_before = dump(new.payload), now(), None
        row.repository, row.number = new.repository, new.number  # the repository may have been renamed meanwhile
        row.version += 1
        if row.state in (OutState.SENT, OutState.FAILED, OutState.WITHDRAWN):
            # What a moderator has never seen still waits for one; what stands at GitHub is edited without.
            held = row.state == OutState.WITHDRAWN and new.held and row.result == dump({})
            row.state, row.attempts = (OutState.HELD if held else OutState.READY).value, 0
    session.flush()
    assert row.id is not None
    return row.id


def _row(session: Session, outgoing_id: int) -> OutgoingRow:
    row = session.get(OutgoingRow, outgoing_id)
    if row is None:
        raise Unknown(f"nothing outgoing has the number {outgoing_id}")
    return row


def _outgoing(row: OutgoingRow) -> Outgoing:
    assert row.id is not None
    return Outgoing(
        id=row.id,
        kind=OutKind(row.kind),
        key=row.key,
        repository=row.repository,
        payload=json.loads(row.payload),
        stream=row.stream,
        state=OutState(row.state),
        number=row.number,
        bug_id=row.bug_id,
        attempts=row.attempts,
        version=row.version,
        note=row.note,
        result=json.loads(row.result),
        created=row.created,
        updated=row.updated,
    )
