"""A bug as an issue: title, body, reproducer and labels. Pure: the same facts give the same text."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.case import Case, Error, Outcome
from fuzz.oracles import differential, refusal
from fuzz.wire import Value
from triage import analysis, conditions, crash_site, drawing, form, scrub, standard, standard_torch, summary, titles
from triage.behaviour import behaviour, compared_with
from triage.broken_rule import broken_rule
from triage.construct_meaning import parsed
from triage.court.evidence import find
from triage.court.lines import lines
from triage.facts import Facts
from triage.frames import MOST_FRAMES, native_lines, telling_frames
from triage.passes._instances import named_tensors
from triage.projects import described
from triage.rewritten import rewritten
from triage.script import script
from triage.unsupported import refused

TEMPLATES = Path(__file__).parent.parent / "templates"
#: GitHub refuses longer bodies.
LONGEST_BODY = 65_536
LONGEST_SCRIPT = 25_000
MOST_STDERR = 25
#: Symptoms that uninitialised memory explains: the elements are wrong, not their number or type.
_VALUES = ("wrong:values", "wrong:nan", "wrong:inf")


@dataclass(frozen=True)
class Draft:
    """An issue that could be filed. `script` is whole even where the body only refers to it."""

    title: str
    body: str
    script: str
    labels: tuple[str, ...]


@dataclass(frozen=True)
class _Room:
    """How much of each part a body may hold; the levels are tried in order until the body fits."""

    script: bool = True
    drawing: bool = True
    frames: int = MOST_FRAMES
    stderr: int = MOST_STDERR
    text: int = 6_000


_ROOMS = (
    _Room(),
    _Room(drawing=False, stderr=10, text=2_000),
    _Room(script=False, drawing=False, frames=5, stderr=5, text=1_000),
)


def draft(facts: Facts) -> Draft:
    """The report. Raises ValueError for a case that cannot be written as code, or a bad fingerprint."""
    if not re.fullmatch(r"[\w.:-]+", facts.fingerprint):
        raise ValueError(f"fingerprint {facts.fingerprint!r} must be letters, digits, dots, colons or dashes")
    headline = title(facts)
    text = _script(facts, headline)
    rooms = _ROOMS if len(text) <= LONGEST_SCRIPT else _ROOMS[2:]
    bodies = (_body(facts, text, room) for room in rooms)
    body = next((body for body in bodies if len(body) <= LONGEST_BODY), None)
    if body is None:
        raise ValueError(f"the report of {facts.fingerprint} does not fit into {LONGEST_BODY} characters")
    return Draft(headline, body, text, tuple(label.name for label in analysis.labels(facts)))


def title(facts: Facts) -> str:
    """The headline of the report."""
    device = dict(facts.target.options).get("device", "")
    mark = titles.prefix(facts.target.backend, facts.case.kind, device, facts.part)
    return scrub.scrub(titles.title(mark, _happening(facts, message=True)), facts.private)


def _happening(facts: Facts, *, message: bool) -> str:
    other_rule = facts.symptom.startswith(refusal.ON_INVALID) and not facts.symptom.endswith(":dtype")
    named = titles.subject(facts.case, facts.operators, facts.conditions, typed=not other_rule)
    subject = f"{named} {rewritten(facts.target)}".rstrip()
    if "MALLOC_PERTURB_" in facts.environment and facts.symptom in _VALUES:
        if _reorders(facts):
            return f"{subject} depends on uninitialised memory"
        return f"{subject} returns uninitialised memory{titles.instead(facts.reference)}"
    if facts.symptom in _VALUES and not _steady(facts):
        return f"{subject} returns other values in every run{titles.instead(facts.reference)}"
    rule = broken_rule(facts.detail)
    reference = _of_its_types(facts) if _wrong_in_float32(facts) else facts.reference
    return titles.happening(facts.case, facts.outcome, reference, facts.symptom, subject, message=message, rule=rule)


def _wrong_in_float32(facts: Facts) -> bool:
    """Whether of a wrong type the numbers are another bug's, which float32 has as well."""
    typed = [one for one in facts.conditions if one.kind == "dtype" and conditions.ANOTHER_WAY in one.sentence]
    return facts.symptom == differential.DTYPE and bool(typed)


def _of_its_types(facts: Facts) -> Outcome | None:
    """The expected outcome with the numbers that came out, so that the two differ in their types alone."""
    if facts.reference is None:
        return None
    pairs = zip(facts.reference.outputs, facts.outcome.outputs, strict=False)
    outputs = [(name, _retyped(got, want)) for (name, want), (_, got) in pairs]
    return replace(facts.reference, outputs=tuple(outputs))


def _retyped(got: Value, want: Value) -> Value:
    if isinstance(want, np.ndarray) and isinstance(got, np.ndarray):
        return got.astype(want.dtype)
    return want


def _reorders(facts: Facts) -> bool:
    """Whether all that comes out of a call, in the types that go in, was given: then memory decides on places alone."""
    given = [value for value in named_tensors(facts.case).values() if isinstance(value, np.ndarray)]
    types = {array.dtype for array in given if array.dtype.kind != "c"}
    results = [value for value in facts.outcome.values if isinstance(value, np.ndarray) and value.dtype in types]
    known, numbers = map(_numbers, (given, results))
    return facts.case.kind == "instance" and bool(numbers) and numbers <= known


def _numbers(arrays: Sequence[np.ndarray]) -> set[float]:
    return {float(number) for array in arrays if array.dtype.kind != "c" for number in array.astype(np.float64).ravel()}


def _steady(facts: Facts) -> bool:
    """Whether the court saw the very same values in every run, if it looked."""
    repeats = find(facts.judgement.evidence, "repeats") if facts.judgement else None
    return repeats is None or bool(repeats.figures.get("steady", True))


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    environment.filters |= {"prose": scrub.prose, "code": scrub.code, "fence": scrub.fence, "spoken": scrub.spoken}
    return environment


def _script(facts: Facts, headline: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    header = [headline, f"Seen with {versions or facts.target.id}"]
    code = script(
        facts.case,
        facts.outcome,
        facts.reference,
        facts.symptom,
        facts.snippet,
        timeout=facts.timeout,
        memory_mb=facts.memory_mb,
        environment=facts.environment,
        refused=refused(facts.conditions),
    )
    plain = [" ".join(scrub.scrub(line, facts.private).split()) for line in header]
    return _templates().get_template("repro.py.j2").render(header=plain, code=code.rstrip("\n"))


def _body(facts: Facts, text: str, room: _Room) -> str:
    def clean(foreign: str) -> str:
        return _shortened(scrub.scrub(foreign, facts.private), room.text)

    error = facts.outcome.error
    seen = behaviour(
        compared_with(facts.target.backend, facts.case),
        facts.case,
        facts.outcome,
        facts.reference,
        facts.symptom,
        facts.timeout,
    )
    context = {
        "summary": clean(summary.summary(facts, _happening(facts, message=False))),
        "script": text.rstrip("\n"),
        "script_attached": not room.script,
        "script_lines": text.count("\n"),
        "gone": _gone(facts),
        "needs": _needs(facts, text),
        "standard": _quotations(facts),
        "expected_by": seen.expected,
        "expected": clean(seen.expected_text),
        "actual_by": clean(seen.actual),
        "actual": clean(seen.actual_text),
        "both": clean(seen.both),
        "frames": clean("\n".join(telling_frames(error.frames, room.frames))) if error else "",
        "native": clean("\n".join(crash_site.shown(error.stderr))) if error else "",
        "stderr": clean("\n".join(_printed(error, room))) if error else "",
        "drawing": _drawing(facts.case) if room.drawing else "",
        "environment": [(clean(name), clean(value)) for name, value in _environment(facts)],
        "evidence": [clean(line) for line in lines(facts.judgement)],
        "analysis": [clean(line) for line in analysis.sentences(facts)],
        "severity": clean(analysis.graded(facts)),
        "labels": [label.name for label in analysis.labels(facts)],
        "regression": facts.regression if room.script else None,
        "test_needs": " ".join(f"{name}={value}" for name, value in _test_variables(facts).items()),
    }
    parts = {name: _templates().get_template(f"parts/{name}.md.j2").render(context) for name in _parts()}
    found = form.sections(described(facts.target.backend), parts, _form_facts(facts, clean))
    issue = _templates().get_template("issue.md.j2")
    return issue.render(sections=list(found), fingerprint=facts.fingerprint)


def _printed(error: Error, room: _Room) -> list[str]:
    """The last lines that native code printed; the native stack is shown by itself."""
    return native_lines(crash_site.without_stack(error.stderr))[-room.stderr :]


def _gone(facts: Facts) -> str:
    """What it means that the script prints PASS: one for a failure without a result compares nothing."""
    if facts.symptom.startswith("wrong:"):
        return "the bug is gone"
    if facts.symptom.startswith((refusal.ACCEPTS, refusal.ASSERTS)):
        return "the compiler refuses the model with a clear error"
    takes = f"the {'evaluator' if facts.target.backend == 'reference' else 'compiler'} takes the model"
    return f"{takes}, or refuses it with an error" if refused(facts.conditions) else takes


@cache
def _parts() -> tuple[str, ...]:
    return tuple(sorted(path.name.removesuffix(".md.j2") for path in (TEMPLATES / "parts").glob("*.md.j2")))


def _form_facts(facts: Facts, clean: Callable[[str], str]) -> dict[str, str]:
    """What the fixed fields of an issue form ask for."""
    machine = {name: scrub.prose(clean(value)) for name, value in facts.machine.items()}
    return {
        "version": scrub.prose(clean(facts.target.revision.version)),
        "os": machine.get("OS", ""),
        "arch": machine.get("CPU", "").partition(",")[0],
        "frontend": facts.case.kind,
    }


def _quotations(facts: Facts) -> tuple[standard.Quotation, ...]:
    """What the specification of ONNX or the documentation of PyTorch says of the very thing that is wrong.

    Of memory that nobody has written neither says anything.
    """
    if "MALLOC_PERTURB_" in facts.environment and facts.symptom in _VALUES:
        return ()
    of_onnx = standard.quotations(facts.case, facts.outcome, facts.reference, facts.symptom, facts.conditions)
    return of_onnx or standard_torch.quotations(facts.case, facts.outcome, facts.conditions)


def _test_variables(facts: Facts) -> dict[str, str]:
    return {**facts.environment, **(facts.regression.variables if facts.regression else {})}


def _needs(facts: Facts, text: str) -> str:
    """The packages that the script imports."""
    packages = [*facts.versions] or [facts.target.backend]
    return ", ".join([*packages, "ml_dtypes"] if "import ml_dtypes" in text else packages)


def _shortened(text: str, limit: int) -> str:
    """The head and the tail of a long text, cut at whole lines where there are any."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n[... {len(text) - limit} characters left out ...]\n{text[-(limit // 3) :]}"


def _drawing(case: Case) -> str:
    """A drawing of a model of several nodes; of a single operator it would say nothing."""
    model = parsed(case.model) if case.kind == "onnx" else None
    return drawing.mermaid(model) if model is not None and len(model.graph.node) > 1 else ""


def _environment(facts: Facts) -> Iterator[tuple[str, str]]:
    yield from facts.versions.items()
    on_device = "device" in dict(facts.target.options)
    yield from ((name, told) for name, told in facts.machine.items() if name != "GPU" or on_device)
    if facts.target.options:
        yield "options", ", ".join(f"{key}={value}" for key, value in facts.target.options)
    if facts.environment:
        yield "environment variables", " ".join(f"{key}={value}" for key, value in facts.environment.items())
