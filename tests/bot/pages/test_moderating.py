"""What moderators decide on the pages is what the command line decides, once, and kept with who did it."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from bot import moderation
from tests.bot.pages.conftest import HOSTILE, TVM, failing, record, served
from tests.bot.pages.door import Browser, appoint, signed_in
from triage.ledger import Ledger
from triage.ledger.outbox import NotHeld
from triage.ledger.records import NewOutgoing, OutKind, OutState
from triage.lifecycle import State
from triage.store import Store, open_store


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("moderated") / "bot.db"


@pytest.fixture(scope="module")
def store(path: Path) -> Iterator[Store]:
    """Bugs of their own for each test: 1 to 30, the first of them with four failures."""
    with open_store(path, create=True) as opened:
        campaign = opened.begin_campaign({"sources": ["isra"], "targets": [TVM.id], "seed": 1}).id
        for at in range(30):
            record(opened, campaign, failing(f"{at}", f"bug {at}", TVM))
        record(opened, campaign, *(failing(f"more {at} {'x' * at}", "bug 0", TVM) for at in range(3)))
        yield opened


@pytest.fixture(scope="module")
def secrets(path: Path, store: Store) -> dict[str, str]:
    return appoint(store, "ada", "grace")


@pytest.fixture(scope="module")
def door(path: Path, secrets: dict[str, str]) -> Iterator[str]:
    with served(path) as address:
        yield address


@pytest.fixture(scope="module")
def ada(door: str, secrets: dict[str, str]) -> Browser:
    return signed_in(door, "ada", secrets)


@pytest.fixture(scope="module")
def grace(door: str, secrets: dict[str, str]) -> Browser:
    return signed_in(door, "grace", secrets)


def held(store: Store, key: str, bug: int, kind: OutKind = OutKind.ISSUE, body: str = "It is wrong.") -> int:
    payload = {"title": f"{key} is wrong", "body": body, "labels": []}
    return Ledger(store).outbox.add(NewOutgoing(kind, key, "o/r", payload, f"bug:{bug}", bug_id=bug, held=True))


def told(store: Store, bug: int) -> list[str]:
    return [f"{act.by} {act.text}" for act in Ledger(store).acts.of_bug(bug)]


def test_what_waits_is_shown_as_it_would_be_posted_and_let_go(ada: Browser, store: Store) -> None:
    number = held(store, "issue:a", 11, body=f"Some **words**. {HOSTILE}")
    assert "issue:a is wrong" in ada.get("/queue").text
    page = ada.get(f"/queue/{number}").text
    assert "issue:a is wrong" in page and "<strong>words</strong>" in page and "<script>document" not in page
    answer = ada.say(f"/queue/{number}/approve", version=1)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/queue")
    assert Ledger(store).outbox.get(number).state is OutState.READY
    assert told(store, 11) == ["ada approved the report for o/r"]
    assert "approved by ada" in ada.get(f"/queue/{number}").text
    assert f'id="out-{number}"' not in ada.get("/queue").text and "ada approved the report" in ada.get("/queue").text
    assert "ada approved the report for o/r" in ada.get("/bugs/11").text


def test_what_must_go_out_before_goes_along(ada: Browser, store: Store) -> None:
    file, issue = held(store, "file:b", 12, OutKind.FILE), held(store, "issue:b", 12)
    assert ada.say(f"/queue/{issue}/approve", version=1).status_code == 303
    assert [Ledger(store).outbox.get(each).state for each in (file, issue)] == [OutState.READY] * 2


def test_whoever_comes_second_has_not_let_go_what_goes_before_either(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, issue = held(store, "file:h", 22, OutKind.FILE), held(store, "issue:h", 22)
    ledger = Ledger(store)
    approve = ledger.outbox.approve

    def later(outgoing_id: int, by: str, version: int | None = None) -> None:
        if ledger.outbox.get(issue).state is OutState.HELD:
            ledger.outbox.reject(issue, "grace")
        approve(outgoing_id, by, version)

    monkeypatch.setattr(ledger.outbox, "approve", later)
    with pytest.raises(NotHeld, match="rejected by grace"):
        moderation.approve(ledger, issue, "ada", 1)
    assert ledger.outbox.get(file).state is OutState.HELD and told(store, 22) == ["grace rejected the report for o/r"]


def test_a_reason_is_kept_as_text_and_acts_nowhere(ada: Browser, store: Store) -> None:
    number = held(store, "issue:c", 13)
    reason = f"not\x1b[31m ours\r\n{HOSTILE}‮"
    assert ada.say(f"/queue/{number}/reject", version=1, reason=reason).status_code == 303
    found = Ledger(store).outbox.get(number)
    assert found.state is OutState.REJECTED and found.note == f"rejected by ada: not ours {HOSTILE}"
    for page in ("/queue", "/bugs/13"):
        text = ada.get(page).text
        assert "<script>document" not in text and "<img" not in text
    assert told(store, 13)[0].startswith("ada rejected the report for o/r: not ours")


def test_of_two_moderators_at_once_one_decides_and_the_other_is_told_so(
    ada: Browser, grace: Browser, store: Store
) -> None:
    numbers = [held(store, f"issue:d{at}", 14 + at) for at in range(4)]
    tokens = {"ada": ada.token("/queue"), "grace": grace.token("/queue")}
    for number in numbers:
        with ThreadPoolExecutor(2) as pool:
            yes = pool.submit(ada.post, f"/queue/{number}/approve", {"form": tokens["ada"], "version": "1"})
            no = pool.submit(grace.post, f"/queue/{number}/reject", {"form": tokens["grace"], "version": "1"})
        answers = [yes.result(), no.result()]
        assert sorted(each.status_code for each in answers) == [303, 409]
        late = next(each for each in answers if each.status_code == 409)
        winner = "grace" if late is answers[0] else "ada"
        assert f"by {winner}" in late.text and "Nothing was changed by you" in late.text
    assert sum(len(told(store, 14 + at)) for at in range(4)) == 4


def test_the_same_form_sent_again_changes_nothing(ada: Browser, store: Store) -> None:
    number, token = held(store, "issue:e", 18), ada.token("/queue")
    answers = [ada.post(f"/queue/{number}/approve", {"form": token, "version": "1"}) for _ in range(2)]
    assert [each.status_code for each in answers] == [303, 409] and "approved by ada" in answers[1].text
    assert len(told(store, 18)) == 1


def test_what_has_changed_since_one_looked_is_not_let_go(ada: Browser, store: Store) -> None:
    ledger = Ledger(store)
    said = NewOutgoing(OutKind.EDIT_COMMENT, "status:f", "o/r", {"body": "old"}, "bug:19", 3, 19, held=True)
    number = ledger.outbox.add(said)
    ledger.outbox.add(NewOutgoing(OutKind.EDIT_COMMENT, "status:f", "o/r", {"body": "new"}, "bug:19", 3, 19, held=True))
    answer = ada.say(f"/queue/{number}/approve", version=1)
    assert answer.status_code == 409 and "look again" in answer.text
    assert ledger.outbox.get(number).state is OutState.HELD
    assert ada.say(f"/queue/{number}/approve", version=2).status_code == 303


def test_a_comment_that_calls_a_bug_known_is_not_rejected_where_nobody_could_file_the_bug(
    ada: Browser, store: Store
) -> None:
    number = held(store, "known:bug:20", 20, OutKind.COMMENT)
    answer = ada.say(f"/queue/{number}/reject", version=1, reason="another bug")
    assert answer.status_code == 409 and "--config" in answer.text
    assert Ledger(store).outbox.get(number).state is OutState.HELD


def test_bugs_are_merged_once(ada: Browser, grace: Browser, store: Store) -> None:
    answer = ada.say("/bugs/3/merge", into="#2")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/bugs/2")
    assert (store.bug(2).count, store.bug(3).state) == (2, State.DUPLICATE)
    late = grace.say("/bugs/3/merge", into="2")
    assert late.status_code == 409 and "already: ada merged it into bug 2" in late.text
    other = grace.say("/bugs/3/merge", into="4")
    assert other.status_code == 409 and "merged into bug 2 by hand already" in other.text
    assert ada.say("/bugs/2/merge", into="2").status_code == 409
    assert ada.say("/bugs/2/merge", into="999").status_code == 404
    assert told(store, 3) == ["ada merged it into bug 2"] and told(store, 2) == ["ada merged bug 3 into it"]


def test_failures_are_split_off_but_for_the_one_that_the_bug_stands_on(ada: Browser, store: Store) -> None:
    best, *others = store.failure_ids(1)
    page = ada.get("/bugs/1").text
    assert f'name="failure" value="{best}"' not in page
    assert all(f'name="failure" value="{number}"' in page for number in others)
    answer = ada.say("/bugs/1/split", failure=[str(each) for each in others[:2]], reason="other axis")
    new = int(answer.headers["Location"].rpartition("/")[2])
    assert set(store.failure_ids(new)) == set(others[:2]) and store.bug(new).why == "split from bug 1: other axis"
    assert ada.say("/bugs/1/split", failure=[str(others[0])]).status_code == 409
    assert ada.say("/bugs/1/split").status_code == 422
    assert told(store, new) == ["ada split it off bug 1"]
    assert told(store, 1) == [f"ada split 2 failures off as bug {new}"]


def test_a_muted_bug_keeps_the_first_reason(ada: Browser, grace: Browser, store: Store) -> None:
    assert ada.say("/bugs/5/mute", reason="known to the maintainers").status_code == 303
    late = grace.say("/bugs/5/mute", reason="boring")
    assert late.status_code == 409 and "ada muted it: known to the maintainers" in late.text
    assert store.bug(5).note == "muted by hand: known to the maintainers"
    assert "ada muted it: known to the maintainers" in ada.get("/bugs/5").text
    history = ada.get("/api/v1/bugs/5").json()["history"]
    assert [(each["kind"], each["text"]) for each in history][1:] == [
        ("decided", "ada muted it: known to the maintainers")
    ]


def test_a_hunt_is_paused_goes_on_and_ends_by_a_word(ada: Browser, store: Store) -> None:
    page = "/campaigns/1"
    assert ada.say(f"{page}/pause").status_code == 303
    assert ada.get("/api/v1/campaigns/1").json()["standing"] == "paused"
    assert "by ada" in ada.get(page).text and "Resume" in ada.get(page).text
    again = ada.say(f"{page}/pause")
    assert again.status_code == 409 and "ada paused it. Nothing was changed by you" in again.text
    assert ada.say(f"{page}/resume").status_code == ada.say(f"{page}/cancel").status_code == 303
    late = ada.say(f"{page}/resume")
    assert late.status_code == 409 and "cancelled" in late.text and "Cancel for good" not in ada.get(page).text
    assert [act.text for act in Ledger(store).acts.of_campaign(1)] == ["cancelled it", "let it go on", "paused it"]
    assert ada.say(f"{page}/destroy").status_code == 404
    assert ada.say("/campaigns/99/pause").status_code == 409  # there is none


@pytest.mark.parametrize("other", ["pause", "cancel"])
def test_of_two_who_end_a_hunt_at_once_the_first_is_named_to_the_other(
    ada: Browser, grace: Browser, store: Store, other: str
) -> None:
    number = store.begin_campaign({"sources": ["isra"], "targets": [TVM.id], "seed": 2}).id
    page = f"/campaigns/{number}"
    tokens = {"ada": ada.token(page), "grace": grace.token(page)}
    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(ada.post, f"{page}/cancel", {"form": tokens["ada"]})
        two = pool.submit(grace.post, f"{page}/{other}", {"form": tokens["grace"]})
    acts = [f"{act.by} {act.text}" for act in Ledger(store).acts.of_campaign(number)]
    winner = acts[0].split()[0]
    assert acts[0] == f"{winner} cancelled it" and acts[1:] in ([], ["grace paused it"])
    for name, answer in (("ada", one.result()), ("grace", two.result())):
        late = name != winner and len(acts) == 1
        assert answer.status_code == (409 if late else 303)
        assert not late or ("Nothing was changed by you" in answer.text and winner in answer.text)
    assert f"by {winner}" in grace.get(page).text and "Cancel for good" not in grace.get(page).text
    assert f"was cancelled by {winner} at" in grace.say(f"{page}/pause").text


def test_the_queue_is_told_to_moderators_alone(ada: Browser, door: str, store: Store) -> None:
    number = held(store, "issue:g", 21)
    told = ada.get("/api/v1/queue").json()
    found = next(each for each in told["waiting"] if each["id"] == number)
    assert (found["kind"], found["where"], found["bug"], found["version"]) == ("issue", "o/r", 21, 1)
    assert "It is wrong." in found["posted"] and told["total"] == len(told["waiting"])
    answer = Browser(door).get("/api/v1/queue")
    assert answer.status_code == 401 and "signed in" in answer.json()["detail"]


def test_a_moderator_who_is_removed_is_out_at_once(door: str, store: Store) -> None:
    removed = signed_in(door, "lin", appoint(store, "lin"))
    assert removed.get("/queue").status_code == 200
    Ledger(store).moderators.remove("lin")
    assert removed.get("/queue").status_code == 303
