"""Configurations of the tiny compiler, by provider."""

from __future__ import annotations

from pathlib import Path

from tests.builds import tinyc
from triage.revisions import config
from triage.revisions.config import Compiler


def configured(folder: Path, provider: str, more: str = "") -> Compiler:
    """The tiny compiler with this table of a provider, from a file ``tinyc.toml`` in `folder`."""
    path = folder / "tinyc.toml"
    path.write_text(f'backend = "{tinyc.BACKEND}"\n{more}\n[provider]\n{provider}\n')
    return config.load(str(path))


def wheels(folder: Path) -> Compiler:
    """All wheels that lie in `folder`."""
    return configured(folder, f'kind = "wheel"\nfolder = "{folder}"')


def overlaid(folder: Path, repository: Path, base: Path, more: str = "") -> Compiler:
    """Commits of `repository` laid over the wheel `base`."""
    table = f'kind = "overlay"\nrepository = "{repository}"\npackage = "tinyc @ {base.as_uri()}"\n{more}\n'
    return configured(folder, table + '[provider.paths]\n"tinyc" = "tinyc"')


def built(folder: Path, repository: Path, command: list[str], more: str = "") -> Compiler:
    """Commits of `repository` built by a command."""
    words = ", ".join(f"'''{word}'''" for word in command)
    table = f'kind = "command"\nrepository = "{repository}"\ncommand = [{words}]\n{more}'
    return configured(folder, table, '[[requires]]\npackages = ["numpy", "onnx"]')
