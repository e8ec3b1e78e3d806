"""The keys of work: what counts as the same work (`NewWork.key`). Pure.

They begin with the project, not with the repository: two projects may watch one repository.
"""

from __future__ import annotations


def commit(project: str, name: str) -> str:
    """What is done once for a commit (its suite) or a release."""
    return f"{project}:{name}"


def gate(project: str, pull: int | None, commit: str) -> str:
    """The gate of a commit: of a pull request's head, or of a merge group."""
    return f"{project}@{commit}" if pull is None else f"{project}#{pull}@{commit}"


def gates(project: str, pull: int) -> str:
    """The gates of a pull request's heads, all of them (`Works.cancel`)."""
    return f"{project}#{pull}@*"


def bug(bug_id: int) -> str:
    """Work on one bug; also the stream of what is said about it."""
    return f"bug:{bug_id}"


def talk(repository: str, number: int) -> str:
    """The stream of answers in one issue or pull request: they do not wait for what a moderator holds back."""
    return f"talk:{repository}#{number}"
