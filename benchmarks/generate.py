"""Isra's figures: validity, speed, coverage beside the authors' artifact, and the picking-rate table.

`python -m benchmarks.generate validity [COUNT [LB UB]]`, or `speed`, `coverage`, `baselines` or `picking` with a COUNT.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import onnx

from fuzz import catalogue
from fuzz.backends._evaluator import Evaluator
from fuzz.case import Status
from fuzz.coverage.metrics import Coverage
from fuzz.coverage.reading import nodes
from fuzz.generators import isra as source
from fuzz.generators import models
from fuzz.generators.models import Generated, Parameters, isra
from fuzz.limits import Limits as WorkerLimits
from fuzz.operators import dtypes
from fuzz.operators.families import operators
from fuzz.operators.growth import Limits
from fuzz.runner import Runner

SEED = 2026
#: The artifact has 65 operators, which the paper does not list. These are 65 numeric ones of the same kind.
_NAMES = (
    "Abs Acos Add Asin Atan AveragePool BatchNormalization Ceil Clip Concat Conv Cos DepthToSpace Div Dropout Elu Erf "
    "Exp Expand Flatten Floor Gemm GlobalAveragePool HardSigmoid Identity LRN LeakyRelu Log LogSoftmax LpPool MatMul "
    "Max MaxPool Mean Min Mul Neg PRelu Pad Reciprocal ReduceL1 ReduceL2 ReduceMax ReduceMean ReduceMin ReduceProd "
    "ReduceSum Relu Reshape Resize Sigmoid Sin Slice Softmax Softplus SpaceToDepth Split Sqrt Squeeze Sub Sum Tan Tanh "
    "Transpose Unsqueeze"
)
SIXTY_FIVE = tuple(_NAMES.split())
#: 1,000 models of 1 to 200 operators by the artifact. It counts NOP and NTR by types, and out-degrees from 1 to 12.
ARTIFACT = {
    "OTC": 0.969,
    "IDC": 0.899,
    "ODC_clamped": 9.97,
    "SEC": 0.928,
    "DEC": 0.286,
    "SAC": 658,
    "NOO": 98.8,
    "NOT": 43.7,
    "NOP_types": 101.6,
    "NTR_types": 101.4,
    "NSA_untyped": 28.8,
}
#: Milliseconds of processor time for a model that issue 7 asks for.
GOALS = {(10, 10): 0.3, (20, 20): 0.5, (1, 200): 3.0}
PICKING_RATES = (0.5, 0.8, 0.9, 0.95, 0.97, 0.99)


def validity(count: int = 10_000, low: int = 1, high: int = 10) -> None:
    """Models that onnx.checker, strict shape inference, the reference or ONNX Runtime rejects; and their values."""
    parameters = Parameters(low, high, all_outputs=True)
    found: Counter[str] = Counter()
    for index in range(count):
        generated = isra.generate(parameters, SEED, index)
        found["backtracks"] += generated.rejected
        found.update(_judged(index, generated))
    print(f"{count} models of {low} to {high} operators: {dict(found)}")
    _on_onnxruntime(count, low, high)


def _judged(index: int, generated: Generated) -> list[str]:
    model = onnx.load_from_string(generated.model)
    try:
        onnx.checker.check_model(model, full_check=True)
        onnx.shape_inference.infer_shapes(model, strict_mode=True)  # the full check lets results without a type pass
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        print(f"model {index}: {error}")
        return ["invalid"]
    try:
        with np.errstate(all="ignore"):
            values = Evaluator(model).run(None, dict(source.inputs(generated, SEED, index)))
    except Exception as error:  # noqa: BLE001 numpy and the evaluator raise whatever they like
        print(f"model {index}: the reference fails: {error!r:.200}")
        return ["invalid"]
    arrays = [np.asarray(value) for value in values]
    if not all(as_declared(info, array) for info, array in zip(model.graph.output, arrays, strict=True)):
        print(f"model {index}: a result has another dtype or shape than declared")
        return ["invalid"]
    finite = all(np.isfinite(each.astype(np.complex128)).all() for each in arrays if each.dtype.kind in "fcV")
    return ["valid"] if finite else ["valid", "with NaN or infinity"]


def as_declared(info: onnx.ValueInfoProto, array: np.ndarray) -> bool:
    """Whether a result has the dtype, rank and known sizes that the model declares."""
    kind = info.type.tensor_type
    sizes = [dim.dim_value if dim.HasField("dim_value") else None for dim in kind.shape.dim]
    fits = len(sizes) == array.ndim and all(size in (None, real) for size, real in zip(sizes, array.shape, strict=True))
    return fits and (kind.elem_type == dtypes.STRING or array.dtype == dtypes.numpy_dtype(kind.elem_type))


def _on_onnxruntime(count: int, low: int, high: int) -> None:
    target = catalogue.target("onnxruntime", {})
    statuses: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    parameters = Parameters(low, high)
    with Runner(WorkerLimits(30.0, 4096)) as runner:
        for start in range(0, count, 250):
            cases = [source.case(parameters, SEED, index) for index in range(start, min(start + 250, count))]
            for outcome in runner.run_batch(cases, target):
                statuses[outcome.status] += 1
                if outcome.status not in (Status.OK, Status.UNSUPPORTED) and outcome.error:
                    reasons[f"{outcome.status} in {outcome.stage}: {outcome.error.message[:140]!r}"] += 1
    print(f"ONNX Runtime: {dict(statuses)}")
    for reason, times in reasons.most_common():
        print(f"  {times} {reason}")


def speed(count: int = 1000) -> None:
    """Processor time a model, bytes included; the best and the median of five rounds."""
    for (low, high), goal in GOALS.items():
        parameters = Parameters(low, high)
        rounds = sorted(_milliseconds(parameters, count // 5, 1 + at) for at in range(5))
        print(f"{low}..{high} operators: {rounds[0]:.3f} ms at best, {rounds[2]:.3f} in the median; goal {goal} ms")


def _milliseconds(parameters: Parameters, count: int, seed: int) -> float:
    isra.generate(parameters, seed, 0)  # what is encoded once is not counted
    started = time.process_time()
    for index in range(count):
        isra.generate(parameters, seed, index)
    return 1e3 * (time.process_time() - started) / count


def coverage(count: int = 1000) -> None:
    """The metrics of models of 1 to 200 of 65 operators, beside the artifact's."""
    found = _covered("isra", Parameters(1, 200, SIXTY_FIVE), count)
    for name, value in found.metrics().items():
        print(f"{name:12} {value:10.4g} {ARTIFACT.get(name, ''):>10}")


def baselines(count: int = 1000) -> None:
    """The metrics of all generators, and the processor time that each took."""
    table: dict[str, list[str]] = {}
    for name in ("isra", "declarative", "randoop"):
        started = time.process_time()
        made = list(_made(name, Parameters(1, 200, SIXTY_FIVE), count))
        table.setdefault("CPU s", []).append(f"{time.process_time() - started:.1f}")
        for metric, value in _count(made).metrics().items():
            table.setdefault(metric, []).append(f"{value:.4g}")
    print(f"{'':12} {'isra':>12} {'declarative':>12} {'randoop':>12}")
    for metric, row in table.items():
        print(f"{metric:12} " + " ".join(f"{value:>12}" for value in row))


def picking(count: int = 1000) -> None:
    """Table 2 of the paper: models of 100 operators by picking rate."""
    print(f"{'rate':>6} {'CPU s':>8} {'NOP':>8} {'NTR':>8} {'NOP_types':>10} {'NTR_types':>10} {'NSA':>8}")
    for rate in PICKING_RATES:
        parameters = Parameters(100, 100, SIXTY_FIVE, limits=Limits(picking_rate=rate))
        started = time.process_time()
        made = list(_made("isra", parameters, count))
        elapsed = time.process_time() - started
        row = _count(made).metrics()
        numbers = [row[name] for name in ("NOP", "NTR")], [row[name] for name in ("NOP_types", "NTR_types")]
        print(
            f"{rate:6} {elapsed:8.2f}", *[f"{n:8.2f}" for n in numbers[0]], *[f"{n:10.2f}" for n in numbers[1]], end=""
        )
        print(f" {row['NSA_untyped']:8.2f}")


def _made(name: str, parameters: Parameters, count: int) -> Iterator[bytes]:
    generate = models.load(name)
    return (generate(parameters, SEED, index).model for index in range(count))


def _count(made: Sequence[bytes]) -> Coverage:
    table = operators()
    found = Coverage({name: table[name].degrees for name in SIXTY_FIVE})
    for data in made:
        found.add(nodes(onnx.load_from_string(data)))
    return found


def _covered(name: str, parameters: Parameters, count: int) -> Coverage:
    return _count(list(itertools.islice(_made(name, parameters, count), count)))


COMMANDS = {each.__name__: each for each in (validity, speed, coverage, baselines, picking)}

if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in COMMANDS:
        sys.exit(f"usage: python -m benchmarks.generate {'|'.join(COMMANDS)} [NUMBER ...]")
    COMMANDS[sys.argv[1]](*map(int, sys.argv[2:]))
