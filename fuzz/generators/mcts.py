"""Graph-based models as cases (`fuzz.graphs`), chosen by a tree search that is told what they did to compilers.

A campaign takes them from a `Stream`: model by model, so that results may steer what comes. Without results (`cases`)
coverage alone steers. Models of a stream depend on when its results came; a failing case is stored as it was. A
campaign keeps what was learnt in a file (`Stream.keep`), and the next one begins with it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Iterator
from pathlib import Path

import numpy as np

from fuzz.case import FAILING, Case, Origin, Status
from fuzz.generators import Skip
from fuzz.generators.models import Parameters, mcts
from fuzz.graphs.choosers import Ended, Lesson
from fuzz.graphs.workflow import Fuzzer, Made
from fuzz.operators import dtypes

NAME = "mcts"
#: Cases in a row when several sources share a campaign.
PER_TURN = 8
#: Only campaigns that name it: most of its models are larger than those of all other sources.
ON_REQUEST = True
#: Models of one campaign.
COUNT = 2000
#: Blocks of a model.
BLOCKS = (3, 12)
#: Results may come long after their case. So many cases are remembered.
_PENDING = 4096
#: The form of what is written. What has another one is not read.
_FORM = 1


def cases(seed: int) -> Iterator[Case | Skip]:
    """`COUNT` models with inputs, made without any result; a case's test is its index."""
    return iter(stream(seed))


def stream(seed: int, known: Collection[str] = (), begun: int = 0) -> Stream:
    """The cases of a campaign that tells what they did; see `Stream`."""
    return Stream(mcts.fuzzer(Parameters(*BLOCKS), seed), seed, COUNT, known, begun)


def case(made: Made, seed: int, index: int) -> Case:
    """A model with values for its inputs, which depend on seed and index alone."""
    rng = np.random.default_rng((seed, index))
    values = {each.name: dtypes.draw(each.dtype, each.shape, each.interval, rng) for each in made.inputs}
    return Case("onnx", made.model, values, Origin(NAME, str(index), "plain", seed))


class Stream:
    """The cases of one campaign up to the index `count`, one after the other, while it tells what they did.

    `known` are the keys of failures that are known already and worth nothing; `begun` is the index at which an
    interrupted campaign goes on, with other models. What is learnt is lost unless it is kept (`keep`).
    """

    has_cases, why_none = True, ""

    def __init__(self, fuzzer: Fuzzer, seed: int, count: int, known: Collection[str] = (), begun: int = 0) -> None:
        self._fuzzer, self._seed, self._count, self._begun = fuzzer, seed, count, begun
        self._known = set(known)
        self._fuzzer.skip(begun)
        self._numbers: dict[str, int] = {}
        self._kept: Path | None = None

    def __iter__(self) -> Iterator[Case | Skip]:
        for index in range(self._begun, self._count):
            made = self._fuzzer.next()
            found = case(made, self._seed, index)
            self._numbers[found.id] = made.number
            if len(self._numbers) > _PENDING:
                del self._numbers[next(iter(self._numbers))]
            yield found

    def observe(self, case_id: str, status: Status, bug: str = "", suspects: Collection[str] = ()) -> None:
        """Learn what a case did on some target. Foreign cases are ignored.

        `bug` is what a failure is known by, `suspects` are operators that it may be due to.
        """
        number = self._numbers.get(case_id)
        if number is not None and (ended := self._ended(status, bug)):
            self._fuzzer.learn(number, Lesson(ended, bug, frozenset(suspects)))

    def _ended(self, status: Status, bug: str) -> Ended | None:
        if status in FAILING:
            known = bug in self._known
            self._known.add(bug)
            return Ended.KNOWN if known else Ended.NEW
        return {Status.OK: Ended.PASSED, Status.UNSUPPORTED: Ended.REFUSED}.get(status)

    def keep(self, path: Path) -> None:
        """Begin with the coverage and the search of the file, if there is one; `write` writes them there.

        Raises ValueError for a file that holds anything else, or that cannot be read.
        """
        self._kept = path
        try:
            document = json.loads(path.read_text("utf-8"))
            if document["form"] == _FORM:
                self._fuzzer.restore(document)
        except FileNotFoundError:
            return
        except OSError as error:
            raise ValueError(
                f"{path}: cannot be read ({error.strerror}); take it away, and the search begins anew"
            ) from error
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            problem = f"is not what the source {NAME} keeps ({error!r:.100})"
            raise ValueError(f"{path}: {problem}; remove it, and the search begins anew") from error

    def write(self) -> None:
        """Keep what was learnt so far. A kill in the middle leaves the former file."""
        if self._kept is None:
            return
        beside = self._kept.with_name(f"{self._kept.name}.new")
        beside.write_text(json.dumps({"form": _FORM, **self._fuzzer.state()}), "utf-8")
        os.replace(beside, self._kept)
