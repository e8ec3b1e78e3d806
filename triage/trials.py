"""Runs of the reducer's predicate: counted, limited, repeated, remembered, and done in parallel if wanted."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from enum import StrEnum
from pathlib import Path

import onnx

from fuzz.case import Case


class Answer(StrEnum):
    """What the predicate says of a candidate. Only SAME is true."""

    SAME = "same"  # fails, in the way that is to be kept
    PASSES = "passes"  # does what it should
    OTHER = "other"  # fails in another way, or cannot be judged

    def __bool__(self) -> bool:
        return self is Answer.SAME


#: The predicate. A plain False counts as PASSES.
Interesting = Callable[[Case], "Answer | bool"]


class Over(Exception):
    """The deadline or the cap on runs was reached."""


class JournalError(ValueError):
    """The file of a cut-off reduction cannot be used."""


class Journal:
    """The answers of a reduction in a file, so that one that was killed goes on where it was.

    One JSON object a line: first what is reduced, then an answer each. A last line that was cut off is dropped.
    """

    def __init__(self, path: Path, subject: str) -> None:
        self.path = path
        self.answers: dict[str, Answer] = {}
        self.runs = 0
        lines = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
        if lines and self._read(lines) != subject:
            self.answers, self.runs, lines = {}, 0, []  # left behind by the reduction of something else
        self._file = path.open("w", encoding="utf-8")
        self._write({"subject": subject})
        for key, answer in self.answers.items():
            self._write({"case": key, "answer": answer, "runs": 0})
        self._write({"runs": self.runs})

    def _read(self, lines: Sequence[str]) -> str:
        subject = ""
        for line in lines:
            try:
                entry = json.loads(line)
                subject = str(entry.get("subject", subject))
                answered = {str(entry["case"]): Answer(entry["answer"])} if "case" in entry else {}
                runs = int(entry.get("runs", 0))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue  # the kill came while this line was written
            self.answers |= answered
            self.runs += runs
        return subject

    def add(self, case: Case, answer: Answer, runs: int) -> None:
        """Remember an answer that took `runs` starts."""
        self.answers[case.id] = answer
        self._write({"case": case.id, "answer": answer, "runs": runs})

    def _write(self, entry: dict[str, object]) -> None:
        self._file.write(json.dumps(entry) + "\n")
        self._file.flush()

    def finish(self) -> None:
        """The reduction has ended: nothing is to be resumed."""
        self._file.close()
        self.path.unlink(missing_ok=True)


class Trials:
    """Asks the predicate. `runs` counts every start, those before a kill included.

    A candidate is interesting when the predicate says so `repeats` times in a row. One whose model differs
    from a refused one in nothing but names is refused without a run. `deadline` is a time of `clock`.
    """

    def __init__(
        self,
        interesting: Interesting,
        *,
        repeats: int = 1,
        most_runs: int = 3000,
        jobs: int = 1,
        deadline: float | None = None,
        clock: Callable[[], float] = time.monotonic,
        progress: Callable[[str, int], None] | None = None,
        journal: Journal | None = None,
    ) -> None:
        self._interesting, self._repeats, self._most_runs, self.jobs = interesting, repeats, most_runs, jobs
        self._deadline, self._clock, self._journal = deadline, clock, journal
        self._progress = progress or (lambda name, runs: None)
        self.answers: dict[str, Answer] = dict(journal.answers) if journal else {}
        self._refused: dict[str, Answer] = {}
        self.structures: set[tuple[str, ...]] = set()  # of all that was asked about, see `structure`
        self.runs = journal.runs if journal else 0

    def first(self, case: Case) -> bool:
        """Whether the case itself is interesting: asked whatever time and runs are left."""
        if self.known(case) is None:
            self._keep(case, *self._repeated(case))
        return bool(self.known(case))

    def ask(self, cases: Sequence[Case], name: str) -> list[bool]:
        """Whether each case is interesting. Raises Over when the time or the runs are spent before one is known."""
        self.check()
        self.structures.update(map(structure, cases))
        fresh = [case for case in {case.id: case for case in cases}.values() if self.known(case) is None]
        for start in range(0, len(fresh), self.jobs):
            if self.over():
                raise Over
            batch = fresh[start : start + self.jobs]
            for case, (answer, runs) in zip(batch, self._started(batch), strict=True):
                self._keep(case, answer, runs)
            self._progress(name, self.runs)
        return [bool(self.known(case)) for case in cases]

    def _started(self, batch: Sequence[Case]) -> list[tuple[Answer, int]]:
        if len(batch) == 1:
            return [self._repeated(batch[0])]
        with ThreadPoolExecutor(len(batch)) as pool:
            return list(pool.map(self._repeated, batch))

    def _repeated(self, case: Case) -> tuple[Answer, int]:
        """The answer and the number of starts; the first one that is not SAME decides."""
        for run in range(1, self._repeats + 1):
            answer = _answer(self._interesting(case))
            if not answer:
                return answer, run
        return Answer.SAME, self._repeats

    def again(self, case: Case, interesting: Interesting) -> bool:
        """One more run on a case whose answer is known already, asked of another predicate."""
        self.runs += 1
        return bool(_answer(interesting(case)))

    def _keep(self, case: Case, answer: Answer, runs: int) -> None:
        self.runs += runs
        self.answers[case.id] = answer
        if not answer:
            self._refused[content(case)] = answer
        if self._journal:
            self._journal.add(case, answer, runs)

    def known(self, case: Case) -> Answer | None:
        """The answer, if it is known without a run."""
        found = self.answers.get(case.id)
        return found if found is not None else self._refused.get(content(case))

    def over(self) -> bool:
        """Whether the time or the runs are spent."""
        return self._late() or self.runs >= self._most_runs

    def check(self) -> None:
        """Raises Over once the deadline has come: for work between runs, which takes time as well."""
        if self._late():
            raise Over

    def _late(self) -> bool:
        return self._deadline is not None and self._clock() >= self._deadline


def _answer(said: Answer | bool) -> Answer:
    if isinstance(said, Answer):
        return said
    return Answer.SAME if said else Answer.PASSES


def structure(case: Case) -> tuple[str, ...]:
    """The operators of a model's main graph in order; nothing for other kinds of case."""
    if case.kind != "onnx":
        return ()
    return tuple(node.op_type for node in onnx.load_model_from_string(case.model).graph.node)


def content(case: Case) -> str:
    """A key that two cases share when they differ in nothing but names and notes."""
    if case.kind != "onnx":
        return case.id
    model = onnx.load_model_from_string(case.model)
    if model.functions or any(a.HasField("g") or a.graphs for node in model.graph.node for a in node.attribute):
        return case.id  # names of inner scopes are left alone
    graph, numbers = model.graph, dict[str, str]()

    def number(name: str) -> str:
        return numbers.setdefault(name, str(len(numbers))) if name else ""

    for info in graph.input:
        info.name = number(info.name)
    for tensor in graph.initializer:
        tensor.name = number(tensor.name)
    for node in graph.node:
        node.input[:] = [number(name) for name in node.input]
        node.output[:] = [number(name) for name in node.output]
        node.name = node.doc_string = ""
    for info in graph.output:
        info.name = number(info.name)
    graph.name = graph.doc_string = model.producer_name = model.producer_version = model.doc_string = ""
    del graph.value_info[:]
    inputs = {number(name): value for name, value in case.inputs.items()}
    renamed = Case(case.kind, model.SerializeToString(), inputs, case.origin)
    return hashlib.sha256(renamed.id.encode()).hexdigest()[:16]
