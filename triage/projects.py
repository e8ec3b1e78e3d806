"""What is known of the projects that reports go to: names, trackers, labels, the headings of their issue forms.

One file a backend in ``data/projects/``; `Project` is that file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.data import data_path

_DEFAULT = "default"


@dataclass(frozen=True)
class Section:
    """A section of a report. `parts` are names of files in ``templates/parts``; `text` may hold ``{version}`` and the
    like. Without a heading it is plain text."""

    heading: str = ""
    parts: tuple[str, ...] = ()
    text: str = ""


@dataclass(frozen=True)
class ProjectLabel:
    """A label that the project's tracker has, and the reason for it.

    `kind`, `symptom` and `parts` say for which bugs; "" and no parts for all.
    """

    name: str
    reason: str = ""
    kind: str = ""
    symptom: str = ""
    parts: tuple[str, ...] = ()

    def fits(self, kind: str, symptom: str, part: str) -> bool:
        """Whether a bug found with such a case, showing this symptom in this part of the compiler, has the label."""
        return self.kind in ("", kind) and symptom.startswith(self.symptom) and (not self.parts or part in self.parts)


@dataclass(frozen=True)
class Project:
    """The project behind a backend. `elsewhere` are words that mark issues of its other parts, `words` how its form
    spells facts, by the kind of fact; `tests` the test files that exist, each with the operators it is for."""

    name: str
    tracker: str = ""
    elsewhere: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    labels: tuple[ProjectLabel, ...] = ()
    tests: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sections: tuple[Section, ...] = ()

    def word(self, kind: str, fact: str) -> str:
        """How the form spells a fact; as it is where it says nothing of it."""
        return self.words.get(kind, {}).get(fact, fact)

    def test_file(self, operator: str) -> str:
        """The name of the file that holds the tests of an operator, "" where none is known."""
        return next((name for name, operators in self.tests.items() if operator in operators), "")


def project(backend: str) -> str:
    """How the project behind a backend is called; the backend's own name for one that is not listed."""
    return described(backend).name


def described(backend: str) -> Project:
    """The project behind a backend, given by name or by path."""
    return _read(Path(backend).stem)


@cache
def _read(name: str) -> Project:
    document = _document(name)
    return Project(
        name=document.get("name", name),
        tracker=document.get("tracker", ""),
        elsewhere=tuple(document.get("elsewhere", ())),
        words=document.get("words", {}),
        labels=tuple(_label(one) for one in document.get("label", ())),
        tests=document.get("tests", {}),
        sections=tuple(
            Section(one.get("heading", ""), tuple(one.get("parts", ())), one.get("text", "").strip())
            for one in document.get("section") or _document(_DEFAULT)["section"]
        ),
    )


def _document(name: str) -> dict[str, Any]:
    path = data_path("projects", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}


def _label(entry: Mapping[str, Any]) -> ProjectLabel:
    return ProjectLabel(**{**entry, "parts": tuple(entry.get("parts", ()))})
