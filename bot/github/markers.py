"""The hidden mark that a text of the bot carries, by which it is found again. Pure.

A mark is an HTML comment, which GitHub keeps in the text and does not show. Text of others (operator names, error
messages, file names) may hold a forged one, so every text is cleaned before it gets its own.
"""

from __future__ import annotations

import re
from urllib.parse import quote, unquote

_NAME = "graphwarden"
_MARK = re.compile(rf"<!-- {_NAME}:([\w./:%-]+) -->", re.ASCII)
#: The beginning of anything that a reader of marks, however tolerant, could take for one.
_LIKE = re.compile(rf"<(?=\s*!\s*-+\s*{_NAME})", re.IGNORECASE)


def marker(key: str) -> str:
    """The mark of a key: one line. Any key can be marked; two keys never share a mark."""
    safe = quote(key, safe="/:._")
    # Two hyphens in a row end a comment for some readers.
    return f"<!-- {_NAME}:{safe.replace('--', '-%2D').replace('--', '-%2D')} -->"


def keys(text: str) -> frozenset[str]:
    """The keys of all marks in a text."""
    return frozenset(unquote(found) for found in _MARK.findall(text))


def without(text: str) -> str:
    """The text, where nothing looks like a mark any more; a reader sees what stood there."""
    return _LIKE.sub("&lt;", text)
