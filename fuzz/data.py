"""Where the project's data files are."""

from __future__ import annotations

from pathlib import Path

import fuzz


def data_path(*parts: str) -> Path:
    """The path of ``data/<parts...>``; it is not checked to exist."""
    return Path(fuzz.__file__).parent.parent.joinpath("data", *parts)
