"""What people switch while the bot runs (the emergency stop), and how far polls have come."""

from __future__ import annotations

from triage.ledger.outbox import STOP
from triage.ledger.owners import now
from triage.ledger.rows import SwitchRow
from triage.store import Store


class Switches:
    """The switches of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def get(self, name: str) -> str:
        """The value of a switch, "" where it was never set."""
        with self._store.reading() as session:
            row = session.get(SwitchRow, name)
            return "" if row is None else row.value

    def set(self, name: str, value: str, by: str = "") -> None:
        """Set a switch."""
        with self._store.writing() as session:
            row = session.get(SwitchRow, name)
            if row is None:
                session.add(SwitchRow(name=name, value=value, by=by, changed=now()))
                return
            row.value, row.by, row.changed = value, by, now()

    def stopped(self) -> str:
        """Why nothing may be said at GitHub now, "" where it may."""
        return self.get(STOP)
