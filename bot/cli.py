"""The `graphwarden` command: collects the commands, and is the process edge where failures become exit codes."""

from __future__ import annotations

import atexit
import errno
import functools
import importlib
import importlib.metadata
import io
import os
import signal
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import typer
from typer.exceptions import Abort, TyperException

from bot.console import err
from bot.failures import ExitCode, Interrupted, Refusal
from fuzz.zygote import BackendUnavailable
from triage.scrub import plain
from triage.store_error import StoreError

#: Seconds that an interrupted command has to end by itself.
GRACE = 3
#: In the order in which they are told; each is a file of bot/commands.
COMMANDS = (
    "hunt",
    "host",
    "run",
    "reduce",
    "court",
    "calibrate",
    "group",
    "report",
    "migrate",
    "instances",
    "prioritize",
    "prune",
    "generate",
    "mutate",
    "pages",
    "coverage",
    "gate",
    "sweep",
    "bisect",
    "backends",
    "init",
    "doctor",
    "serve",
    "post",
    "work",
    "bugs",
    "revisions",
    "bench",
    "suite",
    "queue",
    "campaigns",
    "plot",
    "moderators",
    "stop",
)
#: They run until they are told to end, which is no failure; a service manager takes any code but 0 for one.
SERVICES = frozenset({"serve", "post", "work", "host", "pages"})
_INTERRUPTED = "interrupted; what was recorded is safe, the same command goes on from there"
#: Errors of a full or read-only disk, which name no file.
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)


def graphwarden(version: bool = typer.Option(False, "--version", help="Print the version and exit.")) -> None:
    """Hunt for bugs in deep-learning compilers, and draft the reports.

    [bold]graphwarden hunt[/] runs real compilers on real operator tests, confirms, reduces and groups what fails,
    and writes one report a bug. [bold]graphwarden backends[/] says which compilers work here.

    Exit codes: 0 done; 1 the thing asked about failed; 2 unusable arguments or input; 3 no backend available.
    """
    if version:
        typer.echo(f"graphwarden {importlib.metadata.version('graphwarden')}")
        raise typer.Exit


class ReaderGone(Exception):
    """Nobody reads our output any more, e.g. `graphwarden bugs --json | head -1`."""


def _telling(command: Callable[..., Any]) -> Callable[..., Any]:
    """The command, its output on its way when it ends. Typer would turn a broken pipe into exit code 1."""

    @functools.wraps(command)
    def told(*arguments: Any, **options: Any) -> Any:
        try:
            result = command(*arguments, **options)
            sys.stdout.flush()
        except BrokenPipeError as error:
            raise ReaderGone from error
        return result

    return told


def assembled(names: Sequence[str] = COMMANDS) -> typer.Typer:
    """The command line with these commands, each of which is the file of that name in bot/commands.

    One command alone starts in half of the time: it does not wait for what only the others import.
    """
    app = typer.Typer(
        name="graphwarden",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
        rich_markup_mode="rich",
    )
    app.callback(invoke_without_command=True)(graphwarden)
    for name in names:
        module = importlib.import_module(f"bot.commands.{name}")
        if hasattr(module, "register"):
            module.register(app, _telling)
        else:
            app.command(name)(_telling(getattr(module, name)))
    return app


def _asked(arguments: Sequence[str]) -> Sequence[str]:
    """The one command that the arguments begin with, else all of them: help lists them, and a typing error is told."""
    return arguments[:1] if arguments and arguments[0] in COMMANDS else COMMANDS


def main() -> None:
    """Run the command line and leave with an exit code of `ExitCode`."""
    _escape_what_cannot_be_written()
    sys.exit(_guarded())


def _escape_what_cannot_be_written() -> None:
    """A compiler's words may hold what the terminal's encoding does not, and half a character: shown as ``\\ud800``."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def _heed_signals() -> None:
    signal.signal(signal.SIGTERM, _interrupt)
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # a shell's background job ignores it
        signal.signal(signal.SIGINT, _interrupt)


def _guarded() -> int:
    try:
        _heed_signals()
        result = assembled(_asked(sys.argv[1:]))(standalone_mode=False)
        return int(result) if isinstance(result, int) else ExitCode.DONE
    except Refusal as refusal:
        return _say(str(refusal), refusal.code)
    except StoreError as error:
        return _say(str(error), ExitCode.UNUSABLE)
    except BackendUnavailable as error:
        return _say(str(error), ExitCode.ENVIRONMENT)
    except TyperException as error:
        told = error.format_message()  # "" where the help was shown instead
        return _say(told, ExitCode.UNUSABLE) if told else ExitCode.UNUSABLE
    except (Interrupted, Abort):
        return _say(_INTERRUPTED, _told_to_end())
    except ReaderGone:
        _discard_output()
        return ExitCode.DONE
    except OSError as error:
        if error.filename is None and error.errno not in _FULL:
            return _internal(error)
        _discard_output()
        place = f"{os.fsdecode(error.filename)}: " if error.filename is not None else ""
        return _say(f"{place}{error.strerror}; what was recorded is safe", ExitCode.UNUSABLE)
    except Exception as error:  # noqa: BLE001 the process edge: a fault of ours is told as such
        return _internal(error)


def _internal(error: Exception) -> int:
    if os.environ.get("GRAPHWARDEN_TRACEBACK"):
        raise error
    told = f"internal error: {type(error).__name__}: {error} (set GRAPHWARDEN_TRACEBACK=1 to see where)"
    return _say(told, ExitCode.INTERNAL)


def _discard_output() -> None:
    """What is still buffered must not fail a second time when the interpreter ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _say(message: str, code: ExitCode) -> int:
    err.print(f"graphwarden: {' '.join(plain(message).split())}", markup=False, soft_wrap=True)
    return code


def _interrupt(number: int, frame: FrameType | None) -> None:
    """Threads end what they are doing first; a reduction may take a minute, so they get GRACE seconds."""
    for again in (signal.SIGINT, signal.SIGTERM, signal.SIGALRM):
        signal.signal(again, _leave)
    signal.alarm(GRACE)
    # Once the threads have ended, Python takes its handlers away, and the alarm would kill a process that is done.
    atexit.register(signal.alarm, 0)
    raise Interrupted


def _leave(number: int, frame: FrameType | None) -> None:
    """End at once: every result is in the database, and workers die with their parent."""
    os.write(2, f"graphwarden: {_INTERRUPTED}\n".encode())
    os._exit(_told_to_end())


def _told_to_end() -> ExitCode:
    """What a command ends with because it was told to end, whatever it was at."""
    return ExitCode.DONE if SERVICES.intersection(sys.argv[1:2]) else ExitCode.INTERRUPTED


if __name__ == "__main__":
    main()
