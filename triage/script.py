"""The reproducer: a self-contained script that fails while the bug is there and prints PASS without it.

It needs numpy, the compiler, and onnx or torch; nothing of this project.
"""

from __future__ import annotations

import math
import re
import signal
import textwrap
from collections.abc import Mapping, Sequence

from fuzz.case import Case, Outcome, Status
from fuzz.oracles import refusal
from triage.checks import checks
from triage.construct import case_code
from triage.construct_keras import layer_code
from triage.construct_torch import instance_code
from triage.layout import STEP, assemble, parted
from triage.wording import enumerated

#: What people read at a glance (issue 3): a script of more lines has its model in the shortest form.
MOST_LINES = 30
#: What a variable is for, in the words of the script.
_MEANING = {
    "MALLOC_PERTURB_": "glibc fills fresh memory with a byte made of this one, so that a read of it shows every time",
}
#: How the script ends where an invalid model is not refused as it should be.
_AFTER = {
    refusal.ASSERTS: "is no clear error",
    refusal.ACCEPTS: "the invalid model was compiled and run without an error",
}


def script(
    case: Case,
    outcome: Outcome,
    reference: Outcome | None,
    symptom: str,
    snippet: str,
    *,
    timeout: float = 60.0,
    memory_mb: int = 0,
    environment: Mapping[str, str] | None = None,
    refused: Sequence[str] = (),
) -> str:
    """The script's code.

    `snippet` is the backend's ``reproduce()``: it turns `model` and `inputs` (or `module` and `args`)
    into `actual`, an array or a list of several. `timeout` is in seconds and used for hangs;
    `memory_mb` limits the address space (MiB) for ``oom``. `environment` variables must be set before
    the process starts (an allocator's fill byte), so the script restarts itself with them. `refused` are operators of
    the model that the compiler refuses by themselves: then an error is right, too.
    """
    around = [*_environment(environment or {}), *_limits(outcome.status, timeout, memory_mb)]
    trial = _trial(case, outcome, reference, symptom, snippet, refused)
    text = assemble([*around, *subject_code(case, snippet), *trial])
    if code_lines(text) <= MOST_LINES:
        return text
    return min(text, assemble([*around, *subject_code(case, snippet, short=True), *trial]), key=code_lines)


def code_lines(text: str) -> int:
    """The lines of a script without those that are empty or hold a comment alone."""
    return sum(1 for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#"))


#: A compiler that is a program of its own died under the script, as its Python package tells (IREE).
_TOOL_DIED = re.compile(r"^Error code: -(\d{1,2})$", re.MULTILINE)


def confirms(symptom: str, returncode: int, stderr: str) -> bool:
    """Whether a run of the script failed the way the symptom says, and not for want of a package, say.

    `returncode` is subprocess's: negative for a signal. Exception classes are matched by their last
    name, since a backend may see one by another path than the traceback shows.
    """
    kind, _, tail = symptom.removeprefix("dies-on-invalid:").partition(":")
    if kind in (refusal.ASSERTS, refusal.ACCEPTS):
        return returncode == 1 and re.search(rf"^AssertionError: .*{_AFTER[kind]}", stderr, re.M | re.S) is not None
    if kind == "crash":
        return tail in (_signal(-returncode), *(_signal(int(code)) for code in _TOOL_DIED.findall(stderr)))
    if kind == "wrong":
        return returncode == 1 and "AssertionError" in stderr
    if kind == "exception":
        return (
            returncode == 1 and re.search(rf"^[\w.]*\b{re.escape(tail.rpartition('.')[2])}\b", stderr, re.M) is not None
        )
    if kind == "hang":
        return returncode == 1 and "Timeout (" in stderr
    return returncode != 0


def _signal(number: int) -> str:
    """``SIGSEGV`` of 11; "" of what is no signal."""
    return signal.Signals(number).name if number in set(signal.Signals) else ""


def subject_code(case: Case, snippet: str = "", *, short: bool = False) -> list[str]:
    """What is run: definitions of `model` and `inputs`, of `module` and `args`, or of a Keras layer and its `call`.

    `short`: an ONNX model in as few lines as can be.
    """
    if case.kind == "keras":
        return [layer_code(case.model, snippet)]
    return [instance_code(case.model)] if case.kind == "instance" else case_code(case.model, case.inputs, short=short)


def _environment(variables: Mapping[str, str]) -> list[str]:
    if not variables:
        return []
    wanted = ", ".join(f'"{name}": "{value}"' for name, value in sorted(variables.items()))
    meanings = [f"# {_MEANING[name]}" for name in sorted(variables) if name in _MEANING]
    lines = [
        "import os",
        "import sys",
        "",
        *meanings,
        f"wanted = {{{wanted}}}",
        "if not wanted.items() <= os.environ.items():  # they act when the process starts",
        f"{STEP}os.execve(sys.executable, [sys.executable, *sys.argv], {{**os.environ, **wanted}})",
    ]
    return ["\n".join(lines)]


def _limits(status: Status, timeout: float, memory_mb: int) -> list[str]:
    if status is Status.TIMEOUT:
        seconds = max(1, math.ceil(timeout))
        reason = f"# The bug is a hang: give up after {seconds} s."
        return [f"{reason}\nfaulthandler.dump_traceback_later({seconds}, exit=True)"]
    if status is Status.OOM and memory_mb:
        limit = f"{memory_mb} * 2**20"
        reason = f"# The bug eats memory: stop at {memory_mb} MiB."
        return [f"{reason}\nresource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit}))"]
    return []


def _trial(
    case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, snippet: str, refused: Sequence[str]
) -> list[str]:
    """Run, then compare if values are what is wrong."""
    if symptom.startswith(refusal.ON_INVALID):
        return [_expecting_an_error(snippet, symptom)]
    if outcome.status is Status.WRONG and reference is not None:
        return [snippet, _comparison(case, outcome, reference, symptom, snippet)]
    if refused:
        are = f"{enumerated(refused)} {'is' if len(refused) == 1 else 'are'} not supported"
        return [_or_error(snippet, f"{are}: a clear error is right as well") + 'print("PASS")']
    return [snippet + '\nprint("PASS")']


def _expecting_an_error(snippet: str, symptom: str) -> str:
    """The model is invalid, so a clear error is the right answer."""
    kind, _, tail = symptom.partition(":")
    name = tail.rpartition(".")[2]
    asserts = f'{STEP}assert type(error).__name__ != "{name}", f"{{error!r}} {_AFTER[refusal.ASSERTS]}"\n'
    accepts = f'else:\n{STEP}raise AssertionError("{_AFTER[refusal.ACCEPTS]}")\n'
    tried = _or_error(
        snippet, "the model is invalid: a clear error is right", asserts if kind == refusal.ASSERTS else ""
    )
    return f"{tried}{accepts if kind == refusal.ACCEPTS else ''}" + 'print("PASS")'


def _or_error(snippet: str, right: str, before: str = "") -> str:
    """The snippet, which may raise an exception; why that is `right`, and lines `before` it is told."""
    imports, use = parted([snippet])
    return (
        f"{imports}\n\ntry:\n{textwrap.indent(use, STEP)}\nexcept Exception as error:  # {right}\n"
        f'{before}{STEP}print("refused:", type(error).__name__)\n'
    )


def _comparison(case: Case, outcome: Outcome, reference: Outcome, symptom: str, snippet: str) -> str:
    found = checks(case, outcome, reference, symptom, snippet)
    return "\n".join([*found.lines(shown=True), 'print("PASS")'])
