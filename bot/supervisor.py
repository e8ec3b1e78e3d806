"""Starts processes, and starts them again when they end. They end with the one that started them."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

log = structlog.get_logger()

#: Seconds before a process is started again: doubled each time until the most; from the first after it ran for long.
_FIRST, _MOST, _LONG = 0.5, 10.0, 60.0
#: The priority of a process that may wait (nice, 0 to 19); its children inherit it.
_NICE = 10
#: Seconds that a process has to end by itself.
_GRACE = 2.0


@dataclass
class _Child:
    command: Sequence[str]
    process: subprocess.Popen[bytes] | None = None
    began: float = 0.0
    pause: float = _FIRST
    due: float = 0.0


@dataclass
class Supervisor:
    """Watches one process for each command; `commands` are arguments of ``graphwarden`` by name.

    Those in `patient` run at a lower priority: whoever waits for an acknowledgement comes first.
    Used in one thread, which must live as long as the processes shall: they end with it.
    """

    commands: Mapping[str, Sequence[str]]
    variable: str
    patient: Collection[str] = ()
    _children: dict[str, _Child] = field(default_factory=dict)

    def watch(self, stop: threading.Event) -> None:
        """Keep all running until `stop` is set; then end them."""
        self._children = {name: _Child(command) for name, command in self.commands.items()}
        try:
            while not stop.is_set():
                for name, child in self._children.items():
                    self._tend(name, child)
                stop.wait(0.2)
        finally:
            self._end()

    def _tend(self, name: str, child: _Child) -> None:
        now = time.monotonic()
        if child.process is not None and (code := child.process.poll()) is not None:
            child.process = None
            child.pause = _FIRST if now - child.began > _LONG else min(_MOST, child.pause * 2)
            child.due = now + child.pause
            log.warning("process_ended", name=name, code=code, again_in=child.pause)
        if child.process is None and now >= child.due:
            child.process = self._start(child.command)
            if name in self.patient:
                os.setpriority(os.PRIO_PROCESS, child.process.pid, _NICE)
            child.began = now
            log.info("process_started", name=name, pid=child.process.pid)

    def _start(self, command: Sequence[str]) -> subprocess.Popen[bytes]:
        environment = {**os.environ, self.variable: str(os.getpid())}
        return subprocess.Popen([sys.executable, "-m", "bot.cli", *command], env=environment, stdin=subprocess.DEVNULL)

    def _end(self) -> None:
        running = [child.process for child in self._children.values() if child.process is not None]
        for process in running:
            process.terminate()
        ends = time.monotonic() + _GRACE  # for all together: `serve` itself has not much longer
        for process in running:
            try:
                process.wait(max(0.0, ends - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
