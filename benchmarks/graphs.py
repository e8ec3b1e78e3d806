"""Figures of graph-based fuzzing that need no compiler: validity, and the coverage of every strategy of Table III.

`python -m benchmarks.graphs validity [COUNT [CORPUS]]`, or `coverage [SEEDS]`. `graphwarden bench mcts` runs compilers.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections import Counter

import numpy as np
import onnx

from benchmarks.generate import as_declared
from fuzz.backends._evaluator import Evaluator
from fuzz.generators.mcts import case
from fuzz.graphs import blocks
from fuzz.graphs.workflow import Fuzzer, Made, Settings
from fuzz.oracles import undefined
from triage.strategies import TABLE_III

SEED = 2026
MODELS, SIZES = 400, (5, 10, 15)


def validity(count: int = 1000, corpus: str = blocks.DEFAULT) -> None:
    """Models that onnx.checker, strict shape inference or the reference rejects, and what their values are."""
    fuzzer = Fuzzer(blocks.load(corpus), Settings(1, 15, all_outputs=True), SEED)
    found: Counter[str] = Counter()
    for index in range(count):
        made = fuzzer.next()
        found.update(_judged(made, index))
        found["nodes"] += made.nodes
    print(f"{count} models of the corpus {corpus}: {dict(found)}")


def _judged(made: Made, index: int) -> list[str]:
    model = onnx.load_from_string(made.model)
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, strict_mode=True)  # the full check lets results without a type pass
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        print(f"model {index}: {error}")
        return ["invalid"]
    given = dict(case(made, SEED, index).inputs)
    try:
        with np.errstate(all="ignore"):
            results = list(map(np.asarray, Evaluator(model).run(None, given)))
    except Exception as error:  # noqa: BLE001 numpy and the evaluator raise whatever they like
        print(f"model {index}: the reference fails: {error!r:.200}")
        return ["invalid"]
    if not all(as_declared(info, value) for info, value in zip(model.graph.output, results, strict=True)):
        print(f"model {index}: a result has another dtype or shape than declared")
        return ["invalid"]
    named = given | {info.name: value for info, value in zip(model.graph.output, results, strict=True)}
    if undefined.violation("onnx", made.model, named):
        return ["breaks a precondition"]
    finite = all(np.isfinite(each.astype(np.float64)).all() for each in results if each.dtype.kind in "fV")
    return ["valid"] if finite else ["valid", "with NaN or infinity"]


def coverage(seeds: int = 5) -> None:
    """OLC of 400 models of each strategy (median, least, most), and the processor time of a model."""
    corpus = blocks.load(blocks.PAPER)
    for strategy in TABLE_III:
        for size in SIZES:
            started, found = time.process_time(), []
            for seed in range(seeds):
                settings = Settings(size, size, strategy.graphs, strategy.mutated, strategy.chooser)
                fuzzer = Fuzzer(corpus, settings, seed)
                for _ in range(MODELS):
                    fuzzer.next()
                found.append(fuzzer.coverage.metrics())
            each = 1e3 * (time.process_time() - started) / seeds / MODELS
            medians = {name: round(statistics.median(one[name] for one in found), 3) for name in found[0]}
            least, most = (bound(one["OLC"] for one in found) for bound in (min, max))
            print(f"{strategy.name:32} N = {size:2} {medians} ({least:.3f} to {most:.3f}), {each:.1f} ms")


def main(arguments: list[str]) -> None:
    """The figure that the first argument names."""
    name, *rest = arguments or [""]
    if name == "validity":
        validity(int(rest[0]) if rest else 1000, rest[1] if len(rest) > 1 else blocks.DEFAULT)
    elif name == "coverage":
        coverage(*map(int, rest[:1]))
    else:
        sys.exit("usage: python -m benchmarks.graphs validity [COUNT [CORPUS]] | coverage [SEEDS]")


if __name__ == "__main__":
    main(sys.argv[1:])
