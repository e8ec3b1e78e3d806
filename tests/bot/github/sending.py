"""Empties an outbox in a process of its own, which a test kills: ``python -m … SETTINGS DATABASE``."""

from __future__ import annotations

import sys
from pathlib import Path

from bot.github.auth import Access
from bot.github.sender import Sender
from bot.settings import Settings
from triage.ledger import Ledger
from triage.store import open_store


def main(settings: Path, database: Path) -> None:
    access = Access(Settings.model_validate_json(settings.read_text()))
    with open_store(database, create=False) as store:
        sender = Sender(Ledger(store), access.client, access.pace)
        while sender.step() is not None:
            pass


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
