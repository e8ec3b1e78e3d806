"""HirGen's graphs (`fuzz.hirgen`) as cases: each as it is, with functions, and with one of the functions rewritten.

Those with functions must give what the same graph gives without them on the same compiler (HirGen, oracle 2); the plain
ones are judged by the reference. Coverage guides what is made and counts what was run: a campaign keeps it in a file
(`Stream.keep`), and the next one begins with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from fuzz.case import Case, Origin, Status
from fuzz.generators import MUTANT, Skip
from fuzz.hirgen import originals
from fuzz.hirgen.coverage import USUAL, Coverage
from fuzz.hirgen.workflow import PLAIN, WRAPPED, HirGen, Made, Settings, forms
from fuzz.operators import dtypes
from fuzz.operators.families import operators
from fuzz.oracles import refusal

NAME = "hirgen"
#: Cases in a row when several sources share a campaign.
PER_TURN = 6
#: Only campaigns that name it.
ON_REQUEST = True
#: Graphs of one campaign, and their operators.
COUNT = 2000
NODES = (1, 8)
#: Results may come long after their case. So many cases are remembered.
_PENDING = 4096


def cases(seed: int) -> Iterator[Case | Skip]:
    """`COUNT` graphs in their forms, made without any result; the test of a plain case is its index."""
    return iter(stream(seed))


def stream(seed: int, known: Collection[str] = (), begun: int = 0) -> Stream:
    """The cases of a campaign; what is known to fail does not matter to them."""
    settings = Settings(tuple(operators().values()), *NODES)
    return Stream(NAME, settings, seed, Coverage(USUAL), begun)


def original(case: Case) -> Case | None:
    """The same graph without functions."""
    return originals.without_functions(case)


class Stream:
    """The cases of one campaign, one after the other, while it tells which were run.

    `begun` is the index at which an interrupted campaign goes on.
    """

    has_cases, why_none = True, ""

    def __init__(
        self, name: str, settings: Settings, seed: int, coverage: Coverage, begun: int = 0, count: int = COUNT
    ) -> None:
        self._name, self._seed, self._begun, self._count = name, seed, begun, count
        self._hirgen = HirGen(settings, seed, coverage)
        self._run = coverage.empty()
        self._items: dict[str, tuple[tuple[str, str], ...]] = {}
        self._file: Path | None = None

    def keep(self, path: Path) -> None:
        """Begin with what earlier campaigns have run; `write` adds what this one runs. Raises CoverageError."""
        self._hirgen.coverage.load(path)
        self._file = path

    def __iter__(self) -> Iterator[Case | Skip]:
        for index in range(self._begun, self._count):
            made = self._hirgen.make(index)
            plain = self._case(made, index)
            self._items[plain.id] = made.items
            if len(self._items) > _PENDING:
                del self._items[next(iter(self._items))]
            yield plain
            if made.violation is None:
                yield from self._forms(plain, index)

    def _case(self, made: Made, index: int) -> Case:
        variant = refusal.variant(made.violation.kind) if made.violation else PLAIN
        rng = np.random.default_rng((self._seed, index))
        values = {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in made.inputs}
        return Case("onnx", made.model, values, Origin(self._name, str(index), variant, self._seed))

    def _forms(self, plain: Case, index: int) -> Iterator[Case]:
        """The graph with functions, and with one of the rewrites, in turn."""
        found = forms(plain.model, self._seed, index)
        rewritten = [name for name in found if name != WRAPPED]
        for name in [WRAPPED, rewritten[index % len(rewritten)]] if found else []:
            origin = Origin(self._name, f"{index}/{name}", MUTANT, self._seed, (plain.id,))
            yield Case("onnx", found[name], plain.inputs, origin)

    def observe(self, case_id: str, status: Status, bug: str = "", suspects: Collection[str] = ()) -> None:
        """Learn that a case was run. Foreign cases are ignored."""
        items = self._items.pop(case_id, None)
        if items is not None:
            self._run.add(items)

    def write(self) -> None:
        """Keep what was run so far."""
        if self._file is not None:
            self._run.save(self._file)
