"""What is known of the projects that reports go to: names, trackers, labels, the headings of their issue forms.

One file a backend in ``data/projects/``; `Project` is that file.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
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
    """A label of the project's own, and the reason for it. `kind` and `symptom` say for which cases; "" for all."""

    name: str
    reason: str = ""
    kind: str = ""
    symptom: str = ""

    def fits(self, kind: str, symptom: str) -> bool:
        """Whether a bug found with such a case and showing this symptom has the label."""
        return self.kind in ("", kind) and symptom.startswith(self.symptom)


@dataclass(frozen=True)
class Project:
    """The project behind a backend. `elsewhere` are words that mark issues of its other parts, `words` how its form
    spells facts, by the kind of fact."""

    name: str
    tracker: str = ""
    elsewhere: tuple[str, ...] = ()
    words: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    labels: tuple[ProjectLabel, ...] = ()
    sections: tuple[Section, ...] = ()

    def word(self, kind: str, fact: str) -> str:
        """How the form spells a fact; as it is where it says nothing of it."""
        return self.words.get(kind, {}).get(fact, fact)


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
        labels=tuple(ProjectLabel(**one) for one in document.get("label", ())),
        sections=tuple(
            Section(one.get("heading", ""), tuple(one.get("parts", ())), one.get("text", "").strip())
            for one in document.get("section") or _document(_DEFAULT)["section"]
        ),
    )


def _document(name: str) -> dict[str, Any]:
    path = data_path("projects", f"{name}.toml")
    return tomllib.loads(path.read_text("utf-8")) if path.is_file() else {}
