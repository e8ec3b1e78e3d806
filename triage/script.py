"""The reproducer: a self-contained script that fails while the bug is there and prints PASS without it.

It needs numpy, the compiler, and onnx or torch; nothing of this project.
"""

from __future__ import annotations

import math
import re
import signal
import textwrap
from collections.abc import Mapping, Sequence

import numpy as np

from fuzz.case import Case, Outcome, Status
from fuzz.oracles.differential import tolerance
from fuzz.wire import Raw, Value, dtype_name
from triage.construct import construction_code, parsed, values_code
from triage.construct_torch import instance_code
from triage.differ import differing, is_inexact
from triage.layout import STEP, assemble, named, render
from triage.literals import SMALL, as_array, value_expr

#: The reference, as the script computes it where its values are too many to be written out.
_REFERENCE = {
    "onnx": "expected = ReferenceEvaluator(model).run(None, inputs)",
    "instance": "expected = [t.detach().numpy() for t in torch.utils._pytree.tree_leaves(module(*args))]",
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
) -> str:
    """The script's code.

    `snippet` is the backend's ``reproduce()``: it turns `model` and `inputs` (or `module` and `args`)
    into `actual`. `timeout` is in seconds and used for hangs;
    `memory_mb` limits the address space (MiB) for ``oom``. `environment` variables must be set before
    the process starts (an allocator's fill byte), so the script restarts itself with them.
    """
    pieces = [
        *_environment(environment or {}),
        *_limits(outcome.status, timeout, memory_mb),
        *_subject(case),
        *_trial(case, outcome, reference, symptom, snippet),
    ]
    return assemble(pieces)


def confirms(symptom: str, returncode: int, stderr: str) -> bool:
    """Whether a run of the script failed the way the symptom says, and not for want of a package, say.

    `returncode` is subprocess's: negative for a signal. Exception classes are matched by their last
    name, since a backend may see one by another path than the traceback shows.
    """
    kind, _, tail = symptom.removeprefix("dies-on-invalid:").partition(":")
    if kind == "crash":
        return -returncode in set(signal.Signals) and signal.Signals(-returncode).name == tail
    if kind == "wrong":
        return returncode == 1 and "AssertionError" in stderr
    if kind == "exception":
        return (
            returncode == 1 and re.search(rf"^[\w.]*\b{re.escape(tail.rpartition('.')[2])}\b", stderr, re.M) is not None
        )
    if kind == "hang":
        return returncode == 1 and "Timeout (" in stderr
    return returncode != 0


def _subject(case: Case) -> list[str]:
    """What is run: definitions of `model` and `inputs`, or of `module` and `args`."""
    if case.kind == "instance":
        return [instance_code(case.model)]
    return [construction_code(parsed(case.model)), values_code(case.inputs)]


def _environment(variables: Mapping[str, str]) -> list[str]:
    if not variables:
        return []
    wanted = ", ".join(f'"{name}": "{value}"' for name, value in sorted(variables.items()))
    return [
        "import os\nimport sys\n\n"
        f"wanted = {{{wanted}}}\n"
        "if not wanted.items() <= os.environ.items():  # they act when the process starts\n"
        f"{STEP}os.execve(sys.executable, [sys.executable, *sys.argv], {{**os.environ, **wanted}})"
    ]


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


def _trial(case: Case, outcome: Outcome, reference: Outcome | None, symptom: str, snippet: str) -> list[str]:
    """Run, then compare if values are what is wrong."""
    if symptom.startswith("dies-on-invalid"):
        return [_expecting_an_error(snippet)]
    if outcome.status is Status.WRONG and reference is not None:
        return [snippet, _comparison(case, outcome, reference, symptom) + '\nprint("PASS")']
    return [snippet + '\nprint("PASS")']


def _expecting_an_error(snippet: str) -> str:
    """The model is invalid, so an exception is the right answer."""
    return (
        f"try:\n{textwrap.indent(snippet, STEP)}\n"
        "except Exception as error:  # the model is invalid: a clear error is right\n"
        f'{STEP}print("refused:", type(error).__name__)\n'
        'print("PASS")'
    )


def _comparison(case: Case, outcome: Outcome, reference: Outcome, symptom: str) -> str:
    want = [value for _, value in reference.outputs]
    got = [value for _, value in outcome.outputs]
    count = len(want)
    check_dtype = case.kind == "onnx" or symptom == "wrong:dtype"
    if len(got) != len(want):
        return f"assert len(actual) == {count}, len(actual)"
    wrong = [at for at in range(count) if _differs(want[at], got[at])] or list(range(count))
    if sum(_elements(want[at]) for at in wrong) > SMALL and _computable(case, want):
        lines = [_REFERENCE[case.kind]]
        names = {at: f"expected[{at}]" for at in wrong}
    else:
        names = {at: "expected" if count == 1 else f"expected_{at}" for at in wrong}
        lines = [line for at in wrong for line in render(named(f"{names[at]} = ", value_expr(_plain(want[at]))))]
    for at in wrong:
        lines += _checks(f"actual[{at}]", names[at], want[at], check_dtype)
    return "\n".join(lines)


def _computable(case: Case, want: Sequence[Value]) -> bool:
    """Whether the one-line reference works: eager tensors of small floats have no numpy form."""
    return case.kind == "onnx" or all(isinstance(v, np.ndarray) and v.dtype.isbuiltin == 1 for v in want)


def _plain(value: Value) -> Value:
    """Small floats as float32, which holds them exactly and needs no further package."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | Raw):
        array = as_array(value)
        return array.astype(np.float32) if _is_small_float(value) else array
    return value


def _is_small_float(value: np.ndarray | Raw) -> bool:
    array = as_array(value)
    return is_inexact(array) and array.dtype.itemsize < 4


def _elements(value: Value) -> int:
    if isinstance(value, list):
        return sum(_elements(item) for item in value)
    return as_array(value).size if isinstance(value, np.ndarray | Raw) else 1


def _differs(want: Value, got: Value) -> bool:
    if isinstance(want, list) and isinstance(got, list):
        return len(want) != len(got) or any(map(_differs, want, got))
    if not isinstance(want, np.ndarray | Raw) or not isinstance(got, np.ndarray | Raw):
        return (want is None) != (got is None) or type(want) is not type(got)
    if tuple(want.shape) != tuple(got.shape) or dtype_name(want) != dtype_name(got):
        return True
    return bool(differing(as_array(want), as_array(got)).any())


def _checks(got: str, want: str, value: Value, check_dtype: bool) -> list[str]:
    """Statements that raise AssertionError when `got` is not `want`, whose value is known here."""
    if value is None:
        return [f"assert {got} is None, {got}"]
    if isinstance(value, list):
        lines = [f"assert len({got}) == len({want}), len({got})"]
        if value:
            inner = _checks("got", "want", value[0], check_dtype)
            lines += [f"for got, want in zip({got}, {want}):", *(STEP + line for line in inner)]
        return lines
    assert isinstance(value, np.ndarray | Raw)
    # assert_allclose and assert_array_equal broadcast scalars, so the shape is checked apart.
    lines = [f"assert {got}.shape == {want}.shape, {got}.shape"]
    name = dtype_name(value)
    if check_dtype and name != "string":
        lines.append(f'assert {got}.dtype.name == "{name}", {got}.dtype')
    if not is_inexact(as_array(value)):
        return [*lines, f"np.testing.assert_array_equal({got}, {want})"]
    allowed = tolerance(name)
    limits = f"rtol={allowed.relative:g}, atol={allowed.absolute:g}"
    if _is_small_float(value):
        got, want = f"{got}.astype(np.float32)", f"{want}.astype(np.float32)"
    return [*lines, f"np.testing.assert_allclose({got}, {want}, {limits})"]
