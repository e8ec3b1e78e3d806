"""Who works while others do, and who works while nobody else does."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class Turns:
    """Many at once, or one alone. Whoever asks to be alone goes before those who come after it."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._working = 0
        self._asked = 0  # for being alone, those who are included

    @contextmanager
    def together(self) -> Iterator[None]:
        """Work beside others, once nobody is alone or waits to be."""
        with self._changed:
            self._changed.wait_for(lambda: not self._asked)
            self._working += 1
        try:
            yield
        finally:
            self._end()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Work while nobody else does, once those who are at it have ended."""
        with self._changed:
            self._asked += 1
            try:
                self._changed.wait_for(lambda: not self._working)
                self._working += 1
            except BaseException:
                self._asked -= 1
                self._changed.notify_all()
                raise
        try:
            yield
        finally:
            with self._changed:
                self._asked -= 1
            self._end()

    def _end(self) -> None:
        with self._changed:
            self._working -= 1
            self._changed.notify_all()
