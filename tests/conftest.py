"""Fixtures that tests of several folders use."""

from tests.github.fixtures import github, github_world

__all__ = ["github", "github_world"]
