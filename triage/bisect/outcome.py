"""What is seen of one revision, and the question that bisection asks of each run. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

#: The letter of a run in which nothing is wrong (letters: P pass, W wrong, E exception, C crash, T timeout).
PASS = "P"


@dataclass(frozen=True)
class Run:
    """One run of the case in a fresh process; `status` is the word for the letter, `seconds` of wall clock."""

    letter: str
    status: str
    symptom: str = ""
    detail: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Record:
    """All that is known of one revision.

    `identity` is the hash of what is installed, "" where unknown; `skipped` why it cannot be tested, and `passing`
    whether that may be over soon; `seconds` what making its environment took.
    """

    runs: tuple[Run, ...] = ()
    identity: str = ""
    skipped: str = ""
    seconds: float = 0.0
    passing: bool = False

    @property
    def failed(self) -> int:
        """How many runs did not pass."""
        return sum(run.letter != PASS for run in self.runs)

    @property
    def letter(self) -> str:
        """The most frequent letter of a failure, else P; the first seen where two are as frequent."""
        return self.typical.letter

    @property
    def typical(self) -> Run:
        """A run as most are: the first with the most frequent failure, or the first of all if none fails."""
        failing = [run for run in self.runs if run.letter != PASS] or list(self.runs)
        letter = Counter(run.letter for run in failing).most_common(1)[0][0]
        return next(run for run in failing if run.letter == letter)


@dataclass(frozen=True)
class Question:
    """What is asked of each run: does it show what the newer end shows and the older one does not?

    With `but`, every letter but `letter` shows it: a regression is whatever does not pass. With `among` (letters and
    symptoms), a run that ends in none of these ways tells nothing: another failure may hide the one that is meant.
    """

    letter: str
    but: bool = False
    among: frozenset[tuple[str, str]] = frozenset()

    def tells(self, run: Run) -> bool:
        """Whether a run says anything at all."""
        return not self.among or (run.letter, run.symptom) in self.among

    def shows(self, run: Run) -> bool:
        return (run.letter == self.letter) != self.but


@dataclass(frozen=True)
class Counts:
    """How many runs of one build showed what is asked for, and how many did not."""

    shown: int = 0
    hidden: int = 0

    @property
    def runs(self) -> int:
        return self.shown + self.hidden

    def __add__(self, other: Counts) -> Counts:
        return Counts(self.shown + other.shown, self.hidden + other.hidden)


def count(runs: Sequence[Run], question: Question) -> Counts:
    """The counts of some runs."""
    telling = [run for run in runs if question.tells(run)]
    shown = sum(question.shows(run) for run in telling)
    return Counts(shown, len(telling) - shown)


class Ledger:
    """The revisions of one bisection, oldest first, and what is known of each. `names` are their versions.

    With `exact`, only runs that end as those of the first or the last revision do tell anything.
    """

    def __init__(self, names: Sequence[str], known: Mapping[str, Record] | None = None, exact: bool = False) -> None:
        self.names = tuple(names)
        self.exact = exact
        self._records = [(known or {}).get(name, Record()) for name in self.names]
        self._builds: dict[str, list[int]] = {}
        for at, record in enumerate(self._records):
            if record.identity:
                self._builds.setdefault(record.identity, []).append(at)

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, at: int) -> Record:
        return self._records[at]

    def put(self, at: int, record: Record) -> None:
        """Replace what is known of one revision. What its build is does not change once it is known."""
        if record.identity and not self._records[at].identity:
            self._builds[record.identity] = sorted([*self._builds.get(record.identity, []), at])
        self._records[at] = record

    def twins(self, at: int) -> Sequence[int]:
        """The revisions that are the same build as this one, itself among them."""
        return self._builds.get(self._records[at].identity, (at,))

    def runs(self, at: int) -> tuple[Run, ...]:
        """The runs of this revision's build, whichever of its revisions was run."""
        return tuple(run for other in self.twins(at) for run in self._records[other].runs)

    def pooled(self, at: int) -> Record:
        """What is known of this revision, with the runs of its build."""
        return replace(self._records[at], runs=self.runs(at))

    def tested(self, at: int) -> bool:
        return not self._records[at].skipped and any(self._records[other].runs for other in self.twins(at))
