"""Files that a command writes at its end: those that cannot be written are refused at its start."""

from __future__ import annotations

import os
import re
from collections.abc import Container
from pathlib import Path

from bot.failures import Refusal

_NUMBERED = re.compile(r"(\d{6,})\.onnx\Z")


def check_file(option: str, path: Path | None) -> None:
    """Refuse a file that could not be written; nothing is created. Raises Refusal."""
    if path is None:
        return
    folder = path.absolute().parent
    if not folder.is_dir():
        raise Refusal(f"{option} {path}: there is no folder {folder}")
    if path.is_dir():
        raise Refusal(f"{option} {path}: is a folder; name a file")
    _check_access(option, path, path if path.exists() else folder)


def check_folder(option: str, path: Path | None) -> None:
    """Refuse a folder that could neither be made nor written into; nothing is created. Raises Refusal."""
    if path is None:
        return
    nearest = next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())
    if not nearest.is_dir():
        raise Refusal(f"{option} {path}: {nearest} is no folder")
    _check_access(option, path, nearest)


def models_folder(option: str, path: Path, numbers: Container[int]) -> None:
    """Make a folder for ``000001.onnx`` and so on, without models of other numbers than these. Raises Refusal."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"{option} {path}: {error.strerror}; name a folder that can be written") from error
    for model in path.glob("*.onnx"):
        number = _NUMBERED.match(model.name)
        if not number or int(number[1]) not in numbers:
            raise Refusal(f"{option} {path}: holds {model.name}, which is not of this run; name another folder")


def write(option: str, path: Path, text: str, *, append: bool = False) -> None:
    """Write the file that an option names. Raises Refusal."""
    try:
        with path.open("a" if append else "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise Refusal(f"{option} {path}: {error.strerror}; the same command goes on with what was found") from error


def _check_access(option: str, path: Path, place: Path) -> None:
    if not os.access(place, os.W_OK):
        raise Refusal(f"{option} {path}: {place} cannot be written; name another place")
