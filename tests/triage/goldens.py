"""Golden cases of signatures: a raw failure and, below it, the signature that it gets.

One text file a case in tests/golden/signatures/<compiler>/, so that a new case is a new file and a change of a rule
is a change that can be read. ``make golden`` rewrites what stands below the line; cases are added from a hunt by

    python -m tests.triage.goldens hunt.db

which takes one failure of each kind that is not there yet, without paths, users and hosts.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from fuzz.case import Case, Error, Failure, Frame, Origin, Outcome, Revision, Stage, Status, Target
from triage.evidence import Report, gather
from triage.operators import operators, value_names
from triage.records import Bug
from triage.scrub import plain, scrub
from triage.signature import sign
from triage.stack import frames
from triage.store import open_store

FOLDER = Path(__file__).parents[1] / "golden" / "signatures"
LINE = "================ signature\n"
_HEADS = ("origin", "target", "symptom", "detail", "type", "signal", "operator", "function", "operators", "names")
_TEXTS = ("frames", "message", "stderr")
_LONGEST = 4_000
#: What stands before our own files in a path.
_OWN = re.compile(r"[^\s\"']*/(?=fuzz/)")
_FRAME = re.compile(r"(?P<file>.*):(?P<line>\d+) (?P<function>.*)")


@dataclass(frozen=True)
class Golden:
    """A raw failure as the file has it; `operators` maps the suspects to their conversion functions."""

    heads: Mapping[str, str]
    texts: Mapping[str, str]

    @property
    def error(self) -> Error:
        """What the compiler said, as the signer reads it."""
        found = [_FRAME.fullmatch(line) for line in self.texts["frames"].splitlines()]
        head = self.heads
        return Error(
            head["type"],
            self.texts["message"],
            tuple(Frame(each["file"], int(each["line"]), each["function"]) for each in found if each),
            head["signal"],
            self.texts["stderr"],
            head["operator"],
            head["function"],
        )

    def expected(self) -> str:
        """What stands below the line."""
        head = self.heads
        suspects = [pair.partition("=")[::2] for pair in head["operators"].split(" ") if pair]
        wrong = head["symptom"].startswith("wrong")
        backend, _, version = head["target"].partition("@")
        failure = Failure(
            Case("onnx", b"", {}, Origin("golden")),
            Target(backend, Revision(version)),
            Outcome(Status.WRONG if wrong else Status.EXCEPTION, Stage.RUN, error=self.error),
            None,
            "inconsistency" if wrong else "crash",
            head["symptom"],
            head["detail"],
        )
        found = sign(
            failure, [("", name, 0) for name, _ in suspects], [each for _, each in suspects], head["names"].split(" ")
        )
        lines = {"place": found.place, "kind": found.kind, "symptom": found.symptom, "message": found.message}
        lines["frames"] = " < ".join(self.stack())
        return "".join(f"{key}: {value}".rstrip() + "\n" for key, value in lines.items())

    def stack(self) -> tuple[str, ...]:
        """The telling frames as `graphwarden group` sees them, innermost first."""
        error = self.error
        (evidence,) = gather([Report("1", error.message, frames=frames(error))])
        return evidence.stack


def read(path: Path) -> tuple[Golden, str]:
    """A case, and what is expected of it ("" in a new file)."""
    raw, _, expected = path.read_text(encoding="utf-8").partition(LINE)
    head, *parts = re.split(r"^---------------- (\w+)\n", raw, flags=re.MULTILINE)
    heads = dict(line.partition(":")[::2] for line in head.splitlines())
    texts = dict(zip(parts[::2], (text.rstrip("\n") for text in parts[1::2]), strict=True))
    return Golden({key: heads[key].strip() for key in _HEADS}, {key: texts[key] for key in _TEXTS}), expected


def write(path: Path, golden: Golden) -> None:
    """The case with the signature that it gets today."""
    heads = "".join(f"{key}: {golden.heads[key]}".rstrip() + "\n" for key in _HEADS)
    texts = "".join(f"---------------- {key}\n{golden.texts[key]}".rstrip() + "\n" for key in _TEXTS)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{heads}{texts}{LINE}{golden.expected()}", encoding="utf-8")


def paths() -> list[Path]:
    """All cases."""
    return sorted(FOLDER.glob("*/*.txt"))


def kind(golden: Golden) -> tuple[str, ...]:
    """What makes two failures the same case to keep: all but numbers."""
    told = golden.texts["message"] or re.sub(r"-?\d[\d.e+-]*|nan|inf|True|False", "7", golden.heads["detail"])
    head = golden.heads
    about = (head["symptom"], head["operators"], head["operator"], head["function"])
    return (head["target"], *about, re.sub(r"\d+", "7", told))


def harvest(db: Path) -> Iterator[Golden]:
    """The failures in a hunt's database."""
    with open_store(db, create=False) as store:
        for bug in store.bugs():
            for number in store.failure_ids(bug.id):
                yield _golden(store.failure(number).failure, bug)


def _golden(failure: Failure, bug: Bug) -> Golden:
    error = failure.outcome.error or Error()
    wrong = failure.symptom.startswith("wrong")
    message = "" if wrong else _text(error.message)
    suspects = [name for _, name, _ in operators(failure.case)] if failure.case.kind == "onnx" else list(bug.operators)
    function = bug.conversion_function.replace(" ", "_") if len(set(suspects)) == 1 else ""
    origin = failure.case.origin
    heads = {
        "origin": f"{origin.generator} {origin.test} {origin.variant}",
        "target": failure.target.id.partition("[")[0],
        "symptom": failure.symptom,
        "detail": _text(failure.detail if wrong else "").replace("\n", " ")[:300],
        "type": error.type,
        "signal": error.signal,
        "operator": error.operator,
        "function": error.conversion_function,
        "operators": " ".join(f"{name}={function}" for name in suspects),
        "names": " ".join(sorted(name for name in value_names(failure.case) if name in message and " " not in name)),
    }
    stack = [f"{_file(frame.file)}:{frame.line} {frame.function}" for frame in error.frames]
    texts = {"frames": "\n".join(stack), "message": message, "stderr": _text(error.stderr)[-_LONGEST:]}
    return Golden(heads, texts)


def _text(text: str) -> str:
    kept = scrub(_OWN.sub("", plain(text)[:_LONGEST]))
    return "\n".join(line.rstrip() for line in kept.strip("\n").splitlines())


def _file(path: str) -> str:
    return scrub(_OWN.sub("", path))


def main() -> None:
    """Add the cases of a database that are not there yet."""
    seen = {kind(read(path)[0]) for path in paths()}
    for golden in harvest(Path(sys.argv[1])):
        if kind(golden) in seen:
            continue
        seen.add(kind(golden))
        compiler = golden.heads["target"].partition("@")[0]
        about = (golden.heads["operator"] or golden.heads["operators"].partition("=")[0] or "model").lower()
        stem = re.sub(r"\W+", "-", f"{about} {golden.heads['symptom'].rpartition('.')[2].lower()}").strip("-")[:60]
        number = next(n for n in range(1, 1_000) if not (FOLDER / compiler / f"{stem}-{n}.txt").exists())
        write(FOLDER / compiler / f"{stem}-{number}.txt", golden)


if __name__ == "__main__":
    main()
