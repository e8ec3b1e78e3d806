"""Which nodes of a graph a failure needs, in few runs of the predicate.

Plain delta debugging halves a list of nodes and knows nothing of the graph. Here every run is asked of the part
of the graph that holds half of the weight of all hypotheses about where the bug sits (triage/patterns.py), so
that it halves the possibilities instead; a hit leaves a handful of nodes, whatever the size of the model. Where
the hypotheses fail, the search falls back to finding one needed node after the other, each by bisection
(the "progression" of Marques-Silva, Janota and Belov, CAV 2013), which needs k log n runs for k nodes.
The result is 1-minimal as far as the predicate is monotone, and checked beyond that where it is seen not to be.
See docs/decisions/006-reduction.md.
"""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType

import numpy as np

from fuzz.case import Case
from triage.holding import Holding
from triage.patterns import Hypotheses, Wiring

Kept = frozenset[int]
#: The candidates for a set of nodes, the likeliest first; none when no valid model keeps just them.
Build = Callable[[Kept], Sequence[Case]]
#: Whether each candidate is interesting; several at a time, so that they may run in parallel.
Ask = Callable[[Sequence[Case]], Sequence[bool]]

#: The weight of "something that no hypothesis describes".
_UNKNOWN = 0.06
#: The share of it when one needed node was found without the hypotheses; each time three times as much, up to a most.
_MISLED, _MOST_MISLED = 0.3, 0.9
#: A run with less hope than this is not worth its cost.
_LEAST_HOPE = 0.04
#: Up to this many nodes are checked one by one at the end.
_FEW = 6
#: How many runs in a row may be spent on smaller sets that a monotone predicate would refuse.
_DOUBTS = 10
#: Nodes of which the second takes back what the first did to the type or the axes: neither can be bypassed alone.
_THERE_AND_BACK = frozenset(
    (
        *(("QuantizeLinear", "DequantizeLinear"), ("Cast", "Cast"), ("Transpose", "Transpose")),
        *(("Squeeze", "Unsqueeze"), ("Unsqueeze", "Squeeze")),
    )
)
#: After so many parts that no valid model keeps, what they hold is given up as well.
_PATIENCE = 30
#: After so many misses in a row, what is bypassed may be what hides the bug.
_STUCK = 5
#: Up to this many nodes, everything but the nodes is simplified along with a cut.
_SMALL = 8
#: A cut that is at least so likely to fail is asked about in its simplified form ...
_HOPEFUL = 0.4
#: ... as long as it is at least so likely that what is simplified does not matter; at first it is `_HARMLESS`.
_TRUSTED, _HARMLESS = 0.75, 0.9
#: So likely once a simplified cut was seen to fail: every small cut is simplified then, and one that is refused lacks
#: nodes.
_SURE = 0.95
#: Up to this many nodes, the simplified form is asked about before nodes that are probably needed.
_LAST = 3


class NodeSearch:
    """The state of one search over the nodes of one graph."""

    def __init__(
        self,
        wiring: Wiring,
        build: Build,
        ask: Ask,
        accept: Callable[[Case], None],
        suspects: Collection[str] = (),
        parallel: int = 1,
        simple: Build = lambda kept: (),
        polish: Callable[[Kept], None] | None = None,
        bare: Build = lambda kept: (),
        misled: Callable[[Kept], Kept] | None = None,
        held: Build = lambda kept: (),
        holding: Holding | None = None,
    ) -> None:
        """`misled` are those of a part's nodes that compute with other values there, since something is bypassed; None
        where values do not matter. `held` gives a cut without new inputs, for where `holding` suspects that it must."""
        self._valued, self._misled = misled is not None, misled or (lambda kept: frozenset())
        self._wiring, self._build, self._ask, self._told = wiring, build, ask, accept
        self._simple, self._polish, self._bare = simple, polish, bare
        self._held, self._holding = held, holding or Holding()
        self._suspects, self._parallel = suspects, parallel
        self._count = len(wiring.operators)
        self.kept: Kept = frozenset(range(self._count))
        self._needed: set[int] = set()
        self._refused: list[Kept] = []
        self._tried: dict[Kept, bool] = {}
        self._ways: set[tuple[Kept, int]] = set()  # what was tried although it was inferred to pass
        self._odd = False  # whether a part was refused that holds a part that fails
        self._doubts = self._impossible = 0
        self._harmless = _HARMLESS  # how likely it is that what `simple` simplifies does not matter
        self._settled = False  # whether the failing case that is kept is a simplified one
        self._barely: set[Kept] = set()  # refused with nothing bypassed, not asked about otherwise
        self._missed, self._prefers_bare = 0, False  # runs in a row that were refused; which way hit last
        self._clouded: dict[Kept, None] = {}  # refused in simplified form only
        self._plainer: set[Kept] = set()  # refused in simplified form, which is believed to say it all
        self._unknown, self._rounds = _UNKNOWN, 0  # how often a needed node was found without a hypothesis
        self._counts = Counter(wiring.operators)
        self._touching: defaultdict[int, list[int]] = defaultdict(list)
        for one, other in wiring.edges:
            self._touching[one].append(other)
            self._touching[other].append(one)
        self._hypotheses = Hypotheses(wiring, suspects)

    def run(self) -> Kept:
        """The nodes that are needed."""
        while len(self.kept) > max(1, len(self._needed)):
            if self._guess():
                continue
            self._settle()
            if len(self.kept) - len(self._needed) <= _FEW:
                if not self._drop_single():
                    break
            else:
                self._find_needed()
        if len(self.kept) > 2 or self._clouded:
            self._settle()  # else there is hardly another cut to come
        while self._drop_against_odds():
            continue
        return self.kept

    # ------------------------------------------------------------ guessing

    def _guess(self) -> bool:
        """One run (or a few in parallel) on the most telling parts; false when no guess is worth a run."""
        total = self._hypotheses.weight(self._mask(self.kept))
        if total <= self._unknown:
            return False
        chosen: list[Kept] = []
        share = 0.5
        for _ in range(self._parallel):
            found = self._telling(share, total + self._unknown, chosen)
            if found is None:
                break
            chosen.append(found)
            share = share / 2 + 0.5 if len(chosen) % 2 == 0 else share / 2
        if not chosen:
            return False
        hopes = {part: self._hypotheses.weight(self._mask(part)) / (total + self._unknown) for part in chosen}
        if (
            len(self.kept) <= _LAST
            and max(hopes.values()) < _HOPEFUL
            and ((len(self.kept) == 2 and self._polished()) or self._settle())
        ):
            return True
        self._test(chosen, hopes)
        return True

    def _telling(self, share: float, total: float, taken: Collection[Kept]) -> Kept | None:
        """The part whose chance to fail is nearest to `share`; the smallest of several."""
        best: tuple[float, int] | None = None
        found: Kept | None = None
        for order in self._orders():
            for part in self._cuts(order, share * total):
                if part in taken or part in self._tried or part == self.kept:
                    continue
                hope = self._hypotheses.weight(self._mask(part)) / total
                rank = (round(abs(hope - share), 1), len(part))
                if hope >= _LEAST_HOPE and (best is None or rank < best):
                    best, found = rank, part
        return found

    def _orders(self) -> Iterator[list[int]]:
        yield self._hypotheses.covering()
        inside = sorted(self.kept)
        yield inside
        yield inside[::-1]

    def _cuts(self, order: Sequence[int], wanted: float) -> Iterator[Kept]:
        """The beginnings of `order`, with what is needed, whose weight is just below and above `wanted`."""
        low, high = 0, len(order)
        while low < high:
            middle = (low + high) // 2
            if self._hypotheses.weight(self._mask(self._beginning(order, middle))) < wanted:
                low = middle + 1
            else:
                high = middle
        yield from dict.fromkeys(self._beginning(order, at) for at in (low, low - 1) if at >= 0)

    def _beginning(self, order: Sequence[int], length: int) -> Kept:
        return frozenset(self._needed) | frozenset(order[:length])

    # ------------------------------------------------------------ one needed node after the other

    def _find_needed(self) -> None:
        """Bisect for the first node without which what comes before does not fail.

        The order is topological at first, then by how near nodes are to those that are needed: most bugs hang together,
        and all that is farther away than the node that is found goes at once.
        """
        near = self._distances()
        order = sorted(self.kept - self._needed, key=lambda node: (near.get(node, self._count), node))
        weights = np.cumsum([self._rarity(node) for node in order])
        low, high = (-1 if self._needed else 0), len(order)
        while high - low > 1:
            middles = self._middles(weights, low, high)
            failing = self._test([self._beginning(order, at) for at in middles])
            high = min([at for at, fails in zip(middles, failing, strict=True) if fails], default=high)
            low = max([at for at in middles if at < high], default=low)
        if high > 0:
            self._needed.add(order[high - 1])
        else:
            self._needed = set(self.kept)
        self._reconsider()
        self._rounds += 1

    def _distances(self) -> dict[int, int]:
        """How many edges of the graph lie between each node and the nearest that is needed, where any path does."""
        found = dict.fromkeys(self._needed, 0)
        waiting = deque(sorted(self._needed))
        while waiting:
            node = waiting.popleft()
            for other in self._touching[node]:
                if other not in found:
                    found[other] = found[node] + 1
                    waiting.append(other)
        return found

    def _rarity(self, node: int) -> float:
        """Bugs are about operators: a common one is not likelier than a rare one to be the culprit."""
        return 1 / self._count + 1 / (len(self._counts) * self._counts[self._wiring.operators[node]])

    def _middles(self, weights: np.ndarray, low: int, high: int) -> list[int]:
        """Positions that cut the weight between `low` and `high` into equal parts."""
        begin, end = (weights[low - 1] if low > 0 else 0.0), weights[high - 1]
        cuts = [begin + (end - begin) * part / (self._parallel + 1) for part in range(1, self._parallel + 1)]
        found = [int(np.searchsorted(weights, cut)) + 1 for cut in cuts]
        return sorted({min(max(at, low + 1), high - 1) for at in found})

    def _reconsider(self) -> None:
        """Weigh the hypotheses anew: whatever they hold, what is needed comes with it."""
        self._hypotheses = Hypotheses(self._wiring, self._suspects)
        self._hypotheses.confine(self._mask(self.kept))
        for part in self._refused:
            if self._needed <= part:
                self._hypotheses.refute(self._mask(part))
        self._hypotheses.favour(self._needed, 16.0)
        self._unknown = min(_MISLED * 3**self._rounds, _MOST_MISLED) * self._hypotheses.weight(self._mask(self.kept))

    # ------------------------------------------------------------ the end

    def _drop_single(self) -> bool:
        """Whether one of the last few nodes can go, or two that cannot alone; what refused parts tell is believed."""
        rest = sorted(self.kept - self._needed, reverse=True)
        stuck = [node for node in rest if not self._build(self.kept - {node})]
        for gone in (*((node,) for node in rest if node not in stuck), *itertools.combinations(stuck, 2)):
            part = self.kept.difference(gone)
            if not part or part in self._tried or any(part <= refused for refused in self._refused):
                continue
            if self._test([part])[0]:
                return True
        return False

    def _drop_against_odds(self) -> bool:
        """Try a few smaller sets that were only inferred to pass, where inference is likeliest to mislead.

        Before the last of them everything else is made final: what is refused then is a passing neighbour as well.
        """
        waiting = self._not_asked()
        doubt = next(waiting, None)
        while doubt is not None and self._doubts < _DOUBTS:
            part, way, case = doubt
            doubt = next(waiting, None)
            if (doubt is None or self._doubts == _DOUBTS - 1) and self._polished():
                return True
            self._doubts += 1
            self._ways.add((part, way))
            as_it_is = self._valued and len(part) == 1  # simpler numbers are not what it may need
            if part not in self._tried and not as_it_is:
                fails = self._test([part])[0]
            elif fails := self._ask([case])[0]:
                self._accept(part, case)
            else:
                self._tried.setdefault(part, False)
            if fails:
                self._doubts = 0
                return True
        return False

    def _not_asked(self) -> Iterator[tuple[Kept, int, Case]]:
        """The doubtful sets with the ways to keep them, those left out that were tried."""
        for part in dict.fromkeys(self._doubtful()):
            others = self._bare(part) if part and self._misled(part) else ()
            for way, case in enumerate([*self._build(part), *others] if part else ()):
                asked = part in self._tried and part not in self._barely | self._plainer
                if (part, way) not in self._ways and (way or not asked):
                    yield part, way, case

    def _doubtful(self) -> Iterator[Kept]:
        """Without a detour, a node that nothing connects to the rest, two or all of one operator, or any; all, if odd.

        A bug that an even number of nodes shows, or that one more node hides, is not monotone, and what takes the
        place of a node can hide a bug. Of two nodes only what was seen to be odd is doubted, or was asked about
        on other values only.
        """
        if len(self.kept) > 2:
            yield from self._without_detours()
            linked = {node for edge in self._wiring.edges if self.kept.issuperset(edge) for node in edge}
            yield from (self.kept - {node} for node in sorted(self.kept - linked))
            operators = Counter(self._wiring.operators[node] for node in self.kept)
            for operator in [operator for operator, count in operators.items() if count > 2]:
                yield frozenset(node for node in self.kept if self._wiring.operators[node] != operator)
            for one, other in itertools.combinations(sorted(self.kept), 2):
                if self._wiring.operators[one] == self._wiring.operators[other]:
                    yield self.kept - {one, other}
            yield from (self.kept - {node} for node in sorted(self.kept, reverse=True))
            if self._odd:
                for size in (2, 1):
                    yield from map(frozenset, itertools.combinations(sorted(self.kept), size))
        elif len(self.kept) == 2:
            singles = [self.kept - {node} for node in sorted(self.kept)]
            for part in singles:
                refused = [one for one in self._refused if part <= one]
                misled = refused and all(part <= self._misled(one) for one in refused)
                if part not in self._tried and (misled or part in self._plainer):
                    yield part  # it has not failed there on values of its own
                elif refused:
                    self._tried.setdefault(part, False)  # its first way is believed to pass; another may fail
            tried = [part for part in singles if part in self._tried]
            otherwise = self._barely | self._plainer
            yield from (part for part in tried if part in otherwise or len(self._build(part)) > 1)

    def _without_detours(self) -> Iterator[Kept]:
        """Without all pairs that go there and back, then without each."""
        names = self._wiring.operators
        edges = [edge for edge in self._wiring.edges if self.kept.issuperset(edge)]
        pairs = [frozenset(edge) for edge in edges if (names[edge[0]], names[edge[1]]) in _THERE_AND_BACK]
        together = frozenset[int]().union(*pairs)
        for gone in ([together] if len(pairs) > 1 else []) + pairs:
            if len(gone) < len(self.kept):
                yield self.kept - gone

    # ------------------------------------------------------------ running

    def _test(self, parts: Sequence[Kept], hopes: Mapping[Kept, float] = MappingProxyType({})) -> list[bool]:
        """Whether each part fails; the smallest that does is all there is from now on."""
        for part in parts:
            if part not in self._tried and not self._build(part):
                self._tried[part] = False  # nothing was run, so nothing is refuted
                self._impossible += 1
                if self._impossible > _PATIENCE:
                    self._hypotheses.refute(self._mask(part))
        fresh = [part for part in dict.fromkeys(parts) if part not in self._tried]
        simple = {part: self._in_simple_form(part, hopes.get(part, 0.0)) for part in fresh}
        held = {part: None if simple[part] else self._in_held_form(part) for part in fresh}
        bare = {part: None if simple[part] or held[part] else self._in_bare_form(part) for part in fresh}
        cases = [simple[part] or held[part] or bare[part] or self._build(part)[0] for part in fresh]
        failing = []
        for part, case, fails in zip(fresh, cases, self._ask(cases), strict=True):
            self._missed = 0 if fails else self._missed + 1
            self._holding.saw(case, fails)
            if fails:
                self._tried[part] = True
                self._prefer(bare[part] is not None or (self._prefers_bare and simple[part] is not None))
                failing.append((part, case))
                if held[part] is not None:
                    self._hold()
            elif simple[part] is not None and self._harmless < _SURE:
                self._plainer |= {part} if self._valued else set()
                self._cloud(part, hopes[part])
            else:
                self._tried[part] = False
                self._plainer |= {part} if simple[part] and self._valued else set()
                self._barely |= {part} if bare[part] else set()
                self._refuse(part)
        if failing:
            part, case = min(failing, key=lambda pair: len(pair[0]))
            self._accept(part, case, simple=simple[part] is not None)
        return [self._tried.get(part, False) for part in parts]

    def _accept(self, part: Kept, case: Case, *, simple: bool = False) -> None:
        if len(part) >= len(self.kept):
            return
        self._unknown *= (len(part) / len(self.kept)) ** 2
        self.kept, self._settled = part, simple
        self._told(case)
        self._odd |= any(part < refused for refused in self._refused)
        self._needed &= part
        self._hypotheses.confine(self._mask(part))
        if simple:
            self._clear()

    def _refuse(self, part: Kept) -> None:
        self._unknown *= 1 - (len(part & self.kept) / len(self.kept)) ** 2
        self._refused.append(part)
        self._hypotheses.refute(self._mask(part))

    def _in_held_form(self, part: Kept) -> Case | None:
        """The cut without new inputs, where those with them are suspected to be refused for that, in turn with them."""
        turned = self._holding.suspected and self._missed % 2 == 1
        return next(iter(self._held(part)), None) if turned else None

    def _hold(self) -> None:
        """No cut has new inputs from now on; what was refused with them is no proof any more."""
        self._holding.holds = True
        self._tried = {part: fails for part, fails in self._tried.items() if fails}
        self._refused.clear()
        self._clouded.clear()
        self._hypotheses = Hypotheses(self._wiring, self._suspects)

    def _in_bare_form(self, part: Kept) -> Case | None:
        """The cut with nothing bypassed, where that hit last; after some misses in a row in turn with the other way."""
        turned = self._missed >= _STUCK and self._missed % 2 == 1
        return next(iter(self._bare(part)), None) if self._prefers_bare != turned else None

    def _prefer(self, bare: bool) -> None:
        """The way that hit is taken from now on; what the other one refused is no proof any more."""
        if bare and not self._prefers_bare:
            self._tried = {part: fails for part, fails in self._tried.items() if fails}
            self._refused.clear()
        self._prefers_bare = bare

    # ------------------------------------------------------------ simplified forms

    def _in_simple_form(self, part: Kept, hope: float) -> Case | None:
        """The cut with everything else simplified, where one run is likely to tell that both are possible.

        Once that was told it costs nothing, and what is found then needs no run to be made simple; but the other way
        to cut keeps its turns.
        """
        if len(part) > _SMALL or self._harmless < _TRUSTED or part in self._clouded:
            return None
        if hope < _HOPEFUL and (self._harmless < _SURE or self._in_bare_form(part) is not None):
            return None
        return next(iter(self._simple(part)), None)

    def _cloud(self, part: Kept, hope: float) -> None:
        """The simplified form was refused: because of the nodes that it lacks, or because of what is simpler."""
        self._clouded[part] = None
        self._hypotheses.doubt(self._mask(part), 1 - self._harmless)
        self._unknown *= 1 - self._harmless * (len(part & self.kept) / len(self.kept)) ** 2
        self._harmless *= (1 - hope) / (1 - hope * self._harmless)

    def _clear(self) -> None:
        """Simplifying is seen to be harmless: what was refused in simplified form lacked nodes."""
        self._harmless = _SURE
        for part in self._clouded:
            self._refuse(part)
        self._clouded.clear()

    def _settle(self) -> bool:
        """Ask about the simplified form of what is kept, once; whether a run was spent."""
        if self._settled or len(self.kept) > _SMALL or self._harmless < _TRUSTED:
            return False
        self._settled = True
        case = next(iter(self._simple(self.kept)), None)
        if case is None:
            return False
        if self._ask([case])[0]:
            self._told(case)
            self._clear()
        else:
            self._harmless = 0.0
            self._clouded.clear()
            self._reconsider()
        return True

    def _polished(self) -> bool:
        """Make all else of the last few nodes final before they are doubted: what is refused is a neighbour then."""
        if self._polish is None or not 2 <= len(self.kept) <= _FEW:
            return False
        self._polish(self.kept)
        self._polish, self._settled, self._harmless = None, True, 0.0
        self._clouded.clear()
        return True

    def _mask(self, part: Iterable[int]) -> np.ndarray:
        mask = np.zeros(self._count, dtype=bool)
        mask[list(part)] = True
        return mask
