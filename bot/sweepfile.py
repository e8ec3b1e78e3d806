"""Sweeps as files: what `graphwarden sweep --json` prints, read back."""

from __future__ import annotations

from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.failures import Refusal
from triage.suite.entries import UNTESTABLE
from triage.suite.sweep import Swept

#: Bytes of a file; 10,000 cases on 100 releases are 2 MB.
_MOST = 32 << 20


class SweepDocument(BaseModel):
    """Outcomes by case and revision: `cases` has one letter a revision for each case, `letters` says what they mean."""

    model_config = ConfigDict(extra="ignore")

    compiler: str
    revisions: list[str]
    cases: dict[str, str]
    changed: list[str]
    flip_flops: list[str]
    untestable: dict[str, str]
    letters: dict[str, str]


def read(path: Path) -> SweepDocument:
    """The sweep in a file. Raises Refusal."""
    try:
        if path.stat().st_size > _MOST:
            raise Refusal(f"--sweep {path}: is larger than {_MOST >> 20} MiB, no document of `sweep --json` is")
        found = SweepDocument.model_validate_json(path.read_bytes())
    except OSError as error:
        raise Refusal(f"--sweep {path}: {error.strerror}") from error
    except ValidationError as error:
        raise Refusal(f"--sweep {path}: is no document of `graphwarden sweep --json` ({_first(error)})") from error
    odd = next((name for name, row in found.cases.items() if len(row) != len(found.revisions)), None)
    if odd is not None:
        raise Refusal(f"--sweep {path}: {odd} has not one letter for each of {len(found.revisions)} revisions")
    return found


def _first(error: ValidationError) -> str:
    told = error.errors()[0]
    return f"{'.'.join(map(str, told['loc'])) or 'the document'}: {told['msg'].lower()}"


def swept(document: SweepDocument, only: list[str] | None = None) -> Swept:
    """The table of a sweep, of some cases where they are given."""
    names = document.cases if only is None else {name: document.cases[name] for name in only}
    letters: dict[str, dict[str, str]] = {
        revision: {name: row[at] for name, row in names.items() if row[at] != UNTESTABLE}
        for at, revision in enumerate(document.revisions)
    }
    return Swept(tuple(document.revisions), tuple(names), letters, dict(document.untestable))
