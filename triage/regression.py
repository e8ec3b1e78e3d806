"""A regression test in the style of the project that has the bug: one template a backend and kind of case. Pure.

``templates/regression/BACKEND_KIND.py.j2`` sets `path` (the file of the project that the test belongs into),
`runner` (``pytest`` or ``unittest``) and, where the project may have no such file, `is_new`, and holds the test.
Without a template there is no test. A test in the idiom of the project's own helpers comes before it; stand-ins for
these helpers lie in ``templates/regression/support``.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.case import Case, Outcome, Status
from triage.checks import checks
from triage.construct_torch import module_and_inputs
from triage.layout import STEP, listing, named, parted, render
from triage.literals import value_expr
from triage.projects import described
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
    """A test: where it belongs in the target project, who runs it, and its code, a whole file.

    `is_new` says that the project has no such file yet, as far as is known. `variables` must be set in the environment.
    """

    path: str
    runner: str
    code: str
    is_new: bool = False
    variables: Mapping[str, str] = field(default_factory=dict)


def support(code: str) -> Mapping[str, str]:
    """The files (name -> text) that stand in for helpers of the project which a test imports, and their fixtures.

    They must lie beside the test where it is run outside of the project; most tests need none.
    """
    files = {path.name: path.read_text("utf-8") for path in sorted((FOLDER / "support").glob("*.py"))}
    needed = any(re.search(rf"^from {name.removesuffix('.py')} import ", code, re.MULTILINE) for name in files)
    return files if needed else {}


def regressions(
    backend: str, case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, snippet: str, subject: str
) -> Iterator[Regression]:
    """The tests of a failure, those in the project's own idiom first; the last needs nothing of the project's.

    None where the project has no template or the failure would stop a test suite. `snippet` is the backend's
    ``reproduce()``, `subject` what the bug is about in a title's words. Which of them fails must be tried.
    """
    if symptom.startswith(_NO_TEST):
        return
    name = Path(backend).stem
    idiom = _IDIOMS.get((name, case.kind))
    if idiom:
        yield from idiom(case, subject)
    plain = f"{name}_{case.kind}.py.j2"
    if (FOLDER / plain).is_file():
        yield _plain(plain, name, case, outcome, reference, symptom, snippet, subject)


def _layer_tests(case: Case, subject: str) -> Iterator[Regression]:
    """Tests on OpenVINO's `PytorchLayerTest`: as its suite runs by default, and by torch.export with fixed shapes."""
    module, inputs = module_and_inputs(case.model)
    if any(not isinstance(value, np.ndarray) or value.dtype.isbuiltin != 1 for value in inputs):
        return  # its helper feeds numpy arrays
    values = {
        **_names(subject),
        "module": module,
        "arrays": "\n".join(render(named("return ", listing([value_expr(value) for value in inputs])))),
    }
    for static, variables in ((False, {}), (True, {"PYTORCH_TRACING_MODE": "EXPORT"})):
        made = _rendered("openvino_instance.layer.py.j2", {**values, "static": static}, "")
        yield replace(made, variables=variables)


#: Tests on helpers of the project's own, by (backend, kind of case).
_IDIOMS: Mapping[tuple[str, str], Callable[[Case, str], Iterator[Regression]]] = {
    ("openvino", "instance"): _layer_tests,
}


def _plain(
    template: str, backend: str, case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, snippet: str,
    subject: str,
) -> Regression:  # fmt: skip
    """The test that uses the compiler's public API alone."""
    invalid = symptom.startswith("dies-on-invalid")
    pieces = [*subject_code(case), *_trial(case, outcome, reference, symptom, snippet)]
    imports, body = parted(pieces)
    if invalid:
        used, call = parted([snippet])
        imports, subject_body = parted([*subject_code(case), used or "pass"])
        body = f"{subject_body.removesuffix('pass')}\n\n{_RAISES[_runner(template)]}\n{textwrap.indent(call, STEP)}"
    call_line = re.search(r"torch\.compile\(.*\)", snippet)
    file = described(backend).test_file(subject.partition(" ")[0])
    values = {
        **_names(subject),
        "body": body,
        "subject": parted(subject_code(case))[1],
        "compiled": f"{call_line[0]}(*args)" if call_line else "",
        "file": file,
        "invalid": invalid,
    }
    return _rendered(template, values, imports)


def _names(subject: str) -> dict[str, str]:
    return {"name": _slug(subject), "topic": _slug(subject.partition(" ")[0]), "class_name": _camel(subject)}


def _rendered(template: str, values: Mapping[str, object], imports: str) -> Regression:
    module = _templates().get_template(template).make_module(dict(values))
    is_new = bool(getattr(module, "is_new", False))
    return Regression(str(module.path), _runner(template), _merged(imports, str(module)), is_new)  # type: ignore[attr-defined]


@cache
def _runner(template: str) -> str:
    found = re.search(r'set runner = "(\w+)"', (FOLDER / template).read_text(encoding="utf-8"))
    assert found, f"{template} sets no runner"
    return found[1]


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
