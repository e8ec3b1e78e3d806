"""The outbox: in order within a stream, nothing twice, nothing while the emergency stop is on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from triage.ledger import Ledger
from triage.ledger.outbox import NotHeld
from triage.ledger.owners import now
from triage.ledger.records import NewOutgoing, NewWork, Outgoing, OutKind, OutState


def new(
    key: str,
    kind: OutKind = OutKind.COMMENT,
    stream: str = "bug:1",
    held: bool = False,
    payload: Mapping[str, object] | None = None,
) -> NewOutgoing:
    return NewOutgoing(kind, key, "a/b", payload or {"body": key}, stream, number=7, held=held)


def going(ledger: Ledger) -> Outgoing:
    one = ledger.outbox.next()
    assert one is not None
    return one


def test_things_of_one_stream_go_out_in_order_and_streams_do_not_wait_for_each_other(ledger: Ledger) -> None:
    for each in (new("first"), new("second"), new("other", stream="bug:2")):
        ledger.outbox.add(each)
    first = going(ledger)
    assert (first.key, going(ledger).key) == ("first", "other")
    assert ledger.outbox.next() is None
    ledger.outbox.sent(first, {"id": 1})
    assert going(ledger).key == "second"


def test_the_same_key_is_said_once_for_ever(ledger: Ledger) -> None:
    number = ledger.outbox.add(new("k"))
    ledger.outbox.sent(going(ledger), {"id": 1})
    assert ledger.outbox.add(new("k", payload={"body": "another text"})) == number
    assert ledger.outbox.next() is None
    assert ledger.outbox.get(number).payload == {"body": "k"}


def test_of_an_edit_the_newest_content_goes_out_even_if_it_changes_while_it_is_sent(ledger: Ledger) -> None:
    for text in ("1", "2"):
        ledger.outbox.add(new("k", OutKind.EDIT_COMMENT, payload={"body": text}))
    one = going(ledger)
    assert one.payload == {"body": "2"}
    ledger.outbox.add(new("k", OutKind.EDIT_COMMENT, payload={"body": "3"}))
    ledger.outbox.sent(one, {"id": 5})
    again = going(ledger)
    assert (again.payload, again.result, again.attempts) == ({"body": "3"}, {"id": 5}, 0)
    ledger.outbox.sent(again, {"id": 5})
    assert ledger.outbox.add(new("k", OutKind.EDIT_COMMENT, payload={"body": "3"}))
    assert ledger.outbox.next() is None  # nothing new


def test_what_may_have_arrived_is_given_again_with_its_attempts(ledger: Ledger) -> None:
    ledger.outbox.add(new("k"))
    assert going(ledger).attempts == 0
    assert ledger.outbox.next() is None  # it is being sent
    ledger.outbox.later(ledger.outbox.listed()[0], 0, "the answer was lost")
    assert going(ledger).attempts == 1


def test_held_things_wait_for_a_moderator_and_hold_up_their_stream(ledger: Ledger) -> None:
    held = ledger.outbox.add(new("issue", OutKind.ISSUE, held=True))
    ledger.outbox.add(new("comment"))
    assert ledger.outbox.next() is None
    ledger.outbox.approve(held, "ada")
    assert going(ledger).key == "issue"
    with pytest.raises(NotHeld, match="is sending"):
        ledger.outbox.reject(held, "ada")


def test_what_a_moderator_rejects_is_never_sent_and_holds_nothing_up(ledger: Ledger) -> None:
    held = ledger.outbox.add(new("issue", OutKind.ISSUE, held=True))
    ledger.outbox.add(new("comment"))
    ledger.outbox.reject(held, "ada", "not ours")
    assert ledger.outbox.get(held).note == "rejected by ada: not ours"
    assert going(ledger).key == "comment"


def test_what_follows_from_a_rejection_comes_with_it_or_neither_does(ledger: Ledger) -> None:
    known = ledger.outbox.add(new("known:1", held=True))
    impossible = NewWork("file", "bug:1", "a", {"bug": object()})
    with pytest.raises(TypeError):
        ledger.outbox.reject(known, "ada", "not the same", works=[impossible])
    assert ledger.outbox.get(known).state is OutState.HELD
    ledger.outbox.reject(known, "ada", "not the same", works=[NewWork("file", "bug:1", "a", {"bug": 1})])
    assert [work.key for work in ledger.work.listed()] == ["bug:1"]


def test_what_is_withdrawn_is_what_nobody_has_begun_to_send(ledger: Ledger) -> None:
    """And once more the same work after a kill changes nothing."""
    for key, held in (("begun", False), ("ready", False), ("held", True), ("other", False)):
        stream, bug = ("bug:2", 2) if key == "other" else (key, 1)
        ledger.outbox.add(replace(new(key, stream=stream, held=held), bug_id=bug))
    begun = going(ledger)
    ledger.outbox.later(begun, 3600, "the answer was lost")
    for expected in (2, 0):
        assert ledger.outbox.withdraw(1, "ada said no", tuple(OutKind), ("",)) == expected
    assert {one.key: str(one.state) for one in ledger.outbox.listed()} == {
        "begun": "ready",
        "ready": "withdrawn",
        "held": "withdrawn",
        "other": "ready",
    }
    assert going(ledger).key == "other" and ledger.outbox.next() is None
    assert len(ledger.outbox.since(now() - timedelta(days=1))) == 2
    with pytest.raises(NotHeld, match="is withdrawn"):
        ledger.outbox.approve(3, "ada")


def test_only_some_kinds_and_keys_are_withdrawn(ledger: Ledger) -> None:
    for key, kind in (("close:1", OutKind.STATE), ("reopen:1", OutKind.STATE), ("close:2", OutKind.COMMENT)):
        ledger.outbox.add(replace(new(key, kind, stream=key), bug_id=1))
    assert ledger.outbox.withdraw(1, "no", [OutKind.STATE], ("close:",)) == 1


@pytest.mark.parametrize("seen", [False, True], ids=["never seen by a moderator", "stands at GitHub"])
def test_an_edit_that_was_withdrawn_is_put_forward_anew(ledger: Ledger, seen: bool) -> None:
    edit = replace(new("status", OutKind.EDIT_COMMENT, held=True), bug_id=1)
    number = ledger.outbox.add(edit)
    if seen:
        ledger.outbox.approve(number, "ada")
        ledger.outbox.sent(going(ledger), {"comment": 5})
        ledger.outbox.add(replace(edit, payload={"body": "2"}))
    ledger.outbox.withdraw(1, "put aside", tuple(OutKind), ("",))
    assert ledger.outbox.next() is None
    ledger.outbox.add(replace(edit, payload={"body": "3"}))
    found = ledger.outbox.get(number)
    assert (found.state, found.payload) == (OutState.READY if seen else OutState.HELD, {"body": "3"})


def test_nothing_goes_out_while_the_emergency_stop_is_on(ledger: Ledger) -> None:
    ledger.outbox.add(new("k"))
    ledger.outbox.add(new("c", OutKind.CHECK, stream="check:1"))
    ledger.switches.set("stop", "flood", "ada")
    assert ledger.outbox.next() is None
    assert ledger.switches.stopped() == "flood"
    ledger.switches.set("stop", "")
    assert going(ledger).key == "k"


def test_what_is_put_off_waits_and_what_is_refused_stays_out(ledger: Ledger) -> None:
    ledger.outbox.add(new("k"))
    ledger.outbox.later(going(ledger), 3600, "rate limit")
    assert ledger.outbox.next() is None
    ledger.outbox.add(new("x", stream="bug:2"))
    ledger.outbox.refused(going(ledger), "the repository is gone")
    assert ledger.outbox.next() is None
    assert [one.state for one in ledger.outbox.listed()] == [OutState.READY, OutState.FAILED]


def test_limits_count_what_was_said_since_a_moment_without_what_was_rejected(ledger: Ledger) -> None:
    kept = ledger.outbox.add(new("1", OutKind.ISSUE, held=True))
    ledger.outbox.reject(ledger.outbox.add(new("2", OutKind.ISSUE, held=True)), "ada")
    day = now() - timedelta(days=1)
    assert [one.id for one in ledger.outbox.since(day, OutKind.ISSUE, "a/b")] == [kept]
    assert ledger.outbox.since(now() + timedelta(seconds=1)) == []
    assert ledger.outbox.since(day, OutKind.ISSUE, "x/y") == []


def test_what_replaces_a_refused_text_still_goes_out(ledger: Ledger) -> None:
    ledger.outbox.add(new("k", OutKind.EDIT_COMMENT, payload={"body": "too long"}))
    one = going(ledger)
    ledger.outbox.add(new("k", OutKind.EDIT_COMMENT, payload={"body": "shorter"}))
    ledger.outbox.refused(one, "422")
    assert going(ledger).payload == {"body": "shorter"}
