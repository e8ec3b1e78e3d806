"""`graphwarden calibrate`: labelled past failures before the court, and how often it is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track
from rich.table import Table

from bot.commands.arguments import Json, Memory, Seconds
from bot.console import err, out, print_json
from bot.failures import Refusal
from fuzz import catalogue
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.calibration import CalibrationError, Heard, Labelled, read, summary
from triage.court.hearing import Court
from triage.court.thresholds import thresholds


def calibrate(
    file: Annotated[Path, typer.Argument(metavar="FILE.jsonl", help="Labelled cases, one JSON object a line.")],
    timeout: Seconds = 60.0,
    memory: Memory = 4096,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Workers at once; 0: one per core.")] = 0,
    as_json: Json = False,
) -> None:
    """Replay labelled failures (bug / not-a-bug) before the court: precision, recall and a reliability table.

    The form of a line stands in data/calibration/README.md; data/calibration/cases.jsonl is the project's own set.
    """
    try:
        cases = read(file)
    except CalibrationError as error:
        raise Refusal(str(error)) from error
    with Runner(Limits(timeout, memory), jobs or None) as runner:
        heard = list(track(_heard(runner, cases), "hearing", len(cases), console=err, transient=True))
    document = {**summary(heard), "thresholds_of": thresholds().calibrated}
    if as_json:
        print_json(document)
    else:
        _print(document)


def _heard(runner: Runner, cases: Sequence[Labelled]) -> Iterator[Heard]:
    court = Court(runner, catalogue.target("reference"))
    with ThreadPoolExecutor(runner.jobs, "hearing") as pool:
        yield from pool.map(lambda each: Heard(each, court.hear(each.case, each.target)), cases)


def _print(document: dict[str, Any]) -> None:
    table = Table("claimed probability of a bug", "cases", "mean claim", "observed share of bugs")
    for band in document["reliability"]:
        bounds = f"{band['claimed_from']:g} to {band['claimed_to']:g}"
        table.add_row(bounds, str(band["cases"]), f"{band['claimed']:.2f}", f"{band['observed']:.2f}")
    out.print(table)
    out.print(
        f"{document['judged']} of {document['cases']} cases judged, {document['bugs']} of them bugs: "
        f"precision {_told(document['precision'])}, recall {_told(document['recall'])} "
        f"(thresholds of {document['thresholds_of']})"
    )
    for name, told in (("false_alarms", "false alarms"), ("missed", "missed"), ("not_failing", "do not fail here")):
        if document[name]:
            out.print(f"{told}: {', '.join(document[name])}", markup=False)


def _told(share: float | None) -> str:
    return "unknown" if share is None else f"{share:.3f}"
