"""Nights of campaigns in fast motion, with a compiler that costs nothing: is memory flat, how does the database grow?

Run: ``python -m benchmarks.endurance [--minutes N] [--cases N] [--campaigns N]``. Campaigns follow each other on one
database, each of new cases, and each ends with the pruning that the bot does. One case in 1,000 fails. Each takes its
share of the minutes, or ends sooner with its share of the cases. Shown are the memory of this process and of everything
below it, and the size of the database, as each campaign ends; at the end the growth of each for a million results.
"""

from __future__ import annotations

import argparse
import itertools
import os
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import Case, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.worker import descendants
from triage import pruning
from triage.hunt import hunt
from triage.store import Store, open_store

COMPILER = str(Path(__file__).with_name("_instant.py"))
_MB = 1 << 20


@dataclass(frozen=True)
class Moment:
    """How it stood after a campaign: results so far, MB of this process and of those below it, MB of the database."""

    results: int
    own: float
    below: float
    database: float


def cases(seed: int) -> Iterator[Case]:
    """Models of one operator with ever new inputs, of which one in 1,000 is computed wrongly."""
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8).SerializeToString()
    rng = np.random.default_rng(seed)
    for at in itertools.count():
        yield Case("onnx", model, {"x": rng.standard_normal(3).astype(np.float32)}, Origin("bench", str(at), seed=seed))


def campaign(store: Store, runner: Runner, seed: int, seconds: float, number: int | None) -> int:
    """One campaign of so many seconds or so many cases, and the pruning after it; how many results it had."""
    begun = store.begin_campaign({"seed": seed})
    target, reference = catalogue.target(COMPILER, {"wrong": "seldom"}), catalogue.target("reference")
    policy = Policy(deadline=time.monotonic() + seconds)
    hunt(store, begun, itertools.islice(cases(seed), number), [target], reference, runner, policy)
    store.finish_campaign(begun.id)
    done = sum(store.counts(begun.id).statuses.values())
    pruning.prune(store)
    return done


def moment(results: int, place: Path) -> Moment:
    """How it stands now."""
    database = sum(path.stat().st_size for path in place.parent.glob(f"{place.name}*"))
    below = sum(_resident(pid) for pid in descendants(os.getpid()))
    return Moment(results, _resident(os.getpid()), below, database / _MB)


def _resident(pid: int) -> float:
    try:
        pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / _MB


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=10.0)
    parser.add_argument("--campaigns", type=int, default=10)
    parser.add_argument("--cases", type=int, help="of all campaigns together; without it the time alone ends them")
    asked = parser.parse_args()
    moments: list[Moment] = []
    with tempfile.TemporaryDirectory() as folder, Runner(Limits(600, 2000), jobs=2) as runner:
        place = Path(folder, "hunt.db")
        with open_store(place, create=True) as store:
            share = None if asked.cases is None else asked.cases // asked.campaigns
            print("results, this process MB, below it MB, database MB; after each campaign", flush=True)
            for seed in range(asked.campaigns):
                done = moments[-1].results if moments else 0
                done += campaign(store, runner, seed, 60 * asked.minutes / asked.campaigns, share)
                moments.append(moment(done, place))
                last = moments[-1]
                print(f"{last.results:>9,} {last.own:>6.0f} {last.below:>6.0f} {last.database:>8.1f}", flush=True)
    middle, last = moments[len(moments) // 2], moments[-1]
    million = max(last.results - middle.results, 1) / 1e6
    print(
        f"in the second half, for a million results: this process {(last.own - middle.own) / million:+.0f} MB, "
        f"below it {(last.below - middle.below) / million:+.0f} MB, "
        f"database {(last.database - middle.database) / million:+.0f} MB"
    )


if __name__ == "__main__":
    main()
