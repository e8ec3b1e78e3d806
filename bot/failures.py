"""How the command line answers what it cannot do: one clear line and an exit code."""

from __future__ import annotations

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of every command (README, "Exit codes")."""

    DONE = 0
    FAILED = 1  # the thing asked about failed
    UNUSABLE = 2  # unusable arguments or input
    ENVIRONMENT = 3  # no backend available
    INTERNAL = 70  # a fault of Graphwarden itself (sysexits.h EX_SOFTWARE)
    INTERRUPTED = 130  # Ctrl-C or SIGTERM


class Refusal(Exception):
    """Ends a command with one line on stderr and an exit code."""

    def __init__(self, message: str, code: ExitCode = ExitCode.UNUSABLE) -> None:
        super().__init__(message)
        self.code = code


class Interrupted(BaseException):
    """SIGINT or SIGTERM. Typer would turn a KeyboardInterrupt into a silent exit."""
