"""Hears the golden set: `python -m tests.golden.court.run OUT.jsonl [--only REGEX] [--backends a,b] [--part traps|torch|planted]`.

Entries with a fault are heard on its backend, the others on every real compiler that takes such cases. Entries already
in OUT are left out, so that a run can be stopped and gone on with.
"""

from __future__ import annotations

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bot import casefile, choices, inputfile
from bot.failures import Refusal
from fuzz import catalogue
from fuzz.case import Case
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.golden.court import planted, traps, traps_more, traps_torch
from tests.golden.court.entry import BUG, Entry
from tests.golden.court.real import REAL
from triage.court.hearing import Court

HERE = Path(__file__).parent
MODELS = ("onnxruntime", "openvino", "tvm", "mnn")
CALLS = ("openvino", "tvm", "inductor")


def entries(part: str) -> list[Entry]:
    parts = {"traps": traps.traps, "more": traps_more.traps, "torch": traps_torch.traps, "planted": planted.planted}
    return [entry for name, make in parts.items() if part in ("all", name) for entry in make()]


def backends(entry: Entry) -> tuple[str, ...]:
    if entry.fault:
        return (str(HERE / ("liberties.py" if entry.trap else "faults.py")),)
    return CALLS if entry.instance else MODELS


def case_of(entry: Entry, folder: Path, runner: Runner) -> Case:
    """Through the same door as the command line's."""
    if entry.instance:
        path = folder / "case.json"
        path.write_text(json.dumps(entry.instance))
        return casefile.load(path, None, 0, runner)
    path = folder / "case.onnx"
    path.write_bytes(entry.model)
    values = folder / "case.npz"
    given = inputfile.write(values, dict(entry.inputs))
    return casefile.load(path, values if given else None, 0, runner)


def hear(entry: Entry, backend: str, runner: Runner, folder: Path, deadline: float) -> dict[str, object]:
    began = time.monotonic()
    options = [f"fault={entry.fault}"] if entry.fault else []
    try:
        case = case_of(entry, folder, runner)
        found = Court(runner, catalogue.target("reference"), deadline).hear(case, choices.one_target(backend, options))
        verdict, reason = found.verdict, found.reason
        evidence = [f"{each.kind} ({each.side}): {each.sentence}" for each in found.evidence]
    except Refusal as error:
        verdict, reason, evidence = "refused", str(error), []
    real = verdict == BUG and (entry.name, Path(backend).stem) in REAL
    right = real or verdict in entry.expected or (entry.trap and verdict in (None, "refused"))
    return {
        "name": entry.name,
        "backend": Path(backend).stem,
        "trap": entry.trap,
        "verdict": verdict and str(verdict),
        "right": right,
        "expected": sorted(entry.expected),
        "reason": reason,
        "evidence": evidence,
        "seconds": round(time.monotonic() - began, 1),
    }


def wanted(arguments: argparse.Namespace, done: set[tuple[str, str]]) -> Iterator[tuple[Entry, str]]:
    for entry in entries(arguments.part):
        for backend in backends(entry):
            listed = not arguments.backends or Path(backend).stem in arguments.backends.split(",")
            if listed and re.search(arguments.only, entry.name) and (entry.name, Path(backend).stem) not in done:
                yield entry, backend


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--backends", default="")
    parser.add_argument("--part", default="all")
    parser.add_argument("--deadline", type=float, default=60.0)
    parser.add_argument("--timeout", type=float, default=20.0)
    arguments = parser.parse_args()
    lines = arguments.out.read_text().splitlines() if arguments.out.exists() else []
    done = {(row["name"], row["backend"]) for row in map(json.loads, lines)}
    limits = Limits(arguments.timeout, 4096)
    with tempfile.TemporaryDirectory() as place, Runner(limits, jobs=1) as runner, arguments.out.open("a") as out:
        for entry, backend in wanted(arguments, done):
            row = hear(entry, backend, runner, Path(place), arguments.deadline)
            out.write(json.dumps(row) + "\n")
            out.flush()


if __name__ == "__main__":
    main()
