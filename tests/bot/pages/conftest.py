"""A database as a hunt leaves it, and `graphwarden pages` over it in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import requests

from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.support import relu, start
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, OutKind
from triage.lifecycle import State
from triage.records import NewFailure, Result, StoredDraft
from triage.store import Store, open_store

TVM = Target("tvm", Revision("0.27.0"))
OPENVINO = Target("openvino", Revision("2026.4.1"))
#: What a compiler may say, and a model may call its tensors.
HOSTILE = '<script>document.title="taken"</script><img src=x onerror=alert(1)>'
BODY = f"""With TVM: wrong.

#### Evidence

- It fails in 3 of 3 fresh processes. {HOSTILE}

```mermaid
flowchart TD
```

<details><summary>Regression test</summary>

```python
assert 1 < 2
```

</details>

[out](javascript:alert(1)) and [in](https://onnx.ai/onnx)
"""
SCRIPT = 'print("a < b & c")\n'


def failing(name: str, fingerprint: str, target: Target, message: str = "bad axis") -> NewFailure:
    case = Case("onnx", relu(name).SerializeToString(), {}, Origin("onnx_node", name))
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error("ValueError", message))
    failure = Failure(case, target, outcome, None, "crash", "exception:ValueError", "it raised")
    return NewFailure(failure, fingerprint, "Gather._impl_v13", ("Gather",), message, "same converter")


def record(store: Store, campaign: int, *found: NewFailure) -> None:
    pairs = [new.failure for new in found]
    rows = [Result(f.case.id, f.target.id, f.case.origin, Status.EXCEPTION, Stage.CONVERT) for f in pairs]
    store.record(campaign, rows, found)


def draft(store: Store, bug: int) -> None:
    """Go on with a bug up to its report."""
    store.advance(bug, State.NEW, State.CONFIRMED)
    store.advance(bug, State.CONFIRMED, State.REDUCED, nodes=1, passes_with="axis: -1 -> 1")
    store.advance(bug, State.REDUCED, State.LOCATED)
    evidence = (Evidence("repeats", Side.AGAINST, f"it fails in 3 of 3 fresh processes {HOSTILE}"),)
    store.advance(bug, State.LOCATED, State.JUDGED, judgement=Judgement(Ruling.COMPILER_BUG, "it repeats", evidence))
    text = StoredDraft("[Relax][ONNX] Gather ignores axis=-1", BODY, SCRIPT, ("type: bug",))
    store.advance(bug, State.JUDGED, State.DRAFTED, draft=text)


def lived(store: Store) -> None:
    """Bug 1 was reported, closed by a release, and a comment about it waits for a moderator."""
    ledger, place = Ledger(store), "apache/tvm"
    said = [
        NewOutgoing(OutKind.ISSUE, "issue:gather", place, {"title": "t", "body": "b"}, "bug:1", bug_id=1),
        NewOutgoing(OutKind.STATE, "close:bug:1:0.28.0", place, {"open": False}, "bug:1", 7, 1),
        NewOutgoing(OutKind.COMMENT, "regressed:bug:1:0.29.0", place, {"body": "b"}, "bug:1", 7, 1, held=True),
    ]
    for one in said:
        ledger.outbox.add(one)
    ledger.issues.link(Issue(1, place, 7, ours=True, open=False))
    for _ in range(2):
        one = ledger.outbox.next()
        assert one is not None
        ledger.outbox.sent(one, {"number": 7})


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bug 1 has a report and 2 is hostile, 3 is a slip, 4 muted, and 60 follow; campaign 1 has seen the first two."""
    path = tmp_path_factory.mktemp("pages") / "h.db"
    with open_store(path, create=True) as store:
        first = store.begin_campaign({"sources": ["onnx_node"], "targets": [TVM.id, OPENVINO.id], "seed": 7}).id
        record(store, first, failing("a", "gather", TVM), failing("c", "hostile", OPENVINO, HOSTILE))
        draft(store, 1)
        store.finish_campaign(first)
        second = store.begin_campaign({"sources": ["isra"], "targets": [TVM.id], "seed": 8}).id
        store.record(second, [], [failing("d", "slip", TVM)], state=State.SLIP)
        record(store, second, failing("e", "muted", TVM))
        store.mute(4, "known")
        for at in range(60):
            record(store, second, failing(f"many {at}", f"many {at}", TVM, f"number {at} of many"))
        lived(store)
        record(store, first, failing("b", "gather", TVM))  # a number may be lost when a bug is seen again
    return path


@pytest.fixture(scope="module")
def site(database: Path) -> Iterator[str]:
    """The address of the pages."""
    with served(database) as address:
        yield address


@contextmanager
def served(database: Path, *options: object) -> Iterator[str]:
    """The address of pages over a database, shown by a process of its own."""
    process = start(database.parent, "pages", "--db", database, "--port", 0, *options)
    assert process.stderr is not None
    told = process.stderr.readline()
    assert "http://127.0.0.1:" in told, told + process.stderr.read()
    try:
        yield told.split()[1].rstrip("/")
    finally:
        process.terminate()
        process.communicate()


@pytest.fixture
def web() -> Iterator[requests.Session]:
    with requests.Session() as session:
        session.trust_env = False  # no proxy for this machine itself
        yield session
