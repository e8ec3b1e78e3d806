"""What ordering 30,000 instances costs, and how early orders find planted faults.

`python -m benchmarks.prioritizers scale` and `python -m benchmarks.prioritizers planted INSTANCES.jsonl [STRATEGY …]`.
"""

from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.planted_faults import plant, plant_weaknesses, refusals
from fuzz import prioritize
from fuzz.ranking import metrics, reading
from fuzz.ranking.item import Call, Item, Tensor
from fuzz.ranking.replay import learning_order
from triage.comparing import LEARNING

SEEDS = 20
FAULTS = 15
_TYPES = ("float32", "float32", "float32", "float16", "int64", "bool", "complex64")


def synthetic(count: int, operators: int, seed: int) -> list[Item]:
    """Instances whose operators differ in parameters and, much, in how many instances they have."""
    rng = random.Random(seed)
    shares = [rng.paretovariate(1.0) for _ in range(operators)]
    names = rng.choices(range(operators), shares, k=count)
    return [_instance(at, name, rng) for at, name in enumerate(names)]


def _instance(at: int, name: int, rng: random.Random) -> Item:
    own = random.Random(name)
    parameters: dict[str, object] = {
        f"t{n}": Tensor(rng.choice(_TYPES), tuple(rng.choice((0, 1, 2, 3, 5, 8)) for _ in range(rng.randrange(5))))
        for n in range(own.randrange(1, 4))
    }
    for n in range(own.randrange(8)):
        draw = own.choice((_whole, _text, _list, _real))
        if rng.random() < 0.6:
            parameters[f"p{n}"] = draw(rng)
    return Item(at, (Call(f"operator{name}", parameters),), f"operator{name} {parameters}")


def _whole(rng: random.Random) -> int:
    return rng.randrange(-3, 6)


def _text(rng: random.Random) -> str:
    return rng.choice(("none", "mean", "sum", "linear", "cubic"))


def _list(rng: random.Random) -> list[int]:
    return [rng.randrange(-1, 4) for _ in range(rng.randrange(4))]


def _real(rng: random.Random) -> float:
    return rng.choice((0.0, 1.0, -1.0, 0.5, 1e-5))


def scale() -> None:
    """CPU seconds of every strategy for 30,000 instances, spread over 500 operators and all of one."""
    for operators in (500, 1):
        items, tested = synthetic(30_000, operators, 0), synthetic(2_000, operators, 1)
        print(f"30,000 instances, operators: {operators}")
        for name in prioritize.names():
            order = prioritize.load(name)
            started = time.process_time()
            assert sorted(order(items, tested, 0)) == list(range(len(items)))
            print(f"  {name:20} {time.process_time() - started:6.1f} s", flush=True)


def planted(items: Sequence[Item], names: Sequence[str]) -> None:
    """The mean APFD of strategies over planted sets of faults, one a seed: lone ones, and weaknesses of compilers."""
    for title, planting in (("lone faults", plant), ("weaknesses of several operators", plant_weaknesses)):
        worlds = [_world(items, planting(items, FAULTS, seed), seed) for seed in range(SEEDS)]
        print(f"{title}: APFD over {SEEDS} sets")
        for name in names:
            found = [
                metrics.apfd(_order(items, name, seed, bugs, refused), bugs)
                for seed, (bugs, refused) in enumerate(worlds)
            ]
            print(f"  {name:20} {statistics.mean(found):.3f} ± {statistics.stdev(found):.3f}", flush=True)


def _world(items: Sequence[Item], faults: dict[str, list[int]], seed: int) -> tuple[dict[str, list[int]], list[bool]]:
    """The faults that a compiler shows which refuses some of the tests, and which those are."""
    refused = refusals(items, seed)
    shown = {name: [at for at in tests if not refused[at]] for name, tests in faults.items()}
    return {name: tests for name, tests in shown.items() if tests}, refused


def _order(items: Sequence[Item], name: str, seed: int, bugs: metrics.Bugs, refused: Sequence[bool]) -> list[int]:
    if name == LEARNING:
        return learning_order(items, (), seed, bugs, refused)
    return prioritize.load(name)(items, (), seed)


if __name__ == "__main__":
    if sys.argv[1:2] == ["planted"]:
        planted(reading.items(Path(sys.argv[2])), sys.argv[3:] or [*prioritize.names(), LEARNING])
    else:
        scale()
