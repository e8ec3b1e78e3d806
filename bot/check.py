"""A command as the reducer's predicate: `--check 'COMMAND {model}'`, exit code 0 = still interesting.

Every run has a folder of its own with the candidate in it: ``model.onnx`` (``model.json`` for an operator
instance) and, if the candidate has inputs, their values in ``model.npz`` beside it. In the command ``{model}``
and ``{inputs}`` stand for the two paths, quoted for the shell; the environment has them as GRAPHWARDEN_MODEL
and GRAPHWARDEN_INPUTS. The command runs in the caller's working folder.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import IO

from bot.failures import Refusal
from fuzz.case import Case
from triage.trials import Answer

#: What /bin/sh answers for a command that is not there or may not be executed.
_NOT_STARTED = (126, 127)
#: Above it, a shell tells the signal that a command died of.
_LAST_OF_ITS_OWN = 128
#: How many bytes of what a command printed are looked at.
_TAIL = 4000


@dataclass
class Check:
    """Runs the command on cases; use as a context manager, which ends what is still running.

    `save` writes a case to a path. A run that is longer than `timeout` seconds is killed with all that it
    started, and counts as neither interesting nor passing, like one that died of a signal.
    """

    command: str
    timeout: float
    save: Callable[[Case, Path], object]
    said: str = ""  # how the last run that was not interesting ended
    _running: set[int] = field(default_factory=set)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def __post_init__(self) -> None:
        if "{model}" not in self.command:
            raise Refusal(f"--check {self.command!r} does not say where the model goes: write {{model}} in it")

    def __enter__(self) -> Check:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._lock:
            for group in self._running:
                _kill(group)

    def __call__(self, case: Case) -> Answer:
        with tempfile.TemporaryDirectory(prefix="graphwarden-check-") as folder:
            model = Path(folder) / ("model.onnx" if case.kind == "onnx" else "model.json")
            self.save(case, model)
            code = self._run(model, model.with_suffix(".npz"))
        if code == 0:
            return Answer.SAME
        return Answer.PASSES if code is not None and 0 < code <= _LAST_OF_ITS_OWN else Answer.OTHER

    def _run(self, model: Path, inputs: Path) -> int | None:
        """The exit code, negative for a signal, None for a run that was too long."""
        text = self.command.replace("{model}", shlex.quote(str(model))).replace("{inputs}", shlex.quote(str(inputs)))
        environment = {**os.environ, "GRAPHWARDEN_MODEL": str(model), "GRAPHWARDEN_INPUTS": str(inputs)}
        with tempfile.TemporaryFile() as printed:
            process = subprocess.Popen(
                ["/bin/sh", "-c", text],
                stdin=subprocess.DEVNULL,
                stdout=printed,
                stderr=subprocess.STDOUT,
                env=environment,
                start_new_session=True,
            )
            with self._lock:
                self._running.add(process.pid)
            try:
                code: int | None = process.wait(self.timeout)
            except subprocess.TimeoutExpired:
                code = None
            finally:
                _kill(process.pid)  # what the command has left behind too
                process.wait()
                with self._lock:
                    self._running.discard(process.pid)
            if code != 0:
                self.said = f"{_ended(code, self.timeout)}{_last_line(printed)}"
        if code in _NOT_STARTED:
            raise Refusal(f"--check: the command could not be started: {self.said}")
        return code


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)


def _ended(code: int | None, timeout: float) -> str:
    if code is None:
        return f"it did not end within {timeout:g} s"
    if code > _LAST_OF_ITS_OWN and code - 128 in signal.valid_signals():
        code = 128 - code  # how a shell tells the signal that its command died of
    return f"exit code {code}" if code > 0 else f"it died of {signal.Signals(-code).name}"


def _last_line(printed: IO[bytes]) -> str:
    printed.seek(max(0, printed.seek(0, os.SEEK_END) - _TAIL))
    lines = printed.read().decode("utf-8", "replace").strip().splitlines()
    return f" ({lines[-1][:200]})" if lines else ""
