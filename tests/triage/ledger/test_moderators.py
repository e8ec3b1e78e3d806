"""Who may decide, where they are signed in, and who waits after failing to."""

from __future__ import annotations

from datetime import timedelta

import pytest

from triage.ledger import Ledger
from triage.ledger.attempts import Limit
from triage.ledger.moderators import Known
from triage.store import Unknown

HOUR = timedelta(hours=1)


def test_a_moderator_is_signed_in_until_the_time_is_over_or_he_signs_out(ledger: Ledger) -> None:
    people = ledger.moderators
    assert not people.any() and people.secret("ada") == ""
    people.add("ada", "hash")
    assert people.any() and people.secret("ada") == "hash"
    people.sign_in("ada", "one", HOUR)
    people.sign_in("ada", "two", HOUR)
    people.sign_in("ada", "over", -HOUR)
    assert [people.signed_in(token) for token in ("one", "two", "over", "none")] == ["ada", "ada", "", ""]
    people.sign_out("one")
    people.sign_out("none")
    assert [each.signed_in for each in people.listed()] == [1]
    people.sign_out_everywhere("ada")
    assert people.signed_in("two") == ""


def test_a_name_is_given_once_and_one_that_is_taken_away_is_out_everywhere(ledger: Ledger) -> None:
    people = ledger.moderators
    people.add("ada", "hash")
    with pytest.raises(Known, match="ada is a moderator already"):
        people.add("ada", "other")
    people.sign_in("ada", "one", HOUR)
    people.remove("ada")
    assert people.signed_in("one") == "" and people.listed() == []
    with pytest.raises(Unknown, match="no moderator is called ada"):
        people.remove("ada")
    with pytest.raises(Unknown):
        people.sign_in("ada", "two", HOUR)


def test_failures_beyond_the_free_ones_cost_time_that_doubles_up_to_a_limit() -> None:
    limit = Limit(free=3, longest=60.0)
    assert [limit.wait(failures) for failures in range(8)] == [0, 0, 0, 1, 2, 4, 8, 16]
    assert limit.wait(1_000_000) == 60.0


def test_an_attempt_counts_before_it_is_known_how_it_ends(ledger: Ledger) -> None:
    """Else whoever makes a hundred at once would have a hundred for nothing."""
    pair = {"pair": Limit(free=2, longest=3600.0)}
    assert [ledger.attempts.begin(pair) for _ in range(2)] == [0.0, 0.0]
    waits = ledger.attempts.begin({"pair": Limit(2, 3600.0)})
    while waits == 0.0:  # a second may have passed
        waits = ledger.attempts.begin(pair)
    assert waits > 0 and ledger.attempts.begin({"other": Limit(2, 60.0)}) == 0.0
    assert ledger.attempts.begin({"fresh": Limit(0, 60.0), **pair}) > 0
    assert ledger.attempts.begin({"fresh": Limit(1, 60.0)}) == 0.0  # what had to wait was not counted
    ledger.attempts.succeeded("pair")
    assert ledger.attempts.begin(pair) == 0.0
