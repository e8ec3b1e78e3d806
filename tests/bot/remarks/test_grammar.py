"""What a comment says to the bot."""

from __future__ import annotations

import pytest

from bot.remarks.grammar import COMMANDS, Command, Word, addressed, parse


def said(text: str) -> Command:
    [one] = parse(text)
    return one


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("reduce", Command(Word.REDUCE)),
        ("bisect", Command(Word.BISECT)),
        ("retest", Command(Word.RETEST)),
        ("retest on 0.27.0", Command(Word.RETEST, "0.27.0")),
        ("retest on v1.2/foo-bar+cpu", Command(Word.RETEST, "v1.2/foo-bar+cpu")),
        ("duplicate of #12", Command(Word.DUPLICATE, "12")),
        ("this is a duplicate of #12", Command(Word.DUPLICATE, "12")),
        ("that bug is a dup of #12", Command(Word.DUPLICATE, "12")),
        ("not a duplicate", Command(Word.APART)),
        ("this is not a duplicate of #12.", Command(Word.APART, "12")),
        ("not a duplicate bug 3", Command(Word.APART, bug=3)),
        ("duplicate of acme/other#12", Command(Word.DUPLICATE, "acme/other#12")),
        ("duplicate of https://github.com/acme/other/issues/12#x-1", Command(Word.DUPLICATE, "acme/other#12")),
        ("not a bug", Command(Word.INVALID)),
        ("not a bug NaN is allowed (see the spec)", Command(Word.INVALID, "NaN is allowed (see the spec)")),
        ("not a bug: so it is specified.", Command(Word.INVALID, "so it is specified")),
        ("mute", Command(Word.MUTE)),
        ("file", Command(Word.FILE)),
        ("explain", Command(Word.EXPLAIN)),
        ("link bug 7", Command(Word.LINK, "", 7)),
        ("link #5 to bug 7", Command(Word.LINK, "5", 7)),
        (f"approve {'a' * 40}", Command(Word.APPROVE, "a" * 40)),
        ("help", Command(Word.HELP)),
        ("", Command(Word.HELP)),
        ("explain bug 12", Command(Word.EXPLAIN, "", 12)),
        ("retest bug 3 on main", Command(Word.RETEST, "main", 3)),
        ("not a bug 12 years ago this was fine", Command(Word.INVALID, "12 years ago this was fine")),
    ],
)
def test_every_command_is_understood(text: str, command: Command) -> None:
    assert said(f"@graphwarden {text}") == command


@pytest.mark.parametrize(
    "text",
    [
        "@GraphWarden: Retest, please!",
        "Hi @graphwarden, could you retest this now?",
        "- @graphwarden retest.",
        "1. @graphwarden RE-TEST it",
        "**@graphwarden** retest",
        "@graphwarden[bot] retest this bug again, thanks",
        "please @graphwarden retest",
        "Thank you.\n\n@graphwarden   retest  \n\nBest regards",
        "Thank you.\n@graphwarden\u00a0retest\nBest regards",
        "> @graphwarden mute\n\n@graphwarden retest",
    ],
)
def test_case_punctuation_and_politeness_change_nothing(text: str) -> None:
    assert said(text) == Command(Word.RETEST)


def test_a_revision_may_be_quoted() -> None:
    assert said("@graphwarden retest on `1.2.3`.") == Command(Word.RETEST, "1.2.3")
    assert said('@graphwarden retest on "main" please') == Command(Word.RETEST, "main")


@pytest.mark.parametrize(
    "text",
    [
        "> @graphwarden mute",
        "> said somebody\n> > @graphwarden mute",
        "```\n@graphwarden mute\n```",
        "~~~text\n@graphwarden mute",
        "    @graphwarden mute",
        "`@graphwarden mute`",
        "<!-- @graphwarden mute -->",
        "<!--\n\n@graphwarden mute\n\n-->",
        "<pre>\n@graphwarden mute\n</pre>",
        "I asked @graphwarden mute",
        "See what @graphwarden does",
        "mail@graphwarden mute",
        "@graphwarden-bot mute",
        "@graphwarden/team mute",
        "@graphwarden.com mute",
        "@graphwardens mute",
        "/graphwarden mute",
        "",
    ],
)
def test_code_quotations_comments_and_talk_about_the_bot_command_nothing(text: str) -> None:
    assert parse(text) == ()


@pytest.mark.parametrize(
    "text",
    [
        "mute the court",
        "reduce is broken",
        "retest on",
        "retest on --upload-pack=evil",
        "retest on ../../etc",
        "retest on a..b",
        "retest on one two",
        "duplicate",
        "duplicate of that one",
        "not a bugbear",
        "approve main",
        "approve abc",
        "link",
        "frobnicate",
        "thank you, well done",
    ],
)
def test_what_only_begins_like_a_command_is_none(text: str) -> None:
    assert said(f"@graphwarden {text}").word is Word.UNKNOWN


def test_there_is_one_command_a_line_and_each_counts_once() -> None:
    text = "@graphwarden bisect\n@graphwarden retest on 1.0\nsome words\n@graphwarden bisect\n- @graphwarden explain"
    assert [one.word for one in parse(text)] == [Word.BISECT, Word.RETEST, Word.EXPLAIN]
    many = "\n\n".join(f"@graphwarden explain bug {number}" for number in range(100))
    assert len(parse(many)) == COMMANDS


@pytest.mark.parametrize(
    "unit",
    ["please ", "can you ", "the bug ", "thanks,", "[", "`", "<", "*a_ ", "> ", "- ", "<!--", "![[](", "\ud800", "@"],
)
def test_long_and_odd_texts_are_read_to_the_end(unit: str) -> None:
    """Each of these took half a minute with patterns that try every division."""
    for text in (f"@graphwarden {unit * 9000}", f"{unit * 3000}\n\n@graphwarden {unit * 3000}z", unit * 20_000):
        assert len(parse(text)) <= 2


def test_a_long_reason_is_cut() -> None:
    assert 500 < len(said(f"@graphwarden not a bug {'because ' * 1000}").argument) <= 600


def test_only_a_text_with_the_name_is_looked_at() -> None:
    assert addressed("Hello @GRAPHWARDEN") and not addressed("hello graphwarden")
