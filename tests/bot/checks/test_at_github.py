"""A check run from its beginning to its end as GitHub has it; every request is held against GitHub's description."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from bot.checks import words
from bot.checks.ending import cancelled
from bot.checks.run import CheckRun
from bot.settings import Project
from tests.bot.checks.test_words import HOSTILE, finished, told
from tests.bot.github.outgoing import HEAD, Post, ledger_in
from tests.github.support import World
from triage.suite.compare import Change


@pytest.fixture
def project(github_world: World) -> Project:
    return Project(name="tiny", repository=github_world.repository, compiler="tiny")


def test_one_check_run_waits_runs_ends_and_runs_again(github_world: World, project: Project) -> None:
    with ledger_in(github_world.folder) as ledger:
        post = Post(github_world, ledger)
        check = CheckRun(ledger, project, HEAD, 7, "")
        seen = []
        new = [told(number, HOSTILE) for number in range(120)]
        steps: list[Callable[[], None]] = [
            lambda: check.waits(words.note("Waiting for a build", HOSTILE)),
            lambda: check.runs(words.running({Change.NEW_FAILURE: 1}, 12, [HOSTILE])),
            lambda: check.ends("failure", finished({Change.NEW_FAILURE: new})),
            lambda: CheckRun(ledger, project, HEAD, 7, "").runs(words.note("Making the builds", "Once more.")),
        ]
        for step in steps:
            step()
            post.empty()
            [run] = github_world.checks(HEAD)
            seen.append((run["status"], run["conclusion"], len(run["annotations"])))
    assert [status for status, _, _ in seen] == ["queued", "in_progress", "completed", "in_progress"]
    assert seen[2] == ("completed", "failure", 120)
    assert run["name"] == "Graphwarden (tiny)" and run["external_id"].startswith("graphwarden-")


@pytest.mark.parametrize("conclusion", ["success", "neutral", "action_required", "cancelled"])
def test_every_conclusion_is_one_that_github_takes(github_world: World, project: Project, conclusion: str) -> None:
    with ledger_in(github_world.folder) as ledger:
        check = CheckRun(ledger, project, HEAD, None, "")
        said = words.note("So it is", "Because.")
        if conclusion == "action_required":
            check.asks(said)
        elif conclusion == "cancelled":
            check.runs(said)
            [row] = ledger.checks.of_head(project.repository, HEAD)
            cancelled(ledger, row, "the pull request was closed")
        else:
            check.ends(conclusion, said)
        Post(github_world, ledger).empty()
        [run] = github_world.checks(HEAD)
        assert (run["status"], run["conclusion"]) == ("completed", conclusion)
