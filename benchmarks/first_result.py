"""How long a pull request waits for the first result of its check, as a share of 60 s (issue 6).

    python -m benchmarks.first_result

A git repository plays Apache TVM, the bot runs with all its processes, and the head of the pull request is built
already. The time runs from the delivery of the webhook to the moment at which GitHub has the first result.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path

from bot import builds
from fuzz.limits import Limits
from fuzz.runner import Runner
from tests.github import emulator, fake, proxy
from tests.github import support as github
from tests.story import support
from triage.revisions import approvals, places
from triage.revisions.environments import Environments

LIMIT = 60.0


def main() -> None:
    """Print the seconds and their share of the limit."""
    with tempfile.TemporaryDirectory() as name, proxy.running(proxy.Proxy()) as door:
        folder = Path(name)
        door.fake = fake.Fake(door.url)
        (folder / "github").mkdir()
        with emulator.running(folder / "github", called=door.url) as behind:
            door.upstream = behind.url
            world = github.make(behind, door, door.fake, folder)
            compiler = support.released(folder / "bot" / "tvm")
            base = compiler.git("rev-parse", "HEAD")
            compiler.git("checkout", "-qb", "change")
            head = compiler.commit("Simplify Floor", support.GOOD, support.BAD)
            compiler.git("checkout", "-q", "main")
            with support.running(folder / "bot", world) as bot:
                build(folder / "bot", base, head)
                print_waited(bot, head, base)


def build(folder: Path, *commits: str) -> None:
    """Have the environments before the clock runs."""
    os.environ["GRAPHWARDEN_REVISIONS"] = str(folder / "revisions")
    compiler = builds.compiler(str(folder / "tvm.toml"))
    with Runner(Limits(60, 4096)) as runner:
        for commit in commits:
            revision = builds.revision(compiler, commit)
            approvals.give(places.root(), compiler, revision)
            Environments(runner).ensure(compiler, revision)


def print_waited(bot: support.Bot, head: str, base: str) -> None:
    """Open the pull request and wait for the first result and for the end."""
    begin = time.monotonic()
    bot.opened(7, head, base)
    told = bot.until(
        "a first result", lambda: [_title(run) for run in bot.world.checks(head) if "cases" in _title(run)]
    )
    first = time.monotonic() - begin
    bot.until("the end", lambda: [run for run in bot.world.checks(head) if run["conclusion"]])
    whole = time.monotonic() - begin
    print(f"first result ({told[0]}): {first:.1f} s = {first / LIMIT:.2f} of the limit; all of it: {whole:.1f} s")


def _title(run: dict[str, object]) -> str:
    output = run.get("output")
    return str(output.get("title") or "") if isinstance(output, dict) else ""


if __name__ == "__main__":
    main()
