"""Cases by releases: the sweeps whose files were given, as pictures and JSON. A file may be written anew meanwhile."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import HTMLResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from bot import sweepfile
from bot.failures import Refusal
from bot.pages.api import Number
from bot.pages.documents import Problem
from bot.pages.door import Anybody
from bot.pages.rendering import page as rendered
from bot.sweepfile import SweepDocument
from triage.store import Unknown
from triage.suite import picture

#: Rows that are drawn; those whose outcome changes come first.
_ROWS = 200


class SweepEntry(BaseModel):
    """One sweep in a list."""

    id: int
    compiler: str
    first: str
    last: str
    revisions: int
    cases: int
    changed: int
    flip_flops: int


def router(files: Sequence[Path]) -> APIRouter:
    """The pages of sweeps and their JSON."""
    found = APIRouter(responses={503: {"model": Problem}})

    @found.get("/api/v1/sweeps")
    def documents() -> list[SweepEntry]:
        """The sweeps that are shown."""
        return _entries(files)

    @found.get("/api/v1/sweeps/{number}", responses={404: {"model": Problem}})
    def document(number: Number) -> SweepDocument:
        """One sweep: a letter for each case and revision."""
        return _sweep(files, number)

    @found.get("/sweeps", include_in_schema=False)
    def sweeps(who: Anybody) -> HTMLResponse:
        return HTMLResponse(rendered("sweeps.html.j2", who, sweeps=_entries(files)))

    @found.get("/sweeps/{number}", include_in_schema=False)
    def sweep(number: Number, who: Anybody) -> HTMLResponse:
        told = _sweep(files, number)
        drawn = _picture(files[number - 1], _written(files[number - 1]))
        values = {"sweep": told, "number": number, "drawing": drawn, "left_out": max(0, len(told.cases) - _ROWS)}
        return HTMLResponse(rendered("sweep.html.j2", who, **values))

    return found


def _entries(files: Sequence[Path]) -> list[SweepEntry]:
    return [_entry(at, _sweep(files, at)) for at in range(1, len(files) + 1)]


def _entry(number: int, told: SweepDocument) -> SweepEntry:
    ends = (told.revisions[0], told.revisions[-1]) if told.revisions else ("", "")
    return SweepEntry(
        id=number,
        compiler=told.compiler,
        first=ends[0],
        last=ends[1],
        revisions=len(told.revisions),
        cases=len(told.cases),
        changed=len(told.changed),
        flip_flops=len(told.flip_flops),
    )


def _sweep(files: Sequence[Path], number: int) -> SweepDocument:
    """Raises Unknown, and HTTPException for a file that cannot be read any more."""
    if number > len(files):
        raise Unknown(f"no sweep {number}")
    path = files[number - 1]
    try:
        return _read(path, _written(path))
    except Refusal as problem:
        raise HTTPException(503, f"the file of sweep {number} cannot be read now") from problem


def _written(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0


@lru_cache(maxsize=16)
def _read(path: Path, written: int) -> SweepDocument:
    return sweepfile.read(path)


@lru_cache(maxsize=16)
def _picture(path: Path, written: int) -> str:
    told = _read(path, written)
    changing = set(told.changed)
    shown = sorted(told.cases, key=lambda name: name not in changing)[:_ROWS]
    return picture.svg(sweepfile.swept(told, shown), f"{told.compiler}: outcomes by release")
