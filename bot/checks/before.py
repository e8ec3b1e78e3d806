"""What a commit that landed is compared with: what was there before, else the newest ancestor that was tested."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

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


def find(runner: Runner, compiler: Compiler, head: Revision, named: str) -> Revision | None:
    """The build before `head`, ready to run; `named` is the commit that the push replaced ("": none)."""
    for name in itertools.chain([named] if named else [], _tested(compiler, head)):
        against = baseline.find(compiler, name, head)
        if against.revision is None:
            log.info("not_compared", compiler=compiler.name, base=name, why=against.why)
            continue
        try:
            building.accept(compiler, against.revision)
            building.ensure(runner, compiler, against.revision)
        except (NotYet, Untestable, Refusal, GitError) as problem:
            log.info("not_compared", compiler=compiler.name, base=name, why=str(problem))
            continue
        return against.revision
    return None


def _tested(compiler: Compiler, head: Revision) -> Iterator[str]:
    """Older builds on which a suite has run, the newest first."""
    seen = memory.recall(compiler.name).keys()
    older = (name for name in _older(compiler, head) if name in seen)
    return itertools.islice(older, _TRIED)


def _older(compiler: Compiler, head: Revision) -> Iterator[str]:
    if head.commit and "repository" in compiler.settings:
        history = Repository(compiler.path("repository")).history(head.commit)
        yield from (commit.id for commit in reversed(history) if commit.id != head.commit)
        return
    names = [revision.version for revision in listing.revisions(compiler)]
    yield from reversed(names[: names.index(head.version)] if head.version in names else names)
