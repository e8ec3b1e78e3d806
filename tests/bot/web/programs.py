"""The web server and the dispatcher as processes of their own, with one event more: `planted_events/planted.py`.

python -m tests.bot.web.programs serve|dispatch CONFIG
"""

from __future__ import annotations

import sys
import threading
from pathlib import Path

from bot import dispatch, events, logs, settings
from bot.web import app, listening, request, server
from triage import store_file
from triage.ledger import Ledger
from triage.store import open_store

PLANTED = Path(__file__).with_name("planted_events")
#: Seconds that the server and the database have: a busy machine is no fault of theirs.
PATIENCE = 600.0


def plant() -> None:
    """Let the event `planted` be known in this process."""
    if str(PLANTED) not in events.__path__:
        events.__path__.append(str(PLANTED))
        events.names.cache_clear()


def uproot() -> None:
    """As it was."""
    events.__path__.remove(str(PLANTED))
    events.names.cache_clear()
    events.load.cache_clear()


def main(program: str, config: str) -> None:
    plant()
    for module in (app, request):
        module.PATIENCE = PATIENCE
    store_file.BUSY_SECONDS = PATIENCE
    logs.begin(program)
    told = settings.load(Path(config))
    with open_store(told.database, create=True) as store:
        if program == "serve":
            server.serve(told, Ledger(store), listening.listen(told.server))
        else:
            dispatch.run(Ledger(store), told, threading.Event())


if __name__ == "__main__":
    main(*sys.argv[1:])
