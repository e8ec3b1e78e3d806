"""The pages in a real browser: as a maintainer on a laptop and on a phone, by mouse and by keyboard."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.bot.pages.conftest import SCRIPT

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
    for path in ("/bugs", "/bugs/1", "/bugs/2", "/campaigns", "/campaigns/1", "/campaigns/2"):
        page.goto(path)
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), path
        assert page.title().endswith("Graphwarden")


def test_dark_is_dark(page: Page) -> None:
    red, green, blue = map(
        int, re.findall(r"\d+", page.evaluate("getComputedStyle(document.body).backgroundColor"))[:3]
    )
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert (red + green + blue < 150) == dark
