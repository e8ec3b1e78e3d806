"""A maintainer's word for builds from forks, given for one commit at a time (issue 5).

A commit that is on the configured branch has been accepted by somebody. Any other, as the head of a pull request, is
built only after a person has said so for that very commit: what is pushed later needs another word.
"""

from __future__ import annotations

from pathlib import Path

from fuzz.case import Revision
from triage.revisions import places, providers
from triage.revisions.config import Compiler


def wanted(root: Path, compiler: Compiler, revision: Revision) -> bool:
    """Whether this revision must not be built before somebody has given a word for it. Raises git.GitError.

    `root` is the folder that holds the environments.
    """
    foreign = getattr(providers.load(compiler.provider), "foreign", None)
    if not compiler.untrusted or foreign is None or revision.commit in _given(root, compiler):
        return False
    return bool(foreign(compiler, revision))


def give(root: Path, compiler: Compiler, revision: Revision) -> None:
    """Remember the word for this commit."""
    file = _file(root, compiler)
    file.parent.mkdir(parents=True, exist_ok=True)
    places.write(file, "".join(f"{commit}\n" for commit in sorted({*_given(root, compiler), revision.commit})))


def _given(root: Path, compiler: Compiler) -> set[str]:
    file = _file(root, compiler)
    return set(file.read_text(encoding="utf-8").split()) if file.is_file() else set()


def _file(root: Path, compiler: Compiler) -> Path:
    return root / "approved" / f"{compiler.name}.txt"
