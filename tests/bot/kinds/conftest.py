"""The fixture `tiny_shop` of the tests of issues' lives."""

from tests.bot.life.conftest import tiny_shop

__all__ = ["tiny_shop"]
