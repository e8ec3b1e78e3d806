"""Entries of one operator each, and a replay that is told what they do."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from onnx import TensorProto, helper

from fuzz.case import Case, Origin, Revision, Status, Verdict
from triage.suite.entries import Entry, Expected, Source

BASE, HEAD = Revision("1.0", python="base"), Revision("1.1", python="head")
STATUS = {
    "P": Status.OK,
    "W": Status.WRONG,
    "E": Status.EXCEPTION,
    "U": Status.UNSUPPORTED,
    "C": Status.SIGNAL,
    "F": Status.FLAKY,
    "S": Status.SKIPPED,
}


def case(operator: str, size: int = 3, kind: int = TensorProto.FLOAT) -> Case:
    """One operator of one input of an element type."""
    infos = [helper.make_tensor_value_info(name, kind, [size]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node(operator, ["x"], ["y"])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    values = {"x": np.arange(size, dtype=helper.tensor_dtype_to_np_dtype(kind))}
    return Case("onnx", model.SerializeToString(), values, Origin("made", f"{operator}{size}"))


def entry(operator: str, size: int = 3, source: Source = Source.SLICE, expected: Expected | None = None) -> Entry:
    """An entry called after its operator and size."""
    return Entry(f"{operator}{size}", case(operator, size), source, expected=expected or Expected())


@dataclass(frozen=True)
class Answer:
    """What the replay says of one run."""

    letter: str
    status: Status
    symptom: str = ""
    detail: str = ""
    seconds: float = 0.0
    verdict: Verdict | None = None


@dataclass
class Scripted:
    """Answers from a script: interpreter -> name of the entry -> one letter for each run, the last one for ever.

    `ran` counts what was run, by interpreter and entry.
    """

    entries: Sequence[Entry]
    script: Mapping[str, Mapping[str, str]]
    ran: dict[tuple[str, str], int] = field(default_factory=dict)
    closed: list[str] = field(default_factory=list)
    filled: Mapping[tuple[str, str], str] = field(default_factory=dict)  # letters with fresh memory filled

    def run(self, cases: Sequence[Case], revision: Revision) -> Iterable[Answer]:
        return [self.once(case, revision) for case in cases]

    def once(self, case: Case, revision: Revision, perturb: int | None = None) -> Answer:
        name = next(entry.name for entry in self.entries if entry.id == case.id)
        if perturb is not None:
            letter = self.filled.get((revision.python, name), self.script.get(revision.python, {}).get(name, "P")[-1])
            return Answer(letter, STATUS[letter], "" if letter == "P" else f"{STATUS[letter]}")
        turn = self.ran.get((revision.python, name), 0)
        self.ran[revision.python, name] = turn + 1
        letters = self.script.get(revision.python, {}).get(name, "P")
        letter = letters[min(turn, len(letters) - 1)]
        shown = {"U": "E", "S": "S"}.get(letter, letter)
        return Answer(shown, STATUS[letter], f"{STATUS[letter]}" if letter != "P" else "")

    def close(self, revision: Revision) -> None:
        self.closed.append(revision.version)
