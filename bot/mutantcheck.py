"""Oracle 3 for `graphwarden mutate --backend`: judges mutants on one compiler and writes the smallest that fail."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bot import casefile
from fuzz.case import Target
from fuzz.mutants.judging import DIED, WRONG, Finding, Judge
from fuzz.mutants.model import MutantModel
from fuzz.mutants.mutation import Mutation
from fuzz.mutants.smallest import smallest
from fuzz.mutants.subject import Subject
from fuzz.runner import Runner


@dataclass
class Check:
    """The mutants of one subject on one target. `failures` are told; `counts` are by kind of finding."""

    runner: Runner
    subject: Subject
    target: Target
    delta: float
    folder: Path
    counts: Counter[str] = field(default_factory=Counter)
    failures: list[dict[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._judge = Judge(self.runner, self.subject.case, self.target, self.delta)
        self._seen: set[str] = set()

    def examine(self, number: int, mutant: MutantModel, mutations: Sequence[Mutation]) -> None:
        """Judge the mutant after `mutations`. The first of each symptom is minimised and written."""
        finding = self._judge.examine(self.subject.case_of(mutant, number))
        self.counts[finding.kind] += 1
        if finding.kind not in (WRONG, DIED):
            return
        told: dict[str, Any] = {"mutant": number, "symptom": finding.symptom, "detail": finding.detail}
        if finding.symptom not in self._seen:
            self._seen.add(finding.symptom)
            told |= self._minimised(number, finding, mutations)
        self.failures.append(told)

    def _minimised(self, number: int, finding: Finding, mutations: Sequence[Mutation]) -> dict[str, Any]:
        """The fewest mutations that still fail by oracle 3, and the files of that mutant."""
        found = smallest(self._judge, self.subject, mutations, finding, self.delta)
        self.folder.mkdir(exist_ok=True)
        written = casefile.save(found.case, self.folder / f"{number:06d}.onnx")
        files = [str(path) for path in written]
        return {"mutations": list(found.kept), "nodes": len(found.mutant.nodes), "files": files}
