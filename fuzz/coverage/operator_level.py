"""The operator-level coverage of graph-based fuzzing, of every operator and of a test set.

Luo et al., "Graph-based fuzz testing for deep learning inference engines", ICSE 2021, section III-B, formulas (1) to
(7): OTC, IDC, ODC, SEC, SPC and their weighted mean OLC, all between 0 and 1.

In-degrees are data flows: initializers (weights, axes, pads) do not count. Settings are the shapes of all inputs, the
attributes, and the values of small constant inputs, which in ONNX take the place of attributes.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fuzz.coverage.reading import Node

#: The metrics, in the order of their weights.
METRICS = ("OTC", "IDC", "ODC", "SEC", "SPC")
#: The expected maximum of settings of one operator (n_maxspc) in the paper's evaluation.
MOST_SETTINGS = 200
#: How fast the share of new settings follows the last nodes of an operator.
_FOLLOWING = 0.1


class UnusableWeights(ValueError):
    """Weights that give no mean."""


@dataclass(frozen=True)
class Degrees:
    """The in-degrees and out-degrees that an operator may have."""

    ins: frozenset[int]
    outs: frozenset[int]

    @classmethod
    def of(cls, ins: Collection[int], outs: Collection[int]) -> Degrees:
        """From any collections."""
        return cls(frozenset(ins), frozenset(outs))


@dataclass
class _Seen:
    """What occurred of one operator. No more settings are kept than count."""

    occurs: bool = False
    ins: set[int] = field(default_factory=set)
    outs: set[int] = field(default_factory=set)
    targets: set[str] = field(default_factory=set)
    settings: set[int] = field(default_factory=set)
    novelty: float = 1.0


class OperatorLevel:
    """Coverage that grows model by model. Memory is bounded by the corpus: of what is covered nothing more is kept."""

    def __init__(
        self,
        corpus: Mapping[str, Degrees],
        weights: Collection[float] = (1, 1, 1, 1, 1),
        most_settings: int = MOST_SETTINGS,
    ) -> None:
        """`weights` are those of `METRICS`, `most_settings` is n_maxspc. Raises UnusableWeights."""
        self._weights = tuple(weights)
        usable = len(self._weights) == len(METRICS) and all(0 <= each < math.inf for each in self._weights)
        if not usable or not sum(self._weights):
            raise UnusableWeights(f"weights must be {len(METRICS)} numbers from 0 on, not all 0; given {self._weights}")
        if most_settings < 1:
            raise UnusableWeights(f"the expected number of settings must be 1 or more; given {most_settings}")
        self._corpus, self._most = dict(corpus), most_settings
        self._seen = {name: _Seen() for name in corpus}
        self._of = {name: self._measured(name) for name in corpus}

    def add(self, nodes: Iterable[Node]) -> float:
        """Count one model; by how much the OLC of the test set grows by it. 0: it covers nothing new."""
        listed = list(nodes)
        # In the order of the model, so that sums are the same in every process.
        touched = dict.fromkeys(node.op_type for node in listed if node.op_type in self._corpus)
        before = sum(self._of[name]["OLC"] for name in touched)
        for node in listed:
            if node.op_type in touched:
                self._count(node, listed)
        self._of.update((name, self._measured(name)) for name in touched)
        return (sum(self._of[name]["OLC"] for name in touched) - before) / (len(self._corpus) or 1)

    def _count(self, node: Node, listed: list[Node]) -> None:
        seen, degrees = self._seen[node.op_type], self._corpus[node.op_type]
        seen.occurs = True
        seen.ins |= {node.flows} & degrees.ins
        seen.outs |= {len(node.targets)} & degrees.outs
        seen.targets |= {listed[at].op_type for at in node.targets} & self._corpus.keys()
        if len(seen.settings) < self._most:
            before = len(seen.settings)
            seen.settings.add(_key(node))
            seen.novelty += _FOLLOWING * (len(seen.settings) - before - seen.novelty)

    def _measured(self, name: str) -> dict[str, float]:
        seen, degrees = self._seen[name], self._corpus[name]
        found = {
            "OTC": float(seen.occurs),
            "IDC": len(seen.ins) / (len(degrees.ins) or 1),
            "ODC": len(seen.outs) / (len(degrees.outs) or 1),
            "SEC": len(seen.targets) / len(self._corpus),
            "SPC": len(seen.settings) / self._most,
        }
        return found | {"OLC": self._mean(found)}

    def _mean(self, found: Mapping[str, float]) -> float:
        weighted = [weight * found[name] for name, weight in zip(METRICS, self._weights, strict=True)]
        return sum(weighted) / sum(self._weights)

    def operator(self, name: str) -> Mapping[str, float]:
        """The metrics of one operator of the corpus, OLC the last (formula 6)."""
        return self._of[name]

    def operators(self) -> dict[str, Mapping[str, float]]:
        """The metrics of every operator of the corpus, by name."""
        return dict(self._of)

    def metrics(self) -> dict[str, float]:
        """The metrics of the test set (formulas 1 to 5 and 7); of an empty corpus all are 0."""
        count = len(self._corpus) or 1
        found = {name: sum(each[name] for each in self._of.values()) / count for name in METRICS}
        return found | {"OLC": self._mean(found)}

    def lacks_in(self, name: str, degree: int) -> bool:
        """Whether the in-degree would be new to the operator."""
        return degree in self._corpus[name].ins and degree not in self._seen[name].ins

    def lacks_out(self, name: str, degree: int) -> bool:
        """Whether the out-degree would be new to the operator."""
        return degree in self._corpus[name].outs and degree not in self._seen[name].outs

    def lacks_edge(self, source: str, target: str) -> bool:
        """Whether an edge from `source` to `target` would be new."""
        return source in self._corpus and target in self._corpus and target not in self._seen[source].targets

    def lacks_settings(self, name: str) -> float:
        """What one more node of the operator may add to its OTC and SPC.

        That is the share of the last nodes whose settings were new, and more for an operator that lacks more: of
        those that would all add the same, one that was covered less.
        """
        seen = self._seen[name]
        if not seen.occurs:
            return 1.0
        return seen.novelty * (1 - len(seen.settings) / self._most) / self._most

    def state(self) -> dict[str, Any]:
        """What occurred, as a JSON document that means the same in every process."""
        return {
            name: [sorted(seen.ins), sorted(seen.outs), sorted(seen.targets), sorted(seen.settings), seen.novelty]
            for name, seen in self._seen.items()
            if seen.occurs
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a `state`, as far as it is about operators, degrees and edges of this corpus."""
        for name in state.keys() & self._corpus.keys():
            ins, outs, targets, settings, novelty = state[name]
            degrees = self._corpus[name]
            self._seen[name] = _Seen(
                occurs=True,
                ins=set(ins) & degrees.ins,
                outs=set(outs) & degrees.outs,
                targets=set(targets) & self._corpus.keys(),
                settings=set(settings[: self._most]),
                novelty=novelty,
            )
            self._of[name] = self._measured(name)


def _key(node: Node) -> int:
    """A number for the settings of a node, the same in every process."""
    return int.from_bytes(hashlib.blake2b(repr((node.setting, node.parameters)).encode(), digest_size=6).digest())
