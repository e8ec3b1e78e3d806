"""`graphwarden init`: what it writes can be used as it is."""

from __future__ import annotations

import stat
import subprocess
import sys
from pathlib import Path

import pytest

from bot import builds, settings

COMMAND = [sys.executable, "-m", "bot.cli", "init"]


def compiler(file: Path) -> None:
    """A configuration that can be used."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text('backend = "tvm"\n[provider]\nkind = "release"\npackage = "apache-tvm"\n')


def init(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*COMMAND, *more], capture_output=True, text=True, cwd=folder, check=False)


def test_the_configuration_is_usable_and_the_secret_is_ones_own(tmp_path: Path) -> None:
    compiler(tmp_path / "compilers" / "mine.toml")
    done = init(tmp_path, "--repository", "me/compiler", "--compiler", "compilers/mine.toml", "--app-id", "77")
    assert done.returncode == 0, done.stderr
    found = settings.load(tmp_path / "graphwarden.toml")
    assert [(each.name, each.repository) for each in found.projects.values()] == [("mine", "me/compiler")]
    assert (found.github.app_id, found.projects["mine"].filing.moderation) == (77, True)
    secret = tmp_path / "webhook-secret"
    assert len(found.webhook_secret) == 64
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    assert secret.read_text().strip() not in done.stdout


def test_a_compiler_counts_from_the_folder_of_the_configuration(tmp_path: Path) -> None:
    compiler(tmp_path / "bot" / 'my "own" one.toml')
    done = init(tmp_path, "--compiler", 'my "own" one.toml', "--out", "bot/graphwarden.toml")
    assert done.returncode == 0, done.stderr
    [project] = settings.load(tmp_path / "bot" / "graphwarden.toml").projects.values()
    assert builds.compiler(project.compiler).provider == "release"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nonesuch", "no configuration of a compiler 'nonesuch': choose one of"),
        ("compilers/mine", "or a .toml file"),
        ("", "choose one of"),
        ("mine.toml", "mine.toml: cannot be read: No such file or directory"),
        ("folder.toml", "folder.toml: cannot be read: Is a directory"),
        ("broken.toml", "broken.toml: unknown provider 'magic'"),
    ],
)
def test_a_compiler_that_cannot_be_used_leaves_nothing_behind(tmp_path: Path, name: str, told: str) -> None:
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "broken.toml").write_text('backend = "tvm"\n[provider]\nkind = "magic"\n')
    before = sorted(tmp_path.iterdir())
    done = init(tmp_path, "--compiler", name)
    assert done.returncode == 2 and sorted(tmp_path.iterdir()) == before
    assert done.stderr.startswith(f"graphwarden: --compiler {name!r}: ") and told in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize(("kind", "tested"), [("release", False), ("overlay", True)])
def test_commits_are_tested_where_they_can_be(tmp_path: Path, kind: str, tested: bool) -> None:
    mine = tmp_path / "mine.toml"
    mine.write_text(f'backend = "tvm"\n[provider]\nkind = "{kind}"\npackage = "apache-tvm"\n')
    if tested:
        mine.write_text(f'{mine.read_text()}repository = "."\n[provider.paths]\n"python" = "tvm"\n')
    done = init(tmp_path, "--compiler", "mine.toml")
    assert done.returncode == 0, done.stderr
    [project] = settings.load(tmp_path / "graphwarden.toml").projects.values()
    assert (project.suite, project.gate) == (tested, tested)


@pytest.mark.parametrize("kind", ["release", "overlay"])
def test_every_commented_setting_is_one_that_there_is(tmp_path: Path, kind: str) -> None:
    more = 'repository = "."\n[provider.paths]\n"python" = "tvm"\n' if kind == "overlay" else ""
    (tmp_path / "tvm.toml").write_text(f'backend = "tvm"\n[provider]\nkind = "{kind}"\npackage = "apache-tvm"\n{more}')
    assert init(tmp_path, "--compiler", "tvm.toml").returncode == 0
    path = tmp_path / "graphwarden.toml"
    lines = [
        line.removeprefix("# ") if line.startswith("# ") and (" = " in line or line.startswith("# [")) else line
        for line in path.read_text().splitlines()
    ]
    whole = [line for line in lines if not line.startswith("token_file")]  # an App and a token exclude each other
    path.write_text("\n".join(whole))
    found = settings.load(path)
    assert found.schedule and found.projects["tvm"].filing.per_day == 3


def test_what_is_there_is_never_replaced(tmp_path: Path) -> None:
    (tmp_path / "graphwarden.toml").write_text("mine")
    done = init(tmp_path)
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert (tmp_path / "graphwarden.toml").read_text() == "mine"
    (tmp_path / "webhook-secret").write_text("old")
    assert init(tmp_path, "--out", "other.toml").returncode == 0
    assert (tmp_path / "webhook-secret").read_text() == "old"


def test_an_unusable_repository_leaves_nothing_behind(tmp_path: Path) -> None:
    done = init(tmp_path, "--repository", "not a repository")
    assert done.returncode == 2
    assert "repository: write it as owner/name" in done.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "given", [("--repository", 'a/b"]'), ("--repository", "a/b\nhost = 1"), ("--app-id", "-5")], ids=str
)
def test_what_was_given_wrong_is_named(tmp_path: Path, given: tuple[str, str]) -> None:
    done = init(tmp_path, *given)
    assert done.returncode == 2 and given[0] in done.stderr
    assert list(tmp_path.iterdir()) == []
