"""Campaigns in the database: what they were asked, how far they came, what of ended ones is kept."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from sqlalchemy import update
from sqlmodel import col, select

from fuzz.case import Status
from fuzz.ranking.history import History
from triage import records, store_learnt, store_pruning, store_results, store_tally
from triage.lifecycle import WITH_DRAFT
from triage.records import CampaignInfo, Counts, Mark, Overview, Pruned
from triage.rows import BugRow, CampaignRow, ResultRow
from triage.store_base import Database, now
from triage.store_error import Unknown


class Campaigns(Database):
    """The part of the store that knows campaigns."""

    def begin_campaign(self, parameters: Mapping[str, Any], resume: bool = True, name: str = "") -> CampaignInfo:
        """The newest unfinished campaign with equal `parameters` (a JSON document) and name, else a new one.

        `name` is that of a schedule: what it has begun with other parameters is ended, since nobody goes on with it.
        """
        text = records.dump(parameters)
        unfinished = (col(CampaignRow.finished).is_(None), col(CampaignRow.name) == name)
        same = select(CampaignRow).where(CampaignRow.parameters == text, *unfinished)
        others = update(CampaignRow).where(col(CampaignRow.parameters) != text, *unfinished)
        with self.writing() as session:
            if name:
                session.connection().execute(others.values(finished=now(), mark=Mark.SUPERSEDED, marked=now()))
            found = session.exec(same.order_by(col(CampaignRow.id).desc())).first() if resume else None
            row = found or CampaignRow(parameters=text, started=now(), name=name)
            session.add(row)
            session.flush()
            return store_results.campaign(row, resumed=found is not None)

    def finish_campaign(self, campaign_id: int) -> None:
        """Mark a campaign as done: it will not be resumed. Raises Unknown."""
        with self.writing() as session:
            row = session.get(CampaignRow, campaign_id)
            if row is None:
                raise Unknown(f"{self.place}: no campaign {campaign_id}")
            row.finished = row.finished or now()

    def done(self, campaign_id: int) -> set[tuple[str, str]]:
        """The (case id, target id) pairs that the campaign has results for."""
        query = select(ResultRow.case_id, ResultRow.target_id).where(ResultRow.campaign_id == campaign_id)
        known: dict[str, str] = {}  # equal ids share one string: there are few targets
        with self.reading() as session:
            return {
                (known.setdefault(case, case), known.setdefault(target, target)) for case, target in session.exec(query)
            }

    def counts(self, campaign_id: int) -> Counts:
        """The numbers of a campaign, all from one moment."""
        return self.overview(campaign_id).counts

    def overview(self, campaign_id: int) -> Overview:
        """The numbers, the bugs and the minutes of a campaign."""
        with self.reading() as session:
            ends, cases = store_tally.ends(session, campaign_id)
            seen = store_results.sightings(session, campaign_id)
            progress = store_tally.progress(session, campaign_id)
            reached = store_tally.reached(session, campaign_id)
        drafts = sum(each.state in WITH_DRAFT for each in seen)
        counts = Counts(ends, cases, sum(each.failures for each in seen), len(seen), drafts)
        return Overview(counts, seen, progress, reached)

    def totals(self) -> tuple[Mapping[Status, int], int]:
        """How many results of all campaigns have each status, and the sum of the campaigns' cases."""
        with self.reading() as session:
            return store_tally.totals(session)

    def campaigns(self) -> list[CampaignInfo]:
        """Every campaign, the oldest first."""
        with self.reading() as session:
            return store_results.campaigns(session)

    def prune(self, rule: str) -> int:
        """Take away one batch of what a rule allows (`triage.pruning`), with a record; how many rows that were."""
        with self.writing() as session:
            return store_pruning.prune(session, rule, now())

    def prunable(self, rule: str) -> int:
        """How many rows a rule would take away now."""
        with self.reading() as session:
            return store_pruning.number(session, rule)

    def pruned(self) -> list[Pruned]:
        """What was taken away, the oldest first."""
        with self.reading() as session:
            return store_pruning.listed(session)

    def history(self, targets: Collection[str]) -> History:
        """What all campaigns so far taught of the compilers of these targets' ids."""
        with self.reading() as session:
            names = store_learnt.backends(session, targets)
            bugs = frozenset(session.exec(select(BugRow.fingerprint)))
            return History(store_learnt.covered(session, names), store_learnt.ends(session, names), bugs)
