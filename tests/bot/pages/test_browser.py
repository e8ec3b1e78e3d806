"""The pages in a real browser: as a maintainer on a laptop and on a phone, by mouse and by keyboard."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.bot.pages.conftest import BODY, SCRIPT, TVM, failing, record, served
from tests.bot.pages.door import appoint
from triage.ledger import Ledger
from triage.ledger.records import NewOutgoing, OutKind
from triage.store import open_store

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium-headless-shell (Debian's package of that name)")

LAPTOP, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
#: Without these it looks for hosts of its maker.
QUIET = ["--no-sandbox", "--disable-background-networking", "--disable-component-update", "--disable-sync"]
#: Milliseconds; against silence only.
PATIENCE = 120_000


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=QUIET, timeout=PATIENCE)
        yield started
        started.close()


@pytest.fixture(params=["laptop", "phone"])
def page(browser: Browser, site: str, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The list of bugs. Whatever the page logs as an error fails the test."""
    small = request.param == "phone"
    context = browser.new_context(
        viewport=PHONE if small else LAPTOP, color_scheme="dark" if small else "light", base_url=site
    )
    context.set_default_timeout(PATIENCE)
    expect.set_options(timeout=PATIENCE)
    opened, errors = context.new_page(), list[str]()
    opened.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.goto("/bugs")
    yield opened
    context.close()
    assert errors == []


def test_words_narrow_the_list_while_they_are_typed_and_the_address_keeps_them(page: Page) -> None:
    page.get_by_label("Words").press_sequentially("number 59")
    expect(page.locator("#found tbody tr")).to_have_count(1)
    expect(page.get_by_text("1 bug", exact=True)).to_be_visible()
    expect(page).to_have_url(re.compile(r"words=number(\+|%20)59"))
    page.reload()
    expect(page.get_by_label("Words")).to_have_value("number 59")
    expect(page.locator("#found tbody tr")).to_have_count(1)


def test_a_bug_is_reached_by_keyboard_alone(page: Page) -> None:
    page.get_by_label("State").focus()
    page.keyboard.press("d")  # more letters would have to follow within a second
    expect(page.locator("#found tbody tr")).to_have_count(1)
    page.locator("#found td.what a").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("[Relax][ONNX] Gather ignores axis=-1")


def test_the_drawing_is_seen_and_the_reproducer_copied(page: Page) -> None:
    page.goto("/bugs/1")
    assert page.locator("svg.model rect").count() == 3
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.get_by_role("button", name="Copy").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()") == SCRIPT


def test_no_page_is_wider_than_the_screen_or_runs_what_a_compiler_said(page: Page) -> None:
    for path in ("/bugs", "/bugs/1", "/bugs/2", "/campaigns", "/campaigns/1", "/campaigns/2", "/gates", "/sweeps"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert page.title().endswith("Graphwarden")


def test_dark_is_dark(page: Page) -> None:
    red, green, blue = map(
        int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]
    )
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (red + green + blue < 150) == dark


@pytest.fixture
def moderated(browser: Browser, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """The queue with one report in it, opened by a moderator; on a phone in the dark."""
    with open_store(tmp_path / "m.db", create=True) as store:
        campaign = store.begin_campaign({"sources": ["isra"], "targets": [TVM.id], "seed": 1}).id
        record(store, campaign, failing("a", "one", TVM), failing("bb", "one", TVM), failing("c", "two", TVM))
        payload = {"title": "Gather is wrong", "body": BODY, "labels": []}
        Ledger(store).outbox.add(NewOutgoing(OutKind.ISSUE, "issue:1", "o/r", payload, "bug:1", bug_id=1, held=True))
        secrets = appoint(store, "ada")
    scripts = getattr(request, "param", True)
    with served(tmp_path / "m.db") as site:
        look = {"viewport": PHONE, "color_scheme": "dark"} if scripts else {"viewport": LAPTOP}
        context = browser.new_context(**look, base_url=site, java_script_enabled=scripts)
        context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)
        opened = context.new_page()
        opened.goto("/queue")
        opened.get_by_label("Name").fill("ada")
        opened.get_by_label("Secret").fill(secrets["ada"])
        opened.keyboard.press("Enter")
        expect(opened.get_by_role("heading", level=1)).to_have_text("Waiting for a moderator")
        yield opened
        context.close()


@pytest.mark.parametrize("moderated", [True, False], indirect=True, ids=["with scripts", "without scripts"])
def test_a_moderator_decides_by_keyboard_alone(moderated: Page, request: pytest.FixtureRequest) -> None:
    moderated.locator("summary", has_text="As it would be posted").focus()
    moderated.keyboard.press("Enter")
    if not request.node.callspec.params["moderated"]:  # scripts put the text in its place
        moderated.get_by_role("link", name="on a page of its own").focus()
        moderated.keyboard.press("Enter")
    expect(moderated.get_by_text("It fails in 3 of 3 fresh processes")).to_be_visible()
    moderated.get_by_role("button", name="Approve").focus()
    moderated.keyboard.press("Enter")
    expect(moderated.get_by_text("ada approved the report for o/r")).to_be_visible()
    expect(moderated).to_have_url(re.compile(r"/queue$"))


@pytest.mark.parametrize("moderated", [True, False], indirect=True, ids=["with scripts", "without scripts"])
def test_a_moderator_rejects_splits_merges_and_mutes(moderated: Page) -> None:
    moderated.locator("summary", has_text="Reject").click()
    moderated.get_by_label("Reason").fill("not ours")
    moderated.get_by_role("button", name="for good").click()
    expect(moderated.get_by_text("rejected the report for o/r: not ours")).to_be_visible()
    moderated.goto("/bugs/1")
    moderated.get_by_text("Some of its failures are another bug's").click()
    moderated.get_by_role("checkbox").check()
    moderated.get_by_role("button", name="Split off").click()
    expect(moderated).to_have_url(re.compile(r"/bugs/4$"))
    moderated.get_by_text("It is the same as another bug").click()
    moderated.get_by_label("Number of the bug that is kept").fill("3")
    moderated.get_by_role("button", name="Merge into it").click()
    expect(moderated).to_have_url(re.compile(r"/bugs/3$"))
    moderated.get_by_text("Nobody wants to hear of it").click()
    moderated.get_by_role("button", name="Mute for good").click()
    expect(moderated.get_by_text("It has been put aside.")).to_be_visible()
    assert moderated.evaluate("document.documentElement.scrollWidth <= innerWidth")


@pytest.mark.parametrize("moderated", [True, False], indirect=True, ids=["with scripts", "without scripts"])
def test_a_hunt_is_paused_by_one_click_and_cancelled_by_two(moderated: Page) -> None:
    moderated.goto("/campaigns/1")
    moderated.get_by_role("button", name="Pause").click()
    expect(moderated.get_by_text("by ada")).to_be_visible()
    assert not moderated.get_by_role("button", name="Cancel for good").is_visible()
    moderated.locator("summary", has_text="Cancel").click()
    moderated.get_by_role("button", name="Cancel for good").click()
    expect(moderated.get_by_text("ada cancelled it")).to_be_visible()
    expect(moderated.get_by_role("button", name="Resume")).to_have_count(0)


def test_a_second_word_about_the_same_thing_is_told_on_the_page(moderated: Page) -> None:
    other = moderated.context.new_page()
    other.goto("/queue")
    for page in (moderated, other):
        page.get_by_role("button", name="Approve").click()
    expect(other.get_by_role("alert")).to_contain_text("approved by ada")
    expect(other).to_have_url(re.compile(r"/queue$"))  # where one may load again
    moderated.get_by_role("button", name="Sign out").click()
    expect(moderated.get_by_role("link", name="Sign in")).to_be_visible()
    moderated.go_back()
    expect(moderated.get_by_text("ada approved")).to_have_count(0)


def test_the_numbers_of_a_hunt_change_while_one_looks(page: Page, database: Path) -> None:
    """Without a single question after the page itself: they are sent."""
    page.goto("/campaigns/2")
    expect(page.locator("[data-live]")).to_have_count(1)
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.evaluate("document.querySelector('#numbers dd').textContent = 'nothing'")
    with open_store(database, create=False) as store:
        record(store, 2, failing(f"seen {page.viewport_size}", f"seen {page.viewport_size}", TVM))
    expect(page.locator("#numbers dd").first).to_have_text(re.compile(r"\d+"))
    assert asked == []
