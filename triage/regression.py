"""A regression test in the style of the project that has the bug: one template a backend and kind of case. Pure.

``templates/regression/BACKEND_KIND.py.j2`` sets `path` (the file of the project that the test belongs into)
and `runner` (``pytest`` or ``unittest``), and holds the test. Without a template there is no test.
"""

from __future__ import annotations

import ast
import re
import textwrap
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.case import Case, Outcome, Status
from triage.checks import checks
from triage.layout import STEP, parted
from triage.script import subject_code

FOLDER = Path(__file__).parent.parent / "templates" / "regression"
_LONGEST_NAME = 60
#: Failures that a test suite cannot live with: they would stop it for all tests behind.
_NO_TEST = ("hang", "oom", "dies-on-invalid:hang", "dies-on-invalid:oom")
#: Two blank lines before an indented line: a class that has become local to the test.
_INNER_GAP = re.compile(r"\n{3,}(?= )")
_RAISES = {"pytest": "with pytest.raises(Exception):", "unittest": "with self.assertRaises(Exception):"}


@dataclass(frozen=True)
class Regression:
    """A test: where it belongs in the target project, who runs it, and its code, a whole file."""

    path: str
    runner: str
    code: str


def regression(
    backend: str, case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, snippet: str, subject: str
) -> Regression | None:
    """The test of a failure, None where the project has no template or the failure would stop a test suite.

    `snippet` is the backend's ``reproduce()``, `subject` what the bug is about in a title's words.
    """
    name = f"{Path(backend).stem}_{case.kind}.py.j2"
    if not (FOLDER / name).is_file() or symptom.startswith(_NO_TEST):
        return None
    invalid = symptom.startswith("dies-on-invalid")
    template = _templates().get_template(name)
    runner = re.search(r'set runner = "(\w+)"', (FOLDER / name).read_text(encoding="utf-8"))
    assert runner, f"{name} sets no runner"
    pieces = [*subject_code(case), *_trial(case, outcome, reference, symptom, snippet)]
    imports, body = parted(pieces)
    if invalid:
        used, call = parted([snippet])
        imports, subject_body = parted([*subject_code(case), used or "pass"])
        body = f"{subject_body.removesuffix('pass')}\n\n{_RAISES[runner[1]]}\n{textwrap.indent(call, STEP)}"
    call_line = re.search(r"torch\.compile\(.*\)", snippet)
    values = {
        "name": _slug(subject),
        "topic": _slug(subject.partition(" ")[0]),
        "class_name": _camel(subject),
        "body": body,
        "subject": parted(subject_code(case))[1],
        "compiled": f"{call_line[0]}(*args)" if call_line else "",
        "invalid": invalid,
    }
    module = template.make_module(values)
    return Regression(str(module.path), runner[1], _merged(imports, str(module)))  # type: ignore[attr-defined]


def _trial(case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, snippet: str) -> list[str]:
    """The call of the compiler, and what is expected of its result where that is known."""
    if reference is None or reference.status is not Status.OK or symptom.startswith("dies-on-invalid"):
        return [snippet]
    found = checks(case, outcome, reference, symptom, snippet)
    return [snippet, "\n".join([*found.definitions, *found.statements])]


@cache
def _templates() -> Environment:
    return Environment(loader=FileSystemLoader(FOLDER), undefined=StrictUndefined, autoescape=False)


def _slug(text: str) -> str:
    """``Cast (float32 to float8e4m3fn)`` as ``cast_float32_to_float8e4m3fn``; a dotted name by its last part."""
    text = re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", text)
    text = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", text.replace("NaN", "nan"))
    words = re.sub(r"[^a-z0-9]+", "_", re.sub(r"(?<![A-Za-z])-(?=\d)", "minus_", text).lower()).strip("_")
    return words[:_LONGEST_NAME].rstrip("_") or "model"


def _camel(text: str) -> str:
    name = re.sub(r"\b(?:[A-Za-z_]\w*\.)+(?=[A-Za-z_])", "", text).partition(" ")[0]
    return "".join(part[:1].upper() + part[1:] for part in re.split(r"[^A-Za-z0-9]+", name)) or "Model"


def _merged(imports: str, test: str) -> str:
    """One file: the comments at its head, all imports, the test."""
    lines = test.strip("\n").splitlines()
    comments = next((at for at, line in enumerate(lines) if not line.startswith("#")), len(lines))
    head, body = parted([imports or "pass", "\n".join(lines[comments:])])
    body = body.removeprefix("pass").strip("\n")
    used = {node.id for node in ast.walk(ast.parse(body)) if isinstance(node, ast.Name)}
    needed = [line for line in head.splitlines() if not line or used & _bound(line)]
    start = "\n".join([*lines[:comments], *needed])
    return f"{start}\n\n\n{_INNER_GAP.sub(chr(10) * 2, body)}\n"


def _bound(line: str) -> set[str]:
    """The names that an import statement defines."""
    statement = ast.parse(line).body[0]
    assert isinstance(statement, ast.Import | ast.ImportFrom)
    return {(alias.asname or alias.name).partition(".")[0] for alias in statement.names}
