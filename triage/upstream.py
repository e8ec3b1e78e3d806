"""What a project's own test suite says of the tests that a bug was found with: marked as failing, and why.

``data/known/NAME.toml`` holds the facts of such a list as it stood at one commit: names of ONNX backend tests, tickets,
reasons. A mark says that the project knows of a failure of that test, not that it is this bug.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from fuzz.data import data_path

#: How a suite treats a test, by the word that its list has for it.
_TOLD = {"xfail": "expects {test} to fail", "skip": "skips {test}"}
#: More marks of one bug are not told.
MOST = 3


@dataclass(frozen=True)
class Mark:
    """One entry of a list: how the suite treats these tests, its words for the reason, the ticket, "" for none."""

    mark: str
    reason: str
    ticket: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Listing:
    """A project's list, with the file and the commit that it was read from."""

    repository: str
    path: str
    commit: str
    marks: tuple[Mark, ...]

    @property
    def url(self) -> str:
        """Where the list stands."""
        return f"https://github.com/{self.repository}/blob/{self.commit}/{self.path}"


def sentences(backend: str, tests: Sequence[str]) -> Iterator[str]:
    """A sentence for each mark that one of the tests has, in the order of the project's list."""
    known = listing(backend)
    if known is None:
        return
    names = [test.rpartition("/")[2].removesuffix("_cpu") for test in tests]
    told = 0
    for mark in known.marks:
        met = [name for name in dict.fromkeys(names) if name in mark.tests]
        if met and told < MOST:
            told += 1
            yield _sentence(known, mark, met)


def _sentence(known: Listing, mark: Mark, met: Sequence[str]) -> str:
    test = f"`{met[0]}`" + (f" and {len(met) - 1} more of these tests" if len(met) > 1 else "")
    ticket = f"ticket {mark.ticket}, " if mark.ticket else ""
    treated = _TOLD[mark.mark].format(test=test)
    return (
        f'The project\'s own suite {treated} ({ticket}"{mark.reason}"; {known.path} at commit {known.commit[:7]}); '
        "whether for this bug is not known."
    )


def listing(backend: str) -> Listing | None:
    """The list of the project behind a backend, given by name or by path; None where there is none."""
    return _read(Path(backend).stem)


@cache
def _read(name: str) -> Listing | None:
    path = data_path("known", f"{name}.toml")
    if not path.is_file():
        return None
    document: Mapping[str, Any] = tomllib.loads(path.read_text("utf-8"))
    marks = tuple(
        Mark(one["mark"], one["reason"], one.get("ticket", ""), tuple(one["tests"])) for one in document["mark"]
    )
    return Listing(document["repository"], document["path"], document["commit"], marks)
