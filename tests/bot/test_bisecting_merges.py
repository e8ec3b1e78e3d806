"""Bisection goes on inside a merge: the commit in it is named, or the merge where that is to blame itself."""

from __future__ import annotations

import os
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx.parser
import pytest

from bot import bisecting
from bot.bisecting import Question, Subject
from fuzz.case import Case, Origin, Revision
from fuzz.runner import Runner
from tests.bot.checks.support import git
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.bisect import bisection
from triage.bisect.answer import Answer
from triage.bisect.bisection import Bisection
from triage.bisect.found import Kind, with_section
from triage.revisions.config import Compiler

NEG_SUB = (
    '<ir_version: 7, opset_import: ["": 13]> g (float[3] x, float[3] y) => (float[3] z) { w = Neg (x) z = Sub (w, y) }'
)
NEG = '<ir_version: 7, opset_import: ["": 13]> g (float[3] x) => (float[3] z) { z = Neg (x) }'
BROKEN, SWAPS, BOTH, DEAD = ("neg raises",), ("sub swaps",), ("neg raises", "sub swaps"), ("no import",)


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

    def octopus(self, name: str, like: str, *takes: str) -> None:
        """A merge of several branches into `main`, with the files of one commit."""
        parents = [word for each in ("main", *takes) for word in ("-p", self.names[each])]
        files = git(self.folder, "rev-parse", self.names[like] + "^{tree}").strip()
        self.names[name] = git(self.folder, "commit-tree", files, *parents, "-m", name).strip()
        git(self.folder, "checkout", "--quiet", "--detach", self.names[name])

    def bisected(
        self, first: str, last: str, fix: bool = False, model: str = NEG, budget: float | None = None
    ) -> Answer:
        """The answer where the branch is at what is checked out."""
        git(self.folder, "branch", "--force", "main", "HEAD")
        parsed = onnx.parser.parse_model(model)
        inputs = {each.name: np.array([1, 2, 3], np.float32) * (at + 1) for at, each in enumerate(parsed.graph.input)}
        subject = Subject(Case("onnx", parsed.SerializeToString(), inputs, Origin("file", "neg")), {})
        ends = self.names[first], self.names[last]
        with Runner(jobs=2) as runner:
            return bisecting.search(runner, Question(self.compiler, subject, *ends, fix, budget=budget))

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
    monkeypatch.setattr(bisection, "CHECK_SECONDS", 3600.0)  # however long it takes here
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
    assert f"First bad revision: {first}." in body and f"with the merge {merge}." in body
    assert not list((Path(tree.compiler.source).parent).rglob("bisections/*.json"))


def test_a_newer_end_inside_a_merge_is_told_to_be_tested_as_the_merge(tree: Tree) -> None:
    merged_fault(tree)
    answer = tree.bisected("root", "side 3")
    assert tree.called(answer.first, answer.newest.revision) == ["side 2", "merge"]
    side, merge = tree.names["side 3"], tree.names["merge"]
    assert f"{side} came to the branch inside a merge: {merge} was tested in its place" in list(answer.sentences(False))
    assert answer.document()["instead"] == [{"asked": side, "tested": merge}]


def test_an_older_end_inside_a_merge_lets_that_merge_be_searched(tree: Tree) -> None:
    merged_fault(tree)
    answer = tree.bisected("side 1", "later")
    assert tree.called(answer.first, answer.oldest.revision) == ["side 2", "main"]
    assert [tree.called(*each) for each in answer.instead] == [["side 1", "main"]]


def test_the_older_end_of_a_fix_inside_a_merge_is_tested_as_the_merge(tree: Tree) -> None:
    merged_fault(tree)
    tree.commit("mended")
    answer = tree.bisected("side 2", "mended", fix=True)
    assert tree.called(answer.first, answer.last_before) == ["mended", "later"] and not answer.merges
    assert [tree.called(*each) for each in answer.instead] == [["side 2", "merge"]]


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


def test_of_commits_inside_that_break_mend_and_break_the_last_that_breaks_is_named(tree: Tree) -> None:
    for name, faults in (("side 1", BROKEN), ("side 2", ()), ("side 3", BROKEN)):
        tree.commit(name, faults, after="root" if name == "side 1" else "")
    tree.commit("merge", BROKEN, after="main", merges="side 3")
    answer = tree.bisected("main", "merge")
    assert tree.called(answer.first, answer.last_before) == ["side 3", "side 2"] and not answer.between
    assert [tree.called(*each.entry[:2]) for each in answer.changes] == [["root", "side 1"], ["side 1", "side 2"]]


def test_a_fault_that_another_one_hides_on_the_branch_is_not_told_to_be_the_merges(tree: Tree) -> None:
    tree.commit("broken", BROKEN)
    tree.commit("side 1", BROKEN)
    tree.commit("culprit", BOTH)
    tree.commit("mended", after="broken")
    tree.commit("merge", SWAPS, after="mended", merges="culprit")
    answer = tree.bisected("mended", "merge", model=NEG_SUB)
    assert tree.called(answer.first, *answer.between) == ["merge", "side 1", "culprit"]
    assert not any(merge.itself for merge in answer.merges)
    found = bisecting.found(answer)
    assert found is not None and found.tested


def test_a_commit_that_fails_in_another_way_is_not_named_for_the_merges_failure(tree: Tree) -> None:
    tree.commit("side 1", BROKEN, after="main")
    tree.commit("side 2", SWAPS)
    tree.commit("merge", SWAPS, after="main", merges="side 2")
    answer = tree.bisected("root", "merge", model=NEG_SUB)
    assert tree.called(answer.first, answer.last_before, *answer.between) == ["side 2", "main", "side 1"]
    assert any("which were tested and do not tell it" in sentence for sentence in answer.sentences(False))


def test_of_several_branches_the_one_that_fails_as_the_merge_does_is_named(tree: Tree) -> None:
    tree.commit("raises", BROKEN, after="main")
    tree.commit("swaps", SWAPS, after="main")
    tree.octopus("octopus", "swaps", "raises", "swaps")
    answer = tree.bisected("root", "octopus", model=NEG_SUB)
    assert tree.called(answer.first, answer.last_before) == ["swaps", "main"] and not answer.between


def test_a_merge_that_loses_a_fix_is_to_blame_and_not_what_its_branch_took_from_the_main_one(tree: Tree) -> None:
    tree.commit("breaks", BROKEN)
    tree.commit("side 1", after="main")
    tree.commit("side 2", BROKEN, merges="breaks")
    tree.commit("side 3", BROKEN)
    tree.commit("mends", after="breaks")
    tree.commit("merge", BROKEN, after="mends", merges="side 3")
    answer = tree.bisected("mends", "merge")
    assert tree.called(answer.first, answer.last_before) == ["merge", "mends"]
    assert [tree.called(merge.revision) for merge in answer.merges] == [["merge"]] and answer.merges[0].itself


def test_an_untestable_place_where_a_branch_left_leaves_the_merge_in_doubt(tree: Tree) -> None:
    tree.commit("dead", DEAD)
    tree.commit("side 1", BROKEN)
    tree.commit("side 2", BROKEN)
    tree.commit("mended", after="dead")
    tree.commit("merge", BROKEN, after="mended", merges="side 2")
    answer = tree.bisected("mended", "merge")
    assert tree.called(answer.first, answer.last_before, *answer.between) == ["merge", "mended", "side 1"]
    assert not any(merge.itself for merge in answer.merges)


def test_a_merge_that_loses_what_broke_is_told_in_the_words_of_a_fix(tree: Tree) -> None:
    tree.commit("breaks", BROKEN)
    tree.commit("side", after="root")
    tree.commit("merge", after="breaks", merges="side")
    [merge] = tree.bisected("breaks", "merge", fix=True).merges
    assert merge.itself and "mended" not in merge.why
    assert f"{tree.names['breaks']}, which is exception, is what it was merged into" in merge.why


def test_when_the_time_is_up_inside_a_merge_what_was_seen_is_kept(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    merged_fault(tree)
    over = bisecting._Search.over

    def late(search: bisecting._Search, span: Sequence[Revision], exact: bool = False) -> Bisection:
        search._deadline = 0.0 if exact else search._deadline
        return over(search, span, exact)

    with monkeypatch.context() as patched:
        patched.setattr(bisecting._Search, "over", late)
        answer = tree.bisected("root", "later", budget=600.0)
    assert not answer.finished and tree.called(*answer.between) == ["side 1", "side 2", "side 3"]
    assert "the time ran out: the same command goes on from here" in list(answer.sentences(False))
    kept = Path(os.environ["GRAPHWARDEN_REVISIONS"])
    assert list(kept.rglob("bisections/*.json"))
    answer = tree.bisected("root", "later", budget=600.0)
    assert answer.finished and tree.called(answer.first) == ["side 2"]
    assert not list(kept.rglob("bisections/*.json"))
