"""The child process of a migration from PyTorch: runs what tests it is told to, and checks what is recorded.

It reads one task a line on stdin (JSON: ``{"database": "op_db", "test": 3}``, or ``{"file": PATH, "first": 0}`` with
what the recorder wrote in a user's process, from that line on) and answers on stdout with one JSON object a line:
``{"instance", "source", "flags", "version"}``, ``{"omitted", "count", "test"}``, and ``{"done"}`` after each task. Of a
file, ``{"line"}`` says which line comes next, so that a call that kills this process costs no other.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from types import FrameType
from typing import Any

from fuzz import instance as instances
from fuzz.instance_check import Checker, Rejected
from fuzz.migrate._watching import told

#: The dtypes of the tests that are run: one of every width and kind that compilers treat differently.
DTYPES = ("float32", "float16", "bfloat16", "int64", "int8", "bool", "complex64")
#: The longest list of samples that one test gives for one dtype.
MOST_SAMPLES = 400


class Late(BaseException):
    """A test took longer than it may."""


class Answers:
    """The log that the recorder writes to here: checks each instance and sends it to the parent."""

    def __init__(self, send: Callable[[object], None], flush: Callable[[], None]) -> None:
        self._send, self._hand_over = send, flush
        self._checker = Checker()
        self._omitted: Counter[tuple[str, str]] = Counter()
        self._waiting: list[tuple[dict[str, Any], dict[str, str]]] = []
        self.source = {"kind": "", "test": ""}

    def instance(self, document: dict[str, Any]) -> None:
        """Keep an instance until `check`: the recorder is not to see the check's own calls."""
        self._waiting.append((document, dict(self.source)))

    def omitted(self, reason: str, count: int = 1) -> None:
        """Count a call that gave no instance."""
        self._omitted[reason, self.source["test"].partition(" ")[0]] += count

    def check(self) -> None:
        """Check and send what was recorded since."""
        waiting, self._waiting = self._waiting, []
        for document, self.source in waiting:
            self.check_one(document)

    def check_one(self, document: dict[str, Any]) -> bool:
        """Check an instance now, and send it or count why not; whether it was sent."""
        try:
            found = self._checker.check(document)
        except Rejected as rejected:
            self.omitted(str(rejected))
            return False
        if found is None:
            self.omitted("equal to another")
            return False
        content = json.loads(instances.canonical(found.instance))
        version = document.get("version", "")
        self._send({"instance": content, "source": self.source, "flags": sorted(found.flags), "version": version})
        return True

    def reach(self, line: int) -> None:
        """Hand over what was found before the line, since its call may end this process."""
        self.flush()
        self._send({"line": line})
        self._hand_over()

    def flush(self) -> None:
        """Send the counts."""
        for (reason, test), count in self._omitted.items():
            self._send({"omitted": reason, "test": test, "count": count})
        self._omitted.clear()


# ---------------------------------------------------------------- PyTorch's own tests


class Tests:
    """Runs the sample inputs of the databases under the recorder."""

    def __init__(self, answers: Answers) -> None:
        import torch

        from fuzz.migrate._inject import graphwarden_recorder as recorder

        self._torch = torch
        self._answers = answers
        orders = told()
        names = recorder.Names(orders["namespaces"], orders["refused"], orders["properties"])
        self._recorder = recorder.Recorder(answers, names)
        recorder.watch_modules(self._recorder, names)

    def run(self, database: str, test: int) -> None:
        """One entry of ``op_db`` or ``module_db``, in every dtype that it and we have."""
        if database == "op_db":
            self._operator(op_db()[test])
        else:
            self._module(module_db()[test])

    def _operator(self, info: Any) -> None:
        torch = self._torch
        for name in DTYPES:
            dtype = getattr(torch, name)
            if dtype not in info.supported_dtypes("cpu"):
                continue
            torch.manual_seed(0)
            samples = self._samples(partial(info.sample_inputs, "cpu", dtype), info.full_name, name)
            calls = self._variants(info) if name == "float32" else [info.get_op()]
            for number, sample in enumerate(samples):
                self._answers.source = {"kind": "pytorch-opinfo", "test": f"{info.full_name} {name} #{number}"}
                for call in calls:
                    self._call(call, sample.input, sample.args, sample.kwargs)
                self._answers.check()

    def _variants(self, info: Any) -> list[Any]:
        """The operator, and its other names: the method, the one that works in place, the sign, the aliases."""
        others = [info.get_method(), info.get_inplace(), info.operator_variant, info.inplace_operator_variant]
        found = [info.get_op(), *others, *(alias.op for alias in info.aliases)]
        return [call for at, call in enumerate(found) if call is not None and call not in found[:at]]

    def _samples(self, draw: Callable[[], Any], test: str, dtype: str) -> Iterator[Any]:
        self._answers.source = {"kind": "", "test": test}
        try:
            for number, sample in enumerate(draw()):
                if number >= MOST_SAMPLES:
                    self._answers.omitted(f"more than {MOST_SAMPLES} samples of one dtype")
                    return
                yield sample
        except Exception as error:  # noqa: BLE001 somebody else's generator
            self._answers.source = {"kind": "", "test": test}
            self._answers.omitted(f"no samples of {dtype}: {type(error).__name__}")

    def _call(self, call: Any, given: Any, args: Any, kwargs: Any) -> None:
        torch = self._torch
        copied = torch.utils._pytree.tree_map_only(torch.Tensor, _copy, (given, tuple(args), dict(kwargs)))
        try:
            with self._recorder, torch.no_grad():
                call(copied[0], *copied[1], **copied[2])
        except Exception as error:  # noqa: BLE001 not every variant takes every sample
            self._answers.omitted(f"the test's own call raises {type(error).__name__}")

    def _module(self, info: Any) -> None:
        torch = self._torch
        for name in ("float32", "float16", "bfloat16", "complex64"):
            dtype = getattr(torch, name)
            if dtype not in info.supported_dtypes("cpu"):
                continue
            torch.manual_seed(0)

            def draw(dtype: Any = dtype) -> Any:
                return info.module_inputs_func(info, device="cpu", dtype=dtype, requires_grad=False, training=False)

            for number, sample in enumerate(self._samples(draw, info.name, name)):
                self._answers.source = {"kind": "pytorch-module", "test": f"{info.name} {name} #{number}"}
                self._module_call(info.module_cls, sample)
                self._answers.check()

    def _module_call(self, cls: Any, sample: Any) -> None:
        made, called = sample.constructor_input, sample.forward_input
        if called is None:
            return
        try:
            module = cls(*made.args, **made.kwargs).eval()
            with self._recorder, self._torch.no_grad():
                module(*called.args, **called.kwargs)
        except Exception as error:  # noqa: BLE001 not every module takes every dtype
            self._answers.omitted(f"the test's own call raises {type(error).__name__}")


def _copy(tensor: Any) -> Any:
    """A tensor of its own memory where it is dense, so that a call in place leaves the sample as it was."""
    import torch

    found = tensor.detach()
    return found.clone() if found.layout is torch.strided and not found.is_nested else found


def op_db() -> list[Any]:
    """PyTorch's operator database."""
    from torch.testing._internal.common_methods_invocations import op_db as found

    return list(found)


def module_db() -> list[Any]:
    """PyTorch's module database."""
    from torch.testing._internal.common_modules import module_db as found

    return list(found)


def listed() -> dict[str, list[str]]:
    """The names of all tests, by database."""
    return {"op_db": [info.full_name for info in op_db()], "module_db": [info.name for info in module_db()]}


# ---------------------------------------------------------------- what a user's processes recorded


def check_file(answers: Answers, path: str, first: int, seconds: float) -> None:
    """Check the instances that the recorder wrote to a file, from its line `first` on, each for at most `seconds`.

    A line that a killed process cut off is counted.
    """
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file):
            if number < first:
                continue
            answers.reach(number)
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                _check_line(answers, line)
            except Late:
                answers.omitted(f"a call that took longer than {seconds:.0f} s")
            signal.setitimer(signal.ITIMER_REAL, 0)


def _check_line(answers: Answers, line: str) -> None:
    try:
        told = json.loads(line)
    except ValueError:
        answers.omitted("the process was killed while it wrote this")
        return
    answers.source = told["source"]
    if "omitted" in told:
        answers.omitted(told["omitted"], told["count"])
    else:
        answers.check_one(told["instance"])


# ---------------------------------------------------------------- the process


Task = dict[str, Any]


class Tasks:
    """Does the tasks of a migration from PyTorch's tests."""

    def __init__(self, answers: Answers, seconds: float) -> None:
        self._answers, self._seconds = answers, seconds
        self._tests: Tests | None = None

    def do(self, task: Task) -> None:
        """Run a test of PyTorch's, or check what a user's process recorded."""
        if "file" in task:
            check_file(self._answers, task["file"], task["first"], self._seconds)
            return
        self._tests = self._tests or Tests(self._answers)
        self._tests.run(task["database"], task["test"])


def main(
    listing: Callable[[], object] = listed, tasks: Callable[[Answers], Callable[[Task], None]] | None = None
) -> None:
    """Serve tasks until stdin ends. ``--list`` prints `listing`: by default the names of all tests."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what tests print is not an answer
    warnings.simplefilter("ignore")

    def send(message: object) -> None:
        channel.write(json.dumps(message, separators=(",", ":")) + "\n")

    if "--list" in sys.argv:
        send(listing())
        channel.flush()
        return
    answers, seconds = Answers(send, channel.flush), float(sys.argv[1])
    _serve(answers, tasks(answers) if tasks else Tasks(answers, seconds).do, send, channel.flush, seconds)


def _serve(
    answers: Answers,
    do: Callable[[Task], None],
    send: Callable[[object], None],
    flush: Callable[[], None],
    seconds: float,
) -> None:
    import torch

    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, _late)
    for line in sys.stdin:
        task = json.loads(line)
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            do(task)
        except Late:
            answers.omitted(f"the rest of a test that took longer than {seconds:.0f} s")
        signal.setitimer(signal.ITIMER_REAL, 0)
        answers.flush()
        send({"done": True})
        flush()


def _late(number: int, frame: FrameType | None) -> None:
    raise Late


if __name__ == "__main__":
    main()
