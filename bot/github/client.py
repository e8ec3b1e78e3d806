"""What the bot asks and says in one repository: every method is one request, or one list.

Methods raise `bot.github.errors`: Refused, Later, and those that create something Unsure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeVar
from urllib.parse import quote

from bot.github import shapes
from bot.github.errors import Refused
from bot.github.pace import Pace
from bot.github.shapes import CheckSeen, CommentSeen, Comparison, FileSeen, IssueSeen, PullSeen
from bot.github.wire import Wire, nothing

T = TypeVar("T")

#: Items that are looked through at most when the bot looks for something of its own.
OWN = 1000


class Client:
    """One repository (``owner/name``), seen by one identity. `login` tells under which name the bot writes."""

    def __init__(self, repository: str, wire: Wire, login: Callable[[], str]) -> None:
        self.repository = repository
        self._wire = wire
        self._login = login
        self._base = f"/repos/{repository}"

    @property
    def login(self) -> str:
        """The name under which the bot's texts appear."""
        return self._login()

    def keep(self, pace: Pace) -> None:
        """Count writes there from now on."""
        self._wire.pace = pace

    # Issues

    def issue(self, number: int) -> IssueSeen:
        """An issue or pull request."""
        return self._wire.get(f"{self._base}/issues/{number}", shapes.issue)

    def own_issues(self, since: datetime) -> Iterator[IssueSeen]:
        """Issues by the bot that changed since a time, the newest first."""
        listed = self._wire.pages(
            f"{self._base}/issues",
            shapes.issue,
            most=OWN,
            state="all",
            creator=self.login,
            since=_told(since),
            sort="created",
            direction="desc",
        )
        return (each for each in listed if not each.is_pull and each.author == self.login)

    def tracker(self, most: int, since: datetime | None = None) -> list[IssueSeen]:
        """The `most` issues that changed last, open and closed ones, without pull requests."""
        changed = {} if since is None else {"since": _told(since)}
        listed = self._wire.pages(
            f"{self._base}/issues",
            shapes.issue,
            most=most,
            state="all",
            sort="updated",
            direction="desc",
            **changed,
        )
        return [each for each in listed if not each.is_pull]

    def search(self, words: Sequence[str], most: int = 30) -> list[IssueSeen]:
        """Issues that hold all these words, by GitHub's index, which lags behind by minutes."""
        asked = " ".join(['"' + word.replace('"', " ") + '"' for word in words])
        query = f"repo:{self.repository} is:issue {asked}"
        return list(self._wire.pages("/search/issues", shapes.issue, most=most, items="items", q=query))

    def create_issue(self, title: str, body: str, labels: Sequence[str] = ()) -> IssueSeen:
        """Open an issue."""
        told = {"title": title, "body": body, "labels": list(labels)}
        return self._wire.write("POST", f"{self._base}/issues", told, shapes.issue)

    def set_state(self, number: int, *, open: bool, reason: str = "", duplicate_of: int | None = None) -> IssueSeen:
        """Close or reopen. `reason`: completed, not_planned, duplicate, reopened; `duplicate_of` is an issue's *id*."""
        told: dict[str, Any] = {"state": "open" if open else "closed"}
        if reason:
            told["state_reason"] = reason
        if duplicate_of is not None:
            told["duplicate_issue_id"] = duplicate_of
        return self._wire.write("PATCH", f"{self._base}/issues/{number}", told, shapes.issue)

    # Comments

    def own_comments(self, number: int, since: datetime | None) -> Iterator[CommentSeen]:
        """Comments by the bot in an issue that changed since a time (None: ever), the oldest first."""
        path = f"{self._base}/issues/{number}/comments"
        changed = {} if since is None else {"since": _told(since)}
        listed = self._wire.pages(path, shapes.comment, most=OWN, **changed)
        return (each for each in listed if each.author == self.login)

    def comment(self, number: int, body: str) -> CommentSeen:
        """Write a comment."""
        return self._wire.write("POST", f"{self._base}/issues/{number}/comments", {"body": body}, shapes.comment)

    def edit_comment(self, comment_id: int, body: str) -> CommentSeen:
        """Replace a comment's text."""
        return self._wire.write("PATCH", f"{self._base}/issues/comments/{comment_id}", {"body": body}, shapes.comment)

    # Labels

    def has_label(self, name: str) -> bool:
        """Whether the repository has a label."""
        return self._there(f"{self._base}/labels/{quote(name, safe='')}")

    def create_label(self, name: str, color: str, description: str = "") -> None:
        """Make a label; one that is there stays as it is. `color` is six hexadecimal digits."""
        told = {"name": name, "color": color, "description": description}
        try:
            self._wire.write("POST", f"{self._base}/labels", told, nothing)
        except Refused:
            if not self.has_label(name):
                raise

    def add_labels(self, number: int, names: Sequence[str]) -> None:
        """Put labels on an issue; those that it has stay."""
        self._wire.write("POST", f"{self._base}/issues/{number}/labels", {"labels": list(names)}, nothing)

    def remove_label(self, number: int, name: str) -> None:
        """Take a label off an issue, if it has it."""
        path = f"{self._base}/issues/{number}/labels/{quote(name, safe='')}"
        _unless_gone(lambda: self._wire.write("DELETE", path, None, nothing))

    # Check runs

    def create_check(self, told: Mapping[str, Any]) -> CheckSeen:
        """Begin a check run; `told` is the request's body."""
        return self._wire.write("POST", f"{self._base}/check-runs", told, shapes.check)

    def update_check(self, run_id: int, told: Mapping[str, Any]) -> CheckSeen:
        """Change a check run. Annotations are added to those that it has."""
        return self._wire.write("PATCH", f"{self._base}/check-runs/{run_id}", told, shapes.check)

    def check(self, run_id: int) -> CheckSeen:
        """A check run."""
        return self._wire.get(f"{self._base}/check-runs/{run_id}", shapes.check)

    def checks(self, ref: str, name: str) -> Iterator[CheckSeen]:
        """All check runs of a commit with a name."""
        return self._wire.pages(
            f"{self._base}/commits/{quote(ref, safe='')}/check-runs",
            shapes.check,
            most=OWN,
            items="check_runs",
            check_name=name,
            filter="all",
        )

    def annotations(self, run_id: int) -> list[Mapping[str, Any]]:
        """The annotations that a check run has."""
        return list(self._wire.pages(f"{self._base}/check-runs/{run_id}/annotations", dict, most=OWN))

    # Files, branches, commits

    def file(self, branch: str, path: str) -> FileSeen | None:
        """A file on a branch; None where file or branch are missing."""
        return self._or_none(f"{self._base}/contents/{quote(path)}", shapes.file, ref=branch)

    def put_file(self, branch: str, path: str, content_base64: str, message: str, replaces: str = "") -> FileSeen:
        """Write a file on a branch that exists; `replaces` is the blob's SHA where the file is there already."""
        told = {"branch": branch, "content": content_base64, "message": message}
        if replaces:
            told["sha"] = replaces
        return self._wire.write(
            "PUT", f"{self._base}/contents/{quote(path)}", told, lambda data: shapes.file(data["content"])
        )

    def branch_head(self, branch: str) -> str:
        """The commit that a branch points at, "" where there is no such branch."""
        return (
            self._or_none(f"{self._base}/git/ref/heads/{quote(branch)}", lambda data: str(data["object"]["sha"])) or ""
        )

    def create_branch(self, branch: str, commit: str) -> None:
        """Make a branch; one that is there stays as it is."""
        told = {"ref": f"refs/heads/{branch}", "sha": commit}
        try:
            self._wire.write("POST", f"{self._base}/git/refs", told, nothing)
        except Refused:
            if not self.branch_head(branch):
                raise

    def default_branch(self) -> str:
        """The name of the default branch."""
        return self._wire.get(self._base, lambda data: str(data["default_branch"]))

    def has_issues(self) -> bool:
        """Whether the repository has its issues switched on."""
        return self._wire.get(self._base, lambda data: bool(data["has_issues"]))

    def identifier(self) -> int:
        """GitHub's id of the repository, which it keeps under every name."""
        return self._wire.get(self._base, lambda data: int(data["id"]))

    def name(self) -> str:
        """What the repository is called now (``owner/name``): once renamed, it still answers to its old name."""
        return self._wire.get(self._base, lambda data: str(data["full_name"]))

    def pull(self, number: int) -> PullSeen:
        """A pull request."""
        return self._wire.get(f"{self._base}/pulls/{number}", shapes.pull)

    def pulls_of(self, commit: str) -> list[PullSeen]:
        """Pull requests that hold a commit, those that are merged, too."""
        return list(self._wire.pages(f"{self._base}/commits/{quote(commit, safe='')}/pulls", shapes.pull, most=100))

    def compare(self, base: str, head: str) -> Comparison:
        """How one commit stands to another; at most 250 commits and 300 files are told."""
        return self._wire.get(
            f"{self._base}/compare/{quote(base, safe='')}...{quote(head, safe='')}", shapes.comparison
        )

    # People and installations

    def reachable(self) -> list[str]:
        """The repositories (``owner/name``) that the App's installation here can reach; for the App only."""
        path = "/installation/repositories"
        return list(self._wire.pages(path, lambda data: str(data["full_name"]), most=OWN, items="repositories"))

    def permission(self, login: str) -> str:
        """What a person may do: admin, write, read or none (also for somebody unknown)."""
        path = f"{self._base}/collaborators/{quote(login, safe='')}/permission"
        return self._or_none(path, lambda data: str(data["permission"])) or "none"

    def _there(self, path: str) -> bool:
        return self._or_none(path, lambda data: True) or False

    def _or_none(self, path: str, read: Callable[[Any], T], **parameters: Any) -> T | None:
        try:
            return self._wire.get(path, read, **parameters)
        except Refused as error:
            if error.status == 404:
                return None
            raise


def _unless_gone(call: Callable[[], None]) -> None:
    try:
        call()
    except Refused as error:
        if error.status not in (404, 410):
            raise


def _told(moment: datetime) -> str:
    """A time as GitHub wants it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
