"""`hunt`: a scheduled campaign on the newest build of a project's compiler.

Payload: {sources, budget, rung?: when the schedule asked for it}; the key is the schedule's name. It gives way: when a
gate or anything else that is more urgent waits, or a gate or suite runs on this machine, it ends early and queues its
rest. So it does when it is paused. Its cases run here, or on other machines where its schedule says so: builds are made
and found here all the same. A campaign that was ended or killed is resumed; once its sources are exhausted, the
next hunt draws other inputs.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta

import structlog

from bot import fetching, keys, kinds
from bot.checks import building
from bot.checks.building import NotYet
from bot.desk import Desk
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from bot.kinds import Again, Answer, Done
from bot.settings import Project
from fuzz import catalogue, generators, registry
from fuzz.case import Revision, Target, options_from
from fuzz.instance_store import StoreError
from fuzz.ranking.stream import LEARNS
from fuzz.runner import Runner
from triage import campaign_control, pruning
from triage.hunt import Progress
from triage.hunt import hunt as run_hunt
from triage.ledger.records import NewWork, Work
from triage.lifecycle import State
from triage.obeying import Obeying, Watch
from triage.records import CampaignInfo, Wish
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
#: A rest shorter than so many seconds is not worth another beginning.
_LEAST = 5.0
#: Seconds until a hunt looks again whether it is still paused (`resume` wakes it), or still gives way.
_PAUSED, _YIELDS = 60.0, 5.0
#: Work that shall have the processors for itself: somebody waits for its answer.
_ALONE = ("gate", "suite")

log = structlog.get_logger()


def run(work: Work, desk: Desk) -> Answer:
    """Hunt within the budget, and queue the new bugs; not now where it is paused or gives way."""
    if why := desk.ledger.schedules.void(work):
        return Done(why)
    if desk.ledger.schedules.paused(work.key):
        return Again(_PAUSED, "paused")
    if ahead := _ahead(work, desk):
        return Again(_YIELDS, f"gives way to {ahead}")
    try:
        return _run(work, desk)
    except _Void as why:
        return Done(str(why))


class _Void(Exception):
    """The hunt was cancelled; the text is why."""


def _run(work: Work, desk: Desk) -> Answer:
    project = desk.project(work)
    compiler = desk.compiler(project)
    sources = tuple(work.payload.get("sources") or project.sources)
    budget = seconds(str(work.payload.get("budget", "1h")))
    fetching.update(compiler, project.fetch, project.branch)
    with ExitStack() as stack:
        runner = stack.enter_context(desk.runner(project))
        build = _newest(runner, compiler)
        target = Target(compiler.backend, build, options_from(dict(compiler.options)))
        if remote := desk.remote(project, work.key):
            runner = stack.enter_context(remote)
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


class _Hunt:
    def __init__(self, work: Work, desk: Desk, runner: Runner, target: Target, sources: Collection[str]) -> None:
        self.work, self.desk, self.runner, self.target, self.sources = work, desk, runner, target, sorted(sources)

    def run(self, project: Project, budget: float | None) -> Answer:
        started = time.monotonic()
        switch = f"hunt:{project.name}:{self.target.id}:{','.join(self.sources)}"
        campaign = self._ran() or self._campaign(int(self.desk.ledger.switches.get(switch) or 0))
        watch = Watch(self.desk.store, campaign.id, self._ahead)
        policy = Obeying(deadline=None if budget is None else started + budget, stops=watch)
        complete = campaign.finished is not None or self._hunt(campaign, policy)
        if complete:
            self.desk.store.finish_campaign(campaign.id)
            self.desk.ledger.switches.set(switch, str(int(campaign.parameters["seed"]) + 1), by="hunt")
        new = [bug for bug in self.desk.store.bugs([State.NEW], campaign_id=campaign.id) if bug.count]
        works = [NewWork("triage", keys.bug(bug.id), project.name, {"bug": bug.id}, _TRIAGE) for bug in new]
        spent = time.monotonic() - started
        if not complete and watch.reason not in ("", Wish.END):
            works += self._rest(budget, spent, paused=watch.reason == Wish.PAUSE)
        removed = sum(pruning.prune(self.desk.store).values())
        numbers = self.desk.store.counts(campaign.id)
        told = f"{sum(numbers.statuses.values())} results in {spent:.0f} s, {len(new)} new bugs, {removed} rows pruned"
        return Done(told + _why(watch.reason), tuple(works))

    def _ran(self) -> CampaignInfo | None:
        """The campaign of the same ring that had run all its cases when a process was killed before it could say so."""
        rung = str(self.work.payload.get("rung") or "")
        if not rung:
            return None  # nobody's schedule
        since = datetime.fromisoformat(rung)
        mine = (each for each in reversed(self.desk.store.campaigns()) if each.name == self.work.key and not each.mark)
        return next((each for each in mine if each.finished is not None and each.finished >= since), None)

    def _campaign(self, seed: int) -> CampaignInfo:
        """The campaign to go on with, or a new one. Raises _Void where it was cancelled meanwhile."""
        parameters = {"targets": [self.target.id], "sources": self.sources, "seed": seed, "invalid": False}
        campaign = self.desk.store.begin_campaign(parameters, name=self.work.key)
        # Whoever cancelled it before there was a campaign could not mark that.
        if why := self.desk.ledger.schedules.void(self.work):
            campaign_control.cancel(self.desk.store, str(campaign.id), by=campaign.marked_by)
            raise _Void(why)
        return campaign

    def _sources(self, campaign: CampaignInfo) -> Sources:
        """The cases of all sources, in the order that learns; a file for each compiler keeps it. Raises Refusal."""
        beside = self.desk.store.beside(registry.backend(self.target.backend).name)
        try:
            return Sources(self.desk.store, campaign, self.sources, LEARNS, beside)
        except (generators.UnknownGenerator, SourceError, StoreError) as error:
            raise Refusal(f"sources: {error}") from error

    def _hunt(self, campaign: CampaignInfo, policy: Obeying) -> bool:
        """Whether every case was run before the time for it ended. Raises Cancelled."""
        self.desk.say(f"hunting in {self.target.id}")
        with campaign_control.attended(self.desk.store, campaign.id):
            reference, cases = catalogue.target("reference"), self._sources(campaign)
            return run_hunt(
                *(self.desk.store, campaign, cases, [self.target], reference, self.runner, policy),
                self._look,
                cases.observe,
                cases.write,
                cases.recognise(self.runner, reference),
                cases.mean,
            )

    def _look(self, progress: Progress) -> None:
        self.desk.say(f"{progress.results} results, {progress.failures} failures")

    def _ahead(self) -> str:
        return _ahead(self.work, self.desk)

    def _rest(self, budget: float | None, spent: float, paused: bool) -> list[NewWork]:
        """The hunt that goes on later, with what is left of the budget."""
        if budget is not None and budget - spent < _LEAST:
            return []
        left = "none" if budget is None else f"{budget - spent:.0f}s"
        payload = {**self.work.payload, "budget": left}
        later = datetime.now(UTC) + timedelta(seconds=_PAUSED) if paused else None
        return [NewWork("hunt", self.work.key, self.work.project, payload, self.work.priority, later)]


def _ahead(work: Work, desk: Desk) -> str:
    """What this hunt gives way to, "" for nothing."""
    return desk.ledger.work.ahead(work, kinds.of_weight(heavy=True), _ALONE)


def _why(reason: str) -> str:
    """Why a hunt ended early."""
    if reason in ("", Wish.PAUSE, Wish.END):
        return f", {reason}" if reason else ""
    return f", gave way to more urgent work: {reason}"
