"""`graphwarden prune`: keeps a database small."""

from __future__ import annotations

from typing import Annotated

import typer

from bot.commands.arguments import Json
from bot.commands.campaigns import OwnConfig, OwnDatabase, database
from bot.console import out, print_json
from triage import pruning
from triage.store import Store, open_store
from triage.store_place import shown


def prune(
    db: OwnDatabase = None,
    config: OwnConfig = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and take nothing away.")] = False,
    as_json: Json = False,
) -> None:
    """Take away what ended campaigns left and nobody needs; the numbers and curves of campaigns stay.

    What added coverage stays, and whatever a bug, a failure or a decision refers to. The bot does this after each
    scheduled campaign.
    """
    place = database(db, config)
    with open_store(place, create=False) as store:
        removed = pruning.would_prune(store) if dry_run else pruning.prune(store)
        before = _before(store, removed, dry_run)
    if as_json:
        print_json({"database": shown(place), "dry_run": dry_run, "removed": removed, "before": before})
        return
    for rule, number in removed.items():
        done = "would go" if dry_run else "removed"
        out.print(
            f"{rule}: {number} {done} ({before[rule]} before): {pruning.RULES[rule]}", markup=False, soft_wrap=True
        )


def _before(store: Store, removed: dict[str, int], dry_run: bool) -> dict[str, int]:
    """How many rows each rule has taken away in former times."""
    total = dict.fromkeys(removed, 0)
    for each in store.pruned():
        total[each.rule] = total.get(each.rule, 0) + each.removed
    return {rule: number - (0 if dry_run else removed.get(rule, 0)) for rule, number in total.items()}
