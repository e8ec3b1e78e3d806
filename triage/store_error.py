"""What the store raises: a file of its own, so that commands without a database start without SQL."""

from __future__ import annotations


class StoreError(Exception):
    """The database cannot do what was asked. The text is one line: what, where, how to mend it."""


class Unknown(StoreError):
    """An id that the database does not hold."""
