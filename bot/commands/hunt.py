"""`graphwarden hunt`: from generated cases to drafted reports."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import Progress as Bar
from rich.progress import SpinnerColumn, TextColumn, TimeElapsedColumn

from bot import choices, hosts, issuefile
from bot.backlog import Backlog
from bot.commands.arguments import Json, Known, Memory, Options, Seconds, Seed, TlsCa, TlsCert, TlsKey
from bot.commands.bugs import print_table
from bot.console import err, out, print_json
from bot.durations import seconds
from bot.failures import Refusal
from bot.hosts import Tls
from fuzz import catalogue, generators, prioritize, sequences
from fuzz.campaign import Policy
from fuzz.case import Status, Target
from fuzz.hirgen.workflow import MODES, STRICT
from fuzz.instance_store import StoreError
from fuzz.limits import Limits
from fuzz.pools import Pool
from fuzz.ranking.stream import LEARNS
from fuzz.remote import RemotePool
from fuzz.runner import Runner
from fuzz.zygote import sweep_stale_homes
from triage import campaign_control, drafting, pipeline, related
from triage.hunt import Progress
from triage.hunt import hunt as run_hunt
from triage.obeying import Obeying, Pace
from triage.records import CampaignInfo
from triage.sources import SourceError, Sources
from triage.steps.desk import Desk
from triage.store import Store, open_store

#: The part of a budget, or of what is left of it, after which a hunt stops looking for more and works on what it has.
HUNTING_SHARE = 0.5
#: With so much of the budget left when all that was found is worked on, the hunt goes on.
WORTH_A_ROUND = 0.2


def hunt(
    backend: Annotated[
        list[str], typer.Option("--backend", help="A compiler to hunt in. Repeatable; all that work here without.")
    ] = [],  # noqa: B006
    source: Annotated[
        list[str],
        typer.Option(
            "--source", help="Where cases come from: a source or a file of instances. Repeatable; all sources without."
        ),
    ] = [],  # noqa: B006
    budget: Annotated[str, typer.Option("--budget", help="Time for the whole hunt: 90s, 3m, 1h30m, none.")] = "3m",
    option: Options = [],  # noqa: B006
    strategy: Annotated[
        str, typer.Option("--strategy", metavar="NAME", help=f"The order of cases: {', '.join(prioritize.names())}.")
    ] = LEARNS,
    mode: Annotated[
        str,
        typer.Option("--mode", metavar="NAME", help="Of the source hirgen: strict, or disruptive (invalid models)."),
    ] = "strict",
    drawn: Annotated[
        int, typer.Option("--sequences", min=0, help="So many drawn sequences of passes besides (tvm, openvino).")
    ] = 0,
    seed: Seed = 0,
    db: Annotated[
        str,
        typer.Option(
            "--db",
            metavar="FILE|URL",
            help="The database: an SQLite file, made if missing, or postgresql://…; resumed if interrupted.",
        ),
    ] = "hunt.db",
    output: Annotated[Path, typer.Option("--out", help="Folder of the drafted reports.")] = Path("reports"),
    invalid: Annotated[
        bool, typer.Option("--invalid", help="Show invalid models to the compilers too: they must refuse, not die.")
    ] = False,
    drafts: Annotated[bool, typer.Option("--drafts/--no-drafts", help="Reduce and draft what was found.")] = True,
    jobs: Annotated[int, typer.Option("--jobs", min=0, help="Workers at once; 0: one per core.")] = 0,
    timeout: Seconds = 30.0,
    memory: Memory = 4096,
    known: Known = [],  # noqa: B006
    executor: Annotated[
        str, typer.Option("--executor", metavar="URL", help="Run cases on other machines: dask://HOST:PORT.")
    ] = "",
    tag: Annotated[
        list[str],
        typer.Option("--tag", metavar="WORD", help="With --executor: only on hosts that offer it. Repeatable."),
    ] = [],  # noqa: B006
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    as_json: Json = False,
) -> None:
    """Hunt for bugs: run cases on compilers, confirm, group and reduce what fails, and draft the reports.

    The same command on the same database goes on where an interrupted or timed-out hunt stopped.
    """
    started = time.monotonic()
    total = seconds(budget)
    issues = issuefile.read(known)
    if drafts:
        _check_folder(output)
    source = _in_mode(source, mode)
    sources = source or generators.usual()
    _check_names(sources, strategy)
    sweep_stale_homes()
    limits = Limits(timeout, memory)
    pool = _pool(executor, limits, tag, Tls(tls_ca, tls_cert, tls_key), jobs)
    with Runner(limits, jobs or None, pool=pool) as runner, open_store(db, create=True) as store:
        targets = _targets(runner, backend, option, rewritten="hirgen" in sources and not option)
        targets += sequences.drawn(targets, drawn, seed)
        reference = catalogue.target("reference")
        campaign = _campaign(store, targets, source, seed, invalid)
        pace = Pace(store, campaign.id, started, total, _say)
        first = [_sources(store, campaign, sources, strategy)]  # what is wrong with them is told before there is a bar
        with _bar() as bar, campaign_control.attended(store, campaign.id):
            backlog = Backlog(store, pace, runner.jobs)

            def hunts(share: float) -> bool:
                cases = first.pop() if first else _sources(store, campaign, sources, strategy)
                stops = (lambda: pace.watch() or backlog.is_full()) if drafts else pace.watch
                policy = Obeying(invalid, pace.ends(share), stops)
                return _hunt(store, campaign, cases, targets, reference, runner, policy, bar)

            def triages() -> None:
                desk = Desk(store, runner, reference, output, pace.ends(), pace.watch)
                backlog.worked(lambda: _triage(desk, bar))

            if drafts:
                complete = _in_rounds(pace, hunts, triages, backlog.is_full)
            else:
                complete = pace.through(lambda: hunts(1.0)) or False
            if drafts:
                related.write(store, issues)
        document = _summary(store, campaign, time.monotonic() - started) | {"complete": complete}
        found, cancelled = store.bugs(campaign_id=campaign.id), pace.cancelled
        index = drafting.index(output, store.bugs()) if drafts else None
    if as_json:
        print_json(document)
        return
    print_table([bug for bug in found if bug.count])
    _say_numbers(document)
    if cancelled:
        out.print("the campaign was cancelled; what it found stays")
    elif not complete:
        out.print("not all cases were run in this time; the same command goes on")
    if index:
        out.print(f"reports: {index}", markup=False)


def _in_rounds(
    pace: Pace,
    hunts: Callable[[float], bool],
    triages: Callable[[], None],
    has_enough: Callable[[], bool] = lambda: False,
) -> bool:
    """Hunt, then work on what was found, as long as the budget goes; whether all cases were run.

    `hunts` gets the share of the budget at which it ends, at the latest, and says whether it came to the end of the
    cases. It ends earlier where `has_enough` says that what was found fills the rest of the budget.
    """
    share, complete = HUNTING_SHARE, False
    while not complete and share < 1.0 and not pace.cancelled:
        complete = pace.through(partial(hunts, share)) or False
        stopped = pace.spent() < share and not has_enough()  # by something else than the time or the work
        pace.through(triages)
        spent = pace.spent()
        share = 1.0 if stopped or spent > 1 - WORTH_A_ROUND else spent + (1 - spent) * HUNTING_SHARE
    return complete


def _say(text: str) -> None:
    err.print(f"graphwarden: {text}", markup=False, soft_wrap=True)


def _pool(url: str, limits: Limits, tags: Sequence[str], tls: Tls, jobs: int) -> Pool | None:
    """The machines that cases run on, None for this one. Raises Refusal."""
    if not url:
        if tags or tls.given:
            raise Refusal("--tag and --tls-… are said of other machines: add --executor dask://HOST:PORT")
        return None
    if jobs:
        raise Refusal("--jobs is said by each host: graphwarden host --jobs (leave it out beside --executor)")
    return RemotePool(hosts.connect(url, tls), limits, tags)


def _check_folder(output: Path) -> None:
    """Better now than at the first draft. Raises Refusal."""
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"--out {output}: {error.strerror}; name a folder that can be written") from error
    if not os.access(output, os.W_OK):
        raise Refusal(f"--out {output}: no permission to write; name another folder")


def _in_mode(sources: Sequence[str], mode: str) -> list[str]:
    """The sources in that mode, which is another source. Raises Refusal."""
    if mode == STRICT:
        return list(sources)
    if mode not in MODES or "hirgen" not in sources:
        raise Refusal(f"--mode {mode}: the source hirgen has the modes {' and '.join(MODES)}; add --source hirgen")
    return [f"{name}_{mode}" if name == "hirgen" else name for name in sources]


def _check_names(sources: Sequence[str], strategy: str) -> None:
    """Raises Refusal for a source or strategy that there is not."""
    try:
        for name in sources:
            generators.load(name)
        prioritize.load(strategy)
    except (generators.UnknownGenerator, prioritize.UnknownStrategy) as error:
        raise Refusal(str(error)) from error


def _sources(store: Store, campaign: CampaignInfo, names: Sequence[str], strategy: str) -> Sources:
    """The cases of all sources. Raises Refusal for a file that cannot be used."""
    try:
        return Sources(store, campaign, names, strategy)
    except (SourceError, StoreError) as error:
        raise Refusal(f"--source {error}") from error


def _targets(runner: Runner, names: Sequence[str], option: Sequence[str], *, rewritten: bool) -> list[Target]:
    """The targets that work here; a backend that was asked for by name and does not work is told.

    `rewritten`: backends that can rewrite cases do so, too.
    """
    wanted = choices.hunt_targets(names or choices.compilers(), option)
    wanted += choices.rewriting(wanted) if rewritten else []
    backends = list(dict.fromkeys(target.backend for target in wanted))
    probes = dict(zip(backends, choices.require(runner, backends), strict=True))
    for probe in probes.values():
        if not probe.available:
            err.print(f"graphwarden: {probe.name} is left out: {probe.reason}", markup=False, soft_wrap=True)
    working = [target for target in wanted if probes[target.backend].available]
    choices.require_devices(runner, working)
    return working


def _campaign(store: Store, targets: Sequence[Target], source: Sequence[str], seed: int, invalid: bool) -> CampaignInfo:
    parameters = {
        "targets": sorted(target.id for target in targets),
        "sources": sorted(source or generators.usual()),
        "seed": seed,
        "invalid": invalid,
    }
    campaign = store.begin_campaign(parameters)
    if campaign.resumed:
        _say(f"going on with campaign {campaign.id} where it stopped")
    return campaign


def _hunt(
    store: Store,
    campaign: CampaignInfo,
    cases: Sources,
    targets: Sequence[Target],
    reference: Target,
    runner: Runner,
    policy: Policy,
    bar: Bar,
) -> bool:
    """Whether every case was run before the time for it ended."""
    task = bar.add_task("hunting", total=None)

    def tell(progress: Progress) -> None:
        bar.update(task, description=f"hunting: {progress.results} results, {progress.failures} failures")

    key = cases.recognise(runner, reference)
    answers = (tell, cases.observe, cases.write, key, cases.mean)
    complete = run_hunt(store, campaign, cases, targets, reference, runner, policy, *answers)
    if complete:
        store.finish_campaign(campaign.id)
    bar.update(task, completed=1, total=1)
    return complete


def _triage(desk: Desk, bar: Bar) -> None:
    waiting = [bug for bug in desk.store.bugs() if bug.state in pipeline.STEPS]
    task = bar.add_task("confirming, reducing and drafting bugs", total=len(waiting))
    pipeline.advance_all(desk, waiting, lambda bug: bar.advance(task))


def _bar() -> Bar:
    return Bar(SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn(), console=err, transient=True)


def _summary(store: Store, campaign: CampaignInfo, elapsed: float) -> dict[str, Any]:
    counts = store.counts(campaign.id)
    number = counts.statuses.get
    return {
        "campaign": campaign.id,
        "cases": counts.cases,
        "passed": number(Status.OK, 0),
        "skipped": number(Status.SKIPPED, 0),
        "unsupported": number(Status.UNSUPPORTED, 0),
        "invalid": number(Status.INVALID, 0),
        "flaky": number(Status.FLAKY, 0),
        "failures": counts.failures,
        "classes": {str(told): number for told, number in counts.classes.items()},
        "bugs": counts.bugs,
        "drafts": counts.drafts,
        "seconds": round(elapsed, 1),
    }


def _say_numbers(document: dict[str, Any]) -> None:
    parts = [f"{document[key]} {key}" for key in ("passed", "skipped", "unsupported", "invalid", "flaky", "failures")]
    out.print(f"{document['cases']} cases; results by case and compiler: {', '.join(parts)}")
    out.print("by class: " + ", ".join(f"{number} {told}" for told, number in document["classes"].items()))
    out.print(f"{document['bugs']} bugs, {document['drafts']} drafts, {document['seconds']:.0f} s")
