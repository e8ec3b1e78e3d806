"""What people did, for those who look back; it is kept where it is done."""

from __future__ import annotations

from triage import store_acts
from triage.acts import Act
from triage.store import Store


class Acts:
    """The acts of one database. Every method is one transaction."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def of_bug(self, bug_id: int, limit: int = 100) -> list[Act]:
        """What people did to a bug, the newest first."""
        with self._store.reading() as session:
            return store_acts.listed(session, bug_id, None, limit)

    def of_campaign(self, campaign_id: int, limit: int = 100) -> list[Act]:
        """What people did to a hunt, the newest first."""
        with self._store.reading() as session:
            return store_acts.listed(session, None, campaign_id, limit)

    def last(self, limit: int = 20) -> list[Act]:
        """What people did last, the newest first."""
        with self._store.reading() as session:
            return store_acts.listed(session, None, None, limit)
