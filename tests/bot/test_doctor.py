"""`graphwarden doctor`: each thing that is wrong has a line of its own that says how to mend it."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot import checkup
from bot.checkup import Finding
from bot.settings import Schedule, Settings
from fuzz import native
from triage.ledger import Ledger
from triage.store import open_store

if TYPE_CHECKING:
    from tests.github.support import World

COMPILER = """
backend = "onnxruntime"
[provider]
kind = "wheel"
wheels = [{ revision = "1", file = "x-1-py3-none-any.whl" }]
"""

COMMITS = """
backend = "onnxruntime"
[provider]
kind = "overlay"
repository = "{place}"
package = "onnxruntime==1.20"
paths = {{ python = "onnxruntime" }}
"""


@pytest.fixture
def settings(github_world: World, tmp_path: Path) -> Settings:
    """A bot that is set up as it should be."""
    path = tmp_path / "tiny.toml"
    path.write_text(COMPILER)
    made = github_world.settings()
    assert made.github.webhook_secret_file is not None
    made.github.webhook_secret_file.chmod(0o600)
    github_world.key_file.chmod(0o600)
    project = made.projects["compiler"].model_copy(update={"compiler": str(path)})
    reports = tmp_path / "reports"
    return made.model_copy(update={"projects": {"compiler": project}, "reports": reports})


def asked(settings: Settings) -> Mapping[str, Finding]:
    return {one.about: one for one in checkup.findings(settings)}


def test_a_bot_that_is_set_up_well_has_nothing_bad(settings: Settings, github_world: World) -> None:
    found = asked(settings)
    assert [one for one in found.values() if one.good is False and one.about != "confinement"] == []
    assert found["GitHub"].told == f"{github_world.bot} at {github_world.url}"
    assert github_world.repository in found["compiler: repository"].told
    assert found["compiler: compiler"].told == "tiny, builds by wheel, newest 1, takes onnx, keras"


def test_secrets_that_others_may_read_or_that_are_short_are_told(settings: Settings) -> None:
    file = settings.github.webhook_secret_file
    assert file is not None
    file.chmod(0o644)
    assert asked(settings)["webhook secret"].told.endswith(f"chmod 600 {file}")
    file.write_bytes(b"short")
    fresh = Settings.model_validate(settings.model_dump())
    assert asked(fresh)["webhook secret"].told.startswith("has 5 characters")


def test_a_wrong_key_a_missing_installation_and_a_missing_compiler_are_three_lines(settings: Settings) -> None:
    key = settings.github.private_key_file
    assert key is not None
    other = settings.source.parent / "other.pem"
    other.write_text("no key")
    project = settings.projects["compiler"].model_copy(update={"compiler": "nonesuch"})
    wrong = settings.model_copy(
        update={
            "github": settings.github.model_copy(update={"private_key_file": other}),
            "projects": {"compiler": project},
        }
    )
    found = asked(wrong)
    assert found["GitHub"].good is False and "not an RSA key in PEM form" in found["GitHub"].told
    assert found["compiler: repository"] == Finding("compiler: repository", False, "cannot be asked for: see GitHub")
    assert found["compiler: compiler"].good is False and "nonesuch" in found["compiler: compiler"].told


def test_a_suite_of_nothing_is_told(settings: Settings, tmp_path: Path) -> None:
    assert asked(settings)["compiler: suite"].good
    for wrong, told in (
        ({"cases": tmp_path / "nocases"}, "nocases holds no case"),
        ({"sources": ("nosuch",)}, "nosuch"),
        ({"tests": ("test_nosuch",)}, "'test_nosuch': no such node test"),
    ):
        project = settings.projects["compiler"].model_copy(update=wrong)
        found = asked(settings.model_copy(update={"projects": {"compiler": project}}))["compiler: suite"]
        assert found.good is False and told in found.told


def test_a_compiler_of_which_no_commit_can_be_tested_is_told(settings: Settings) -> None:
    changes: dict[str, object] = {"compiler": "tvm"}
    project = settings.projects["compiler"].model_copy(update=changes)
    found = asked(settings.model_copy(update={"projects": {"compiler": project}}))["compiler: compiler"]
    assert found.good is False and "knows releases only" in found.told and "docs/revisions.md" in found.told


def test_what_github_refuses_is_told_with_what_to_do(settings: Settings) -> None:
    github = settings.github.model_copy(update={"api": "http://127.0.0.1:9"})
    nowhere = settings.projects["compiler"].model_copy(update={"repository": "nobody/nothing"})
    found = asked(settings.model_copy(update={"projects": {"compiler": nowhere}}))
    assert found["compiler: repository"].good is False
    assert "install the App in nobody/nothing" in found["compiler: repository"].told
    found = asked(settings.model_copy(update={"github": github}))
    assert found["GitHub"].good is False and "github.api is where it is" in found["GitHub"].told


def test_the_emergency_stop_is_not_forgotten(settings: Settings) -> None:
    with open_store(settings.database, create=True) as store:
        Ledger(store).switches.set("stop", "too many issues", "ada")
    found = asked(settings)["database"]
    assert found.good is False
    assert "too many issues" in found.told and "graphwarden stop --off" in found.told


def test_a_repository_that_has_taken_the_name_of_another_is_told(settings: Settings, github_world: World) -> None:
    with open_store(settings.database, create=True) as store:
        Ledger(store).repositories.note(github_world.repository, 7)
    found = asked(settings)["compiler: repository"]
    assert found.good is False and f"{github_world.repository} is another repository now" in found.told
    project = settings.projects["compiler"].model_copy(update={"repository_id": github_world.ask("")["id"]})
    assert asked(settings.model_copy(update={"projects": {"compiler": project}}))["compiler: repository"].good


@pytest.mark.parametrize(
    ("identity", "told"),
    [
        ({"app_id": 0}, "github.app_id is 0: write the id that the App's settings page shows"),
        ({"private_key_file": Path("/nowhere/key.pem")}, "`Generate a private key` on the App's settings page"),
    ],
    ids=["no id", "no key"],
)
def test_an_app_that_is_not_filled_in_yet_is_told_with_where_to_look(
    settings: Settings, identity: dict[str, object], told: str
) -> None:
    github = settings.github.model_copy(update=identity)
    found = asked(settings.model_copy(update={"github": github}))["GitHub"]
    assert found.good is False and told in found.told


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({}, "hunt of compiler at 0 2 * * *"),
        ({"sources": ("nosuch",)}, "sources: unknown source 'nosuch'"),
        ({"cron": "0 2 31 2 *"}, "cron '0 2 31 2 *' names no day that ever comes"),
    ],
    ids=["good", "source", "never"],
)
def test_a_hunt_that_cannot_begin_is_told(settings: Settings, change: dict[str, object], told: str) -> None:
    wanted = Schedule(project="compiler", cron="0 2 * * *").model_copy(update=change)
    found = asked(settings.model_copy(update={"schedule": (wanted,)}))["schedule"]
    assert found.told.startswith(told) and found.good is not bool(change)


def test_a_remote_that_is_not_there_is_told(settings: Settings, tmp_path: Path) -> None:
    place = tmp_path / "clone"
    for command in (["init"], ["-c", "user.name=x", "-c", "user.email=x@x", "commit", "--allow-empty", "-m", "one"]):
        place.mkdir(exist_ok=True)
        subprocess.run(["git", "-C", str(place), *command], check=True, capture_output=True)
    (tmp_path / "commits.toml").write_text(COMMITS.format(place=place))
    for fetch, told in (("orgin", True), ("", False), ("origin", False)):
        changes: dict[str, object] = {"compiler": str(tmp_path / "commits.toml"), "fetch": fetch}
        if fetch == "origin":
            subprocess.run(["git", "-C", str(place), "remote", "add", "origin", "x"], check=True)
        project = settings.projects["compiler"].model_copy(update=changes)
        found = asked(settings.model_copy(update={"projects": {"compiler": project}}))["compiler: compiler"]
        assert found.good and ("no remote 'orgin' there" in found.told) is told, found


def test_native_stacks_that_cannot_be_taken_are_worth_knowing_and_nothing_bad(
    settings: Settings, github_world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "program", lambda: "")
    found = asked(settings)["native stacks"]
    assert found.good is None and "pip install py-spy" in found.told
