"""What the project's own hunts saw fail on earlier releases of the compilers (``data/failed/BACKEND.json``).

It is shipped so that the first hunt on a new release begins where an earlier one was broken, as every later hunt does
by its database. It decides on the order of cases, never on their results. ``python -m benchmarks.failed_before`` writes
the files.
"""

from __future__ import annotations

import functools
import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fuzz.data import data_path


@dataclass(frozen=True)
class FailedBefore:
    """What failed on one release of a compiler: the ids of failing cases by the bug, a failure's fingerprint."""

    version: str = ""
    bugs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def by_case(self) -> dict[str, set[str]]:
        """The bugs that cases showed, by case id."""
        found: dict[str, set[str]] = defaultdict(set)
        for bug, cases in self.bugs.items():
            for case_id in cases:
                found[case_id].add(bug)
        return dict(found)


#: Of a compiler of which nothing is shipped.
NOTHING = FailedBefore()


def place(backend: str) -> Path:
    """Where the file of a backend is, if there is one."""
    return data_path("failed", f"{backend}.json")


@functools.cache
def shipped(backend: str) -> FailedBefore:
    """What is shipped of a backend; nothing of one that is a file of the user's own."""
    path = place(backend)
    if not backend.isidentifier() or not path.is_file():
        return NOTHING
    document = json.loads(path.read_text(encoding="utf-8"))
    return FailedBefore(document["version"], {bug: tuple(cases) for bug, cases in document["bugs"].items()})


def of(backends: Iterable[str]) -> dict[str, set[str]]:
    """The failing cases that are shipped of these backends, by the bug."""
    found: dict[str, set[str]] = defaultdict(set)
    for backend in set(backends):
        for bug, cases in shipped(backend).bugs.items():
            found[bug].update(cases)
    return dict(found)


def together(bugs: Mapping[str, Collection[str]], known: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """The bugs that cases showed, by case id: `bugs` (cases by bug) and what is `known` besides (bugs by case)."""
    found: dict[str, set[str]] = defaultdict(set)
    for case_id, shown in known.items():
        found[case_id].update(shown)
    for bug, cases in bugs.items():
        for case_id in cases:
            found[case_id].add(bug)
    return dict(found)
