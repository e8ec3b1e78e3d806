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
    """What is shipped of a backend."""
    path = place(backend)
    if not path.is_file():
        return NOTHING
    document = json.loads(path.read_text(encoding="utf-8"))
    return FailedBefore(document["version"], {bug: tuple(cases) for bug, cases in document["bugs"].items()})


def together(backends: Iterable[str], known: Mapping[str, Collection[str]]) -> dict[str, set[str]]:
    """The bugs that cases showed, by case id: what is shipped of these backends and what is `known` besides."""
    found: dict[str, set[str]] = defaultdict(set)
    for one in (known, *(shipped(backend).by_case() for backend in sorted(set(backends)))):
        for case_id, bugs in one.items():
            found[case_id].update(bugs)
    return dict(found)
