"""Signing in and out, attacked: forged and replayed forms, fixed sessions, guessed secrets, redirects elsewhere."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bot.pages.conftest import HOSTILE, served
from tests.bot.pages.door import Browser, appoint, signed_in
from triage.store import open_store

NAMES = ("ada", "grace")


@pytest.fixture(scope="module")
def secrets(database: Path) -> dict[str, str]:
    with open_store(database, create=False) as store:
        return appoint(store, *NAMES)


@pytest.fixture(scope="module")
def door(database: Path, secrets: dict[str, str]) -> Iterator[str]:
    """Pages that moderators may sign in to."""
    with served(database) as address:
        yield address


def test_a_moderator_signs_in_goes_on_where_he_wanted_to_and_signs_out(door: str, secrets: dict[str, str]) -> None:
    browser = Browser(door)
    answer = browser.get("/queue")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/sign-in?next=/queue")
    answer = browser.sign_in("ada", secrets["ada"], "/bugs/1")
    assert (answer.status_code, answer.headers["Location"]) == (303, "/bugs/1")
    page = browser.get("/bugs/1")
    assert "<span>ada</span>" in page.text and 'id="decide"' in page.text
    assert page.headers["Cache-Control"] == "no-store"
    token, cookie = browser.token("/queue"), browser.cookie()
    assert browser.post("/sign-out", {"form": token}).status_code == 303 and browser.cookie() == ""
    assert 'id="decide"' not in browser.get("/bugs/1").text
    browser.session.cookies.set("graphwarden", cookie)  # what somebody has kept of the session is worth nothing
    assert browser.get("/queue").headers["Location"] == "/sign-in?next=/queue"
    assert browser.post("/bugs/1/mute", {"form": token}).status_code == 403


def test_signing_out_everywhere_ends_the_sessions_of_one_moderator_alone(door: str, secrets: dict[str, str]) -> None:
    first, second, other = (signed_in(door, name, secrets) for name in ("ada", "ada", "grace"))
    assert first.say("/sign-out", everywhere="yes").status_code == 303
    assert [each.get("/queue").status_code for each in (first, second, other)] == [303, 303, 200]


@pytest.mark.parametrize("name", ["ada", "nobody", "", HOSTILE, "a\x00b", "x" * 100])
def test_a_wrong_secret_and_an_unknown_name_are_answered_alike(door: str, name: str) -> None:
    browser = Browser(door, **{"X-Forwarded-For": f"127.0.7.{len(name)}"})  # nobody waits for another test
    answer = browser.post("/sign-in", {"form": browser.token("/sign-in"), "name": name, "secret": "wrong"})
    assert answer.status_code in (403, 429) and "do not fit" in answer.text and "<script>" not in answer.text
    assert browser.cookie() == ""


def test_whoever_guesses_waits_and_nobody_else_does(door: str, secrets: dict[str, str]) -> None:
    guesser = Browser(door, **{"X-Forwarded-For": "127.0.8.1"})
    answers = []
    while not answers or answers[-1].status_code == 403:
        answers.append(guesser.sign_in("grace", "guess"))
        assert len(answers) < 40
    assert answers[-1].status_code == 429 and int(answers[-1].headers["Retry-After"]) >= 1
    assert guesser.sign_in("grace", secrets["grace"]).status_code == 429  # not even with the right one
    assert guesser.sign_in("ada", secrets["ada"]).status_code == 303  # another name from there
    signed_in(door, "grace", secrets)  # the same name from elsewhere


def test_a_session_is_new_whatever_the_browser_had_before(door: str, secrets: dict[str, str]) -> None:
    browser = Browser(door)
    browser.session.cookies.set("graphwarden", "chosen-by-somebody-else", domain="127.0.0.1", path="/")
    assert browser.sign_in("ada", secrets["ada"]).status_code == 303
    kept = [each.value for each in browser.session.cookies if each.name == "graphwarden"]
    assert "chosen-by-somebody-else" not in kept
    old = browser.cookie()
    again = browser.post("/sign-in", {"form": "0" * 64, "name": "ada", "secret": secrets["ada"]})
    assert again.status_code == 403 and browser.cookie() == old


def test_cookies_are_kept_from_scripts_and_other_sites_and_over_https_from_everything_else(
    door: str, secrets: dict[str, str]
) -> None:
    plain = Browser(door).sign_in("ada", secrets["ada"]).headers["Set-Cookie"]
    assert "graphwarden=" in plain and "HttpOnly" in plain and "SameSite=strict" in plain and "Secure" not in plain
    browser = Browser(door, **{"X-Forwarded-Proto": "https"})  # behind a proxy on this machine
    shown = browser.get("/sign-in")
    assert "__Host-graphwarden-form=" in shown.headers["Set-Cookie"] and "Secure" in shown.headers["Set-Cookie"]
    assert "__Host-graphwarden=" in browser.sign_in("ada", secrets["ada"]).headers["Set-Cookie"]
    assert browser.get("/queue").status_code == 200
    del browser.session.headers["X-Forwarded-Proto"]
    assert browser.get("/queue").status_code == 303  # over http it counts for nothing


def test_the_secret_is_asked_for_only_where_nobody_listens(door: str, secrets: dict[str, str]) -> None:
    far = Browser(door, **{"X-Forwarded-For": "203.0.113.9"})  # over http, from another machine
    answer = far.get("/sign-in")
    assert answer.status_code == 403 and "needs https" in answer.text
    near = Browser(door, **{"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https"})
    assert near.get("/sign-in").status_code == 200


@pytest.mark.parametrize(
    "onward",
    [
        "https://example.org/",
        "//example.org/",
        "/\\example.org",
        "\\\\example.org",
        "javascript:alert(1)",
        "/bugs\r\nSet-Cookie: a=b",
        "/@example.org:80",
        " //example.org",
        "",
    ],
)
def test_nobody_is_sent_elsewhere(door: str, secrets: dict[str, str], onward: str) -> None:
    answer = Browser(door).sign_in("ada", secrets["ada"], onward)
    assert (answer.status_code, answer.headers["Location"]) == (303, "/queue")
    assert "a" not in answer.cookies


def test_a_form_of_another_session_or_of_none_changes_nothing(door: str, secrets: dict[str, str]) -> None:
    ada, grace = signed_in(door, "ada", secrets), signed_in(door, "grace", secrets)
    for token in (grace.token("/queue"), "", "0" * 64, "é" * 64):
        answer = ada.post("/bugs/2/mute", {"form": token, "reason": "x"})
        assert answer.status_code == 403 and "nothing was changed" in answer.text
    assert ada.post("/bugs/2/mute", {"reason": "x"}).status_code == 403
    assert ada.post("/sign-out", {"form": ""}).status_code == 403 and ada.get("/queue").status_code == 200
    assert "muted" not in ada.get("/bugs/2").text


@pytest.mark.parametrize(
    "origin", ["https://example.org", "null", "", "http://127.0.0.1", "http://127.0.0.1.example.org", "http://["]
)
def test_a_form_that_another_site_sends_changes_nothing(door: str, secrets: dict[str, str], origin: str) -> None:
    ada = signed_in(door, "ada", secrets)
    answer = ada.post("/bugs/2/mute", {"form": ada.token("/queue"), "reason": "x"}, origin=origin)
    assert answer.status_code == 403 and "not sent from a page of this site" in answer.text
    ada.session.headers["Sec-Fetch-Site"] = "same-site"
    assert ada.say("/bugs/2/mute", reason="x").status_code == 403


def test_a_form_comes_in_one_way_only(door: str, secrets: dict[str, str]) -> None:
    ada = signed_in(door, "ada", secrets)
    token, path = ada.token("/queue"), f"{door}/bugs/2/mute"
    for method in ("GET", "PUT", "PATCH", "DELETE", "HEAD"):
        headers = {"Origin": door, "X-HTTP-Method-Override": "POST"}
        answer = ada.session.request(method, path, data={"form": token, "_method": "POST"}, headers=headers)
        assert answer.status_code == 405
    sent = {"form": token, "reason": "x"}
    assert ada.session.post(path, json=sent, headers={"Origin": door}).status_code == 415
    assert ada.session.post(path, files={"form": (None, token)}, headers={"Origin": door}).status_code == 415
    assert ada.session.post(path, params=sent, headers={"Origin": door}).status_code == 415
    assert "muted" not in ada.get("/bugs/2").text


def test_forms_are_read_within_limits(door: str, secrets: dict[str, str]) -> None:
    ada = signed_in(door, "ada", secrets)
    token = ada.token("/queue")
    assert ada.post("/bugs/2/mute", {"form": token, "reason": "x" * 70_000}).status_code == 413
    assert ada.post("/bugs/2/mute", {"form": token, "reason": "x" * 501}).status_code == 422
    assert ada.post("/bugs/2/split", {"form": token, "failure": ["1"] * 600}).status_code == 422
    assert ada.post("/bugs/2/mute", {"form": [token, token]}).status_code == 422
    assert ada.post("/bugs/2/merge", {"form": token, "into": "1; drop"}).status_code == 422
    assert ada.post("/bugs/2/merge", {"form": token, "into": "9" * 30}).status_code == 422
    assert ada.post("/bugs/2/merge", {"form": token, "into": "9223372036854775807"}).status_code == 404
    headers = {"Origin": door, "Content-Type": "application/x-www-form-urlencoded"}
    broken = ada.session.post(f"{door}/bugs/2/mute", b"form=%ff&reason=\xff", headers=headers)
    assert broken.status_code in (403, 422)
    assert "muted" not in ada.get("/bugs/2").text


def test_a_form_that_the_database_does_not_take_is_told_to_be_tried_again(tmp_path: Path) -> None:
    with open_store(tmp_path / "m.db", create=True) as store:
        secrets = appoint(store, "ada")
    with served(tmp_path / "m.db") as site, sqlite3.connect(tmp_path / "m.db") as damaged:
        damaged.execute("DROP TABLE attempt")
        damaged.commit()
        answer = Browser(site).sign_in("ada", secrets["ada"])
    assert answer.status_code == 503 and "try again" in answer.text
