"""How a call to GitHub can fail: three ways, each with another consequence."""

from __future__ import annotations


class GitHubError(Exception):
    """A call that did not succeed. The text says which and why, in one line, without secrets."""


class Refused(GitHubError):
    """GitHub will never take this: no permission, gone, invalid. `status` is the HTTP status, 0 if it was not asked."""

    def __init__(self, why: str, status: int = 0) -> None:
        super().__init__(why)
        self.status = status


class Later(GitHubError):
    """It surely did not happen, or does no harm twice. Try again after `seconds`."""

    def __init__(self, why: str, seconds: float) -> None:
        super().__init__(why)
        self.seconds = seconds


class Limited(Later):
    """A rate limit, GitHub's or ours: until `seconds` have passed, everything else is refused, too."""


class Unsure(GitHubError):
    """It may have happened: the answer is lost. Look before repeating it."""
