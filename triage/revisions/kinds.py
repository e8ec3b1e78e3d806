"""What a setting of a provider may be. Each kind takes a value as TOML gives it; what it raises says what is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from packaging.version import InvalidVersion, Version

#: Raises ValueError for a value that is none; the message ends the sentence "it must be".
Kind = Callable[[object], None]


def _want(good: bool, what: str) -> None:
    if not good:
        raise ValueError(what)


def text(value: object) -> None:
    """Some text."""
    _want(isinstance(value, str) and bool(value.strip()), "a text")


def texts(value: object) -> None:
    """An array of texts, not empty."""
    good = isinstance(value, list) and bool(value) and all(isinstance(each, str) for each in value)
    _want(good, 'an array of texts, as ["make", "all"]')


def flag(value: object) -> None:
    """Yes or no."""
    _want(isinstance(value, bool), "true or false")


def positive(value: object) -> None:
    """A number above zero."""
    _want(isinstance(value, int | float) and not isinstance(value, bool) and value > 0, "a number above 0")


def whole(value: object) -> None:
    """A whole number, zero or more."""
    _want(isinstance(value, int) and not isinstance(value, bool) and value >= 0, "a whole number, 0 or more")


def version(value: object) -> None:
    """A version as the package index has them."""
    try:
        Version(value if isinstance(value, str) else "none")
    except InvalidVersion as error:
        raise ValueError('a version in quotes, as "1.2"') from error


def places(value: object) -> None:
    """A table from places in a repository to places below site-packages."""
    good = isinstance(value, dict) and bool(value) and all(isinstance(each, str) for each in value.values())
    _want(good, 'a table, as {"python/tvm" = "tvm"}')


def wheels(value: object) -> None:
    """An array of tables, each with a revision and a place."""
    good = isinstance(value, list) and all(_wheel(each) for each in value)
    _want(good, "an array of tables of texts: {revision, file or url}, and sha256 and date if known")


def _wheel(value: object) -> bool:
    if not isinstance(value, Mapping) or not value.keys() <= {"revision", "file", "url", "sha256", "date"}:
        return False
    placed = "revision" in value and ("file" in value) != ("url" in value)
    return placed and all(isinstance(each, str) for each in value.values())
