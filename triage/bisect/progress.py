"""What a bisection has seen so far, on disk: a killed one goes on where it was."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from triage.bisect.outcome import Ledger, Record, Run
from triage.revisions import places

_FORMAT = 1


def of(*parts: object) -> Progress:
    """The progress on what these parts tell apart: case, compiler, range, machine …"""
    name = hashlib.sha256(json.dumps([str(part) for part in parts]).encode()).hexdigest()[:16]
    return Progress(places.root() / "bisections" / f"{name}.json")


@dataclass(frozen=True)
class Progress:
    """One file, replaced as a whole after each run. What could not be tested is tried again: it may be mended."""

    path: Path

    def load(self, names: Sequence[str], exact: bool = False) -> Ledger:
        """What is known of these revisions; nothing when there is no such file, or none that can be read.

        `exact` is handed on to the ledger.
        """
        try:
            document = json.loads(self.path.read_text(encoding="utf-8"))
            if document["format"] != _FORMAT:
                return Ledger(names, exact=exact)
            known = document["records"]
            return Ledger(names, {name: _record(known[name]) for name in names if name in known}, exact)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return Ledger(names, exact=exact)  # to test again costs time, to trust a damaged file costs the answer

    def save(self, ledger: Ledger) -> None:
        """Write what is known, all or nothing."""
        records = {
            name: {"identity": record.identity, "seconds": record.seconds, "runs": [asdict(run) for run in record.runs]}
            for name, record in ((name, ledger[at]) for at, name in enumerate(ledger.names))
            if record.runs or record.identity
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        places.write(self.path, json.dumps({"format": _FORMAT, "records": records}))

    def finish(self) -> None:
        """Forget: the answer has been told, and the next bisection looks for itself."""
        self.path.unlink(missing_ok=True)


def _record(told: dict[str, object]) -> Record:
    runs = told["runs"]
    if not isinstance(runs, list):
        raise TypeError("runs must be a list")
    return Record(tuple(Run(**run) for run in runs), str(told["identity"]), "", float(str(told["seconds"])))
