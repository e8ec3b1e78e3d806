"""A regression test as text: one template, its names, its imports at the head. Pure."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.case import Outcome, Stage
from fuzz.oracles import differential
from triage.layout import parted
from triage.wording import telling

FOLDER = Path(__file__).parent.parent / "templates" / "regression"
_LONGEST_NAME = 60
#: Two blank lines before an indented line: a class that has become local to the test.
_INNER_GAP = re.compile(r"\n{3,}(?= )")
#: What a title adds on other operators and types, which the test does not try.
_ALSO = re.compile(r"[;,]? ?\(?\balso [^)]*\)?")
#: What a test is called by where its operator is all that a title names, by the symptom.
_CALLED = {
    differential.SHAPE: "output shape",
    differential.DTYPE: "output dtype",
    differential.COUNT: "number of outputs",
    "wrong:nan": "NaN",
    "wrong:inf": "infinity",
    "wrong:values": "values",
}
_STAGES = {Stage.CONVERT: "imports", Stage.COMPILE: "compiles", Stage.RUN: "runs"}
#: How many words of an exception are enough to tell it from others.
_FEW = 5


@dataclass(frozen=True)
class Regression:
    """A test: where it belongs in the target project, who runs it, and its code, a whole file.

    `is_new` says that the project has no such file yet, as far as is known. `variables` must be set in the environment.
    `probe` is the same file with a second test, which expects the wrong values and must pass: else a helper takes
    another road through the compiler than the one that the bug was found on. "" where that cannot be.
    """

    path: str
    runner: str
    code: str
    is_new: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)
    probe: str = ""


def names(subject: str, symptom: str, outcome: Outcome) -> dict[str, str]:
    """`name` of the test function, `topic` of its file and `class_name`, of what the bug is about in a title's words.

    A test, or a class, that is called by its operator alone would take the name of one that the project has: pasted
    behind OpenVINO's own TestCross it would hide all of its cases.
    """
    plain, topic = _ALSO.sub("", subject), _slug(subject.partition(" ")[0])
    name = _slug(plain)
    if name == topic:
        name = _slug(f"{plain} {_what(symptom, outcome)}")
    return {"name": name, "topic": topic, "class_name": "".join(part.capitalize() for part in name.split("_"))}


def _what(symptom: str, outcome: Outcome) -> str:
    """What goes wrong, in a word or a few."""
    if outcome.error is not None and symptom.startswith("exception:"):
        said = re.findall(r"[A-Za-z_]+", telling(outcome.error.message))
        return " ".join(["without", outcome.error.type.rpartition(".")[2], *said[:_FEW]])
    return _CALLED.get(symptom, _STAGES.get(outcome.stage, "result"))


def rendered(template: str, values: Mapping[str, object], imports: str) -> Regression:
    """The test of a template; `imports` are further ones that its parts need."""
    module = _templates().get_template(template).make_module(dict(values))
    is_new = bool(getattr(module, "is_new", False))
    return Regression(str(module.path), runner_of(template), _merged(imports, str(module)), is_new)  # type: ignore[attr-defined]


@cache
def runner_of(template: str) -> str:
    """The program that runs the tests of a template."""
    found = re.search(r'set runner = "(\w+)"', (FOLDER / template).read_text(encoding="utf-8"))
    assert found, f"{template} sets no runner"
    return found[1]


@cache
def _templates() -> Environment:
    return Environment(loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, autoescape=False)


def _slug(text: str) -> str:
    """``Cast (float32 to float8e4m3fn)`` as ``cast_float32_to_float8e4m3fn``; a dotted name by its last part."""
    text = re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text.replace("NaN", "nan"))
    words = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<![A-Za-z])-(?=\d)", "minus_", text).lower()).strip("_")
    if len(words) > _LONGEST_NAME:
        words = words[: _LONGEST_NAME + 1].rpartition("_")[0] or words[:_LONGEST_NAME]
    return words.rstrip("_") or "model"


def _merged(imports: str, test: str) -> str:
    """One file: the comments at its head, all imports, the test."""
    lines = test.strip("\n").splitlines()
    comments = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    head, body = parted([imports or "pass", "\n".join(lines[comments:])])
    body = body.removeprefix("pass").strip("\n")
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    needed = [line for line in head.splitlines() if not line or used & _bound(line)]
    licence = [""] if comments and "SPDX" in lines[comments - 1] else []
    start = "\n".join([*lines[:comments], *licence, *needed])
    return f"{start}\n\n\n{_INNER_GAP.sub(chr(10) * 2, body)}\n"


def _bound(line: str) -> set[str]:
    """The names that an import statement defines."""
    statement = ast.parse(line).body[0]
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
