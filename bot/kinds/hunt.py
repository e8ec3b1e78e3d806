"""`hunt`: a scheduled campaign on the newest build of a project's compiler.

Payload: {sources, budget}. It gives way: when a gate or anything else that is more urgent waits, it ends early and
queues its rest. A campaign that was ended or killed is resumed; once its sources are exhausted, the next hunt draws
other inputs.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import UTC, datetime

import structlog

from bot import fetching, keys
from bot.checks import building
from bot.checks.building import NotYet
from bot.desk import Desk
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from bot.kinds import Answer, Done
from bot.settings import Project
from fuzz import catalogue, generators, registry
from fuzz.campaign import Policy
from fuzz.case import Revision, Target, options_from
from fuzz.instance_store import StoreError
from fuzz.ranking.stream import LEARNS
from fuzz.runner import Runner
from triage.hunt import Progress
from triage.hunt import hunt as run_hunt
from triage.ledger.records import NewWork, Work, WorkState
from triage.lifecycle import State
from triage.records import CampaignInfo
from triage.revisions import listing
from triage.revisions.config import Compiler
from triage.revisions.environments import Untestable
from triage.revisions.git import GitError
from triage.revisions.index import IndexUnreachable
from triage.sources import SourceError, Sources

HEAVY = True
#: Bugs of a hunt wait longer than those of a commit.
_TRIAGE = 60
#: Newest builds that are tried: the last one may not work.
_NEWEST = 3
#: Seconds between two looks for more urgent work; a rest shorter than the last is not worth another beginning.
_LOOK, _LEAST = 2.0, 5.0

log = structlog.get_logger()


def run(work: Work, desk: Desk) -> Answer:
    """Hunt within the budget, and queue the new bugs."""
    project = desk.project(work)
    compiler = desk.compiler(project)
    sources = tuple(work.payload.get("sources") or project.sources)
    budget = seconds(str(work.payload.get("budget", "1h")))
    fetching.update(compiler, project.fetch, project.branch)
    with desk.runner(project) as runner:
        build = _newest(runner, compiler)
        target = Target(compiler.backend, build, options_from(dict(compiler.options)))
        hunting = _Hunt(work, desk, runner, target, sources)
        return hunting.run(project, budget)


def _newest(runner: Runner, compiler: Compiler) -> Revision:
    """The newest build that can be tested. Raises Untestable, Refusal."""
    try:
        known = listing.revisions(compiler)
    except (IndexUnreachable, GitError) as error:
        raise Refusal(str(error), ExitCode.ENVIRONMENT) from error
    last: Exception | None = None
    for revision in list(reversed(known))[:_NEWEST]:
        try:
            return building.ensure(runner, compiler, revision)
        except (Untestable, NotYet) as problem:
            last = problem
            log.info("not_hunted_in", compiler=compiler.name, revision=revision.version, why=str(problem))
    raise last or Refusal(f"{compiler.name} has no revisions (its configuration: {compiler.source})")


@dataclass(frozen=True)
class _Yielding(Policy):
    """A budget that ends early when `gives_way` says so."""

    gives_way: list[bool] = field(default_factory=list, compare=False)

    def over(self) -> bool:
        """Whether the time has ended, or something else is more urgent."""
        return bool(self.gives_way) or super().over()


class _Hunt:
    def __init__(self, work: Work, desk: Desk, runner: Runner, target: Target, sources: Collection[str]) -> None:
        self.work, self.desk, self.runner, self.target, self.sources = work, desk, runner, target, sorted(sources)
        self._gives_way: list[bool] = []
        self._next_look = 0.0

    def run(self, project: Project, budget: float | None) -> Answer:
        started = time.monotonic()
        switch = f"hunt:{project.name}:{self.target.id}:{','.join(self.sources)}"
        seed = int(self.desk.ledger.switches.get(switch) or 0)
        campaign = self._campaign(seed)
        policy = _Yielding(
            deadline=None if budget is None else started + budget,
            gives_way=self._gives_way,
        )
        self.desk.say(f"hunting in {self.target.id}")
        complete = self._hunt(campaign, policy)
        if complete:
            self.desk.store.finish_campaign(campaign.id)
            self.desk.ledger.switches.set(switch, str(seed + 1), by="hunt")
        new = [bug for bug in self.desk.store.bugs([State.NEW], campaign_id=campaign.id) if bug.count]
        works = [NewWork("triage", keys.bug(bug.id), project.name, {"bug": bug.id}, _TRIAGE) for bug in new]
        spent = time.monotonic() - started
        if self._gives_way and not complete:
            works += self._rest(budget, spent)
        numbers = len(self.desk.store.done(campaign.id))
        gave_way = ", gave way to more urgent work" if self._gives_way else ""
        return Done(f"{numbers} results in {spent:.0f} s, {len(new)} new bugs{gave_way}", tuple(works))

    def _campaign(self, seed: int) -> CampaignInfo:
        parameters = {"targets": [self.target.id], "sources": self.sources, "seed": seed, "invalid": False}
        return self.desk.store.begin_campaign(parameters)

    def _sources(self, campaign: CampaignInfo) -> Sources:
        """The cases of all sources, in the order that learns; a file for each compiler keeps it. Raises Refusal."""
        beside = self.desk.store.beside(registry.backend(self.target.backend).name)
        try:
            return Sources(self.desk.store, campaign, self.sources, LEARNS, beside)
        except (generators.UnknownGenerator, SourceError, StoreError) as error:
            raise Refusal(f"sources: {error}") from error

    def _hunt(self, campaign: CampaignInfo, policy: _Yielding) -> bool:
        """Whether every case was run before the time for it ended. Raises Cancelled."""
        reference, cases = catalogue.target("reference"), self._sources(campaign)
        return run_hunt(
            *(self.desk.store, campaign, cases, [self.target], reference, self.runner, policy),
            self._look,
            cases.observe,
            cases.write,
            cases.recognise(self.runner, reference),
        )

    def _look(self, progress: Progress) -> None:
        """Say how it goes, and look whether something more urgent waits."""
        self.desk.say(f"{progress.results} results, {progress.failures} failures")
        if time.monotonic() >= self._next_look:
            self._next_look = time.monotonic() + _LOOK
            if self._urgent():
                self._gives_way.append(True)

    def _urgent(self) -> bool:
        now = datetime.now(UTC)
        waiting = self.desk.ledger.work.listed([WorkState.QUEUED])
        return any(
            each.priority < self.work.priority and (each.not_before is None or each.not_before <= now)
            for each in waiting
        )

    def _rest(self, budget: float | None, spent: float) -> list[NewWork]:
        """The hunt that goes on later, with what is left of the budget."""
        if budget is not None and budget - spent < _LEAST:
            return []
        left = "none" if budget is None else f"{budget - spent:.0f}s"
        payload = {**self.work.payload, "budget": left}
        return [NewWork("hunt", self.work.key, self.work.project, payload, self.work.priority)]
