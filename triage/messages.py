"""What a compiler's message says: without the lines that every message of it carries (`core`), and without what
differs between two runs of one bug (`normalise`). The rules are data (`triage/rules.py`). Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from triage.prefilter import replaced
from triage.rules import rules
from triage.scrub import plain

LONGEST_MESSAGE = 600
#: A compiler may print megabytes; what tells two bugs apart stands at the beginning, after the preambles.
_LONGEST_RAW = 64_000
_LONGEST_CORE = 8_000
#: Longer ones are not remembered: they seldom come twice.
_REMEMBERED = 4_000

_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_QUOTES = str.maketrans("‘’‚‛“”„«»′`\u00a0", "''''\"\"\"\"\"'`\x20")
_ADDRESS = re.compile(r"\b0[xX][0-9a-fA-F]++(?!x)")  # 0x3xf32 is a type
#: Hashes and other identifiers in hexadecimal: eight digits or more, of both kinds; and UUIDs.
_HASH = re.compile(
    r"(?<![0-9A-Za-z])(?=[a-z]*+[0-9])[a-z0-9]{24,64}(?![0-9A-Za-z])"  # of base 32: generated files
    r"|(?<![\w.])(?=[0-9a-f]{0,39}[0-9])(?=[0-9a-f]{0,39}[a-f])[0-9a-f]{8,40}(?:(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?(?![\w.])"
)
#: What every one of them holds, which is quicker to see.
_LIKE_A_HASH = re.compile(r"[0-9a-f]{8}|[0-9a-z]{24}")
_DIGITS = re.compile(r"\d+")
#: An object printed with all that it holds, in brackets within brackets: what it is called tells.
_NESTED = re.compile(r"(?<=\w)\((?=[^()\n]*\()(?=[^\n]{80})(?:[^()]|\((?:[^()]|\((?:[^()]|\([^()]*+\))*+\))*+\))*+\)?")

#: Value names that are words of messages as well; masking them would garble every message.
_SPOKEN = """
a an and at axes axis bias bool by cannot case check constant convert data default dim dtype else error expected
failed false float for from got has if in index indices input inputs int is it k min max model n name no node
not of on op operator or out output outputs pads rank scale shape size split steps string target tensor test
than that the then to true type value values weight with
"""
WORDS = frozenset(_SPOKEN.split())


def core(message: str) -> str:
    """The message without its empty words; unchanged where nothing else would be left.

    Read are the first 64,000 characters.
    """
    message = message[:_LONGEST_RAW]
    told = replaced(rules().drops, message)
    told = re.sub(r"\n{2,}", "\n", told).strip()
    return told or message.strip()


def part(message: str, operator: str) -> str:
    """Of a log with a part for each operator that failed, that of `operator`; else the whole message.

    Parts that name no operator follow from another one: they never count beside it.
    """
    for pattern in rules().parts:
        found = list(pattern.finditer(message[:_LONGEST_RAW]))
        ends = [*(each.start() for each in found[1:]), len(message)]
        spans = [(each["operator"] or "", message[each.start() : end]) for each, end in zip(found, ends, strict=False)]
        causes = [(name, text) for name, text in spans if name]
        for name, text in causes:
            if len(found) > 1 and operator and f".{name}".endswith(f".{operator}"):
                return text
        if causes and len(causes) < len(found):
            return causes[0][1]
    return message


def normalise(message: str, names: Collection[str] = ()) -> str:
    """A message without addresses, numbers, shapes, paths, line numbers and generated names.

    `names` are the values and nodes of the case itself: a reduced or renamed model keeps its signature.
    Normalising twice changes nothing; at most `LONGEST_MESSAGE` characters.
    """
    return _masked(_levelled(_unnamed(message[:_LONGEST_CORE], names)))


def said(message: str) -> str:
    """`normalise(core(message))`, remembered: a hunt's messages differ in little but their numbers."""
    levelled = _levelled(message[:_LONGEST_RAW])
    return _said(levelled) if len(levelled) <= _REMEMBERED else _said.__wrapped__(levelled)


def worded(message: str) -> str:
    """`said`, whichever of several wordings of one thing was chosen: how failures of many versions are compared."""
    return _reworded(said(message))


@lru_cache(maxsize=1 << 16)
def _reworded(normal: str) -> str:
    return replaced(rules().wordings, normal)


def _unnamed(message: str, names: Collection[str]) -> str:
    spoken = [re.escape(name) for name in names if name and name.lower() not in WORDS]
    if not spoken:
        return message
    name = rf"(?:{'|'.join(sorted(spoken, key=len, reverse=True))})(?![\w.])"  # the longest first
    return re.sub(rf"(?<![\w.])(?<!\w'){name}(?:, {name})*", "NAME", message)  # the t of "can't" is none


def _levelled(message: str) -> str:
    """All numbers alike, so that rules are written, and results remembered, for one number only."""
    if not message.isascii() or (not message.isprintable() and _CONTROL.search(message)):
        message = plain(message).translate(_QUOTES)
    if "0x" in message or "0X" in message:
        message = _ADDRESS.sub("ADDR", message)
    if _LIKE_A_HASH.search(message):
        message = _HASH.sub("HASH", message)
    return _DIGITS.sub("7", message)


@lru_cache(maxsize=1 << 16)
def _said(levelled: str) -> str:
    return _masked(core(levelled)[:_LONGEST_CORE])


def _masked(message: str) -> str:
    message = replaced(rules().masks, message)
    return _NESTED.sub("(…)", message).replace("7", "N").strip()[:LONGEST_MESSAGE].rstrip()
