"""The child process of a migration from Keras: runs test files under the recorder, and checks what it records.

It reads one task a line on stdin (JSON: ``{"folder", "test"}``, a test file below a folder) and answers on stdout
like `fuzz.migrate._torch_child`. Tests that need a package that is not installed, TensorFlow mostly, lose only
what they do with it: in the test files its name stands for nothing, while Keras itself sees that it is missing.
"""

from __future__ import annotations

import builtins
import json
import os
import signal
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from fuzz import instance as instances
from fuzz import instance_keras, instance_recipes
from fuzz.instance import Instance, InstanceError
from fuzz.instance_store import content_id
from fuzz.migrate._keras_recorder import Recorder
from fuzz.wire import CannotFeed, Job, Value

#: The longest that one test function may take, in seconds.
TEST_SECONDS = 60.0


class Late(BaseException):
    """A test took longer than it may."""


class Rejected(Exception):
    """Keras does not accept the instance; says why in few words."""


# ---------------------------------------------------------------- checking


class Checker:
    """Runs each instance alone on Keras's PyTorch backend; of equal ones only the first."""

    def __init__(self) -> None:
        self._known: set[str] = set()

    def check(self, document: dict[str, Any]) -> Instance | None:
        """The instance as it is worth keeping, perhaps with seeds for recorded values; None for a known one.

        Raises Rejected.
        """
        try:
            exact = replace(instances.parse(json.dumps(document)), version="")
        except InstanceError as error:
            raise Rejected(str(error)) from error
        seeded = instance_recipes.drawn(exact)
        for each in (exact, seeded):
            if each is not None and content_id(instances.canonical(each)) in self._known:
                return None
        kept = exact
        recorded = _run(exact)
        if seeded is not None and _accepted(seeded, recorded):
            kept = seeded
        self._known.add(content_id(instances.canonical(kept)))
        return kept


def _run(instance: Instance) -> list[tuple[str, Value]]:
    """The layer's outputs. Raises Rejected with the class of Keras's exception, since its words vary."""
    try:
        found = instance_keras.run_eager(Job("keras", instances.canonical(instance), {}, {}))
    except (CannotFeed, InstanceError) as error:
        raise Rejected("random" if "random" in str(error) else str(error)) from error
    except Exception as error:
        raise Rejected(f"Keras raises {type(error).__name__} when the call is made alone") from error
    if not found:
        raise Rejected("the result holds no tensor")
    return found


def _accepted(seeded: Instance, recorded: list[tuple[str, Value]]) -> bool:
    """Whether Keras takes the drawn values and gives a result of the same dtypes and shapes."""
    try:
        found = _run(seeded)
    except Rejected:
        return False
    return [_form(value) for _, value in found] == [_form(value) for _, value in recorded]


def _form(value: Any) -> tuple[str, tuple[int, ...]]:
    return str(value.dtype), tuple(value.shape)


# ---------------------------------------------------------------- the tests


class _Nothing:
    """Stands for a missing package in the test files: it can be imported and named; whatever is done with it fails."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _Nothing(f"{self.__name__}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(f"{self.__name__} is not installed")


def without_the_missing() -> None:
    """From now on importing a missing package in a file ``*_test.py`` gives something that does nothing."""
    found = builtins.__import__

    def importing(name: str, scope: Any = None, *rest: Any, **more: Any) -> Any:
        try:
            return found(name, scope, *rest, **more)
        except ModuleNotFoundError as error:
            top = name.partition(".")[0]
            if error.name != top or not str((scope or {}).get("__name__", "")).endswith("_test"):
                raise
            return _Nothing(top)

    builtins.__import__ = importing  # type: ignore[assignment]


class Plugin:
    """pytest's view of the recorder: a time limit for each test, and what is checked after it."""

    def __init__(self, recorder: Recorder, ended: Callable[[], None], omit: Callable[[str], None]) -> None:
        self._recorder, self._ended, self._omit = recorder, ended, omit
        self.test = ""
        self.ran = 0

    def pytest_runtest_setup(self, item: Any) -> None:
        self.test = item.nodeid
        self._recorder.begin()
        self._recorder.active = True
        signal.setitimer(signal.ITIMER_REAL, TEST_SECONDS)

    def pytest_runtest_teardown(self, item: Any) -> None:
        signal.setitimer(signal.ITIMER_REAL, 0)
        self._recorder.active = False
        self.ran += 1
        self._ended()

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            self._omit(f"the test fails here in its {report.when} (what it did before is kept)")
        elif report.skipped:
            self._omit("the test skips itself on this backend")

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self._omit("the file cannot be imported here")


class Tests:
    """Runs test files and sends what they give."""

    def __init__(self, send: Callable[[dict[str, Any]], None]) -> None:
        self._send = send
        self._checker = Checker()
        self._omitted: Counter[tuple[str, str]] = Counter()
        self._waiting: list[dict[str, Any]] = []
        self._file = ""
        self._recorder = Recorder(self._waiting.append, self._omit)
        self._recorder.install()
        self._plugin = Plugin(self._recorder, self._check, self._omit)

    def run(self, folder: str, test: str) -> None:
        """One test file, in a folder of its own for what it writes."""
        import pytest

        self._file = test
        with tempfile.TemporaryDirectory() as scratch:
            os.chdir(scratch)
            options = ["-q", "--import-mode=importlib", "-p", "no:cacheprovider", "-p", "no:xdist", "--rootdir", folder]
            pytest.main([*options, "-c", os.devnull, str(Path(folder) / test)], plugins=[self._plugin])
            os.chdir(folder)
        for (reason, where), count in self._omitted.items():
            self._send({"omitted": reason, "test": where, "count": count})
        self._omitted.clear()

    def _omit(self, reason: str) -> None:
        self._omitted[reason, self._file] += 1

    def _check(self) -> None:
        waiting, self._waiting[:] = list(self._waiting), []
        for document in waiting:
            try:
                found = self._checker.check(document)
            except Rejected as rejected:
                self._omit(str(rejected))
                continue
            if found is None:
                self._omit("equal to another")
                continue
            content = json.loads(instances.canonical(found))
            self._send({"instance": content, "test": self._plugin.test, "flags": [], "version": document["version"]})


# ---------------------------------------------------------------- the process


def main() -> None:
    """Serve tasks until stdin ends."""
    channel = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what tests print is not an answer
    warnings.simplefilter("ignore")

    def send(message: dict[str, Any]) -> None:
        channel.write(json.dumps(message, separators=(",", ":")) + "\n")
        channel.flush()

    with tempfile.TemporaryDirectory() as home:
        os.environ.update({"KERAS_HOME": home, "HOME": home})
        instance_keras.use("torch")
        import torch

        torch.set_num_threads(1)
        without_the_missing()
        signal.signal(signal.SIGALRM, _late)
        tests = Tests(send)
        for line in sys.stdin:
            task = json.loads(line)
            tests.run(task["folder"], task["test"])
            send({"done": True})


def _late(number: int, frame: Any) -> None:
    raise Late


if __name__ == "__main__":
    main()
