"""How often a bug shows: the weakest evidence, and only where a batch was sampled evenly. Pure.

A campaign that takes its operators in turn meets each bug about equally often. When that can be seen in a batch, two
messages at one place that each come as often as a whole bug are two bugs, and three that come so often only together
are one. In most batches bugs differ far more in number, and nothing follows.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

#: So many bugs of one message, of such a median size, show that sizes are even; as does their spread.
_LEAST_BUGS, _LEAST_SIZE, _WIDEST = 12, 12, 1.6
#: One bug is met this part of the usual at least; more than this multiple of it are several.
_PART, _SEVERAL = 0.55, 1.55


def usual(sizes: Sequence[int]) -> float:
    """The number of failures that a bug of this batch has, 0 where the bugs differ too much to tell.

    `sizes` are those of the bugs that are known to be one.
    """
    if len(sizes) < _LEAST_BUGS:
        return 0.0
    low, middle, high = statistics.quantiles(sizes, n=4)
    return middle if middle >= _LEAST_SIZE and high <= _WIDEST * low else 0.0


def several(parts: Sequence[int], usual_size: float) -> bool:
    """Whether parts of a place are bugs of their own, going by their sizes alone."""
    if not usual_size or sum(parts) <= _SEVERAL * usual_size:
        return False
    return min(parts) >= _PART * usual_size
