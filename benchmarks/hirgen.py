"""HirGen beside HirGen_r (sections 5.1 and 5.5): distinct failures of as many graphs, guided and unguided.

`python -m benchmarks.hirgen validity [COUNT]`: strict graphs that onnx.checker or ONNX Runtime refuses.
`python -m benchmarks.hirgen functions [COUNT [BACKEND …]]`: graphs with functions beside the same graphs without.
`python -m benchmarks.hirgen strict|disruptive [GRAPHS [SEEDS [BACKEND …]]]`: as JSON lines, one a run, then the
Mann-Whitney U test. With `strict:datatype,edge` these criteria guide. The budget is a number of graphs and not time,
so that the load of the machine does not matter; processor time is told beside it. Failures of one operator are told
apart by their signature, others by what is complained of (`triage.recognising`).
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import onnx
from scipy.stats import mannwhitneyu  # type: ignore[import-untyped]

from bot.choices import rewriting
from fuzz import catalogue
from fuzz.campaign import Campaign, Policy
from fuzz.case import Case, Status, Target, Verdict
from fuzz.generators.hirgen import COUNT, NODES, Stream
from fuzz.generators.hirgen_disruptive import NODES as BROKEN_NODES
from fuzz.hirgen.coverage import USUAL, VIOLATION, Coverage
from fuzz.hirgen.workflow import DISRUPTIVE, PLAIN, STRICT, Settings
from fuzz.limits import Limits
from fuzz.operators.families import operators
from fuzz.runner import Runner
from triage.recognising import Recogniser
from triage.signing import Signer

SEED = 1000
BACKENDS = ("onnxruntime", "openvino", "tvm")


@dataclass(frozen=True)
class Run:
    """One campaign: what it covered, its results by status, and its failures, all and distinct, by when they came."""

    mode: str
    guided: bool
    seed: int
    graphs: int
    covered: dict[str, int]
    statuses: dict[str, int]
    failures: int
    distinct: list[str]
    found_at: list[int]
    cpu_seconds: float


def stream(mode: str, guided: bool, seed: int, graphs: int) -> tuple[Stream, Coverage]:
    """The cases of one campaign, and what they cover. `mode` may have criteria behind a colon."""
    mode, _, criteria = mode.partition(":")
    nodes = BROKEN_NODES if mode == DISRUPTIVE else NODES
    coverage = Coverage((VIOLATION,) if mode == DISRUPTIVE else criteria.split(",") if criteria else USUAL)
    settings = Settings(tuple(operators().values()), *nodes, mode=mode, guided=guided)
    return Stream("hirgen" if mode == STRICT else "hirgen_disruptive", settings, seed, coverage, count=graphs), coverage


def plain(cases: Stream) -> Iterator[Case]:
    """Graphs without their other forms: those are about functions, not about guidance."""
    return (each for each in cases if isinstance(each, Case) and each.origin.variant in (PLAIN, *_BROKEN))


_BROKEN = tuple(f"disruptive-{kind}" for kind in ("dtype", "shape", "rank", "attribute"))


def campaign(runner: Runner, targets: Sequence[Target], mode: str, guided: bool, seed: int, graphs: int) -> Run:
    """Run one campaign to its end."""
    cases, coverage = stream(mode, guided, seed, graphs)
    reference = catalogue.target("reference")
    recogniser, signer = Recogniser(runner, reference), Signer(runner)
    begun, statuses, keys, failures = time.process_time(), Counter[str](), dict[str, int](), 0
    for chunk in Campaign(runner, targets, reference, Policy()).run(plain(cases)):
        for verdict in (each for each in chunk if isinstance(each, Verdict)):
            statuses[verdict.status] += 1
            if verdict.failure is not None and verdict.status is not Status.SKIPPED:
                failures += 1
                key = recogniser.recognise(signer.describe(verdict.failure)).key
                keys.setdefault(key, int(verdict.case.origin.test))
    seconds = round(time.process_time() - begun, 1)
    return Run(
        mode,
        guided,
        seed,
        graphs,
        coverage.counts(),
        dict(statuses),
        failures,
        sorted(keys),
        sorted(keys.values()),
        seconds,
    )


def compare(mode: str, graphs: int, seeds: int, backends: Sequence[str]) -> None:
    """Guided and unguided campaigns in turns, then the test whether guided ones find more."""
    found: dict[bool, list[Run]] = {True: [], False: []}
    with Runner(Limits(30.0, 4096), 1) as runner:
        targets = [catalogue.target(name) for name in backends]
        for seed in range(SEED, SEED + seeds):
            for guided in found:
                run = campaign(runner, targets, mode, guided, seed, graphs)
                found[guided].append(run)
                print(json.dumps(asdict(run)), flush=True)
    for name, of in (("distinct failures", _distinct), ("items covered", _covered)):
        one, other = (list(map(of, found[guided])) for guided in (True, False))
        test = mannwhitneyu(one, other, alternative="greater")
        print(f"{mode}, {name}: guided {_spread(one)}, unguided {_spread(other)}; U = {test[0]:g}, p = {test[1]:.4f}")


def _distinct(run: Run) -> int:
    return len(run.distinct)


def _covered(run: Run) -> int:
    return sum(run.covered.values())


def _spread(numbers: Sequence[int]) -> str:
    return f"median {statistics.median(numbers):g} {sorted(numbers)}"


def validity(count: int) -> None:
    """Strict graphs that onnx.checker with strict shape inference or ONNX Runtime refuses; refusals are shown."""
    found = Counter[str]()
    cases = [case for case, _ in zip(plain(stream(STRICT, True, SEED, COUNT)[0]), range(count), strict=False)]
    for case in cases:
        onnx.checker.check_model(onnx.load_model_from_string(case.model), full_check=True)
    with Runner(Limits(30.0, 4096), 1) as runner:
        for case, outcome in zip(cases, runner.run_batch(cases, catalogue.target("onnxruntime")), strict=True):
            found[outcome.status] += 1
            if outcome.error and outcome.status is not Status.UNSUPPORTED:
                print(f"graph {case.origin.test}: {outcome.error.type}: {outcome.error.message[:300]}")
    print(f"{len(cases)} strict graphs, none refused by onnx.checker; ONNX Runtime: {dict(found)}")


def functions(count: int, backends: Sequence[str]) -> None:
    """Graphs in all their forms; on backends that rewrite cases themselves, in their own forms, too."""
    cases = (each for each in stream(STRICT, True, SEED, count)[0])
    targets = [catalogue.target(name) for name in backends]
    found = Counter[str]()
    with Runner(Limits(30.0, 4096), 1) as runner:
        for chunk in Campaign(runner, [*targets, *rewriting(targets)], catalogue.target("reference"), Policy()).run(
            cases
        ):
            for verdict in (each for each in chunk if isinstance(each, Verdict)):
                form = verdict.case.origin.test.partition("/")[2] or PLAIN
                found[f"{verdict.target.id} {form}: {verdict.status}"] += 1
                if verdict.failure is not None:
                    print(f"{verdict.case.origin.test} on {verdict.target.id}: {verdict.failure.detail:.300}")
    for what, number in sorted(found.items()):
        print(f"{what} {number}")


def main() -> None:
    """As the module says."""
    what, *rest = sys.argv[1:] or ["strict"]
    if what == "functions":
        functions(int(rest[0]) if rest else 100, rest[1:] or BACKENDS)
        return
    if what == "validity":
        validity(int(rest[0]) if rest else 1000)
        return
    graphs, seeds = (int(given) for given in (rest[:2] + ["100", "5"][len(rest) :]))
    compare(what, graphs, seeds, rest[2:] or BACKENDS)


if __name__ == "__main__":
    main()
