"""What a command prints: one JSON document or human text on stdout, diagnostics on stderr."""

from __future__ import annotations

import json
import sys

from rich.console import Console

#: Tables in a file or a pipe have room; on a terminal they fit it.
_WIDTH = None if sys.stdout.isatty() else 180


class _Output(Console):
    """Leaves a closed pipe to the process edge, which knows what it means (bot/cli.py)."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


out = _Output(highlight=False, width=_WIDTH)
err = Console(stderr=True, highlight=False)


def print_json(document: object) -> None:
    """One JSON document on stdout, whatever the terminal's width."""
    # ASCII escapes: a compiler's message may hold what the terminal's encoding does not.
    json.dump(document, sys.stdout, indent=2, allow_nan=False)
    sys.stdout.write("\n")
    sys.stdout.flush()
