"""How long the pages take at the server: 10,000 bugs and 1,000,000 outcomes in SQLite (issue 9, goal: 100 ms each).

    python -m benchmarks.pages [--bugs N] [--outcomes N] [--db FILE]

A moderator looks at them, who sees most. Tells for each page the CPU time that the server spent on it as a share of the
goal (median of 9) and how many queries it made, which must not depend on how many rows there are. With --db the made
database is kept, and used when it is there already.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import resource
import statistics
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from fastapi import FastAPI
from onnx import TensorProto, helper
from sqlalchemy import event, insert
from sqlmodel import SQLModel
from starlette.types import Message

from bot.checks import run
from bot.pages.app import make_app
from fuzz.case import Origin, Revision, Status, Target
from triage import records
from triage.ledger import Ledger
from triage.ledger.records import Check, NewOutgoing, OutKind
from triage.lifecycle import State
from triage.store import Store, open_store

GOAL, REPEATS, CHUNK = 100.0, 9, 20_000
#: A moderator looks; the token of the session, and what the database has of it.
TOKEN, KEPT = "measuring", hashlib.sha256(b"measuring").hexdigest()
GATES, GATE = 1000, "graphwarden-7"
PAGES = (
    "/bugs",
    "/bugs?page=150",
    "/bugs?state=drafted&backend=tvm",
    "/bugs?words=gather+4711",
    "/bugs?words=nothing+here",
    "/bugs/5000",
    "/campaigns",
    "/campaigns/1",
    "/campaigns/2",
    "/gates?page=7",
    f"/gates/{GATE}",
    "/queue",
    f"/queue/{GATES + 1}",
    "/api/v1/bugs?page=7",
    "/api/v1/campaigns/1",
    "/api/v1/gates",
    "/api/v1/queue",
)
TARGETS = tuple(Target(name, Revision("1.0")) for name in ("tvm", "openvino", "onnxruntime", "inductor"))


def model() -> bytes:
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", ends[:1], ends[1:])
    return bytes(helper.make_model(graph).SerializeToString())


def fill(store: Store, bugs: int, outcomes: int) -> None:
    """Campaigns of 100,000 outcomes each; each bug has three failures, a fifth of the bugs a report."""
    for at in range(max(1, outcomes // 100_000)):
        store.begin_campaign({"sources": ["isra"], "targets": [each.id for each in TARGETS], "seed": at}, resume=False)
    tables, rng = SQLModel.metadata.tables, np.random.default_rng(0)
    for name, rows in (
        ("result", _results(outcomes, bugs, rng)),
        ("tally", _tallies(outcomes, bugs, np.random.default_rng(0))),
        ("case", _cases(bugs)),
        ("bug", _bugs(bugs)),
        ("failure", _failures(bugs)),
    ):
        with store.writing() as session:
            part = []
            for row in rows:
                part.append(row)
                if len(part) == CHUNK:
                    session.connection().execute(insert(tables[name]), part)
                    part = []
            if part:
                session.connection().execute(insert(tables[name]), part)


def fill_ledger(store: Store) -> None:
    """A moderator who is signed in, check runs of which something is said, and reports that wait."""
    ledger = Ledger(store)
    ledger.moderators.add("ada", "no hash")
    ledger.moderators.sign_in("ada", KEPT, timedelta(hours=12))
    words = run.Words("Breaks 1 case", "| case | before | now |\n|---|---|---|\n" + "| a | pass | wrong |\n" * 50)
    for at in range(GATES):
        began = datetime.now(UTC) - timedelta(minutes=at)
        check = Check("o/r", f"{at:040x}", f"graphwarden-{at}", "tvm", at, "b", state="done", since=began)
        ledger.checks.put(replace(check, conclusion="failure"))
        ledger.outbox.add(run.completed(check, "failure", words))
    for at in range(100):
        payload = {"title": f"Gather {at}", "body": "Some *words*. " * 300, "labels": []}
        ledger.outbox.add(NewOutgoing(OutKind.ISSUE, f"i:{at}", "o/r", payload, f"bug:{at}", bug_id=at + 1, held=True))


def _results(outcomes: int, bugs: int, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    origin = records.origin_json(Origin("isra", "1"))
    draws = rng.random(outcomes)
    for at in range(outcomes):
        within = at % 100_000
        failing = within < 3 * bugs and at < 100_000
        status = Status.WRONG if failing else Status.OK if draws[at] < 0.9 else Status.UNSUPPORTED
        target = TARGETS[within % len(TARGETS)].id
        yield {
            "campaign_id": min(at // 100_000, max(0, outcomes // 100_000 - 1)) + 1,
            "case_id": f"{at // 4:016x}",
            "target_id": target,
            "origin": origin,
            "status": status.value,
            "stage": "run",
            "reason": "",
            "seconds": 0.01,
            "peak_mb": 1.0,
            "minute": within // 500,
        }


def _tallies(outcomes: int, bugs: int, rng: np.random.Generator) -> Iterator[dict[str, object]]:
    """The numbers of the same results (drawn alike) by the minute, four results a case."""
    found = Counter((row["campaign_id"], row["minute"], row["status"]) for row in _results(outcomes, bugs, rng))
    for (campaign, minute, status), results in sorted(found.items()):
        told = {"campaign_id": campaign, "minute": minute, "status": status, "stage": "run"}
        yield told | {"results": results, "cases": 125 * (status == Status.OK.value)}


def _cases(bugs: int) -> Iterator[dict[str, object]]:
    data, inputs, origin = model(), records.pack_inputs({}), records.origin_json(Origin("isra", "1"))
    for at in range(3 * bugs // 4 + 1):
        yield {"id": f"{at:016x}", "kind": "onnx", "model": data, "inputs": inputs, "expected": None, "origin": origin}


def _bugs(bugs: int) -> Iterator[dict[str, object]]:
    now, states = datetime.now(UTC), [State.DRAFTED, State.NEW, State.INVALID, State.FLAKY, State.DUPLICATE]
    for at in range(bugs):
        drafted, target = at % 5 == 0, TARGETS[at % 4]
        yield {
            "fingerprint": f"bug {at}",
            "backend": target.backend,
            "revision": "1.0",
            "target": records.target_json(target),
            "state": states[at % 5].value,
            "symptom": "wrong:values",
            "conversion_function": f"Gather_{at}",
            "note": "",
            "operators": '["Gather"]',
            "message": f"Gather {at} is wrong " + "word " * 40,
            "why": "same converter",
            "created": now - timedelta(minutes=at),
            "updated": now,
            "best_failure_id": at * 3 + 1,
            "passes_with": "",
            "title": f"[Relax] Gather {at}" if drafted else None,
            "body": "text " * 900 if drafted else None,
            "script": "print(1)\n" * 30 if drafted else None,
            "labels": "[]" if drafted else None,
        }


def _failures(bugs: int) -> Iterator[dict[str, object]]:
    for at in range(3 * bugs):
        target = TARGETS[at % 4]
        yield {
            "case_id": f"{at // 4:016x}",
            "target_id": target.id,
            "target": records.target_json(target),
            "fingerprint": f"bug {at // 3}",
            "oracle": "differential",
            "symptom": "wrong:values",
            "detail": "",
            "outcome": '{"status":"ok","stage":"run","seconds":0.1,"peak_mb":1.0,"names":[],"error":null}',
        }


@contextmanager
def queries(store: Store) -> Iterator[list[str]]:
    """The statements that are made meanwhile."""
    made: list[str] = []

    def note(connection: object, cursor: object, statement: str, *_: object) -> None:
        made.append(statement)

    event.listen(store._engine, "before_cursor_execute", note)
    try:
        yield made
    finally:
        event.remove(store._engine, "before_cursor_execute", note)


async def get(app: FastAPI, address: str) -> int:
    """The status of one request, without a network between."""
    path, _, query = address.partition("?")
    scope = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "scheme": "http",
        "query_string": query.encode(),
        "headers": [(b"host", b"here"), (b"cookie", f"graphwarden={TOKEN}".encode())],
        "server": ("here", 80),
        "root_path": "",
    }
    status: list[int] = []

    async def receive() -> Message:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            status.append(message["status"])

    await app(scope, receive, send)
    return status[0]


def spent() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return 1000 * (used.ru_utime + used.ru_stime)


async def measure(store: Store) -> bool:
    app, good = make_app(store), True
    print(f"{'page':36} {'of goal':>8} {'queries':>8}")
    for page in PAGES:
        times = []
        for _ in range(REPEATS):
            with queries(store) as made:
                before = spent()
                if await get(app, page) != 200:
                    raise SystemExit(f"{page}: no answer")
                times.append(spent() - before)
        median = statistics.median(times)
        good &= median < GOAL
        print(f"{page:36} {median / GOAL:8.2f} {len(made):8}")
    return good


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bugs", type=int, default=10_000)
    parser.add_argument("--outcomes", type=int, default=1_000_000)
    parser.add_argument("--db", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = asked.db or Path(folder) / "pages.db"
        there = path.exists()
        with open_store(path, create=True) as store:
            if not there:
                fill(store, asked.bugs, asked.outcomes)
                fill_ledger(store)
            good = asyncio.run(measure(store))
    print(f"goal, each below {GOAL:.0f} ms: {'met' if good else 'missed'}")


if __name__ == "__main__":
    main()
