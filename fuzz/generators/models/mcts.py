"""Graph-based models whose blocks a Monte Carlo tree search chooses (`fuzz.graphs`). No compiler is asked here.

Luo et al., "Graph-based fuzz testing for deep learning inference engines", ICSE 2021. The number of blocks is uniform
between the bounds; subgraphs have several operators each, and whatever makes tensors fit comes on top.

The search learns from model to model, so a model depends on all before it: those of one seed are made in their order,
and asking for an earlier one again makes all before it again. `Generated.rejected` counts models that added nothing
to the operator-level coverage.
"""

from __future__ import annotations

from functools import lru_cache

from fuzz.generators.models import Generated, Parameters, UnusableParameters
from fuzz.graphs import blocks
from fuzz.graphs.blocks import BlockError, Corpus
from fuzz.graphs.workflow import Fuzzer, Made, Settings

#: Blocks of a model, at most: random graphs and their edges take time that grows with its square.
MOST_NODES = 1000


def check(parameters: Parameters) -> None:
    """Raises UnusableParameters where no model can be made."""
    generate(parameters, 0, 0)


def fuzzer(parameters: Parameters, seed: int) -> Fuzzer:
    """The search from its beginning. Raises UnusableParameters."""
    chosen = {operator.op_type for operator in parameters.operators()}
    settings = Settings(
        parameters.low,
        parameters.high,
        opset=parameters.opset,
        ir_version=parameters.ir_version,
        limits=parameters.limits,
        all_outputs=parameters.all_outputs,
    )
    try:
        return Fuzzer(_corpus(parameters.opset).only(chosen), settings, seed)
    except BlockError as error:
        raise UnusableParameters(str(error)) from error


@lru_cache(4)
def _corpus(opset: int) -> Corpus:
    return blocks.load(opset=opset)


class _Run:
    """The models of one seed in their order, the last one kept."""

    def __init__(self, parameters: Parameters, seed: int) -> None:
        self._begun = parameters, seed
        self._fuzzer, self._next = fuzzer(parameters, seed), 0
        self._last: Made | None = None

    def model(self, index: int) -> Made:
        """The model of that index."""
        if index < self._next - 1:
            self._fuzzer, self._next = fuzzer(*self._begun), 0
        while self._last is None or self._next <= index:
            self._last = self._fuzzer.next()
            self._next += 1
        return self._last


@lru_cache(1)
def _run(parameters: Parameters, seed: int) -> _Run:
    return _Run(parameters, seed)


def generate(parameters: Parameters, seed: int, index: int) -> Generated:
    """The model of that index. Raises UnusableParameters."""
    try:
        made = _run(parameters, seed).model(index)
    except BlockError as error:
        raise UnusableParameters(str(error)) from error
    return Generated(made.model, made.inputs, made.nodes, made.rejected)
