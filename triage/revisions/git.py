"""What is asked of a git repository. Its content is data: nothing of it is executed, no hook, no filter of its own."""

from __future__ import annotations

import os
import subprocess
import tarfile
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from triage.revisions.unpacking import unpack

_SECONDS = 300.0
_FETCH_SECONDS = 900.0
_FIELDS = "%H%x00%P%x00%cI"


class GitError(RuntimeError):
    """git cannot answer: no such repository, no such commit; the message says which."""


@dataclass(frozen=True)
class Commit:
    """One commit: full hash, first parent ("" for the first commit) and date (ISO 8601)."""

    id: str
    parent: str
    date: str


@dataclass(frozen=True)
class Repository:
    """A local repository, bare or with a work tree."""

    folder: Path

    def resolve(self, name: str) -> Commit | None:
        """The commit that `name` (a hash or its beginning, a tag, a branch) stands for, None when there is none."""
        if name.startswith("-"):
            return None
        try:
            return _commit(self._run("log", "-1", f"--format={_FIELDS}", f"{name}^{{commit}}", "--"))
        except GitError:
            return None

    def history(self, branch: str, since: str = "", beside: str = "") -> list[Commit]:
        """The commits of a branch along first parents, oldest first, without those that `since` or `beside` has."""
        left_out = [f"^{each}" for each in (since, beside) if each]
        told = self._run("log", "--first-parent", "--reverse", f"--format={_FIELDS}", branch, *left_out, "--")
        return [_commit(line) for line in told.splitlines()]

    def parents(self, commit: str) -> list[str]:
        """The hashes of a commit's parents; of a merge the branch that took first, then those that it took in."""
        return self._run("log", "-1", "--format=%P", commit, "--").split()

    def brought_by(self, branch: str, commit: str) -> str:
        """The commit along a branch's first parents with which this one came: itself, or a merge; "" if none did."""
        along = self._run("rev-list", "--first-parent", f"{commit}..{branch}", "--").split()
        after = set(self._run("rev-list", "--ancestry-path", f"{commit}..{branch}", "--").split())
        merges = [each for each in along if each in after]
        return merges[-1] if merges else ""

    def merge_base(self, old: str, new: str) -> str:
        """The hash of the newest commit that both have in their history, "" where they share none. Raises GitError."""
        return self._run("merge-base", old, new, fine=(0, 1)).strip()

    def contains(self, branch: str, commit: str) -> bool:
        """Whether a commit is on a branch. Raises GitError where there is no such branch."""
        told = self._run("rev-list", "--max-count=1", commit, f"^{branch}", "--")
        return not told.strip()

    def tree(self, commit: str, path: str) -> str:
        """The hash of what lies at `path` in a commit, "" where nothing does."""
        try:
            return self._run("rev-parse", "--verify", "--quiet", f"{commit}:{path}").strip()
        except GitError:
            return ""

    def changed(self, old: str, new: str, *paths: str) -> list[str]:
        """The files below `paths` (all without) that differ between two commits."""
        told = self._run("diff", "--name-only", "--no-renames", "--no-ext-diff", "-z", old, new, "--", *paths)
        return [name for name in told.split("\0") if name]

    def difference(self, old: str, new: str, path: str) -> str:
        """The unified difference of one file, without context lines."""
        return self._run("diff", "--unified=0", "--no-ext-diff", "--no-textconv", old, new, "--", path)

    def text(self, commit: str, path: str) -> str:
        """The text of one file in a commit. Raises GitError."""
        return self._run("show", "--no-textconv", f"{commit}:{path}")

    def export(self, commit: str, path: str, target: Path) -> None:
        """Write what lies at `path` (everything: "") in a commit into `target`, below `path` there, too.

        Links that lead out are refused. Attributes count from `path` on: what a commit says elsewhere does not change
        what comes of the same tree. Raises GitError.
        """
        target.mkdir(parents=True, exist_ok=True)
        if path and self._run("cat-file", "-t", f"{commit}:{path}").strip() == "blob":
            return self._write(commit, path, target / path)
        below = [f"--prefix={path.strip('/')}/", f"{commit}:{path}"] if path else [commit]
        command = ["git", "-C", str(self.folder), "archive", "--format=tar", *below]
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=_environment()) as process:
            assert process.stdout is not None and process.stderr is not None
            try:
                with tarfile.open(fileobj=process.stdout, mode="r|") as archive:
                    unpack(archive, target)
            except tarfile.TarError as error:
                process.kill()
                said = process.stderr.read().decode(errors="replace").strip()
                raise GitError(f"{path or 'the tree'} of {commit[:12]} cannot be read: {said or error}") from error

    def _write(self, commit: str, path: str, file: Path) -> None:
        """One file, as it is kept: a link is one that holds its goal's name."""
        file.parent.mkdir(parents=True, exist_ok=True)
        if self._run("ls-tree", commit, "--", path).startswith("120000"):
            raise GitError(f"{path} of {commit[:12]} is a link; files alone can be laid over a package")
        with file.open("wb") as out:
            out.write(self._bytes("cat-file", "blob", f"{commit}:{path}"))

    def remotes(self) -> list[str]:
        """The names of the repositories that this one knows."""
        return self._run("remote").split()

    def bare(self) -> bool:
        """Whether nothing is checked out here."""
        return self._run("rev-parse", "--is-bare-repository").strip() == "true"

    def fetch(self, remote: str, *wanted: str) -> None:
        """Take what is `wanted` (hashes, or what git calls refspecs) from a remote. Raises GitError.

        Only objects and the named refs come: no tags, no submodules, and no hook runs.
        """
        if remote.startswith("-") or any(each.startswith("-") for each in wanted):
            raise GitError(f"{self.folder}: nothing that can be fetched begins with a dash")
        quiet = ("-c", "core.hooksPath=/dev/null", "-c", "protocol.ext.allow=never")
        options = ("--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head", "--no-auto-maintenance")
        self._run(*quiet, "fetch", *options, remote, *wanted, seconds=_FETCH_SECONDS)

    def _run(self, *arguments: str, fine: Collection[int] = (0,), seconds: float = _SECONDS) -> str:
        """What git prints. Raises GitError where it ends with a status that is not `fine`."""
        return self._bytes(*arguments, fine=fine, seconds=seconds).decode(errors="replace")

    def _bytes(self, *arguments: str, fine: Collection[int] = (0,), seconds: float = _SECONDS) -> bytes:
        command = ["git", "-C", str(self.folder), "--no-pager", *arguments]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                env=_environment(),
                timeout=seconds,
                check=False,
                stdin=subprocess.DEVNULL,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitError(f"git does not answer in {self.folder}: {error}") from error
        if done.returncode not in fine:
            said = done.stderr.decode(errors="replace").strip().splitlines()
            raise GitError(f"{self.folder}: {said[-1] if said else 'git failed'}")
        return done.stdout


def _commit(line: str) -> Commit:
    commit, parents, date = line.strip().split("\0")
    return Commit(commit, parents.split(" ")[0], date)


def _environment() -> dict[str, str]:
    """No settings of the user's or the system's: they may name programs to run."""
    quiet = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_TERMINAL_PROMPT": "0"}
    owned = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "LANG": "C.UTF-8", **quiet, **owned}
