"""The bot's own rows: deliveries, work, the outbox, issues, check runs, facts, schedules, switches (decision 013).

The second place that knows SQL, beside `triage.store*`: they live in the same database, since a bug and its issue must
change together. Values of `triage.ledger.records` go in and out.
"""

from __future__ import annotations

from triage.ledger.acts import Acts
from triage.ledger.attempts import Attempts
from triage.ledger.checks import Checks
from triage.ledger.deliveries import Deliveries
from triage.ledger.facts import Facts
from triage.ledger.issues import Issues
from triage.ledger.moderators import Moderators
from triage.ledger.outbox import Outbox
from triage.ledger.repositories import Repositories
from triage.ledger.schedules import Schedules
from triage.ledger.switches import Switches
from triage.ledger.work import Works
from triage.store import Store


class Ledger:
    """All of it over one store, which the caller closes."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.deliveries = Deliveries(store)
        self.work = Works(store)
        self.outbox = Outbox(store)
        self.issues = Issues(store)
        self.checks = Checks(store)
        self.facts = Facts(store)
        self.repositories = Repositories(store)
        self.schedules = Schedules(store)
        self.switches = Switches(store)
        self.acts = Acts(store)
        self.moderators = Moderators(store)
        self.attempts = Attempts(store)
