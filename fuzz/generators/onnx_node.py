"""The ONNX backend node tests as cases.

Every test gives a case with its inputs as they are, and, when some of its inputs are not data (shapes,
axes, pads, weights ...), a second one with those turned into initializers: compilers read constants
by other paths than run-time values. Tests whose operator ONNX itself expanded into the body of its
function are marked ``expanded``. Source: `onnx.backend.test.case.node.collect_testcases`.
"""

from __future__ import annotations

import contextlib
import io
import random
import warnings
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from fuzz.case import Case, Origin
from fuzz.generators import Skip
from fuzz.operators.graph import walk
from fuzz.operators.table import Role, formal_inputs, operator, opsets
from fuzz.wire import Value

NAME = "onnx_node"

#: Before this IR version an initializer must be a graph input too, so it could never be a constant.
FIRST_IR_WITH_CONSTANTS = 4

_EXPANDED = "_expanded"


#: Cases in a row when several sources share a campaign (see fuzz.ranking.stream).
PER_TURN = 16


def cases(seed: int) -> Iterator[Case | Skip]:
    """All node tests, shuffled by `seed`; operators take turns so that a short budget sees many."""
    tests = _collect()
    frozen = {test.name: _non_data_inputs(test.model) for test in tests}
    operators = {test.name: test.model.graph.node[0].op_type for test in tests}
    groups: dict[str, list[Any]] = defaultdict(list)
    for test in tests:
        groups[operators.get(_source_name(test.name), operators[test.name])].append(test)
    for test in _round_robin(groups, random.Random(seed)):
        yield from _variants(test, frozen[test.name] | frozen.get(_source_name(test.name), frozenset()), seed)


def _collect() -> list[Any]:
    """Collecting computes the expected outputs with numpy, which warns; a part prints, too."""
    from onnx.backend.test.case.node import collect_testcases

    with warnings.catch_warnings(), np.errstate(all="ignore"), contextlib.redirect_stdout(io.StringIO()):
        warnings.simplefilter("ignore")
        return list(collect_testcases(None))


def _source_name(name: str) -> str:
    """The test that an expanded one was made of: ``test_x`` for ``test_x_expanded_ver18``."""
    return name.partition(_EXPANDED)[0]


def _round_robin(groups: Mapping[str, list[Any]], rng: random.Random) -> Iterator[Any]:
    order = sorted(groups)
    rng.shuffle(order)
    shuffled = [rng.sample(groups[name], len(groups[name])) for name in order]
    for turn in zip_longest(*shuffled):
        yield from (test for test in turn if test is not None)


def _non_data_inputs(model: onnx.ModelProto) -> frozenset[str]:
    """Names of the values that some node takes as a parameter or as configuration."""
    versions = opsets(model)
    return frozenset(
        actual
        for node in walk(model.graph)
        for actual, formal in zip(node.input, formal_inputs(node, versions), strict=True)
        if actual and operator(node.op_type, node.domain).input(formal).role is not Role.DATA
    )


def _variants(test: Any, freezable: frozenset[str], seed: int) -> Iterator[Case | Skip]:
    prefix = "expanded" if _EXPANDED in test.name else ""
    plain = Origin(NAME, test.name, prefix or "plain", seed)
    if not test.data_sets:
        yield Skip(plain, "the test has no data in memory")
        return
    try:
        inputs, expected = _data(test)
    except Unrepresentable as error:
        yield Skip(plain, str(error))
        return
    yield Case("onnx", test.model.SerializeToString(), inputs, plain, expected)
    constants = {name: inputs[name] for name in inputs if name in freezable and _is_tensor(test.model, name)}
    if constants:
        rest = {name: value for name, value in inputs.items() if name not in constants}
        origin = Origin(NAME, test.name, f"{prefix}-frozen".removeprefix("-"), seed)
        yield Case("onnx", freeze(test.model, constants).SerializeToString(), rest, origin, expected)


def _is_tensor(model: onnx.ModelProto, name: str) -> bool:
    return any(i.name == name and i.type.HasField("tensor_type") for i in model.graph.input)


def freeze(model: onnx.ModelProto, constants: Mapping[str, Value]) -> onnx.ModelProto:
    """A copy of `model` in which the graph inputs `constants` (name -> array) are initializers."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph = result.graph
    kept = [graph_input for graph_input in graph.input if graph_input.name not in constants]
    del graph.input[:]
    graph.input.extend(kept)
    for name, value in constants.items():
        assert isinstance(value, np.ndarray), f"input {name} is not a tensor"
        graph.initializer.append(numpy_helper.from_array(value, name))
    result.ir_version = max(result.ir_version, FIRST_IR_WITH_CONSTANTS)
    return result


class Unrepresentable(ValueError):
    """Test data that has no wire form."""


def _data(test: Any) -> tuple[dict[str, Value], tuple[Value, ...]]:
    """Inputs by graph input name and outputs in graph order, of the test's first data set."""
    given, expected = test.data_sets[0]
    names = [graph_input.name for graph_input in test.model.graph.input]
    if len(given) != len(names):
        raise Unrepresentable(f"{len(given)} values for {len(names)} graph inputs")
    return dict(zip(names, _values(given), strict=True)), tuple(_values(expected))


def _values(items: Iterable[Any]) -> list[Value]:
    return [to_value(item) for item in items]


def to_value(item: Any) -> Value:
    """One value of a test (array, numpy scalar, TensorProto, list, None) as a wire value."""
    if item is None or isinstance(item, np.ndarray):
        return _array(item) if item is not None else None
    if isinstance(item, onnx.TensorProto):
        return _array(numpy_helper.to_array(item))
    if isinstance(item, np.generic):
        return _array(np.asarray(item))
    if isinstance(item, (list, tuple)):
        return _values(item)
    raise Unrepresentable(f"a value of type {type(item).__name__} cannot be an input or output")


def _array(array: np.ndarray) -> np.ndarray:
    """Strings as object arrays of str (they come as bytes, str or numpy's fixed width); rest unchanged."""
    if array.dtype.kind not in "OSU":
        return array
    texts = [text.decode() if isinstance(text, bytes) else str(text) for text in array.ravel().tolist()]
    return np.array(texts, dtype=object).reshape(array.shape)
