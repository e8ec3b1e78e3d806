"""Who gives a command, for what is noted with it."""

from __future__ import annotations

import getpass
import os


def name() -> str:
    """The user's name; the number where the system knows no name."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return f"user {os.getuid()}"
