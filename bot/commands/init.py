"""`graphwarden init`: a configuration to begin with."""

from __future__ import annotations

import json
import secrets
from pathlib import Path
from typing import Annotated

import typer
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from bot import builds, outputs, setting_types, settings
from bot.console import out
from bot.failures import Refusal
from fuzz.data import data_path

_SECRET_FILE, _KEY_FILE = "webhook-secret", "graphwarden.private-key.pem"


def init(
    repository: Annotated[
        str, typer.Option("--repository", metavar="OWNER/NAME", help="The repository to watch.")
    ] = "apache/tvm",
    compiler: Annotated[str, typer.Option("--compiler", help="The compiler that is built from it.")] = "tvm",
    file: Annotated[Path, typer.Option("--out", "-o", metavar="FILE", help="Where to write it.")] = Path(
        "graphwarden.toml"
    ),
    app_id: Annotated[
        int, typer.Option("--app-id", min=0, help="Of your GitHub App (its settings page shows it).")
    ] = 0,
) -> None:
    """Write a commented configuration for the bot, and a webhook secret beside it. Nothing is ever replaced."""
    outputs.check_file("--out", file)
    if file.exists():
        raise Refusal(f"{file}: is there already; remove it or name another file with --out")
    if not setting_types.REPOSITORY.fullmatch(repository):
        raise Refusal(f"--repository {repository!r}: repository: write it as owner/name")
    commits = _of_commits(compiler, file.absolute().parent)
    outputs.write("--out", file, _text(repository, compiler, app_id, commits))
    try:
        settings.load(file)
    except settings.BadSettings:
        file.unlink()  # what was asked for is not usable
        raise
    secret = file.parent / _SECRET_FILE
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(secrets.token_hex(32) + "\n", encoding="ascii")
    for line in _next_steps(file, secret):
        out.print(line, markup=False, soft_wrap=True)


def _of_commits(name: str, folder: Path) -> bool:
    """Whether commits of a compiler can be tested. Raises Refusal: whoever misspells one is told now."""
    try:
        return builds.compiler(settings.placed(name, folder)).provider != "release"
    except Refusal as problem:
        raise Refusal(f"--compiler {name!r}: {problem}") from problem


def _text(repository: str, compiler: str, app_id: int, commits: bool) -> str:
    environment = Environment(
        loader=FileSystemLoader(data_path().parent / "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        keep_trailing_newline=True,
        trim_blocks=True,
    )
    return environment.get_template("graphwarden.toml.j2").render(
        repository=repository,
        compiler=json.dumps(compiler, ensure_ascii=False),
        name=_name(compiler),
        commits=commits,
        app_id=app_id,
        key_file=_KEY_FILE,
        secret_file=_SECRET_FILE,
    )


def _name(compiler: str) -> str:
    """The project's name: the compiler's, as far as TOML can write it without quotes."""
    return "".join(letter if letter.isalnum() and letter.isascii() else "-" for letter in Path(compiler).stem) or "x"


def _next_steps(file: Path, secret: Path) -> list[str]:
    return [
        f"{file} is written; the webhook secret is in {secret}.",
        "Next:",
        "  1. make a GitHub App (docs/bot.md says with which permissions and events), give it that secret,",
        f"     put its private key beside as {_KEY_FILE} and its id into {file};",
        f"  2. graphwarden doctor --config {file}",
        f"  3. graphwarden serve --config {file}",
    ]
