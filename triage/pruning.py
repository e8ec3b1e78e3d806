"""Keeps a database small: of ended campaigns stays what added coverage or belongs to a bug (docs/campaigns.md).

Each batch is one transaction with its record: a kill in the middle leaves a true record, and the next pruning goes on.
"""

from __future__ import annotations

from collections.abc import Mapping

from triage import store_pruning
from triage.store import Store

#: What each rule takes away, in words.
RULES: Mapping[str, str] = {
    "results": "results of ended campaigns that passed without adding coverage, or were skipped, refused or invalid",
    "cases": "saved cases that no failure, bug or decision refers to any more",
}


def prune(store: Store) -> dict[str, int]:
    """Take away what the rules allow; how many rows by rule."""
    removed = dict.fromkeys(store_pruning.RULES, 0)
    for rule in removed:
        while batch := store.prune(rule):
            removed[rule] += batch
    return removed


def gone(store: Store, campaign_id: int | None = None) -> int:
    """How many results of a campaign, of all of them without, were taken away: who counts tests misses these."""
    wanted = (each for each in store.pruned() if each.rule == "results")
    return sum(each.removed for each in wanted if campaign_id in (None, each.campaign_id))


def would_prune(store: Store) -> dict[str, int]:
    """How many rows `prune` would take away now, by rule; nothing is changed."""
    return {rule: store.prunable(rule) for rule in store_pruning.RULES}
