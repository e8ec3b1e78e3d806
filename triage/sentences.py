"""What a harness says in a sentence of its own about a wrong result: ``ties broken to the first index``. Pure.

A comparison of numbers says the same of any bug (``max abs diff 3.2``): there the operator decides. Some harnesses look
closer and say in words what is wrong. A sentence that comes with few operators, and has words that a comparison does
not need and the batch does not always use, tells the bug, whichever operator showed it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from triage.cells import Cell
from triage.families import family

#: The words of comparisons.
_COMPARING = frozenset(
    """
a abs absolute abserr accuracy actual agree agrees all allclose allowed an and any are array arrays as assert at atol average
backend baseline be before below between both but by case check checked close coefficient compare compared comparing
comparison compiled compiler computed contains correct cos cosine count cpu cuda data deviation diff differ difference
differences different differing differs does dtype dump each eager element elements eps equal error errors every exceed
exceeded exceeds expected fail failed fails few file finite first float for found from generated golden got gpu greater
greatest half has have higher illegal in incorrect index indices inf infinite input inputs instead is it its large larger
largest last layer less limit location log lower match matches max maximum mean mean median metric min minimum mismatch
mismatched mismatches model mse name nan nans near needed no node norm not number numbers numeric numerical of off on one
only op operator or other out output outputs over passed percent position positions precision produced psnr ratio reference
rel relative relerr result results returned returns right rmse rms rtol run runs same sample samples saw score see seed sets
shape shapes should similarity small smaller snr some sum target tensor tensors test than that the there these they threshold
to tol tolerance tolerances too top total true type types ulp ulps under unequal up value values verification versus vs was
were where which with within without worst wrong x y zero zeros
among assert_allclose assertionerror array_equal assert_equal desired likes testing violations torch numpy onnx compile silently
onnxruntime openvino tensorrt inductor dynamo relax relay llvm native disabled enabled optimized unoptimized optimization opt_level
dtype shape name hash file addr bytes value logs main nightly
""".split()  # noqa: SIM905
)
_WORD = re.compile(r"[a-z][a-z_]{3,}")
#: A sentence has so many words of its own, is said so often, and comes with so many operators.
_LEAST_WORDS, _LEAST_SAID, _MOST_OPERATORS = 3, 2, 5
#: What a comparison raises.
_COMPARES = frozenset(("", "AssertionError"))
#: Two are one sentence that share this part of their words.
_ALIKE = 0.6
#: A word of this part of the different sentences, of so many at least, and with so many operators, is the harness's.
_USUAL, _LEAST_DIFFERENT, _LEAST_OPERATORS = 0.2, 4, 3


def sentences(cells: Iterable[Cell]) -> Mapping[tuple[object, ...], str]:
    """The sentence of each wrong result that has one, by the keys of the cells."""
    said = _own([cell for cell in cells if not cell.refused and cell.exception in _COMPARES])
    heads: list[tuple[frozenset[str], list[Cell]]] = []
    for cell, words in sorted(said, key=lambda each: (-each[0].weight, each[0].key)):
        found = next((group for head, group in heads if _alike(head, words)), None)
        if found is None:
            heads.append((words, [cell]))
        else:
            found.append(cell)
    return {cell.key: " ".join(sorted(words)) for words, group in heads if _telling(group) for cell in group}


def _own(cells: Sequence[Cell]) -> list[tuple[Cell, frozenset[str]]]:
    """Each cell that has them with the words that are neither a comparison's nor the harness's."""
    words = [frozenset(_WORD.findall(cell.message.lower())) - _COMPARING for cell in cells]
    different = set(words)
    at: defaultdict[str, set[str]] = defaultdict(set)
    for cell, own in zip(cells, words, strict=True):
        for word in own if cell.operator else ():
            at[word].add(family(cell.operator))
    counts = Counter(word for own in different for word in own)
    least = max(_LEAST_DIFFERENT, _USUAL * len(different))
    usual = {word for word, count in counts.items() if count >= least and len(at[word]) >= _LEAST_OPERATORS}
    return [
        (cell, own - usual) for cell, own in zip(cells, words, strict=True) if len(own - usual) >= _LEAST_WORDS
    ]


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= _ALIKE * max(len(words), len(others))


def _telling(group: Sequence[Cell]) -> bool:
    operators = {family(cell.operator) for cell in group if cell.operator}
    return sum(cell.weight for cell in group) >= _LEAST_SAID and 1 <= len(operators) <= _MOST_OPERATORS
