"""The parent's side of migrations that PyTorch itself must answer, in child processes."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

from fuzz.instance_store import Source, Stored, stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._children import Died, environment, serve


def listed(child: str) -> Any:
    """What ``python -m CHILD --list`` prints. Raises MigrationFailed where PyTorch cannot be imported."""
    done = subprocess.run(
        [sys.executable, "-m", child, "--list"], capture_output=True, text=True, env=environment(), check=False
    )
    if done.returncode:
        said = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise MigrationFailed(f"PyTorch or its tests cannot be read: {said}; `pip install torch expecttest`")
    return json.loads(done.stdout)


def in_order(child: str, tasks: list[dict[str, Any]], request: Request) -> Iterator[Stored | Omitted]:
    """What the children answer, in the order of the tasks: which of two equal instances comes first is not chance.

    A child that tells which line of a task it has reached, and dies there, is followed by one that goes on behind it.
    """
    held: dict[int, list[Stored | Omitted]] = {}
    waiting = dict(enumerate(tasks))
    while waiting:
        numbers, reached, again = list(waiting), dict[int, int](), dict[int, dict[str, Any]]()
        for position, answer in serve(child, list(waiting.values()), request.jobs, request.seconds):
            at = numbers[position]
            if not isinstance(answer, Died) and "line" in answer:
                reached[at] = answer["line"]
                continue
            held.setdefault(at, []).append(_item(answer, tasks[at]))
            if isinstance(answer, Died) and at in reached:
                again[at] = {**tasks[at], "first": reached[at] + 1}
        waiting = again
    for at in sorted(held):
        yield from held[at]


def _item(answer: dict[str, Any] | Died, task: dict[str, Any]) -> Stored | Omitted:
    if isinstance(answer, Died):
        return Omitted(f"the process died: {answer.how}", str(task.get("name", task.get("file", ""))))
    if "omitted" in answer:
        return Omitted(answer["omitted"], answer["test"], answer["count"])
    source = Source(answer["source"]["kind"], answer["source"]["test"])
    return stored(answer["instance"], source, answer["flags"], answer["version"])
