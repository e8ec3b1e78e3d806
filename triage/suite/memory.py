"""What earlier runs saw: the letter of each case on each revision of a compiler.

It decides on the order of later runs, never on their results.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from triage.revisions import places
from triage.suite.entries import PASS, UNKNOWN, UNTESTABLE, Entry
from triage.suite.journal import home

#: What stands for an honest refusal here. They hardly ever change from one build to the next (0 of 680 in five pairs of
#: OpenVINO's releases, 131 of 3,235 exceptions and wrong results), so they do not come early.
REFUSED = "U"
#: Letters that tell nothing of the compiler.
_SILENT = frozenset({UNKNOWN, UNTESTABLE, ""})


@dataclass(frozen=True)
class Past:
    """Ids of cases that did not pass on the base revision, and of those that ever changed between two revisions."""

    failed: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    known: frozenset[str] = field(default=frozenset())  # ids with a letter on the base revision


def past(entries: Sequence[Entry], compiler: str, base: str, *, folder: Path | None = None) -> Past:
    """What is known of the entries before `base` and a later revision are run.

    Letters on `base` come from earlier runs, else from the expectations of the nearest release.
    """
    seen = recall(compiler, folder=folder)
    on_base = {entry.id: entry.expected.nearest(compiler, base) for entry in entries}
    on_base |= seen.get(base, {})
    spoken = {case: letter for case, letter in on_base.items() if letter not in _SILENT}
    failed = {case for case, letter in spoken.items() if letter not in (PASS, REFUSED)}
    return Past(frozenset(failed), frozenset(_changed(entries, compiler, seen)), frozenset(spoken))


def _changed(entries: Sequence[Entry], compiler: str, seen: Mapping[str, Mapping[str, str]]) -> Iterable[str]:
    for entry in entries:
        letters = {each.get(entry.id, "") for each in seen.values()}
        letters |= set(entry.expected.letters.get(compiler, {}).values())
        if len(letters - _SILENT) > 1:
            yield entry.id


def recall(compiler: str, *, folder: Path | None = None) -> dict[str, dict[str, str]]:
    """All letters that are remembered of a compiler: revision -> case id -> letter. Damaged files are left out."""
    found = {}
    for path in sorted(_folder(compiler, folder).glob("*.json")):
        try:
            told = json.loads(path.read_text(encoding="utf-8"))
            found[str(told["revision"])] = {str(case): str(letter) for case, letter in told["letters"].items()}
        except (OSError, ValueError, KeyError, AttributeError, TypeError):
            continue
    return found


def remember(compiler: str, revision: str, letters: Mapping[str, str], *, folder: Path | None = None) -> None:
    """Add what a run has seen. Raises OSError."""
    spoken = {case: letter for case, letter in letters.items() if letter not in _SILENT}
    if not spoken:
        return
    place = _folder(compiler, folder)
    place.mkdir(parents=True, exist_ok=True)
    known = recall(compiler, folder=folder).get(revision, {})
    document = {"revision": revision, "letters": {**known, **spoken}}
    places.write(place / f"{_file_name(revision)}.json", json.dumps(document))


def _folder(compiler: str, folder: Path | None) -> Path:
    return (folder or home()) / "seen" / _file_name(compiler)


def _file_name(text: str) -> str:
    return re.sub(r"[^\w.+-]", "_", text) or "_"
