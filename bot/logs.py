"""Log lines of the bot: one JSON object a line on stderr, or plain text for people who watch."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog
from structlog.typing import Processor

from triage.scrub import plain

#: Libraries that tell too much: PyGithub's debug lines hold tokens.
_QUIET = ("github", "urllib3", "apscheduler", "uvicorn.access")


def begin(process: str, as_text: bool = False) -> None:
    """Set logging up for this process; `process` is its name in every line."""
    for name in _QUIET:
        logging.getLogger(name).setLevel(logging.WARNING)
    last: Any = structlog.dev.ConsoleRenderer(colors=False) if as_text else structlog.processors.JSONRenderer()
    structlog.configure(
        processors=[
            _named(process),
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _one_line,
            last,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.INFO),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def _named(process: str) -> Processor:
    """Says which process it is; threads that begin later say it, too."""

    def name(logger: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
        line.setdefault("process", process)
        return line

    return name


def _one_line(logger: object, method: str, line: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Foreign text must not end a line, colour a terminal or hide what follows."""
    return {name: plain(value) if isinstance(value, str) else value for name, value in line.items()}


def ended() -> None:
    """The last line of a process that was told to end."""
    structlog.get_logger().info("interrupted")
