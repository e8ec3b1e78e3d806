"""What a suite consists of: cases with a name, a title and, for some, the outcomes that are expected. Pure."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from packaging.version import InvalidVersion, Version

from fuzz.case import Case

#: One letter an outcome (`triage.replay`), and what cannot be told.
PASS = "P"
EXCEPTION = "E"
UNTESTABLE = "-"
UNKNOWN = "?"
LETTERS: Mapping[str, str] = {
    PASS: "pass",
    "W": "wrong result",
    "E": "exception or unsupported",
    "C": "native crash",
    "T": "timeout",
    "F": "flaky",
    UNTESTABLE: "untestable build",
    UNKNOWN: "not run or not comparable",
}
EXPECTED_FILE = "expected.toml"
_KEYS = {"title", "why", "releases"}


class BadEntry(ValueError):
    """An expectation file that cannot be used: which one, what is wrong, what would be right."""


class Source(StrEnum):
    """Where an entry comes from; the order of the members is that of a suite."""

    COMMITTED = "committed"  # data/regressions: outcomes known by release
    BUG = "bug"  # a confirmed bug of a hunt's database, reduced
    GIVEN = "given"  # a file that the user names
    SLICE = "slice"  # a test of a source of cases


@dataclass(frozen=True)
class Expected:
    """What is known of an entry: per compiler, a letter for each release, oldest first."""

    title: str = ""
    why: str = ""
    letters: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    def at(self, compiler: str, version: str) -> str:
        """The letter of `compiler` at exactly this release, "" where nothing is known."""
        return self.letters.get(compiler, {}).get(version, "")

    def nearest(self, compiler: str, version: str) -> str:
        """The letter of the newest known release that is not newer than `version`, "" where there is none."""
        known = self.letters.get(compiler, {})
        if version in known:
            return known[version]
        at = as_release(version)
        older = [
            (own, letter) for release, letter in known.items() if (own := as_release(release)) and at and own <= at
        ]
        return max(older)[1] if older else ""


@dataclass(frozen=True)
class Entry:
    """One case of a suite. `name` is unique in it; `title` says what the case once showed, "" for an ordinary test.

    `reproducer` is the script of the report that a bug already has.
    """

    name: str
    case: Case
    source: Source
    title: str = ""
    expected: Expected = Expected()
    reproducer: str = ""

    @property
    def id(self) -> str:
        """The content id of the case."""
        return self.case.id


def read_expected(path: Path) -> Expected:
    """The expectations in an ``expected.toml``. Raises BadEntry."""
    try:
        told = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        raise BadEntry(f"{path}: cannot be read: {getattr(error, 'strerror', None) or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise BadEntry(f"{path}: is no TOML: {error}") from error
    unknown = sorted(told.keys() - _KEYS)
    if unknown:
        raise BadEntry(f"{path}: unknown key {unknown[0]!r} (known: {', '.join(sorted(_KEYS))})")
    releases = told.get("releases", {})
    if not isinstance(releases, dict) or not all(_is_history(each) for each in releases.values()):
        raise BadEntry(f"{path}: [releases.COMPILER] must give a letter of {''.join(_TOLD)} for each release")
    return Expected(str(told.get("title", "")), str(told.get("why", "")), releases)


#: The letters that can be expected.
_TOLD = "PWECT"


def _is_history(table: object) -> bool:
    return isinstance(table, dict) and all(isinstance(letter, str) and letter in _TOLD for letter in table.values())


def written(expected: Expected) -> str:
    """The text of an ``expected.toml``; `read_expected` takes it back."""
    lines = [f"title = {_quoted(expected.title)}", f"why = {_quoted(expected.why)}"]
    for compiler, letters in sorted(expected.letters.items()):
        lines += ["", f"[releases.{compiler}]"]
        lines += [f"{_quoted(release)} = {_quoted(letter)}" for release, letter in letters.items()]
    return "\n".join(lines) + "\n"


def distinct(entries: Iterable[Entry]) -> list[Entry]:
    """The entries by source, one for each case; a name that is used twice gets the case's id beside it."""
    order = list(Source)
    kept: dict[str, Entry] = {}
    for entry in sorted(entries, key=lambda entry: order.index(entry.source)):
        kept.setdefault(entry.id, entry)
    return named(list(kept.values()))


def named(entries: Sequence[Entry]) -> list[Entry]:
    """The entries with unique names."""
    used: set[str] = set()
    found = []
    for entry in entries:
        name = entry.name if entry.name not in used else f"{entry.name} {entry.id}"
        used.add(name)
        found.append(replace(entry, name=name))
    return found


def _quoted(text: str) -> str:
    """A TOML basic string."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(c if c >= " " and c != "\x7f" else f"\\u{ord(c):04x}" for c in escaped) + '"'


def as_release(text: str) -> Version | None:
    """The version that a revision is called by, None for one that has another name, as commits have."""
    try:
        return Version(text)
    except InvalidVersion:
        return None
