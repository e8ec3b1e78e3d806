"""What earlier runs saw: the letter of each case on each revision of a compiler, and what it cost there.

It decides on the order of later runs, never on their results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.version import Version

from triage.revisions import places
from triage.suite.entries import EXCEPTION, PASS, UNKNOWN, UNTESTABLE, Entry, as_release
from triage.suite.journal import home

#: What stands for an honest refusal here: these change more rarely than what fails, so they come later.
REFUSED = "U"
#: Letters that tell nothing of the compiler.
_SILENT = frozenset({UNKNOWN, UNTESTABLE, ""})


@dataclass(frozen=True)
class Past:
    """Ids of cases that did not pass on the base revision, and of those that ever changed between two revisions."""

    failed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    known: frozenset[str] = field(default=frozenset())  # ids with a letter on the base revision
    refused: frozenset[str] = field(default=frozenset())  # of these, those that the compiler refuses honestly
    seconds: Mapping[str, float] = field(default_factory=dict)  # what ids took on the base, repeats included


def past(entries: Sequence[Entry], compiler: str, base: str, *, folder: Path | None = None) -> Past:
    """What is known of the entries before `base` and a later revision are run.

    Letters on `base` come from earlier runs on it, else from those on the nearest revision, else from the expectations
    of the nearest release: most cases do the same on both.
    """
    seen = recall(compiler, folder=folder)
    on_base = {entry.id: entry.expected.nearest(compiler, base) for entry in entries}
    for revision in _nearest_last(seen, base):
        on_base |= seen[revision]
    spoken = {case: letter for case, letter in on_base.items() if letter not in _SILENT}
    failed = {case for case, letter in spoken.items() if letter not in (PASS, REFUSED)}
    refused = {case for case, letter in spoken.items() if letter == REFUSED}
    changed = frozenset(_changed(entries, compiler, seen))
    costs = _costs(compiler, base, folder)
    seconds = {entry.id: costs[entry.id] for entry in entries if entry.id in costs}
    return Past(frozenset(failed), changed, frozenset(spoken), frozenset(refused), seconds)


def _costs(compiler: str, base: str, folder: Path | None) -> dict[str, float]:
    """Seconds by id, those of the revision nearest to `base`."""
    by_revision = {str(told["revision"]): told.get("seconds", {}) for told in _documents(compiler, folder)}
    found: dict[str, float] = {}
    for revision in _nearest_last(by_revision, base):
        found |= by_revision[revision]
    return found


def _nearest_last(seen: Iterable[str], base: str) -> list[str]:
    """Revisions, in the order in which they were run, so that those nearer to `base` come later and itself last.

    Releases that are not newer are nearer than others, newer ones first; of commits, what ran last is nearest.
    """
    at = as_release(base)

    def nearness(revision: str) -> tuple[bool, bool, Version]:
        own = as_release(revision)
        older = at is not None and own is not None and own <= at
        return revision == base, older, own if older and own is not None else Version("0")

    return sorted(seen, key=nearness)


def _changed(entries: Sequence[Entry], compiler: str, seen: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    for entry in entries:
        letters = {each.get(entry.id, "").replace(REFUSED, EXCEPTION) for each in seen.values()}
        letters |= set(entry.expected.letters.get(compiler, {}).values())
        if len(letters - _SILENT) > 1:
            yield entry.id


def recall(compiler: str, *, folder: Path | None = None) -> dict[str, dict[str, str]]:
    """All letters that are remembered of a compiler: revision -> case id -> letter, what was run last at the end.

    Damaged files are left out.
    """
    return {told["revision"]: told["letters"] for told in _documents(compiler, folder)}


def _documents(compiler: str, folder: Path | None) -> Iterator[dict[str, Any]]:
    """What the files hold, the newest last. Raises nothing for a damaged one: it is left out."""
    for path in sorted(_folder(compiler, folder).glob("*.json"), key=lambda path: (path.stat().st_mtime_ns, path.name)):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            letters = {str(case): str(letter) for case, letter in told["letters"].items()}
            seconds = {str(case): float(taken) for case, taken in told.get("seconds", {}).items()}
            yield {"revision": str(told["revision"]), "letters": letters, "seconds": seconds}
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            continue


def remember(
    compiler: str,
    revision: str,
    letters: Mapping[str, str],
    seconds: Mapping[str, float] | None = None,
    *,
    folder: Path | None = None,
) -> None:
    """Add what a run has seen; `seconds` by id, repeats included. Raises OSError."""
    spoken = {case: letter for case, letter in letters.items() if letter not in _SILENT}
    if not spoken:
        return
    place = _folder(compiler, folder)
    place.mkdir(parents=True, exist_ok=True)
    known = next((told for told in _documents(compiler, folder) if told["revision"] == revision), {})
    costs = {case: round(taken, 4) for case, taken in (seconds or {}).items() if case in spoken}
    document = {
        "revision": revision,
        "letters": {**known.get("letters", {}), **spoken},
        "seconds": {**known.get("seconds", {}), **costs},
    }
    places.write(place / f"{_file_name(revision)}.json", json.dumps(document))


def _folder(compiler: str, folder: Path | None) -> Path:
    return (folder or home()) / "seen" / _file_name(compiler)


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.+-]", "_", text) or "_"
