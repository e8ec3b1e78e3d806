"""A regression test in the style of the project that has the bug: one template a backend and kind of case. Pure.

``templates/regression/BACKEND_KIND.py.j2`` sets `path` (the file of the project that the test belongs into),
`runner` (``pytest`` or ``unittest``) and, where the project may have no such file, `is_new`, and holds the test.
Without a template there is no test. A test in the idiom of the project's own helpers comes before it; stand-ins for
these helpers lie in the folders of ``templates/regression/support``.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from fuzz.case import Case, Outcome, Status
from fuzz.oracles import refusal, undefined
from triage.checks import checks
from triage.layout import STEP, parted
from triage.projects import described
from triage.regression_idioms import IDIOMS, Failing
from triage.regression_rendering import FOLDER, Regression, rendered, runner_of
from triage.script import subject_code
from triage.wording import enumerated

__all__ = ["FOLDER", "Regression", "regressions", "support"]

#: Failures that a test suite cannot live with: they would stop it for all tests behind.
_NO_TEST = (refusal.ASSERTS, "hang", "oom", "dies-on-invalid:hang", "dies-on-invalid:oom")
#: Where a backend's ``reproduce()`` sets the result.
_RESULT = re.compile(r"^\s*actual\b", re.MULTILINE)
#: The device that `reproduce()` of inductor moves a copy of the module to; a test moves the module itself.
_DEVICE = re.compile(r'^device = "(\w+)"$', re.MULTILINE)
_RAISES = {"pytest": "with pytest.raises(Exception):", "unittest": "with self.assertRaises(Exception):"}


def support(code: str) -> Mapping[str, str]:
    """The files (name -> text) that stand in for helpers of the project which a test imports, and their fixtures.

    They must lie beside the test where it is run outside of the project; most tests need none.
    """
    for folder in sorted((FOLDER / "support").iterdir()):
        files = {path.name: path.read_text("utf-8") for path in sorted(folder.glob("*.py"))}
        if any(re.search(rf"^from {name.removesuffix('.py')} import ", code, re.MULTILINE) for name in files):
            return files
    return {}


def regressions(
    backend: str,
    case: Case,
    outcome: Outcome,
    reference: Outcome | None,
    symptom: str,
    snippet: str,
    subject: str,
    agreeing: Collection[str] = (),
    refused: Sequence[str] = (),
) -> Iterator[Regression]:
    """The tests of a failure, those in the project's own idiom first; the last needs nothing of the project's.

    None where the project has no template or the failure would stop a test suite. `snippet` is the backend's
    ``reproduce()``, `subject` what the bug is about in a title's words, `agreeing` the backends that give the
    reference's result, `refused` the operators that the compiler refuses by themselves as not supported: then a test
    passes once it refuses the model. No number is expected that is drawn at random. Which of the tests fails must be
    tried.
    """
    if symptom.startswith(_NO_TEST):
        return
    drawn = undefined.nondeterministic(case.kind, case.model, case.inputs) is not None
    expected = None if drawn and outcome.status is not Status.WRONG else reference
    failing = Failing(case, outcome, expected, symptom, snippet, subject, agreeing, refused)
    name = Path(backend).stem
    # No helper takes a refusal for right, nor any result.
    helped = not refused and not drawn and not symptom.startswith(refusal.ON_INVALID)
    idiom = IDIOMS.get((name, case.kind)) if helped else None
    if idiom:
        yield from idiom(failing)
    plain = f"{name}_{case.kind}.py.j2"
    if (FOLDER / plain).is_file():
        yield _plain(plain, name, failing)


def _plain(template: str, backend: str, failing: Failing) -> Regression:
    """The test that uses the compiler's public API alone."""
    case, snippet, symptom = failing.case, failing.snippet, failing.symptom
    invalid = symptom.startswith(refusal.ON_INVALID)
    pieces = [*subject_code(case), *_trial(failing)]
    imports, body = parted(pieces)
    if invalid:
        used, call = parted([snippet])
        imports, subject_body = parted([*subject_code(case), used or "pass"])
        body = f"{subject_body.removesuffix('pass')}\n\n{_RAISES[runner_of(template)]}\n{textwrap.indent(call, STEP)}"
    call_line = re.search(r"torch\.compile\(.*\)", snippet)
    device = _DEVICE.search(snippet)
    file = described(backend).test_file(failing.subject.partition(" ")[0])
    values = {
        **failing.names,
        "body": body,
        "subject": parted(subject_code(case))[1],
        "compiled": f"{call_line[0].replace('(moved, ', '(module, ')}(*args)" if call_line else "",
        "device": device[1] if device else "",
        "file": file,
        "invalid": invalid,
    }
    return rendered(template, values, imports)


def _trial(failing: Failing) -> list[str]:
    """The call of the compiler, and what is expected of its result where that is known and there is one to compare."""
    reference, call = failing.reference, _or_refused(failing.snippet, failing.refused)
    if reference is None or reference.status is not Status.OK or failing.symptom.startswith(refusal.ON_INVALID):
        return [call]
    if not _RESULT.search(failing.snippet):  # its last lines are left out where they cannot be written
        return [call]
    found = checks(failing.case, failing.outcome, reference, failing.symptom, failing.snippet)
    return [call, "\n".join(found.lines())]


def _or_refused(snippet: str, refused: Sequence[str]) -> str:
    """The call of the compiler, which may raise where it refuses some operators by themselves."""
    if not refused:
        return snippet
    imports, call = parted([snippet])
    said = f"{enumerated(refused)} {'is' if len(refused) == 1 else 'are'} not supported: a refusal is right as well"
    return f"{imports}\n\ntry:\n{textwrap.indent(call, STEP)}\nexcept Exception:  # {said}\n{STEP}return"
