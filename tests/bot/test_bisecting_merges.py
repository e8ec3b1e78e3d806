"""Bisection goes on inside a merge: the commit in it is named, or the merge where that is to blame itself."""

from __future__ import annotations

import uuid
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from bot import bisecting
from bot.bisecting import Question, Subject
from fuzz.case import Case, Origin
from fuzz.runner import Runner
from tests.bot.checks.support import git
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.bisect.answer import Answer
from triage.bisect.found import Kind, with_section
from triage.revisions.config import Compiler

NEG = '<ir_version: 7, opset_import: ["": 13]> g (float[3] x) => (float[3] z) { z = Neg (x) }'
BROKEN, DEAD = ("neg raises",), ("no import",)


@dataclass
class Tree:
    """A repository of the tiny compiler whose commits have names here."""

    folder: Path
    compiler: Compiler
    names: dict[str, str] = field(default_factory=dict)

    def commit(self, name: str, faults: tuple[str, ...] = (), *, after: str = "", merges: str = "") -> None:
        """A commit with these faults and no others; `merges` is taken in, whatever it has."""
        if after:
            git(self.folder, "checkout", "--quiet", "--detach", self.names[after])
        if merges:
            git(self.folder, "merge", "--no-commit", "--no-ff", "--strategy=ours", self.names[merges])
        for path, text in tinyc.sources(*faults).items():
            (self.folder / path).parent.mkdir(exist_ok=True)
            (self.folder / path).write_text(text)
        git(self.folder, "add", "--all")
        git(self.folder, "commit", "--quiet", "--allow-empty", "--message", f"{name} {uuid.uuid4()}")
        self.names[name] = git(self.folder, "rev-parse", "HEAD").strip()

    def bisected(self, first: str, last: str, fix: bool = False) -> Answer:
        """The answer where the branch is at what is checked out."""
        git(self.folder, "branch", "--force", "main", "HEAD")
        model = onnx.parser.parse_model(NEG).SerializeToString()
        case = Case("onnx", model, {"x": np.array([1, 2, 3], np.float32)}, Origin("file", "neg"))
        with Runner(jobs=2) as runner:
            return bisecting.search(
                runner, Question(self.compiler, Subject(case, {}), self.names[first], self.names[last], fix)
            )

    def called(self, *commits: str | None) -> list[str]:
        """The names of commits."""
        return [next(name for name, known in self.names.items() if known == commit) for commit in commits]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The environments of the three builds are made once for all tests."""
    folder = tmp_path_factory.mktemp("merges")
    tinyc.wheel(folder, "1.0")
    return folder


@pytest.fixture
def tree(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tree:
    """One sound commit, `root`, and another, `main`, after it."""
    monkeypatch.setenv("GRAPHWARDEN_REVISIONS", str(place / "root"))
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet", "--initial-branch=start")
    base = place / "tinyc-1.0-py3-none-any.whl"
    made = Tree(folder, support.overlaid(tmp_path, folder, base, 'branch = "main"'))
    made.commit("root")
    made.commit("main")
    return made


def merged_fault(tree: Tree) -> None:
    """A branch of three commits, whose second breaks it, lands; one more commit comes after it."""
    for name, faults in (("side 1", ()), ("side 2", BROKEN), ("side 3", BROKEN)):
        tree.commit(name, faults, after="root" if name == "side 1" else "")
    tree.commit("merge", BROKEN, after="main", merges="side 3")
    tree.commit("later", BROKEN)


def test_the_commit_inside_a_merge_is_named(tree: Tree) -> None:
    merged_fault(tree)
    answer = tree.bisected("root", "later")
    assert tree.called(answer.first, answer.last_before) == ["side 2", "side 1"]
    assert tree.called(*answer.flips[0].entry[:2]) == ["side 1", "side 2"] and len(answer.flips) == 1
    assert answer.confidence is not None and answer.confidence > 0.99 and answer.finished
    merge, first = tree.names["merge"], tree.names["side 2"]
    assert answer.document()["merges"] == [{"revision": merge, "itself": False, "reason": ""}]
    assert f"it came with the merge {merge}" in list(answer.sentences(False))
    found = bisecting.found(answer)
    assert found is not None and (found.first, found.merge) == (first, merge)
    body = with_section("It fails.\n\n*Found, reduced and drafted by Graphwarden.*\n", {Kind.BAD: found})
    assert f"First bad revision: `{first}`" in body and f"with the merge `{merge}`" in body
    assert not list((Path(tree.compiler.source).parent).rglob("bisections/*.json"))


def test_an_end_that_came_inside_a_merge_stands_for_the_merge(tree: Tree) -> None:
    merged_fault(tree)
    answer = tree.bisected("root", "side 3")
    assert tree.called(answer.first, answer.newest.revision) == ["side 2", "merge"]
    tree.commit("mended")
    answer = tree.bisected("side 2", "mended", fix=True)
    assert tree.called(answer.first, answer.last_before) == ["mended", "later"] and not answer.merges


def test_a_fix_inside_a_merge_inside_a_merge_is_named(tree: Tree) -> None:
    tree.commit("broken", BROKEN)
    tree.commit("side", BROKEN)
    tree.commit("deep 1", BROKEN)
    tree.commit("deep 2")
    tree.commit("inner", after="side", merges="deep 2")
    tree.commit("outer", after="broken", merges="inner")
    answer = tree.bisected("broken", "outer", fix=True)
    assert tree.called(answer.first, answer.last_before) == ["deep 2", "deep 1"]
    assert tree.called(*(each.revision for each in answer.merges)) == ["outer", "inner"]


def test_a_merge_that_breaks_what_it_takes_in_is_to_blame_itself(tree: Tree) -> None:
    tree.commit("side 1", after="root")
    tree.commit("side 2")
    tree.commit("merge", BROKEN, after="main", merges="side 2")
    answer = tree.bisected("root", "merge")
    assert tree.called(answer.first, answer.last_before) == ["merge", "main"]
    [merge] = answer.merges
    assert merge.itself and merge.sentence.endswith(f"did it itself: it takes in {tree.names['side 2']}, which is ok")
    found = bisecting.found(answer)
    assert found is not None and found.merge == found.first == tree.names["merge"]


def test_a_merge_that_brings_back_what_was_mended_is_to_blame_itself(tree: Tree) -> None:
    tree.commit("broken", BROKEN)
    tree.commit("side", BROKEN)
    tree.commit("mended", after="broken")
    tree.commit("merge", BROKEN, after="mended", merges="side")
    answer = tree.bisected("mended", "merge")
    assert tree.called(answer.first) == ["merge"]
    [merge] = answer.merges
    assert merge.itself and f"{tree.names['broken']}, which is exception already" in merge.why


def test_of_commits_inside_that_cannot_be_tested_none_is_blamed(tree: Tree) -> None:
    tree.commit("side 1", DEAD, after="root")
    tree.commit("side 2", DEAD)
    tree.commit("merge", BROKEN, after="main", merges="side 2")
    answer = tree.bisected("root", "merge")
    assert tree.called(answer.first, answer.last_before, *answer.between) == ["merge", "root", "side 1", "side 2"]
    assert not any(merge.itself for merge in answer.merges)
    found = bisecting.found(answer)
    assert found is not None and found.between == (tree.names["side 1"], tree.names["side 2"])


def test_commits_inside_that_break_mend_and_break_leave_the_range(tree: Tree) -> None:
    for name, faults in (("side 1", BROKEN), ("side 2", ()), ("side 3", BROKEN)):
        tree.commit(name, faults, after="root" if name == "side 1" else "")
    tree.commit("merge", BROKEN, after="main", merges="side 3")
    answer = tree.bisected("main", "merge")
    assert tree.called(answer.first, *answer.between) == ["merge", "side 1", "side 2", "side 3"]
    assert "the outcome flips 3 times" in answer.merges[0].why
