"""Which values of its setting an operator has shown, and which pairs of values; and which of them compilers never take.

Most bugs hang on one value or on two together (Kuhn, Wallace and Gallo, "Software fault interactions and implications
for software testing", IEEE TSE 2004): an attribute, a dtype, a rank, a sign. Whole settings, which SPC counts, nearly
all differ, and do not tell whether such a pair is still to come. Where a value may be any number, its kind stands for
it: of lists the length and the signs in them, of shapes the rank and whether an axis has one element.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from functools import lru_cache
from itertools import combinations, islice
from zlib import crc32

import onnx
from onnx import numpy_helper

#: Values and pairs of one operator that are remembered, at most.
MOST = 2048
#: A value or pair is avoided when so many more results were no passes than passes, one of which weighs so much.
_HOPELESS, _TAKEN = 3, 4
#: So many passes are remembered: what a compiler always took may change.
_PASSES = 100
#: How fast what is usually new follows the last nodes; below this little it is nothing.
_FOLLOWING, _HARDLY = 0.1, 0.5
#: Whole numbers up to this size are values of their own.
_LARGE = 8
#: Further inputs are not told apart: of a Concat, one is like the other.
_INPUTS = 2
#: What is worked out once: attributes and constants as they are encoded.
_KEPT = 1 << 12


class Pairwise:
    """Values and pairs by operator. A value is a hash of a phrase such as ``axis -1``."""

    def __init__(self) -> None:
        #: Of each value or pair: how many results were no passes, less those that were; and those that are avoided.
        self._shown: defaultdict[str, dict[int, int]] = defaultdict(dict)
        self._hopeless: defaultdict[str, set[int]] = defaultdict(set)
        #: What the last nodes of an operator were worth, and as a share of all their values and pairs.
        self._usual: dict[str, float] = {}
        self._share: defaultdict[str, float] = defaultdict(lambda: 1.0)

    def worth(self, operator: str, values: tuple[int, ...]) -> int:
        """How many of the values and of their pairs the operator has not shown yet.

        Negative where no compiler takes some of them: how many.
        """
        found, shown = _and_pairs(values), self._shown[operator]
        if hopeless := len(found & self._hopeless[operator]):
            return -hopeless
        return len(found.difference(shown)) if len(shown) < MOST else 0

    def enough(self, operator: str, worth: float) -> bool:
        """Whether so much is new as the operator's last nodes showed; never before its first node."""
        return worth >= self._usual.get(operator, math.inf)

    def lacking(self, operator: str) -> float:
        """The share of what the operator's last nodes showed that was new, between 0 and 1; 1 before its first node."""
        return self._share[operator]

    def show(self, operator: str, values: tuple[int, ...]) -> None:
        """A node of the operator has the values."""
        worth = max(0, self.worth(operator, values))
        usual = self._usual.setdefault(operator, worth)
        self._usual[operator] = usual + _FOLLOWING * (worth - usual) if usual > _HARDLY else 0.0
        found, shown = _and_pairs(values), self._shown[operator]
        share = worth / len(found) if found else 0.0
        self._share[operator] += _FOLLOWING * (share - self._share[operator])
        for each in found.difference(shown):
            if len(shown) < MOST:
                shown[each] = 0

    def ended(self, operator: str, values: tuple[int, ...], *, taken: bool) -> None:
        """A model with such a node passed (`taken`), or was refused or failed for what may be due to the node."""
        shown, hopeless = self._shown[operator], self._hopeless[operator]
        for each in _and_pairs(values) & shown.keys():
            shown[each] = max(shown[each] - _TAKEN, -_TAKEN * _PASSES) if taken else shown[each] + 1
            if shown[each] >= _HOPELESS:
                hopeless.add(each)
            else:
                hopeless.discard(each)

    def count(self) -> int:
        """How many values and pairs all operators have shown."""
        return sum(map(len, self._shown.values()))

    def state(self) -> dict[str, dict[str, int]]:
        """What is known, as a JSON document that means the same in every process."""
        return {name: {str(each): results for each, results in shown.items()} for name, shown in self._shown.items()}

    def restore(self, state: Mapping[str, Mapping[int, int]]) -> None:
        """Go on from a `state`. What the last nodes showed is not kept."""
        self._shown, self._hopeless = defaultdict(dict), defaultdict(set)
        self._usual.clear()
        self._share.clear()
        for name, shown in state.items():
            self._shown[name] = dict(islice(shown.items(), MOST))
            self._hopeless[name] = {each for each, results in self._shown[name].items() if results >= _HOPELESS}


@lru_cache(_KEPT // 4)
def _and_pairs(values: tuple[int, ...]) -> frozenset[int]:
    """The values, and a number for each pair of them."""
    unique = sorted(set(values))
    return frozenset(unique + [(31 * first + second) & 0xFFFFFFFF for first, second in combinations(unique, 2)])


# ---- values


@lru_cache(_KEPT)
def of_data(at: int, dtype: int, rank: int, unit: bool, made: bool) -> tuple[int, ...]:
    """The values of a data input: dtype, rank, whether an axis has one element, and whether a node made it."""
    phrases = (f"dtype {dtype}", f"rank {rank}", f"unit {unit}", f"made {made}")
    return tuple([_hash(f"{min(at, _INPUTS)} {phrase}") for phrase in phrases])


@lru_cache(_KEPT)
def of_weight(at: int, dtype: int) -> tuple[int, ...]:
    """The value of a constant whose elements do not matter; its shape follows from the data."""
    return (_hash(f"{min(at, _INPUTS)} weight {dtype}"),)


@lru_cache(_KEPT)
def of_attributes(encoded: bytes) -> tuple[int, ...]:
    """The values of attributes that are encoded as fields of a NodeProto; graphs and tensors have none."""
    node = onnx.NodeProto.FromString(encoded)
    simple = [each for each in node.attribute if not each.HasField("g") and not each.HasField("t")]
    found = [_phrases(each.name, onnx.helper.get_attribute_value(each)) for each in simple]
    return tuple([_hash(phrase) for phrases in found for phrase in phrases])


@lru_cache(_KEPT)
def of_constant(at: int, encoded: bytes) -> tuple[int, ...]:
    """The values of a constant that steers a node, encoded as a TensorProto."""
    array = numpy_helper.to_array(onnx.TensorProto.FromString(encoded))
    return tuple([_hash(phrase) for phrase in _phrases(str(at), array.ravel().tolist())])


def _phrases(name: str, content: object) -> list[str]:
    if not isinstance(content, (list, tuple)):
        return [f"{name} {_kind(content)}"]
    if len(content) == 1:
        return [f"{name} {_kind(content[0])}"]
    signs = sorted({_sign(each) for each in content})
    return [f"{name} of {len(content)}", f"{name} alike {len(set(content)) == 1}", *[f"{name} has {s}" for s in signs]]


def _kind(content: object) -> str:
    return _sign(content) if isinstance(content, int) and abs(content) > _LARGE else str(content)


def _sign(number: object) -> str:
    if not isinstance(number, (int, float)):
        return str(number)
    if number in (0, 1):
        return str(int(number))
    return "less" if number < 0 else "part" if number < 1 else "more"


def _hash(phrase: str) -> int:
    return crc32(phrase.encode())
