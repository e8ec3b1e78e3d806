"""Work that failed for a reason that passes by itself, or that whoever runs the bot will mend: it is tried again.

A full disk, a package index or a remote that does not answer, a key that is being changed, a configuration with a slip:
what was asked for must not be lost in such an hour.
"""

from __future__ import annotations

from bot.failures import ExitCode, Refusal
from bot.kinds import Again, Failed
from bot.settings import BadSettings
from fuzz.zygote import BackendUnavailable
from triage.ledger.records import Work
from triage.messages import normalise
from triage.revisions.config import BadConfiguration
from triage.revisions.environments import Untestable
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable
from triage.store import Conflict, StoreError, Unknown
from triage.store_decisions import Undecidable

#: Seconds before it is tried again, by attempts; the last one for all further ones.
PAUSES = (10.0, 60.0, 300.0, 900.0, 3600.0)
#: Attempts before it is given up: about a day.
MOST = 28


def later(work: Work, note: str) -> Again | Failed:
    """Try once more after a while; in the end give up."""
    note = " ".join(note.split())
    if work.attempts >= MOST:
        return Failed(f"given up after {MOST} attempts: {note}")
    # Attempts count kills, too: only trouble that an earlier attempt had already is given more time. Messages tell
    # seconds, ports and the like, which differ from one attempt to the next.
    same = normalise(work.note) == normalise(note)
    at = min(work.attempts, len(PAUSES)) - 1 if same else 0
    return Again(PAUSES[at], note, counted=True)


def passes(problem: Exception) -> bool:
    """Whether the same work may succeed later, as opposed to what will always be wrong about what it was asked."""
    if isinstance(problem, Refusal):
        mended = isinstance(problem, BadSettings) or isinstance(problem.__cause__, BadConfiguration)
        return mended or problem.code is ExitCode.ENVIRONMENT
    if isinstance(problem, Untestable):
        return problem.passing
    if isinstance(problem, StoreError):
        return not isinstance(problem, Unknown | Conflict | Undecidable)
    return isinstance(problem, GitError | IndexUnreachable | BackendUnavailable | OSError)
