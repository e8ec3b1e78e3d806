"""Strategies of graph-based fuzzing on real compilers (Table III): what each covers and finds with so many models."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fuzz.campaign import Campaign, Policy
from fuzz.case import FAILING, Status, Target, Verdict
from fuzz.generators.mcts import Stream
from fuzz.graphs.blocks import Corpus
from fuzz.graphs.workflow import GRAPHS, Fuzzer, Settings
from fuzz.runner import Runner
from triage.recognising import Recognised, Recogniser
from triage.signing import Signer


@dataclass(frozen=True)
class Strategy:
    """A row of the table: graph models, whether mutations act, and the block chooser."""

    graphs: tuple[str, ...]
    mutated: bool
    chooser: str

    @property
    def name(self) -> str:
        """As the paper writes it."""
        graphs = " and ".join(graph.upper() for graph in reversed(self.graphs))
        return f"{graphs}, {'mutations' if self.mutated else 'no mutations'}, {self.chooser}"


#: The rows of Table III, in its order.
TABLE_III = (
    Strategy(GRAPHS, True, "random"),
    Strategy(("ws",), False, "mcts"),
    Strategy(("rn",), False, "mcts"),
    Strategy(GRAPHS, False, "mcts"),
    Strategy(GRAPHS, True, "mcts"),
)


@dataclass(frozen=True)
class Trial:
    """What one strategy did with one seed.

    `metrics` are those of the operator-level coverage; `keys` tell deduplicated failures apart, `failures` are all;
    `statuses` count results (pairs of model and target); `seconds` go from the first model to the last verdict.
    """

    metrics: dict[str, float]
    keys: frozenset[str]
    failures: int
    statuses: dict[str, int]
    seconds: float


@dataclass(frozen=True)
class Bench:
    """Where strategies are compared: compilers, their reference, the corpus, and how many models each makes."""

    runner: Runner
    targets: Sequence[Target]
    reference: Target
    corpus: Corpus
    models: int

    def run(self, strategy: Strategy, count: int, seed: int) -> Trial:
        """Models of `count` blocks. What they do is told to the chooser as it comes, a known failure not at all."""
        settings = Settings(count, count, strategy.graphs, strategy.mutated, strategy.chooser)
        fuzzer = Fuzzer(self.corpus, settings, seed)
        started = time.monotonic()
        recogniser, signer = Recogniser(self.runner, self.reference), Signer(self.runner)
        stream = Stream(fuzzer, seed, self.models)
        statuses: Counter[str] = Counter()
        keys: list[str] = []
        campaign = Campaign(self.runner, self.targets, self.reference, Policy())
        verdicts = (each for chunk in campaign.run(stream) for each in chunk if isinstance(each, Verdict))
        for verdict in verdicts:
            statuses[verdict.status] += 1
            found = Recognised("", ())
            if verdict.failure is not None and verdict.status in FAILING:
                found = recogniser.recognise(signer.describe(verdict.failure))
                keys.append(found.key)
            stream.observe(verdict.case.id, verdict.status, found.key, found.operators)
        metrics = fuzzer.coverage.metrics()
        return Trial(metrics, frozenset(keys), len(keys), dict(statuses), time.monotonic() - started)


def invalid(trials: Sequence[Trial]) -> int:
    """How many models of the trials the reference rejects."""
    return sum(trial.statuses.get(Status.INVALID, 0) for trial in trials)
