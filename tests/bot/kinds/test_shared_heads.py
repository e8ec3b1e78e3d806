"""Two pull requests at one head commit: one check run, which both see, and which neither ends for the other."""

from __future__ import annotations

import pytest

from bot import working
from bot.checks import words
from bot.checks.run import CheckRun
from tests.bot.checks.support import Shop, git
from triage.ledger.records import NewWork, WorkState

LATE = "2026-02-01T00:00:09Z"


def event(shop: Shop, number: int, head: str, ended: str = "", fork: bool = False, base: str = "") -> None:
    """A pull request is at this head, or is closed."""
    at = f"2026-01-01T00:00:{len(shop.ledger.work.listed()):02}Z"
    told = {"pull": number, "commit": head, "base": base or shop.first, "base_ref": "main", "fork": fork}
    shop.do("pull", f"{number}:{head}:{at}", **told, at=at, ended=ended)


def gates(shop: Shop) -> list[int | None]:
    """The pull requests whose gates wait."""
    return sorted(one.payload["pull"] for one in shop.queued("gate"))


def run_gates(shop: Shop) -> None:
    while waiting := shop.queued("gate"):
        shop.go_on(waiting[-1].id, "gate")


def test_it_goes_on_for_the_other_when_one_is_closed(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    event(tiny_shop, 7, head)
    event(tiny_shop, 8, head)
    event(tiny_shop, 8, head, ended="the pull request was closed")
    assert gates(tiny_shop) == [7] and tiny_shop.said(head)["status"] == "queued"
    run_gates(tiny_shop)
    assert tiny_shop.said(head)["conclusion"] == "failure"
    assert {check.pull: check.conclusion for check in tiny_shop.ledger.checks.of_head("octo/tiny", head)} == {
        7: "failure",
        8: "cancelled",
    }


def test_it_goes_on_for_the_other_when_one_has_a_new_head(tiny_shop: Shop) -> None:
    head, new = tiny_shop.pull("sub swaps"), tiny_shop.pull()
    for number in (7, 8):
        event(tiny_shop, number, head)
    event(tiny_shop, 7, new)
    run_gates(tiny_shop)
    assert (tiny_shop.said(head)["conclusion"], tiny_shop.said(new)["conclusion"]) == ("failure", "success")


def test_a_result_that_the_one_that_leaves_has_overwritten_is_found_again(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    event(tiny_shop, 7, head)
    run_gates(tiny_shop)
    event(tiny_shop, 8, head)
    assert tiny_shop.said(head)["status"] == "queued"
    event(tiny_shop, 8, head, ended="the pull request was closed")
    assert gates(tiny_shop) == [7]
    run_gates(tiny_shop)
    assert tiny_shop.said(head)["conclusion"] == "failure"


@pytest.mark.parametrize("how", ["moved", "closed"])
def test_a_gate_that_runs_for_the_one_that_leaves_does_not_end_the_check(tiny_shop: Shop, how: str) -> None:
    head, new = tiny_shop.pull("sub swaps"), tiny_shop.pull()
    CheckRun(tiny_shop.ledger, tiny_shop.project, head, 8, tiny_shop.first, fork=False).is_newest()
    CheckRun(tiny_shop.ledger, tiny_shop.project, head, 8, tiny_shop.first, fork=False).ends(
        "success", words.note("So it is", "Because.")
    )
    CheckRun(tiny_shop.ledger, tiny_shop.project, head, 7, tiny_shop.first, fork=False).is_newest()
    asked = {"commit": head, "base": tiny_shop.first, "pull": 7, "fork": False}
    number = tiny_shop.ledger.work.add(NewWork("gate", "it", "tiny", asked))
    work = tiny_shop.ledger.work.claim(["gate"])
    assert work is not None and work.id == number
    if how == "moved":
        CheckRun(tiny_shop.ledger, tiny_shop.project, new, 7, tiny_shop.first, fork=False).is_newest()
    else:
        tiny_shop.ledger.work.cancel("gate", "it", "the pull request was closed")
    working.do(work, tiny_shop.desk)
    assert gates(tiny_shop) == [8]
    run_gates(tiny_shop)
    assert tiny_shop.said(head)["conclusion"] == "failure"


def test_the_last_one_that_leaves_ends_it(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    for number in (7, 8):
        event(tiny_shop, number, head)
    for number in (7, 8):
        event(tiny_shop, number, head, ended="the pull request was closed")
    assert gates(tiny_shop) == [] and tiny_shop.said(head)["conclusion"] == "cancelled"


def test_both_are_compared_with_the_newest_base(tiny_shop: Shop) -> None:
    """What the branch has taken in since the older one was opened is none of its doing any more."""
    git(tiny_shop.repository, "checkout", "--quiet", "-b", "half")
    half = tiny_shop.lands("sub swaps")
    head = tiny_shop.lands("sub swaps", "neg dies")
    git(tiny_shop.repository, "branch", "--force", "main", half)
    event(tiny_shop, 8, head, base=half)
    event(tiny_shop, 7, head, base=tiny_shop.first)
    while waiting := tiny_shop.queued("gate"):
        tiny_shop.go_on(waiting[-1].id, "gate")
        said = tiny_shop.said(head)
        assert f"Compared with `{half}`" in said["summary"] and said["title"].startswith("1 new failure, 0 fixed")


def test_a_head_that_lies_in_a_fork_and_in_the_repository_needs_no_word(tiny_shop: Shop) -> None:
    head = tiny_shop.pull("sub swaps")
    event(tiny_shop, 7, head, fork=True)
    run_gates(tiny_shop)
    assert tiny_shop.said(head)["conclusion"] == "action_required"
    event(tiny_shop, 8, head)
    run_gates(tiny_shop)
    assert tiny_shop.said(head)["conclusion"] == "failure"
    assert tiny_shop.ledger.work.listed([WorkState.FAILED]) == []


def test_asked_for_again_it_runs_once_for_whoever_is_still_there(tiny_shop: Shop) -> None:
    head, new = tiny_shop.pull("sub swaps"), tiny_shop.pull()
    for number in (7, 8):
        event(tiny_shop, number, head)
    event(tiny_shop, 7, new)
    run_gates(tiny_shop)
    external_id = tiny_shop.said(head)["external_id"]
    tiny_shop.do("recheck", commit=head, external_id=external_id, by="ann", at=LATE)
    assert gates(tiny_shop) == [8]
