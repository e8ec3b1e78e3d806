"""What a commit that landed is compared with: what was there before, else the newest ancestor that was tested.

Commits whose suite did not come to its end count as not tested: what they broke is nobody's bug yet, and is found only
in comparison with a commit before them.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator

import structlog

from bot import baseline
from bot.checks import building
from bot.checks.building import NotYet
from bot.failures import Refusal
from fuzz.case import Revision
from fuzz.runner import Runner
from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.environments import Untestable
from triage.revisions.git import GitError, Repository
from triage.suite import memory

log = structlog.get_logger()
#: Tested ancestors that are tried.
_TRIED = 3


def find(runner: Runner, compiler: Compiler, head: Revision, named: str, ended: Collection[str]) -> Revision | None:
    """The build before `head`, ready to run; `named` is the commit that the push replaced ("": none).

    `ended` are commits whose suite has come to its end. Where there is no other, `named` is taken though it is none of
    them: it is where the bot began to watch. Raises Untestable where the trouble of a build passes.
    """
    for name in _candidates(compiler, head, named, ended):
        against = baseline.find(compiler, name, head)
        if against.revision is None:
            log.info("not_compared", compiler=compiler.name, base=name, why=against.why)
            continue
        try:
            building.accept(compiler, against.revision)
            building.ensure(runner, compiler, against.revision)
        except (NotYet, Untestable, Refusal, GitError) as problem:
            if isinstance(problem, Untestable) and problem.passing:
                raise
            log.info("not_compared", compiler=compiler.name, base=name, why=str(problem))
            continue
        return against.revision
    return None


def _candidates(compiler: Compiler, head: Revision, named: str, ended: Collection[str]) -> Iterator[str]:
    """Names of builds, the best first."""
    # A suite also ends where a commit cannot be tested; a gate sees commits, too, but what it finds becomes no bug.
    tested = memory.recall(compiler.name).keys() & set(ended)
    if named in tested:
        yield named
    older = (name for name in _older(compiler, head) if name in tested and name != named)
    yield from itertools.islice(older, _TRIED)
    if named and named not in tested:
        yield named


def _older(compiler: Compiler, head: Revision) -> Iterator[str]:
    if head.commit and "repository" in compiler.settings:
        history = Repository(compiler.path("repository")).history(head.commit)
        yield from (commit.id for commit in reversed(history) if commit.id != head.commit)
        return
    names = [revision.version for revision in listing.revisions(compiler)]
    yield from reversed(names[: names.index(head.version)] if head.version in names else names)
