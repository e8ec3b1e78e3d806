"""Every question that the bot asks GitHub, as the App and with a token; and what becomes of every error."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from bot.github.auth import PERMISSIONS, Access
from bot.github.client import Client
from bot.github.errors import Later, Limited, Refused, Unsure
from bot.github.pace import Pace
from bot.settings import BadSettings
from tests.bot.github.outgoing import Clock
from tests.github.faults import FAULTS, Fault, How
from tests.github.support import World

SINCE = datetime.now(UTC) - timedelta(minutes=10)


@pytest.fixture(params=["app", "token"])
def client(request: pytest.FixtureRequest, github_world: World) -> Client:
    """The repository's client, as either."""
    settings = github_world.settings(with_token=request.param == "token")
    return Access(settings).client(github_world.repository)


@pytest.fixture
def app(github_world: World) -> Iterator[Client]:
    """The repository's client, as the App, whose token is there; for it no time passes."""
    found = Access(github_world.settings(), Pace(Clock())).client(github_world.repository)
    found.default_branch()
    github_world.proxy.restart({})
    github_world.proxy.calls.clear()
    yield found


def test_issues_are_made_read_listed_and_searched(client: Client, github_world: World) -> None:
    made = client.create_issue("IsInf is wrong", "It gives True", ["bug"])
    assert client.issue(made.number) == made
    assert (made.title, made.open, made.author, made.labels) == ("IsInf is wrong", True, client.login, ("bug",))
    github_world.ask("/issues", "POST", {"title": "IsInf crashes"}, by=github_world.stranger)
    assert [each.number for each in client.own_issues(SINCE)] == [made.number]
    assert {each.title for each in client.tracker(10)} == {"IsInf is wrong", "IsInf crashes"}
    assert len(client.tracker(1)) == 1
    assert {each.title for each in client.search(["isinf", 'a "quoted" word'])} == set()
    assert {each.title for each in client.search(["isinf"])} == {"IsInf is wrong", "IsInf crashes"}
    client.set_state(made.number, open=False, reason="not_planned")
    assert (client.issue(made.number).open, client.issue(made.number).reason) == (False, "not_planned")
    assert len(client.tracker(10)) == 2, "closed issues are in the tracker, too"


def test_lists_are_read_to_their_end_and_no_further_than_wanted(app: Client, github_world: World) -> None:
    number = int(github_world.ask("/issues", "POST", {"title": "long"})["number"])
    for at in range(105):
        app.comment(number, f"comment {at}") if at % 3 else github_world.ask(
            f"/issues/{number}/comments", "POST", {"body": "foreign"}
        )
    assert len(list(app.own_comments(number, SINCE))) == 70
    pages = [call for call in github_world.proxy.calls if call.verb == "GET" and call.path.endswith("/comments")]
    assert len(pages) == 2


def test_comments_are_written_and_edited(client: Client, github_world: World) -> None:
    number = client.create_issue("t", "b").number
    comment = client.comment(number, "Reducing.")
    client.edit_comment(comment.id, "Reduced.")
    assert [each.body for each in client.own_comments(number, SINCE)] == ["Reduced."]


def test_labels_with_any_name_are_made_added_and_removed(client: Client) -> None:
    number, name = client.create_issue("t", "b").number, "frontend: onnx/ü 100%"
    assert not client.has_label(name)
    for _ in range(2):
        client.create_label(name, "ededed", "about ONNX")
        client.add_labels(number, [name])
    assert client.has_label(name) and client.issue(number).labels == (name,)
    for _ in range(2):
        client.remove_label(number, name)
    assert client.issue(number).labels == ()


def test_check_runs_are_made_changed_and_found_by_their_commit(app: Client) -> None:
    head = {"head_sha": "b" * 40, "name": "graphwarden"}
    made = app.create_check({**head, "external_id": "gate/1", "status": "in_progress"})
    app.create_check({**head, "external_id": "gate/2", "status": "queued"})
    note = {"path": "a.py", "start_line": 3, "end_line": 3, "annotation_level": "warning", "message": "here"}
    done = app.update_check(
        made.id, {"conclusion": "success", "output": {"title": "t", "summary": "s", "annotations": [note]}}
    )
    assert (done.status, done.conclusion, done.annotations) == ("completed", "success", 1)
    assert app.check(made.id) == done
    assert {each.external_id for each in app.checks("b" * 40, "graphwarden")} == {"gate/1", "gate/2"}
    assert [each["message"] for each in app.annotations(made.id)] == ["here"]


def test_files_and_branches(client: Client, github_world: World) -> None:
    head = client.branch_head(client.default_branch())
    assert client.branch_head("graphwarden/models") == "" and client.file("graphwarden/models", "a/b.txt") is None
    for _ in range(2):
        client.create_branch("graphwarden/models", head)
    first = client.put_file("graphwarden/models", "a/b.txt", "b25l", "one")
    client.put_file("graphwarden/models", "a/b.txt", "dHdv", "two", replaces=first.sha)
    assert github_world.file("graphwarden/models", "a/b.txt") == b"two"
    compared = client.compare("main", "graphwarden/models")
    assert (compared.status, compared.merge_base, len(compared.commits)) == ("ahead", head, 2)
    assert compared.files == ("a/b.txt",)


def test_pull_requests_and_those_of_a_commit(client: Client, github_world: World) -> None:
    head = client.branch_head("main")
    client.create_branch("topic", head)
    client.put_file("topic", "new.txt", "b25l", "one")
    opened = github_world.ask("/pulls", "POST", {"title": "A change", "head": "topic", "base": "main"})
    pull = client.pull(opened["number"])
    assert (pull.open, pull.merged, pull.head_ref, pull.base_ref, pull.fork) == (True, False, "topic", "main", False)
    github_world.fake.pulls[pull.head_sha] = [opened]
    assert [each.number for each in client.pulls_of(pull.head_sha)] == [pull.number]
    assert client.pulls_of(head) == []
    assert pull.number not in {each.number for each in client.tracker(10)}


def test_permissions_of_people(client: Client, github_world: World) -> None:
    told = {login: client.permission(login) for login in ("acme", "maintainer", "stranger", "nobody-here", "a/b")}
    assert told == {"acme": "admin", "maintainer": "write", "stranger": "read", "nobody-here": "none", "a/b": "none"}


def test_the_app_asks_for_what_it_needs_and_nothing_else(github_world: World) -> None:
    access = Access(github_world.settings())
    assert access.missing(github_world.repository) == {}
    access.client(github_world.repository).default_branch()
    (asked,) = [call.told for call in github_world.proxy.calls if call.path.endswith("/access_tokens")]
    assert asked == {"permissions": dict(PERMISSIONS)}


def test_the_app_knows_which_repositories_it_reaches(app: Client, github_world: World) -> None:
    github_world.fake.repositories[:] = [github_world.ask("")]
    assert app.reachable() == [github_world.repository]


def test_where_the_app_is_installed_is_asked_once_and_anew_when_that_changed(github_world: World) -> None:
    access = Access(github_world.settings())
    for _ in range(2):
        access.client(github_world.repository)
    access.forget()
    access.client(github_world.repository)
    assert [call.path for call in github_world.proxy.calls] == [f"/repos/{github_world.repository}/installation"] * 2


def test_one_token_serves_many_calls(app: Client, github_world: World) -> None:
    for _ in range(5):
        app.default_branch()
    assert not any(call.path.endswith("/access_tokens") for call in github_world.proxy.calls)


def test_deliveries_are_listed_by_time_read_and_asked_for_again(github_world: World) -> None:
    access = Access(github_world.settings())
    assert access.app is not None
    github_world.fake.hook.url = "http://localhost:9/nobody-listens"
    for at in range(3):
        assert github_world.send("push", changes={"after": f"{at}" * 40}, guid=f"guid-{at}") == 0
    listed = list(access.app.deliveries(SINCE))
    assert [each.guid for each in listed] == ["guid-2", "guid-1", "guid-0"]
    assert not any(200 <= each.status_code < 300 for each in listed)
    assert len(list(access.app.deliveries(SINCE, status="failure"))) == 3
    assert list(access.app.deliveries(datetime.now(UTC) + timedelta(minutes=1))) == []
    seen, payload = access.app.delivery(listed[-1].id)
    assert (seen.guid, payload["after"]) == ("guid-0", "0" * 40)
    access.app.redeliver(listed[-1].id)


@pytest.mark.parametrize(
    ("fault", "reading", "writing"),
    [
        ("500", Later, Unsure),
        ("502", Later, Unsure),
        ("secondary limit", Limited, Limited),
        ("secondary limit without a time", Limited, Limited),
        ("primary limit", Limited, Limited),
        ("429", Limited, Limited),
        ("lost", Later, Unsure),
        ("half", Later, Unsure),
        ("garbled", Later, Unsure),
    ],
)
def test_what_an_error_means_for_a_question_and_for_a_post(
    github_world: World, fault: str, reading: type[Exception], writing: type[Exception]
) -> None:
    clock = Clock()
    client = Access(github_world.settings(), Pace(clock)).client(github_world.repository)
    client.default_branch()
    github_world.proxy.restart(dict.fromkeys(range(3), FAULTS[fault]))
    with pytest.raises(reading) as read:
        client.default_branch()
    assert type(read.value) is reading
    github_world.proxy.restart({0: FAULTS[fault]})
    clock.now += 3600  # the limit has passed
    with pytest.raises(writing) as wrote:
        client.create_issue("t", "b")
    assert type(wrote.value) is writing


@pytest.mark.parametrize("fault", ["half", "garbled"])
def test_a_read_whose_answer_broke_off_is_asked_for_once_more(app: Client, github_world: World, fault: str) -> None:
    github_world.proxy.fail(0, FAULTS[fault])
    assert app.default_branch() == "main"
    assert [call.verb for call in github_world.proxy.calls] == ["GET", "GET"]


def test_no_post_is_ever_repeated_by_itself(app: Client, github_world: World) -> None:
    github_world.proxy.fail(0, FAULTS["502"])
    with pytest.raises(Unsure):
        app.create_issue("t", "b")
    assert [call.verb for call in github_world.proxy.calls] == ["POST"]


@pytest.mark.parametrize(("headers", "seconds"), [({"Retry-After": "7"}, 7), ({}, 60)])
def test_a_limit_tells_how_long_to_wait_and_holds_back_every_other_write(
    app: Client, github_world: World, headers: dict[str, str], seconds: float
) -> None:
    github_world.proxy.fail(0, Fault(How.ANSWER, 429, "Too many", headers))
    with pytest.raises(Limited) as caught:
        app.create_issue("t", "b")
    assert caught.value.seconds == seconds
    with pytest.raises(Limited):
        app.create_label("l", "ededed")
    assert len(github_world.proxy.calls) == 1


@pytest.mark.parametrize("status", [403, 404, 410, 422, 451])
def test_what_will_never_succeed_is_refused_with_githubs_words(app: Client, github_world: World, status: int) -> None:
    github_world.proxy.fail(0, Fault(How.ANSWER, status, "Resource not\naccessible"))
    with pytest.raises(Refused) as caught:
        app.set_state(1, open=False)
    assert caught.value.status == status and "Resource not accessible" in str(caught.value)


def test_wrong_credentials_lose_nothing_and_say_so(app: Client, github_world: World) -> None:
    github_world.proxy.fail(0, Fault(How.ANSWER, 401, "Bad credentials"))
    with pytest.raises(Later, match="credentials"):
        app.create_issue("t", "b")


def test_an_answer_that_is_no_issue_is_not_taken_for_one(app: Client, github_world: World) -> None:
    github_world.proxy.fail(0, Fault(How.ANSWER, 200, "a login page"))
    with pytest.raises(Unsure, match="cannot be read"):
        app.create_issue("t", "b")


def test_nobody_listening_is_an_error_in_one_line(github_world: World) -> None:
    with pytest.raises(Later, match="GET /repos/"):
        Access(github_world.settings(api="http://localhost:9")).client(github_world.repository)


def test_where_the_app_is_not_installed_nothing_is_refused_for_good(github_world: World) -> None:
    with pytest.raises(Later, match="404"):
        Access(github_world.settings()).client("somebody/else")


def test_a_key_that_is_none_is_told_in_one_line(github_world: World) -> None:
    wrong = github_world.folder / "wrong.pem"
    wrong.write_text("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----\n")
    for path, why in ((wrong, "PEM"), (github_world.folder / "missing.pem", "No such file")):
        with pytest.raises(BadSettings, match=why) as caught:
            Access(github_world.settings(private_key_file=path))
        assert "\n" not in str(caught.value) and str(path) in str(caught.value)


def test_tokens_are_in_no_log_even_at_the_lowest_level(github_world: World, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("DEBUG"):
        Access(github_world.settings()).client(github_world.repository).default_branch()
    assert "ghs_" not in caplog.text


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_what_has_moved_elsewhere_is_refused_and_not_asked_for_ever(
    app: Client, github_world: World, verb: str
) -> None:
    """GitHub answers writes to a repository that was renamed so."""
    moved = {"url": "https://api.github.com/repositories/7/issues/1", "documentation_url": "https://docs.github.com"}
    github_world.proxy.fail(0, Fault(How.ANSWER, 307, "Moved Permanently", more=moved))
    with pytest.raises(Refused, match=r"it lies elsewhere now .*repositories/7") as error:
        app.comment(1, "so") if verb == "POST" else app.set_state(1, open=False)
    assert error.value.status == 301


@pytest.mark.parametrize("verb", ["POST", "PATCH"])
def test_a_write_is_not_sent_on_to_where_an_issue_was_moved(app: Client, github_world: World, verb: str) -> None:
    world = github_world
    there = world.ask("/issues", "POST", {"title": "Somebody else's"})["number"]
    address = f"{world.url}/repos/{world.repository}/issues/{there}{'/comments' if verb == 'POST' else ''}"
    world.proxy.fail(0, Fault(How.ANSWER, 301, "Moved Permanently", {"Location": address}))
    with pytest.raises(Refused, match="it lies elsewhere now") as error:
        app.comment(999, "so") if verb == "POST" else app.set_state(999, open=False)
    assert error.value.status == 301
    assert world.ask(f"/issues/{there}")["state"] == "open" and not world.comments(there)
    assert app.issue(there).title == "Somebody else's", "the next request goes through"
