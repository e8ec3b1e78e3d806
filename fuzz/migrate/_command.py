"""Any command of a user's, recorded: a test suite, a script; with all Python processes that it starts."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._torch_parent import in_order
from fuzz.migrate._watching import INJECTED, VARIABLE, told

CHILD = "fuzz.migrate._torch_child"


@dataclass
class Recording:
    """A command whose PyTorch calls become instances. `status` is its exit status once it has ended.

    `output` is the file descriptor that its stdout goes to; None: ours.
    """

    command: Sequence[str]
    request: Request = field(default_factory=Request)
    output: int | None = None
    status: int | None = None
    processes: int = 0

    def migrate(self) -> Iterator[Stored | Omitted]:
        """Run the command to its end, then check what it recorded.

        Its output is not touched. Raises MigrationFailed for a command that cannot be started.
        """
        with tempfile.TemporaryDirectory(prefix="graphwarden-record-") as folder:
            self.status = _run(self.command, folder, self.output)
            files = sorted(Path(folder).glob("*.jsonl"), key=lambda path: (path.stat().st_mtime_ns, path.name))
            self.processes = len(files)
            tasks = [{"file": str(path), "first": 0, "name": "a recorded call"} for path in files]
            for item in in_order(CHILD, tasks, self.request):
                if isinstance(item, Omitted) or self.request.wants(item.operator):
                    yield item


def _run(command: Sequence[str], folder: str, output: int | None) -> int:
    """The exit status; minus the signal's number for a command that a signal ended."""
    path = os.pathsep.join(filter(None, [str(INJECTED), os.environ.get("PYTHONPATH", "")]))
    environment = {**os.environ, "PYTHONPATH": path, VARIABLE: json.dumps(told(folder))}
    try:
        child = subprocess.Popen(command, env=environment, stdout=output)
    except OSError as error:
        raise MigrationFailed(f"{command[0]}: {error.strerror}; name a program on the PATH or its path") from error
    try:
        return child.wait()
    except BaseException:
        child.send_signal(signal.SIGTERM)
        child.wait()
        raise
