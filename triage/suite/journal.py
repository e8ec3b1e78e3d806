"""What an interrupted run has found so far: lines of JSON that are only ever appended (kill -9 loses one at most).

A journal belongs to one question (what is run on what). The same command finds it again and goes on; once the run has
ended, the next one begins anew.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from fuzz.case import canonical_json
from triage.revisions import places

Record = Mapping[str, Any]


class Busy(Exception):
    """Another process is at the same run."""


def home() -> Path:
    """The folder of journals and memories, beside the environments of revisions."""
    return places.root() / "runs"


class Journal:
    """The records of one run, in the order in which they were added. Use as a context manager."""

    def __init__(self, question: Record, *, fresh: bool = False, folder: Path | None = None) -> None:
        """Open the journal of `question`; with `fresh` it begins anew. Raises Busy, OSError."""
        folder = folder or home()
        folder.mkdir(parents=True, exist_ok=True)
        digest = hashlib.sha256(canonical_json(question)).hexdigest()[:16]
        self.path = folder / f"{question.get('command', 'run')}-{digest}.jsonl"
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            os.close(self._file)
            raise Busy(f"another process is at the same run ({self.path}): wait for it or end it") from error
        self.records = [] if fresh else self._whole_lines()
        if not self.records:
            os.ftruncate(self._file, 0)
            self._append({"question": question})

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # `finish` has closed it
            os.close(self._file)

    def add(self, record: Record) -> None:
        """Append a record; it is there when this returns, whatever happens to the process then."""
        self._append(record)
        self.records.append(dict(record))

    def finish(self) -> None:
        """The run has ended: the next one of this question begins anew."""
        self.path.unlink(missing_ok=True)

    def _append(self, record: Record) -> None:
        os.write(self._file, json.dumps(record, separators=(",", ":")).encode() + b"\n")

    def _whole_lines(self) -> list[dict[str, Any]]:
        """The records of an earlier process; what it was killed over, or a full disk cut short, is dropped."""
        data = b"".join(iter(lambda: os.read(self._file, 1 << 20), b""))
        found, whole = [], 0
        for line in data.splitlines(keepends=True):
            record = _record(line)
            if record is None:
                break
            found.append(record)
            whole += len(line)
        os.ftruncate(self._file, whole)
        return found[1:]  # the first one tells the question


def _record(line: bytes) -> dict[str, Any] | None:
    if not line.endswith(b"\n"):
        return None
    try:
        found = json.loads(line)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
