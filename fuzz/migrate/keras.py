"""Keras's own tests: the test files in its wheel, run on its PyTorch backend under a recorder of layer calls."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fuzz.instance_store import Source, Stored, stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._children import Died, serve

ABOUT = "the test files that the Keras wheel ships, every call of a layer in them"
CHILD = "fuzz.migrate._keras_child"


def migrate(request: Request) -> Iterator[Stored | Omitted]:
    """Every eager call of a layer in Keras's tests, checked by running it again alone; the same for any number of jobs.

    `request.operators` are layers (``keras.layers.Conv*``). Raises MigrationFailed where Keras is not installed.
    """
    folder = _folder()
    tests = sorted(str(path.relative_to(folder)) for path in (folder / "src").rglob("*_test.py"))
    if not tests:
        raise MigrationFailed(f"no *_test.py lies below {folder}; install keras from its wheel")
    tasks = [{"folder": str(folder.parent), "test": f"{folder.name}/{test}"} for test in tests]
    held: dict[int, list[Stored | Omitted]] = {}
    for at, answer in serve(CHILD, tasks, request.jobs, request.seconds):
        item = _item(answer)
        if isinstance(item, Omitted) or request.wants(item.operator):
            held.setdefault(at, []).append(item)
    for at in sorted(held):
        yield from held[at]


def _folder() -> Path:
    found = importlib.util.find_spec("keras")
    if found is None or found.origin is None:
        raise MigrationFailed("Keras is not installed; `pip install 'graphwarden[keras]'`")
    return Path(found.origin).parent


def _item(answer: dict[str, Any] | Died) -> Stored | Omitted:
    if isinstance(answer, Died):
        return Omitted(f"the process died: {answer.how}", str(answer.task["test"]))
    if "omitted" in answer:
        return Omitted(answer["omitted"], answer["test"], answer["count"])
    return stored(answer["instance"], Source("keras", answer["test"]), answer["flags"], answer["version"])
