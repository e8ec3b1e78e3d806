"""A bug as an issue: title, body, reproducer and labels. Pure: the same facts give the same text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.case import Case, Frame, Outcome, Status, Target
from triage import drawing, scrub
from triage.construct import parsed
from triage.differ import describe, shown
from triage.script import script
from triage.titles import happening, subject, title

TEMPLATES = Path(__file__).parent.parent / "templates"
#: GitHub refuses longer bodies.
LONGEST_BODY = 65_536
LONGEST_SCRIPT = 25_000
MOST_FRAMES = 8
MOST_STDERR = 25
_MOST_EXAMPLES = 5


@dataclass(frozen=True)
class Facts:
    """All that a report says. Sizes of `reduced_from` and the reduced model are numbers of nodes.

    `why` is the sentence that explains the grouping; `count` how many tests fail this way, `examples`
    some of their names. `snippet` is the backend's ``reproduce()`` text. `versions` are packages,
    `machine` what else is said of the environment (os, cpu, python). `private` are words that must
    not appear: host and user names. `environment` are variables without which the bug does not show.
    `timeout` is in seconds, `memory_mb` in MiB.
    """

    case: Case
    target: Target
    outcome: Outcome
    reference: Outcome | None
    symptom: str
    detail: str
    why: str
    fingerprint: str
    snippet: str
    conversion_function: str = ""
    operators: tuple[str, ...] = ()
    count: int = 1
    examples: tuple[str, ...] = ()
    versions: Mapping[str, str] = field(default_factory=dict)
    machine: Mapping[str, str] = field(default_factory=dict)
    reduced_from: int = 0
    timeout: float = 60.0
    memory_mb: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)
    private: tuple[str, ...] = ()


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
    sentence = title(facts.target.backend, facts.case, facts.outcome, facts.symptom, facts.operators)
    headline = scrub.scrub(sentence, facts.private)
    text = _script(facts, headline)
    rooms = _ROOMS if len(text) <= LONGEST_SCRIPT else _ROOMS[2:]
    bodies = (_body(facts, text, room) for room in rooms)
    body = next((body for body in bodies if len(body) <= LONGEST_BODY), None)
    if body is None:
        raise ValueError(f"the report of {facts.fingerprint} does not fit into {LONGEST_BODY} characters")
    kind = facts.symptom.replace(":", "-").lower()
    return Draft(headline, body, text, ("bug", Path(facts.target.backend).stem, kind))


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True
    )
    environment.filters |= {"prose": scrub.prose, "code": scrub.code, "fence": scrub.fence}
    return environment


def _script(facts: Facts, headline: str) -> str:
    versions = ", ".join(f"{name} {version}" for name, version in facts.versions.items())
    seen = f"Seen with {versions or facts.target.id}"
    header = [headline, "Prints PASS once the bug is gone; fails otherwise.", seen]
    code = script(
        facts.case,
        facts.outcome,
        facts.reference,
        facts.symptom,
        facts.snippet,
        timeout=facts.timeout,
        memory_mb=facts.memory_mb,
        environment=facts.environment,
    )
    plain = [" ".join(scrub.scrub(line, facts.private).split()) for line in header]
    return _templates().get_template("repro.py.j2").render(header=plain, code=code.rstrip("\n"))


def _body(facts: Facts, text: str, room: _Room) -> str:
    def clean(foreign: str) -> str:
        return _shortened(scrub.scrub(foreign, facts.private), room.text)

    error = facts.outcome.error
    expected, actual = _behaviour(facts)
    return (
        _templates()
        .get_template("issue.md.j2")
        .render(
            summary=clean(_summary(facts)),
            script=text.rstrip("\n"),
            script_attached=not room.script,
            script_lines=text.count("\n"),
            needs=_needs(facts, text),
            expected_by=expected[0],
            expected=clean(expected[1]),
            actual_by=clean(actual[0]),
            actual=clean(actual[1]),
            frames=clean("\n".join(telling_frames(error.frames, room.frames))) if error else "",
            stderr=clean("\n".join(native_lines(error.stderr)[-room.stderr :])) if error else "",
            drawing=_drawing(facts.case) if room.drawing else "",
            environment=[(clean(name), clean(value)) for name, value in _environment(facts)],
            analysis=[clean(line) for line in _analysis(facts)],
            fingerprint=facts.fingerprint,
        )
    )


def _needs(facts: Facts, text: str) -> str:
    """The packages that the script imports."""
    packages = [*facts.versions] or [facts.target.backend]
    return ", ".join([*packages, "ml_dtypes"] if "import ml_dtypes" in text else packages)


def _shortened(text: str, limit: int) -> str:
    """The head and the tail of a long text, cut at whole lines where there are any."""
    if len(text) <= limit:
        return text
    return f"{text[: limit * 2 // 3]}\n[... {len(text) - limit} characters left out ...]\n{text[-(limit // 3) :]}"


def _summary(facts: Facts) -> str:
    what = happening(facts.outcome, facts.symptom, subject(facts.case, facts.operators), message=False)
    options = ", ".join(f"{key}={value}" for key, value in facts.target.options)
    target = f"{facts.target.backend} {facts.target.revision.version}" + (f" ({options})" if options else "")
    detail = facts.detail.strip().rstrip(".")
    detail = detail[:1].upper() + detail[1:]
    size = _nodes(facts.case)
    reduced = f" The model was reduced from {facts.reduced_from} nodes to {size}." if facts.reduced_from > size else ""
    tests = f" {facts.count} tests fail this way." if facts.count > 1 else ""
    return f"On {target}: {what}. {detail}.{reduced}{tests}"


def _nodes(case: Case) -> int:
    return len(parsed(case.model).graph.node) if case.kind == "onnx" else 1


_REFERENCES = {"onnx": "the ONNX reference evaluator", "instance": "eager PyTorch"}
_ENDINGS = {
    Status.SIGNAL: "The process is killed by {signal}.",
    Status.TIMEOUT: "No answer within {timeout:g} s.",
    Status.OOM: "The process runs out of memory ({peak:.0f} MiB at its peak).",
}


def _behaviour(facts: Facts) -> tuple[tuple[str, str], tuple[str, str]]:
    """What should have happened and what did: a sentence and a block of text each."""
    reference = _REFERENCES[facts.case.kind]
    expected, actual = _values(facts)
    if facts.outcome.status is Status.WRONG:
        return (f"The result of {reference}.", expected), ("A different result.", actual)
    if facts.symptom.startswith("dies-on-invalid"):
        should = ("The model is invalid. The compiler should refuse it with an error.", "")
    elif facts.reference is not None and facts.reference.status is Status.OK:
        should = (f"The result of {reference}.", expected)
    else:
        should = ("No crash: either a result or an error that says what is not supported.", "")
    return should, _failing(facts)


def _failing(facts: Facts) -> tuple[str, str]:
    error = facts.outcome.error
    if error is not None and facts.outcome.status is Status.EXCEPTION:
        return f"{error.type or 'An exception'} is raised.", error.message.strip()
    ending = _ENDINGS.get(facts.outcome.status, "It fails.")
    signal = (error.signal if error else "") or "a signal"
    return ending.format(signal=signal, timeout=facts.timeout, peak=facts.outcome.peak_mb), ""


def _values(facts: Facts) -> tuple[str, str]:
    """The reference's outputs, and where the target's differ from them."""
    if facts.reference is None:
        return "", ""
    outputs = facts.reference.outputs
    expected = "\n".join(line for name, value in outputs for line in shown(name, value))
    if facts.outcome.status is not Status.WRONG:
        return expected, ""
    if len(facts.outcome.outputs) != len(outputs):
        return expected, f"{len(facts.outcome.outputs)} outputs instead of {len(outputs)}"
    pairs = zip(outputs, facts.outcome.outputs, strict=True)
    actual = [line for (name, want), (_, got) in pairs for line in describe(name, want, got)]
    return expected, "\n".join(actual)


#: Frames of the machinery that runs the compiler, and of Python's own import system.
_NOT_TELLING = re.compile(
    r"(^|/)fuzz/(worker|instance_torch|backends/\w+)\.py$|<frozen importlib|(^|/)(contextlib|functools|runpy)\.py$"
)


def telling_frames(frames: tuple[Frame, ...], most: int = MOST_FRAMES) -> list[str]:
    """The innermost frames of the compiler, as ``file:line in function``, repeats folded."""
    lines: list[str] = []
    for frame in frames:
        if not _NOT_TELLING.search(frame.file):
            lines.append(f"{frame.file}:{frame.line} in {frame.function}")
    folded = [f"{line}  (repeated {times} times)" if times > 1 else line for line, times in _runs(lines)]
    hidden = len(folded) - most
    return [f"... {hidden} outer frames", *folded[-most:]] if hidden > 0 else folded


def _runs(lines: list[str]) -> Iterator[tuple[str, int]]:
    start = 0
    for at in range(1, len(lines) + 1):
        if at == len(lines) or lines[at] != lines[start]:
            yield lines[start], at - start
            start = at


#: Clock times and process numbers at the start of a native log line; they differ from run to run.
_STAMP = re.compile(r"^(?:\[?\d{4}-\d\d-\d\d[T ])?\[?\d\d:\d\d:\d\d(?:[.,]\d+)?\]?\s*|\b[pt]id[ =:]*\d+")


#: Lines of a native stack dump that tell of the harness, not of the compiler.
_HARNESS = re.compile(r'File ".*fuzz/(backends/)?\w+\.py"|^Extension modules:')


def native_lines(stderr: str) -> list[str]:
    """Native output without clock times, blank lines and the worker's own frames."""
    lines = (_STAMP.sub("", line).rstrip()[:300] for line in scrub.plain(stderr).splitlines())
    return [line for line in lines if line.strip() and not _HARNESS.search(line)]


def _drawing(case: Case) -> str:
    if case.kind == "instance":
        return drawing.instance_mermaid(case.model)
    return drawing.mermaid(parsed(case.model))


def _environment(facts: Facts) -> Iterator[tuple[str, str]]:
    yield from facts.versions.items()
    yield from facts.machine.items()
    if facts.target.options:
        yield "options", ", ".join(f"{key}={value}" for key, value in facts.target.options)
    if facts.environment:
        yield "environment variables", " ".join(f"{key}={value}" for key, value in facts.environment.items())


def _analysis(facts: Facts) -> Iterator[str]:
    yield f"Grouped as one bug because {facts.why.removeprefix('same because ')}."
    if facts.conversion_function:
        yield f"Conversion function: {facts.conversion_function}"
    if facts.examples:
        more = facts.count - len(facts.examples[:_MOST_EXAMPLES])
        listed = ", ".join(facts.examples[:_MOST_EXAMPLES])
        yield f"Tests that fail this way: {listed}{f' and {more} more' if more > 0 else ''}"
