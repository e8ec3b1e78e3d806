"""Reading an export of a project's issue list: a JSON array, or one JSON object a line.

``gh issue list --repo OWNER/NAME --state all --limit 5000 --json number,title,body,url,state`` writes such a file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from bot.failures import Refusal
from triage.known import Issue

_TEXTS = ("title", "body", "url", "state")
_MEND = "export it by `gh issue list --json number,title,body,url,state`"


def read(paths: Iterable[Path]) -> list[Issue]:
    """The issues in some files. Raises Refusal that names the entry for whatever is wrong with it."""
    return [issue for path in paths for issue in _issues(path)]


def _issues(path: Path) -> list[Issue]:
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise Refusal(f"{path}: {error.strerror}; {_MEND}") from error
    except UnicodeDecodeError as error:
        raise Refusal(f"{path}: is not UTF-8 text; {_MEND}") from error
    return [_issue(where, entry) for where, entry in _entries(path, text)]


def _entries(path: Path, text: str) -> Iterator[tuple[str, Any]]:
    """(where it stands, the entry)."""
    if text.lstrip().startswith("["):
        for at, entry in enumerate(_parsed(str(path), text), 1):
            yield f"{path}, issue {at}", entry
        return
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            yield f"{path}:{number}", _parsed(f"{path}:{number}", line)


def _parsed(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        told = error.msg if isinstance(error, json.JSONDecodeError) else str(error)
        raise Refusal(f"{where}: is not JSON ({told}); {_MEND}") from error


def _issue(where: str, entry: Any) -> Issue:
    if not isinstance(entry, dict):
        raise Refusal(f"{where}: is not a JSON object; {_MEND}")
    number = entry.get("number")
    if isinstance(number, bool) or not isinstance(number, int):
        raise Refusal(f"{where}: has no number; {_MEND}")
    for key in _TEXTS:
        if not isinstance(entry.get(key) or "", str) or (key == "title" and not entry.get(key)):
            raise Refusal(f"{where}: {key} is not text; {_MEND}")
    return Issue(number, **{key: entry.get(key) or "" for key in _TEXTS})
