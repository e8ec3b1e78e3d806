"""What a harness says in a sentence of its own about a wrong result: ``ties broken to the first index``. Pure.

A comparison of numbers says the same of any bug (``max abs diff 3.2``): there the operator decides. Some harnesses look
closer and say in words what is wrong. A sentence that comes with few operators, and has words that a comparison does
not need and the batch does not always use, tells the bug, whichever operator showed it.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from itertools import islice

from triage.cells import Cell
from triage.families import family

#: The words of comparisons.
_COMPARING = frozenset(
    """
abserr absolute accuracy actual addr agree agrees allclose allowed among array array_equal arrays assert
assert_allclose assert_equal assertionerror atol average backend baseline before below between both bytes case check
checked close coefficient compare compared comparing comparison compile compiled compiler computed contains correct
cosine count cuda data desired deviation diff differ difference differences different differing differs disabled
does dtype dump dynamo each eager element elements enabled equal error errors every exceed exceeded exceeds expected
fail failed fails file finite first float found from generated golden greater greatest half hash have higher illegal
incorrect index indices inductor infinite input inputs instead large larger largest last layer less likes limit llvm
location logs lower main match matches maximum mean median metric minimum mismatch mismatched mismatches model name
nans native near needed nightly node norm number numbers numeric numerical numpy only onnx onnxruntime openvino
operator opt_level optimization optimized other output outputs over passed percent position positions precision
produced psnr ratio reference relative relax relay relerr result results returned returns right rmse rtol runs same
sample samples score seed sets shape shapes should silently similarity small smaller some target tensor tensorrt
tensors test testing than that there these they threshold tolerance tolerances torch total true type types ulps
under unequal unoptimized value values verification versus violations were where which with within without worst
wrong zero zeros
""".split()  # noqa: SIM905
)
_WORD = re.compile(r"[a-z][a-z_]{3,}")
#: A sentence has so many words of its own, is said so often, and comes with so many operators.
_LEAST_WORDS, _LEAST_SAID, _MOST_OPERATORS = 3, 2, 5
#: A sentence is compared with no more than these many others, the most frequent ones, which keeps the work linear.
_MOST_COMPARED = 256
#: What a comparison raises.
_COMPARES = frozenset(("", "AssertionError"))
#: Two are one sentence that share this part of their words.
_ALIKE = 0.6
#: A word of this part of the different sentences, of so many at least, and with so many operators, is the harness's.
_USUAL, _LEAST_DIFFERENT, _LEAST_OPERATORS = 0.2, 4, 3


def tell(cells: Sequence[Cell]) -> None:
    """Give each of these wrong results its sentence, in words, if it has one; what says less of the same operator and
    symptom gets that of most."""
    groups = _groups(cells)
    if len(groups) < 2 and sum(len(group) for _, group in groups) == len(cells):
        return  # one sentence for all there is, which is the harness's
    for words, group in groups:
        for cell in group if _telling(group) else ():
            cell.sentence = " ".join(sorted(words))
    of: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
    for cell in cells:
        if cell.sentence and cell.operator:
            of[cell.symptom, family(cell.operator)][cell.sentence] += cell.weight
    for cell in cells:
        if not cell.sentence and (usual := of.get((cell.symptom, family(cell.operator)))):
            cell.sentence = max(usual, key=lambda each: (usual[each], each))


def _groups(cells: Sequence[Cell]) -> list[tuple[frozenset[str], list[Cell]]]:
    """The cells whose own words are alike, each time with the words of the first."""
    said = _own([cell for cell in cells if not cell.refused and cell.exception in _COMPARES])
    heads: list[tuple[frozenset[str], list[Cell]]] = []
    for cell, words in sorted(said, key=lambda each: (-each[0].weight, each[0].key)):
        found = next((group for head, group in islice(heads, _MOST_COMPARED) if _alike(head, words)), None)
        if found is None:
            heads.append((words, [cell]))
        else:
            found.append(cell)
    return heads


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
    return [(cell, own - usual) for cell, own in zip(cells, words, strict=True) if len(own - usual) >= _LEAST_WORDS]


def _alike(words: frozenset[str], others: frozenset[str]) -> bool:
    return len(words & others) >= _ALIKE * max(len(words), len(others))


def _telling(group: Sequence[Cell]) -> bool:
    operators = {family(cell.operator) for cell in group if cell.operator}
    return sum(cell.weight for cell in group) >= _LEAST_SAID and 1 <= len(operators) <= _MOST_OPERATORS
