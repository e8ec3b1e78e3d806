"""What a comment says to the bot. Pure.

A command is a line that begins with ``@graphwarden``, perhaps after a greeting. Markdown decides what a line is: code,
quotations and HTML are nobody's commands. Only the words of a command may stand in its line, so that a sentence about
the bot commands nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from markdown_it import MarkdownIt
from markdown_it.token import Token

NAME = "graphwarden"
#: Commands of one comment that are heeded, and characters of a comment that are read.
COMMANDS, READ = 10, 20_000
#: Characters of a line that are read: a reason may be long, the rest is short.
LINE = 600


class Word(StrEnum):
    """What may be said. The values are how it is written."""

    REDUCE = "reduce"
    BISECT = "bisect"
    RETEST = "retest"  # argument: a revision, or "" for the newest
    DUPLICATE = "duplicate of"  # argument: an issue's number, or owner/name#number
    APART = "not a duplicate"  # argument: as of DUPLICATE, or ""
    INVALID = "not a bug"  # argument: the reason
    MUTE = "mute"
    FILE = "file"
    EXPLAIN = "explain"
    LINK = "link"  # argument: an issue's number, or "" for this one
    APPROVE = "approve"  # argument: a commit
    HELP = "help"
    UNKNOWN = ""  # argument: what was said


@dataclass(frozen=True)
class Command:
    """One command. `bug` is the bug that it names, None where it means the one that the issue is about."""

    word: Word
    argument: str = ""
    bug: int | None = None


_MENTION = re.compile(rf"@{NAME}(?:\[bot\])?(?![\w/-]|\.\w)", re.IGNORECASE)
# Possessive (`*+`): a line of thousands of polite words is read once, not in every way it could be divided.
_GREETING = re.compile(
    r"(?:(?:hi|hey|hello|dear|ok|okay|thanks|thank you|so|and|then|please|can you|could you)\b[\s,.:;!]*+)*+",
    re.IGNORECASE,
)
#: Words around a command that change nothing.
_SOFT = r"(?:[\s,.:;!?…]|\b(?:please|pls|kindly|thanks|thank you|thx|now|again|here|for me)\b)*+"
_CAN = r"(?:(?:can|could|would|will)\s+you\s+)?"
_THIS = r"(?:\s+(?:it|this|that|the|one|bug|issue|failure|model|case)\b){0,3}?"
_ABOUT = r"(?:\s+(?:of|for)?\s*bug\s+#?(?P<bug>\d{1,9}))?"
_IT_IS = r"(?:(?:(?:this|it|that)(?:\s+(?:bug|issue|failure))?\s+)?is\s+)?"
_QUOTED = r"[`'\"]?"
_PLACE = r"[\w.-]{1,100}/[\w.-]{1,100}"
_ISSUE = rf"(?:issue\s+)?(?P<repository>{_PLACE})?#?(?P<issue>\d{{1,9}})"
_URL = rf"https?://[\w.:-]{{1,100}}/(?P<place>{_PLACE})/issues/(?P<at>\d{{1,9}})(?:#[\w-]*)?"
#: No option and no range of git, no path out of somewhere.
_REVISION = rf"{_QUOTED}(?!\S*\.\.)(?P<revision>[0-9A-Za-z][\w.+/-]{{0,99}}?){_QUOTED}"


def _line(body: str) -> re.Pattern[str]:
    return re.compile(rf"{_SOFT}{_CAN}{_SOFT}{body}{_SOFT}", re.IGNORECASE | re.ASCII)


#: How each word is said; the first that fits a whole line counts.
_SAID: tuple[tuple[Word, re.Pattern[str]], ...] = (
    (Word.HELP, _line(r"(?:help|commands|what can you do)")),
    (Word.REDUCE, _line(rf"(?:reduce|minimi[sz]e){_THIS}{_ABOUT}")),
    (Word.BISECT, _line(rf"bisect{_THIS}{_ABOUT}")),
    (Word.RETEST, _line(rf"re-?(?:test|run){_THIS}{_ABOUT}(?:\s+(?:on|with|at|against)\s+{_REVISION})?")),
    (Word.DUPLICATE, _line(rf"{_IT_IS}(?:an?\s+)?dup(?:licate|e)?(?:\s+of)?\s+(?:{_URL}|{_ISSUE})")),
    (
        Word.APART,
        _line(rf"{_IT_IS}not\s+(?:an?\s+)?dup(?:licate|e)?{_ABOUT}(?:\s+of\s+(?:{_URL}|{_ISSUE}))?"),
    ),
    (Word.INVALID, _line(rf"{_IT_IS}not\s+a\s+bug{_ABOUT}(?P<reason>[\s,.:;!(].*)?")),
    (Word.MUTE, _line(rf"mute{_THIS}{_ABOUT}")),
    (Word.FILE, _line(rf"file{_THIS}(?:\s+an?\s+issue)?{_ABOUT}")),
    (Word.EXPLAIN, _line(rf"explain{_THIS}{_ABOUT}")),
    (
        Word.LINK,
        _line(
            rf"link(?:\s+(?:{_URL}|{_ISSUE}|this(?:\s+issue)?))?(?:\s+(?:to|with|and))?\s+bug\s+#?(?P<bug>\d{{1,9}})"
        ),
    ),
    (Word.APPROVE, _line(rf"approve\s+(?:commit\s+)?{_QUOTED}(?P<revision>[0-9a-f]{{7,64}}){_QUOTED}")),
)


def addressed(text: str) -> bool:
    """Whether a comment could hold a command at all."""
    return f"@{NAME}" in text[:READ].lower()


def parse(text: str) -> tuple[Command, ...]:
    """The commands of a comment, in order, each once, at most COMMANDS. UNKNOWN is what began like one."""
    if not addressed(text):
        return ()
    found = dict.fromkeys(_command(rest) for line in _lines(text[:READ]) if (rest := _rest(line)) is not None)
    return tuple(found)[:COMMANDS]


def _rest(line: str) -> str | None:
    """What follows the bot's name in a line that speaks to it."""
    greeting = _GREETING.match(line.strip())
    assert greeting is not None
    start = line.strip()[greeting.end() :]
    mention = _MENTION.match(start)
    return None if mention is None else start[mention.end() :]


def _command(rest: str) -> Command:
    said = " ".join(rest.split())[:LINE]
    if not said.strip(",.:;!?"):
        return Command(Word.HELP)
    for word, pattern in _SAID:
        if found := pattern.fullmatch(said):
            return _understood(word, found.groupdict())
    return Command(Word.UNKNOWN, said[:100])


def _understood(word: Word, parts: dict[str, str | None]) -> Command:
    bug = parts.get("bug")
    number = parts.get("issue") or parts.get("at") or ""
    place = parts.get("repository") or parts.get("place") or ""
    # A person reads #012 as #12.
    issue = f"{place}#{int(number)}" if place else str(int(number or 0) or "")
    reason = (parts.get("reason") or "").lstrip(" ,.:;!-").rstrip(" .,;")
    argument = (parts.get("revision") or "").rstrip(".") or reason or issue
    return Command(word, argument, int(bug) if bug else None)


def _lines(text: str) -> Iterator[str]:
    """The lines of prose, as a reader of the Markdown sees them."""
    quoted = 0
    for token in MarkdownIt("commonmark").parse(text):
        if token.type in ("blockquote_open", "blockquote_close"):
            quoted += token.nesting
        elif token.type == "inline" and not quoted:
            yield from _spoken(token.children or []).split("\n")


def _spoken(parts: list[Token]) -> str:
    """The text of a paragraph; what is code keeps a sign that it is."""
    said = ""
    for part in parts:
        if part.type in ("text", "text_special"):
            said += part.content
        elif part.type == "code_inline":
            said += f"`{part.content}`"
        elif part.type in ("softbreak", "hardbreak"):
            said += "\n"
    return said
