"""Whether a process dies at one place each time it is run: only then is the place the bug's.

A program that writes where it should not dies wherever that shows, in another function each time.
"""

from __future__ import annotations

from dataclasses import replace

from fuzz.case import Failure
from fuzz.judge import Judge
from triage import crash_site


def last_output(failure: Failure) -> str:
    """What native code printed before it failed, and where it died."""
    return failure.outcome.error.stderr if failure.outcome.error else ""


def steadily(judge: Judge, failure: Failure) -> str:
    """The last output of a failure, where a second fresh process dies at the same site; else ""."""
    mine = last_output(failure)
    if crash_site.site(mine) is None:
        return ""
    again = judge.examine(failure.case, failure.target).failure
    return mine if again and crash_site.same(mine, last_output(again), one_build=True) else ""


def unplaced(failure: Failure) -> Failure:
    """The failure without its native stack."""
    error = failure.outcome.error
    if error is None or next(crash_site.frames(error.stderr), None) is None:
        return failure
    bare = replace(error, stderr=crash_site.without_stack(error.stderr))
    return replace(failure, outcome=replace(failure.outcome, error=bare))
