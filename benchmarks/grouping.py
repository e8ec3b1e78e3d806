"""What grouping costs and how well it does: synthetic failures of known bugs, beside the best simple method.

Run: ``python -m benchmarks.grouping [--failures N ...] [--seeds N] [--labelled FILE.jsonl ...]
[--hunts FILE.jsonl]``.

The simple method takes the innermost telling frame of each failure, and the normalised message where there is no trace.
All figures of one table come from one run; time is that of new processes, on all cores as the command groups and in one
process, the latter as a multiple of the simple method's too, and per failure as a multiple of that of the smallest
size, which is 1 for linear growth. Files of `graphwarden group` whose lines have a key ``label`` besides are grouped,
too: how well their labels are found again, and how much a half grouped alone agrees with the whole. `--hunts` takes
failures of own hunts with four readings (``tests/golden/grouping/hunts.jsonl``) and counts what is split and what is
merged.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from rich.console import Console
from rich.table import Table

from bot.commands.group import read
from tests.triage.synthetic import STYLES, Style, adjusted_rand, failures
from triage.evidence import Report, gather
from triage.group import group
from triage.trace_listed import listed


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--failures", type=int, nargs="+", default=[10_000, 30_000, 100_000])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--labelled", type=Path, nargs="*", default=[])
    parser.add_argument("--hunts", type=Path)
    arguments = parser.parse_args()
    console = Console()
    if arguments.hunts:
        console.print(hunts(arguments.hunts))
    if arguments.labelled:
        console.print(labelled(arguments.labelled))
    console.print(quality(min(arguments.failures), arguments.seeds))
    console.print(growth(sorted(arguments.failures)))


def quality(count: int, seeds: int) -> Table:
    """How well each style's bugs are found again: adjusted Rand index, median and range of the seeds."""
    table = Table(
        "style", "grouping", "innermost frame", title=f"adjusted Rand index, {count:,} failures, {seeds} seeds"
    )
    for style in STYLES:
        ours, simple = [], []
        for seed in range(1, seeds + 1):
            found, labels = reports(seed, count, style)
            assigned = group(found).assignment
            ours.append(adjusted_rand(labels, [assigned[report.id] for report in found]))
            simple.append(adjusted_rand(labels, innermost(found)))
        table.add_row(style.name, _range(ours), _range(simple))
    return table


def growth(sizes: Sequence[int]) -> Table:
    """Time at each size, all styles together, as the command groups them: on all cores, nothing remembered."""
    table = Table(
        "failures", "seconds", "in one process", "times the simple method", "per failure, times the smallest size's"
    )
    first = 0.0
    for size in sizes:
        ours, alone, simple = (_cold(way, size) for way in (_on_all_cores, _alone, _simply))
        first = first or ours / size
        table.add_row(f"{size:,}", f"{ours:.2f}", f"{alone:.2f}", f"{alone / simple:.2f}", f"{ours / size / first:.2f}")
    return table


def _on_all_cores(batch: list[Report]) -> object:
    return group(batch, jobs=len(os.sched_getaffinity(0)))


def _alone(batch: list[Report]) -> object:
    return group(batch)


def _simply(batch: list[Report]) -> object:
    return innermost(batch)


def _cold(work: Callable[[list[Report]], object], size: int) -> float:
    """Seconds, median of three new processes: whatever was grouped before, its texts are remembered."""
    with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as pool:
        return statistics.median(pool.map(_seconds, [work] * 3, [size] * 3))


def labelled(paths: Sequence[Path]) -> Table:
    """How well the labels of real failures are found again, and how much a group depends on the rest of its file."""
    table = Table("file", "failures", "labels", "groups", "grouping", "innermost frame", "half agrees with whole")
    for path in paths:
        found = list(read(path))
        labels = [
            str(json.loads(line)["label"]) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()
        ]
        assigned = group(found).assignment
        half = random.Random(1).sample(found, len(found) // 2)
        alone = group(half).assignment
        table.add_row(
            path.name,
            f"{len(found):,}",
            str(len(set(labels))),
            str(len(set(assigned.values()))),
            f"{adjusted_rand(labels, [assigned[report.id] for report in found]):.3f}",
            f"{adjusted_rand(labels, innermost(found)):.3f}",
            f"{adjusted_rand([assigned[each.id] for each in half], [alone[each.id] for each in half]):.3f}",
        )
    return table


def hunts(path: Path) -> Table:
    """How failures of own hunts are grouped beside four readings of them: labels split, groups that join several."""
    table = Table("reading", "failures", "labels", "groups", "index", "labels split", "groups that join labels")
    cells = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    cells = [cell for cell in cells for _ in range(cell["count"])]
    keys = ("message", "symptom", "operator", "exception", "trace")
    found = [
        Report(str(at), frames=listed(cell["frames"]), **{key: cell.get(key, "") for key in keys})
        for at, cell in enumerate(cells)
    ]  # fmt: skip
    assigned = group(found).assignment
    got = [assigned[report.id] for report in found]
    for reading in ("first", "second", "third", "fourth"):
        labels, names = zip(
            *((cell[reading], name) for cell, name in zip(cells, got, strict=True) if cell[reading] != "?"), strict=True
        )
        pairs = set(zip(labels, names, strict=True))
        split = Counter(label for label, _ in pairs)
        joined = Counter(name for _, name in pairs)
        table.add_row(
            reading,
            f"{len(labels):,}",
            str(len(split)),
            str(len(joined)),
            f"{adjusted_rand(list(labels), list(names)):.3f}",
            str(sum(count > 1 for count in split.values())),
            str(sum(count > 1 for count in joined.values())),
        )
    return table


def reports(seed: int, count: int, style: Style) -> tuple[list[Report], list[str]]:
    """Failures as the command reads them, and their bugs; ids differ between styles."""
    lines, labels = zip(*failures(seed, count, style), strict=True)
    found = [
        Report(**{**line, "id": f"{style.name}-{line['id']}", "frames": listed(line.get("frames"))}) for line in lines
    ]
    return found, list(labels)


def innermost(found: Sequence[Report]) -> list[str]:
    """The simple method's groups."""
    return [each.stack[0] if each.stack else each.message for each in gather(found)]


def _seconds(work: Callable[[list[Report]], object], size: int) -> float:
    batch = [each for style in STYLES for each in reports(1, size // len(STYLES), style)[0]]
    started = time.perf_counter()
    work(batch)
    return time.perf_counter() - started


def _range(values: Sequence[float]) -> str:
    return f"{statistics.median(values):.3f} ({min(values):.3f} to {max(values):.3f})"


if __name__ == "__main__":
    main()
