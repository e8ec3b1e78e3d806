"""The story of tests/story while processes of the bot are killed at random and GitHub fails at random (issue 6).

    python -m benchmarks.chaos --seed 1 [--folder DIR]

Every few seconds a process of the bot is killed with SIGKILL: the one that takes deliveries, the one that speaks with
GitHub, or one that runs compilers. Every tenth call to GitHub fails, one way or another. In the end there must be one
issue, one check run and one comment of each kind, whatever happened.

So that the story ends on a slow machine as well, the seconds are longer where the bot takes longer to start, and a
piece of work is killed a few times at most.
"""

from __future__ import annotations

import argparse
import collections
import random
import re
import tempfile
import threading
import time
from pathlib import Path

from tests.github import emulator, fake, proxy
from tests.github import support as github
from tests.github.faults import FAULTS
from tests.story import support
from tests.story.life import live

#: Seconds between two kills where the bot starts within USUAL seconds, and the share of calls that fail.
PAUSE, USUAL, SHARE = (8.0, 25.0), 4.0, 0.1
#: How often one piece of work may be begun and killed.
ATTEMPTS = 4
_MARK = re.compile(r"<!-- graphwarden:(\S+) -->")
_WORK = re.compile(r"work_(begins|ends) .*attempt=(\d+) .*process=work work=(\d+)")


def main() -> None:
    """Tell the story, and what was done to it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="an empty folder that keeps database and log")
    arguments = parser.parse_args()
    chosen = random.Random(arguments.seed)
    with tempfile.TemporaryDirectory() as name, proxy.running(proxy.Proxy()) as door:
        folder: Path = arguments.folder or Path(name)
        door.fake = fake.Fake(door.url)
        (folder / "github").mkdir(parents=True)
        with emulator.running(folder / "github", called=door.url) as behind:
            door.upstream = behind.url
            world = github.make(behind, door, door.fake, folder)
            compiler = support.released(folder / "bot" / "tvm")
            starting = time.monotonic()
            with support.running(folder / "bot", world) as bot:
                begin = time.monotonic()
                door.restart(
                    {at: chosen.choice(list(FAULTS.values())) for at in range(5000) if chosen.random() < SHARE}
                )
                killed = _lived(bot, compiler, chosen, begin - starting)
            print(f"{time.monotonic() - begin:.0f} s; killed: {dict(killed)}; calls: {door.number()}")
            _print_said(world)


def _lived(
    bot: support.Bot, compiler: support.Compiler, chosen: random.Random, start: float
) -> collections.Counter[str]:
    """The story with a killer beside it; how often each process was killed. `start`: seconds that the bot took."""
    killed: collections.Counter[str] = collections.Counter()
    over = threading.Event()
    bot.harmed = True

    def kill() -> None:
        usual = start
        while not over.wait(chosen.uniform(*PAUSE) * max(1.0, usual / USUAL)):
            victim = chosen.choice(["serve", "post", "work"])
            if victim != "post" and _tried(bot.log.read_text()) >= ATTEMPTS:
                victim = "post"
            killed[victim] += 1
            if victim == "serve":
                bot.process.kill()
                bot.process.wait()
                begin = time.monotonic()
                bot.start()
                usual = time.monotonic() - begin
            else:
                bot.kill(victim)

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        live(bot, compiler, lambda process: None)
    finally:
        over.set()
        killer.join()
    return killed


def _tried(log: str) -> int:
    """How often the work was begun that the process for compilers is at, by what the bot has logged; 0 for none."""
    going: dict[str, int] = {}
    for what, attempt, work in _WORK.findall(log):
        going.pop(work, None)
        if what == "begins":
            going[work] = int(attempt)
    return max(going.values(), default=0)


def _print_said(world: github.World) -> None:
    """What the bot has said, and that nothing was said twice."""
    texts = [each["body"] for issue in world.issues() for each in (issue, *world.comments(issue["number"]))]
    marks = collections.Counter(mark for text in texts for mark in _MARK.findall(text))
    print(f"issues: {len(world.issues())}; check runs: {len(world.checks())}; marks: {dict(marks)}")
    assert all(number == 1 for number in marks.values()), "something was said twice"
    assert not world.proxy.violations, world.proxy.violations


if __name__ == "__main__":
    main()
