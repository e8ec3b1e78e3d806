"""How runners, loggers and wrappers write exception, file and line before a sentence: rules ``[[prefix]]``. Pure."""

from __future__ import annotations

from functools import lru_cache

from triage.rules import rules
from triage.stack import shared

#: An exception may be wrapped in others, each of which writes its name before the message.
_MOST_PREFIXES = 6


@lru_cache(maxsize=1 << 12)
def bare_class(exception: str) -> str:
    """The bare name of an exception, "" of one that only passes on another."""
    name = exception.rpartition(".")[2].rpartition("::")[2]
    return "" if rules().passing.fullmatch(name) else name


@lru_cache(maxsize=1 << 12)
def prefixed(message: str) -> tuple[str, str, str, str]:
    """(the message without the exceptions before it, the first of them, where it was raised) as runners wrote them.

    Last the message without where it was raised alone: other places that it begins with are read besides.
    """
    exception = site = ""
    body = message
    for _ in range(_MOST_PREFIXES):
        begun = message[:2_000]
        likely = rules().prefixes if rules().any_prefix.match(begun) else ()  # most have none, which is quickly seen
        found = next((hit for pattern in likely if (hit := pattern.match(begun))), None)
        if found is None:
            break
        message = message[found.end() :]
        told = found.groupdict()
        named = told.get("exception", "")
        exception = exception if bare_class(exception) else named or exception
        if file := told.get("file"):
            body = message
            if not shared(file, ""):  # of a library, who called it tells
                site = f"{file.replace(chr(92), '/').rpartition('/')[2]}:{told['line']}"
    return message, exception, site, body
