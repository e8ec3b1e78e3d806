"""The whole story of one bug, with a real compiler, real HTTP and real processes (issue 6).

A git repository plays Apache TVM: its ONNX frontend over the installed package. A commit that breaks a converter lands;
the bug is found, reduced, blamed on that very commit and filed once. A pull request that fixes it gets a green check
that names the bug. It is merged and the issue closed with the fixing commit. Somebody breaks it again, and the issue is
open again. Meanwhile processes of the bot are killed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.story import support
from tests.story.support import BAD, GOOD, Bot, Compiler

if TYPE_CHECKING:
    from tests.github.support import World


@pytest.fixture
def compiler(tmp_path: Path) -> Compiler:
    return support.released(tmp_path / "bot" / "tvm")


@pytest.fixture
def bot(compiler: Compiler, github_world: World) -> Iterator[Bot]:
    with support.running(compiler.folder.parent, github_world) as found:
        yield found


def test_the_whole_story_of_a_bug(bot: Bot, compiler: Compiler) -> None:
    world = bot.world

    # A commit that breaks a converter lands among others.
    start = compiler.git("rev-parse", "HEAD")
    compiler.commit("Harmless")
    culprit = compiler.commit("Simplify Floor", GOOD, BAD)
    broken = compiler.commit("Harmless, too")
    bot.pushed(start, broken)
    time.sleep(5)
    bot.kill("work")  # the suite has begun

    # The bug is confirmed, reduced, bisected to that very commit, and filed once.
    bot.until("filed", world.issues)
    issue = bot.issue()
    assert "Floor" in issue["title"]
    assert culprit[:10] in issue["body"]
    number = issue["number"]

    # A pull request that fixes it gets a green check which names the bug.
    compiler.git("checkout", "-qb", "fix")
    fix = compiler.commit("Floor rounds down", BAD, GOOD)
    compiler.git("checkout", "-q", "main")
    bot.opened(7, fix, broken)
    bot.until("a check run", lambda: world.checks(fix))
    bot.kill("post")
    (check,) = bot.until("a conclusion", lambda: [run for run in world.checks(fix) if run["conclusion"]])
    assert check["conclusion"] == "success"
    assert f"#{number}" in check["output"]["summary"]

    # Merged: the issue is closed, and the commit that fixed it named.
    compiler.git("merge", "-q", "--no-ff", "-m", "Merge the fix", "fix")
    merged = compiler.git("rev-parse", "HEAD")
    bot.pushed(broken, merged)
    bot.until("closed", lambda: bot.issue()["state"] == "closed")
    assert bot.issue()["state_reason"] == "completed"
    assert merged[:10] in bot.said() or fix[:10] in bot.said()

    # Broken again: the issue is open again.
    again = compiler.commit("Simplify Floor once more", GOOD, BAD)
    bot.pushed(merged, again)
    bot.until("reopened", lambda: bot.issue()["state"] == "open")
    assert again[:10] in bot.said()
    assert len(world.issues()) == 1
    assert len(world.checks(fix)) == 1
