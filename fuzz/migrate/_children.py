"""Child processes that serve one task a line and answer with JSON lines; one that dies costs its task alone."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import fuzz

#: How much longer than a task's own limit its child is waited for, in seconds.
_GRACE = 30.0


@dataclass(frozen=True)
class Died:
    """A child that ended, or was ended, before it had done its task."""

    task: dict[str, Any]
    how: str


class ChildFailed(RuntimeError):
    """A child ended by an exception: a fault of its own code, which catches those of the tests that it runs."""


Answer = dict[str, Any] | Died
#: What a lane says at its end: its own fault, if there was one.
_End = BaseException | None


def serve(module: str, tasks: Sequence[dict[str, Any]], jobs: int, seconds: float) -> Iterator[tuple[int, Answer]]:
    """Answers to `tasks` as they come, each with the task's position, from up to `jobs` children of `module`.

    From one answer to the next a task may take `seconds`, where it keeps that limit itself, and some more, after which
    its child is killed.
    Raises ChildFailed for a fault of the child's own.
    """
    waiting: queue.SimpleQueue[tuple[int, dict[str, Any]]] = queue.SimpleQueue()
    for entry in enumerate(tasks):
        waiting.put(entry)
    answers: queue.SimpleQueue[tuple[int, Answer] | _End] = queue.SimpleQueue()
    lanes = [_Lane(module, waiting, answers, seconds) for _ in range(max(1, min(jobs, len(tasks))))]
    try:
        running = len(lanes)
        while running:
            answer = answers.get()
            if isinstance(answer, BaseException):
                raise answer
            if answer is None:
                running -= 1
            else:
                yield answer
    finally:
        for lane in lanes:
            lane.end()


def environment() -> dict[str, str]:
    """Ours, with Graphwarden importable and one thread for each library: the children share the cores."""
    ours = str(Path(fuzz.__file__).parent.parent)
    path = os.pathsep.join(filter(None, [ours, os.environ.get("PYTHONPATH", "")]))
    return {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


class _Limit:
    """Calls something unless it is restarted or ended within `seconds` (None: never)."""

    def __init__(self, seconds: float | None, late: Callable[[], None]) -> None:
        self._seconds, self._late = seconds, late
        self._last = time.monotonic()
        self._timer: threading.Timer | None = None
        self._wait(seconds)

    def _wait(self, seconds: float | None) -> None:
        if seconds is not None:
            self._timer = threading.Timer(seconds, self._look)
            self._timer.daemon = True
            self._timer.start()

    def _look(self) -> None:
        """A restart only notes the time, since it is frequent: what is left is waited for here."""
        if self._seconds is None:
            return
        left = self._last + self._seconds - time.monotonic()
        if left > 0:
            self._wait(left)
        else:
            self._late()

    def restart(self) -> None:
        """Begin anew."""
        self._last = time.monotonic()

    def end(self) -> None:
        """No more."""
        self._seconds = None
        if self._timer is not None:
            self._timer.cancel()


class _Lane:
    """Gives tasks to one child at a time, in a thread of its own."""

    def __init__(
        self,
        module: str,
        waiting: queue.SimpleQueue[tuple[int, dict[str, Any]]],
        answers: queue.SimpleQueue[tuple[int, Answer] | _End],
        seconds: float,
    ) -> None:
        self._module, self._waiting, self._answers, self._seconds = module, waiting, answers, seconds
        self._child: subprocess.Popen[str] | None = None
        self._ended = False
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 as long as the lane
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        try:
            while not self._ended:
                self._do(*self._waiting.get_nowait())
        except queue.Empty:
            self._stop()
            self._answers.put(None)
        except BaseException as fault:  # noqa: BLE001 raised again by who reads the answers
            self._answers.put(fault)

    def _do(self, at: int, task: dict[str, Any]) -> None:
        child = self._running()
        assert child.stdin is not None and child.stdout is not None
        limit = _Limit(self._seconds + _GRACE if self._seconds else None, child.kill)
        try:
            child.stdin.write(json.dumps(task) + "\n")
            child.stdin.flush()
            for line in child.stdout:
                answer = _parsed(line)
                if answer is None:
                    break  # cut off by the child's death
                if "done" in answer:
                    return
                self._answers.put((at, answer))
                limit.restart()
        except BrokenPipeError:
            pass  # told below
        finally:
            limit.end()
        self._child = None
        status = child.wait()
        if status > 0:
            self._said.seek(0)
            said = (self._said.read().strip().splitlines() or [f"exit status {status}"])[-1]
            raise ChildFailed(f"{self._module} failed at {json.dumps(task)}: {said}")
        self._answers.put((at, Died(task, _how(status))))

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None:
            self._child = subprocess.Popen(
                [sys.executable, "-m", self._module, str(self._seconds)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._emptied(),
                text=True,
                env=environment(),
            )
        return self._child

    def _emptied(self) -> IO[str]:
        """The file that takes what a child prints."""
        self._said.seek(0)
        self._said.truncate()
        return self._said

    def end(self) -> None:
        """Stop before the tasks are done."""
        self._ended = True
        child = self._child
        if child is not None and child.poll() is None:
            child.kill()

    def _stop(self) -> None:
        if self._child is not None:
            assert self._child.stdin is not None
            self._child.stdin.close()
            self._child.wait()


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        answer: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return answer


def _how(status: int) -> str:
    if status == 0:
        return "exit status 0"
    try:
        return signal.Signals(-status).name
    except ValueError:
        return f"signal {-status}"
