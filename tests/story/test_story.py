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
from tests.story.life import live
from tests.story.support import Bot, Compiler

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
    def harm(process: str) -> None:
        time.sleep(5)
        bot.kill(process)

    live(bot, compiler, harm)
