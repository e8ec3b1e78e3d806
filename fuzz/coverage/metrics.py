"""The eleven metrics of Isra (section 4.3), over a corpus of operators.

``SPC`` is what Table 1 calls ``SAC``. Where the paper's words and its published numbers count differently, both are
given: ``ODC``, ``NOP``, ``NTR`` and ``NSA`` follow the words; ``ODC_clamped`` takes out-degrees as 1 to 12,
``NOP_types`` and ``NTR_types`` count distinct pairs and triples of operator types, ``NSA_untyped`` counts shapes and
attributes whatever operator has them.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping

from fuzz.coverage.reading import Node

#: Out-degrees outside count as the nearest of these.
_CLAMP = (1, 12)


class Coverage:
    """Metrics that grow model by model; memory grows with what is distinct, not with the number of models.

    `degrees` are the operators of the corpus, each with the in-degrees that it may have. Nodes of other types count
    for the graph-level metrics only.
    """

    def __init__(self, degrees: Mapping[str, Collection[int]]) -> None:
        self._degrees = degrees
        self._models = 0
        self._totals: Counter[str] = Counter()
        self._frequency: Counter[str] = Counter()
        self._ins: defaultdict[str, set[int]] = defaultdict(set)
        self._outs: defaultdict[str, set[int]] = defaultdict(set)
        self._pairs: set[tuple[str, str]] = set()
        self._triples: set[tuple[str, str, str]] = set()
        self._settings: defaultdict[str, set[int]] = defaultdict(set)

    def add(self, nodes: Iterable[Node]) -> None:
        """Count one model."""
        listed = list(nodes)
        types = [node.op_type for node in listed]
        edges = {(at, to) for at, node in enumerate(listed) for to in node.targets}
        after: defaultdict[int, list[int]] = defaultdict(list)
        for at, to in sorted(edges):
            after[at].append(to)
        triples = [(at, to, last) for at, to in edges for last in after[to]]
        pair_types = {(types[at], types[to]) for at, to in edges}
        triple_types = {(types[a], types[b], types[c]) for a, b, c in triples}
        self._models += 1
        self._totals.update(
            {
                "NOO": len(listed),
                "NOT": len(set(types)),
                "NOP": len(edges),
                "NTR": len(triples),
                "NSA": len({(node.op_type, node.setting) for node in listed}),
                "NOP_types": len(pair_types),
                "NTR_types": len(triple_types),
                "NSA_untyped": len({node.setting for node in listed}),
            }
        )
        self._pairs |= pair_types
        self._triples |= triple_types
        for node in listed:
            self._frequency[node.op_type] += 1
            self._ins[node.op_type].add(node.in_degree)
            self._outs[node.op_type].add(len(node.targets))
            self._settings[node.op_type].add(hash(node.setting))

    def metrics(self) -> dict[str, float]:
        """All metrics by name. Shares are between 0 and 1; of no model at all everything is 0."""
        corpus = self._degrees
        count = len(corpus) or 1
        within = [self._ins[each] & set(degrees) for each, degrees in corpus.items()]
        shares = [
            len(seen) / len(set(degrees)) for seen, degrees in zip(within, corpus.values(), strict=True) if degrees
        ]
        pairs = sum(1 for pair in self._pairs if all(each in corpus for each in pair))
        triples = sum(1 for triple in self._triples if all(each in corpus for each in triple))
        clamped = [len({min(max(out, _CLAMP[0]), _CLAMP[1]) for out in self._outs[each]}) for each in corpus]
        operator_level = {
            "OTC": sum(1 for each in corpus if self._frequency[each]) / count,
            "IDC": sum(shares) / count,
            "ODC": sum(len(self._outs[each]) for each in corpus) / count,
            "ODC_clamped": sum(clamped) / count,
            "SEC": pairs / count**2,
            "DEC": triples / count**3,
            "SAC": sum(len(self._settings[each]) for each in corpus) / count,
        }
        operator_level["SPC"] = operator_level["SAC"]
        models = self._models or 1
        names = ("NOO", "NOT", "NOP", "NOP_types", "NTR", "NTR_types", "NSA", "NSA_untyped")
        return operator_level | {name: self._totals[name] / models for name in names}

    @property
    def models(self) -> int:
        """The number of models counted."""
        return self._models

    def frequency(self) -> dict[str, int]:
        """How many nodes every operator has, those of the corpus that never occur included; the most frequent first."""
        counts = {**dict.fromkeys(self._degrees, 0), **self._frequency}
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))
