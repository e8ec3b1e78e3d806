"""Several `graphwarden work` on one database: each piece is done once, whoever is killed or cut off meanwhile."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from tests.bot.support import ended, start
from tests.bot.web.support import configured
from triage.ledger import Ledger
from triage.ledger.records import NewWork, WorkState
from triage.store import Store, open_store
from triage.store_place import is_server

#: Pieces of work that come together, each of which takes a moment.
PIECES = 30


def begin(folder: Path, number: int) -> subprocess.Popen[str]:
    """One more process that works."""
    with (folder / f"{number}.log").open("w") as log:
        return start(folder, "work", "--only", "collect", stderr=log)


def said(folder: Path, number: int) -> str:
    """What a process has logged."""
    return (folder / f"{number}.log").read_text()


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 600
    while not true():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def cut(store: Store) -> None:
    """End all sessions at the server but ours, as its restart does; a file has none."""
    if not is_server(store.address):
        return
    with store.writing() as session:
        session.connection().exec_driver_sql(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )


def test_each_piece_is_done_once_though_one_is_killed_and_all_lose_their_connections(
    tmp_path: Path, database: str
) -> None:
    (tmp_path / "token").write_text("none is needed")
    configured(tmp_path, 0, database, token_file="token")
    with open_store(database, create=True) as store:
        works = Ledger(store).work

        def add(kept: str) -> None:
            for number in range(PIECES):
                works.add(NewWork("collect", f"{kept}-{number}", "one"))

        def done() -> int:
            return len(works.listed([WorkState.DONE], limit=PIECES))

        processes = [begin(tmp_path, number) for number in range(2)]
        try:
            add("first")
            until(lambda: done() > PIECES // 2)
            processes[0].send_signal(signal.SIGKILL)
            processes.append(begin(tmp_path, 2))
            until(lambda: done() == PIECES)
            until(lambda: works.add(NewWork("collect", "more", "one")) and "work_begins" in said(tmp_path, 2))
            until(lambda: not works.listed([WorkState.QUEUED, WorkState.RUNNING]))
            add("second")
            until(lambda: len(works.listed([WorkState.QUEUED], limit=PIECES)) < PIECES // 2)
            cut(store)
            until(lambda: not works.listed([WorkState.QUEUED, WorkState.RUNNING]))
        finally:
            for each in processes:
                each.send_signal(signal.SIGTERM)
        assert [ended(each).code for each in processes][1:] == [0, 0], "only the killed one has ended by itself"
    told = [json.loads(line) for number in range(3) for line in said(tmp_path, number).splitlines() if line[-1:] == "}"]
    ends = Counter(one["work"] for one in told if one["event"] == "work_ends" and one["answer"] == "done")
    assert set(ends.values()) == {1} and len(ends) >= 2 * PIECES - 1, "who was killed may not have told of its last"
