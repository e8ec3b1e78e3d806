"""Fixtures that tests of several folders use."""

from tests.databases import database, postgres
from tests.github.fixtures import github, github_world

__all__ = ["database", "github", "github_world", "postgres"]
