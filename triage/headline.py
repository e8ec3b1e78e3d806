"""Which of the lines around a trace say what failed: the words of a failure that brought no message. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: Lines of what was said that count.
_MOST = 12
#: Words with which a program announces that it fails, in any tool.
_ANNOUNCING = re.compile(
    r"(?i:\b(?:errors?|fatal|exception|assert(?:ion)?|checks?|failed|failure|fails|abort(?:ed)?|cannot|can't|could not"
    r"|unable|(?:un|not )supported|not implemented|unimplemented|invalid|illegal|unexpected|mismatch\w*"
    r"|segmentation|panicked|out of (?:memory|range|bounds)|overflow|unhandled|uncaught|timed out|killed"
    r"|terminate called|signal)\b)"
    r"|\w(?:Error|Exception|Failure)\b|\bSIG[A-Z]{3,4}\b|^what\(\):"
)


def announces(text: str) -> bool:
    """Whether a text says that something fails."""
    return _ANNOUNCING.search(text) is not None


def headline(lines: Sequence[str], final: int = -1) -> str:
    """What was said: the lines from `final` on, where an exception's own line is known, else from the first one on that
    announces a failure; all where none does."""
    start = final if final >= 0 else next((at for at, line in enumerate(lines) if announces(line)), 0)
    return "\n".join(lines[start : start + _MOST])
