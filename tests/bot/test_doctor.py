"""`graphwarden doctor`: each thing that is wrong has a line of its own that says how to mend it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot import checkup
from bot.checkup import Finding
from bot.settings import Settings
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
    assert found["compiler: repository"].good is False
    assert found["compiler: compiler"].good is False and "nonesuch" in found["compiler: compiler"].told


def test_the_emergency_stop_is_not_forgotten(settings: Settings) -> None:
    with open_store(settings.database, create=True) as store:
        Ledger(store).switches.set("stop", "too many issues", "ada")
    found = asked(settings)["database"]
    assert found.good is False
    assert "too many issues" in found.told and "graphwarden stop --off" in found.told
