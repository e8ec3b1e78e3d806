"""The story of one bug, from the commit that makes it to its return. Whoever tells it may do harm on the way."""

from __future__ import annotations

from collections.abc import Callable

from tests.story.support import BAD, GOOD, Bot, Compiler


def live(bot: Bot, compiler: Compiler, harm: Callable[[str], None]) -> None:
    """Tell it, and look at every step at what GitHub has. `harm` is called with the process that is at work."""
    world = bot.world

    # A commit that breaks a converter lands among others.
    start = compiler.git("rev-parse", "HEAD")
    compiler.commit("Harmless")
    culprit = compiler.commit("Simplify Floor", GOOD, BAD)
    broken = compiler.commit("Harmless, too")
    bot.pushed(start, broken)
    harm("work")  # the suite has begun

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
    harm("post")
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
