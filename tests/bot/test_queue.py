"""`graphwarden queue` and `graphwarden stop`: nothing is said at GitHub that a person holds back."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.github.deliver import marked
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.support import Run
from triage.ledger import Ledger
from triage.ledger.records import Issue, NewOutgoing, OutKind, OutState, WorkState
from triage.records import NewFailure
from triage.store import open_store

BODY = "It is wrong: `Sub`.\n\n```python\nprint('no  reflow of long lines' * 40)\n```"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "graphwarden.toml"
    path.write_text('database = "bot.db"\n[projects.tiny]\nrepository = "octo/tiny"\ncompiler = "tvm"\n')
    return path


@pytest.fixture
def ledger(config: Path) -> Iterator[Ledger]:
    """A bug whose file, issue and comment wait, in this order."""
    with open_store(config.parent / "bot.db", create=True) as store:
        case = Case("onnx", b"m", {}, Origin("file", "m"))
        target = Target("tvm", Revision("1.0"))
        failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "")
        store.record(0, [], [NewFailure(failure, "f-1")])
        ledger = Ledger(store)
        put(
            ledger,
            OutKind.FILE,
            "file:f-1",
            {"branch": "b", "path": "bugs/f-1.py", "content_base64": "", "message": "m"},
        )
        put(ledger, OutKind.ISSUE, "issue:f-1", {"title": "Sub is wrong", "body": BODY, "labels": ["bug"]})
        put(ledger, OutKind.STATE, "close:bug:1:x", {"open": False, "reason": "completed", "fixed_by": "x"}, "other")
        yield ledger


def put(ledger: Ledger, kind: OutKind, key: str, payload: dict[str, object], stream: str = "bug:1") -> int:
    return ledger.outbox.add(NewOutgoing(kind, key, "octo/tiny", payload, stream, None, 1, held=True))


def states(ledger: Ledger) -> list[str]:
    return [str(one.state) for one in ledger.outbox.listed()]


def test_what_waits_is_listed_with_its_place(gw: Run, config: Path, ledger: Ledger) -> None:
    ledger.issues.link(Issue(1, "octo/tiny", 12, ours=True))
    listed = gw("queue", "list", "--config", config, "--json").json
    assert [(one["id"], one["kind"], one["state"]) for one in listed] == [
        (1, "file", "held"),
        (2, "issue", "held"),
        (3, "state", "held"),
    ]
    assert (listed[1]["text"], listed[2]["text"], listed[2]["where"]) == (
        "Sub is wrong",
        "close as completed",
        "octo/tiny#12",
    )
    assert "Sub is wrong" in gw("queue", "--config", config).out


def test_one_is_shown_exactly_as_it_would_be_posted(gw: Run, config: Path, ledger: Ledger) -> None:
    done = gw("queue", "show", 2, "--config", config)
    assert done.code == 0
    assert done.out == f"# Sub is wrong\n\nlabels: bug\n\n{marked(ledger.outbox.get(2))}\n"
    assert BODY in done.out and "<!-- graphwarden:issue:f-1 -->" in done.out
    assert '"reason": "completed"' in gw("queue", "show", 3, "--config", config).out


def test_what_is_approved_goes_with_what_must_go_before_it_and_nothing_else(
    gw: Run, config: Path, ledger: Ledger
) -> None:
    done = gw("queue", "approve", 2, "--config", config, "--by", "ada")
    assert done.code == 0 and done.out.count("is approved") == 2
    assert states(ledger) == ["ready", "ready", "held"]
    assert ledger.outbox.get(2).note == "approved by ada"


def test_what_is_rejected_is_never_said(gw: Run, config: Path, ledger: Ledger) -> None:
    assert gw("queue", "reject", 2, 3, "--config", config, "--reason", "no bug", "--by", "ada").code == 0
    assert states(ledger) == ["held", "rejected", "rejected"]
    assert ledger.outbox.get(2).note == "rejected by ada: no bug"
    done = gw("queue", "approve", 2, "--config", config)
    assert done.code == 2 and "is rejected (rejected by ada: no bug), it waits for no moderator" in done.err
    assert len(gw("queue", "--all", "--config", config, "--json").json) == 3
    assert len(gw("queue", "--config", config, "--json").json) == 1


def test_a_bug_that_is_not_the_known_one_is_put_forward_by_itself(gw: Run, config: Path, ledger: Ledger) -> None:
    number = put(ledger, OutKind.COMMENT, "known:f-1:5", {"body": "Known."}, "known")
    gw("queue", "reject", number, "--config", config)
    [file] = ledger.work.listed([WorkState.QUEUED], "file")
    assert (file.key, file.project) == ("bug:1", "tiny")


@pytest.mark.parametrize("command", ["show", "approve", "reject"])
def test_a_number_that_there_is_not_is_told(gw: Run, config: Path, ledger: Ledger, command: str) -> None:
    done = gw("queue", command, 99, "--config", config)
    assert done.code == 2 and "nothing outgoing has the number 99" in done.err


def test_the_emergency_stop_holds_everything_until_it_is_lifted(gw: Run, config: Path, ledger: Ledger) -> None:
    gw("queue", "approve", 2, 3, "--config", config)
    assert gw("stop", "--config", config, "--reason", "spam\x1b[31m").code == 0
    assert ledger.outbox.next() is None and ledger.switches.stopped() == "stopped: spam"
    assert "nothing is sent: stopped: spam" in gw("queue", "--config", config).err
    assert gw("stop", "--off", "--config", config).code == 0
    one = ledger.outbox.next()
    assert one is not None and one.state is OutState.READY


def test_the_stop_can_be_set_before_the_bot_has_ever_run(gw: Run, config: Path) -> None:
    assert gw("stop", "--config", config, "--json").json == {"stopped": "stopped"}
    with open_store(config.parent / "bot.db", create=False) as store:
        assert Ledger(store).switches.stopped() == "stopped"


def test_a_bot_that_has_never_run_has_no_queue(gw: Run, config: Path) -> None:
    done = gw("queue", "--config", config)
    assert done.code == 2 and "bot.db" in done.err and done.err.count("\n") == 1
