"""A maintainer's word for builds from forks, given for one commit or one wheel at a time (issue 5).

A commit that is on the configured branch has been accepted by somebody. Any other, as the head of a pull request, is
built only after a person has said so for that very commit, or the content of that wheel: what is pushed later needs
another word.
"""

from __future__ import annotations

from pathlib import Path

from fuzz.case import Revision
from triage.revisions import places, providers
from triage.revisions.config import Compiler
from triage.revisions.recipe import CannotBuild


def wanted(root: Path, compiler: Compiler, revision: Revision) -> bool:
    """Whether this revision must not be built before somebody has given a word for it.

    `root` is the folder that holds the environments. Raises git.GitError, CannotBuild.
    """
    provider = providers.load(compiler.provider)
    if not compiler.untrusted or not hasattr(provider, "foreign") or not provider.foreign(compiler, revision):
        return False
    return provider.word(compiler, revision) not in _given(root, compiler)


def give(root: Path, compiler: Compiler, revision: Revision) -> None:
    """Remember the word for this commit or wheel. Raises CannotBuild where there is nothing to give one for."""
    provider = providers.load(compiler.provider)
    if not hasattr(provider, "word"):
        raise CannotBuild(f"builds of {compiler.name} come from no forks: they need no word")
    given, word = _given(root, compiler), provider.word(compiler, revision)
    if word in given:
        return
    words, file = sorted({*given, word}), _file(root, compiler)
    file.parent.mkdir(parents=True, exist_ok=True)
    places.write(file, "".join(f"{word}\n" for word in words))


def _given(root: Path, compiler: Compiler) -> set[str]:
    file = _file(root, compiler)
    return set(file.read_text(encoding="utf-8").split()) if file.is_file() else set()


def _file(root: Path, compiler: Compiler) -> Path:
    return root / "approved" / f"{compiler.name}.txt"
