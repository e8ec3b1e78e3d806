"""Models with bodies are written in ONNX's textual syntax, and their scripts are as short as others."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.generators import onnx_node
from fuzz.judge import Judge
from fuzz.operators.graph import bodies, walk
from fuzz.runner import Runner
from tests.triage.test_construct import executed, rebuilt
from triage.construct import case_code, construction_code, normalise
from triage.construct_meaning import parsed
from triage.construct_text import text_lines
from triage.construct_values import Inexpressible
from triage.interesting import recorded
from triage.layout import WIDTH
from triage.reduce import reduce
from triage.reproducer import reproduces, rerun
from triage.script import MOST_LINES, code_lines, script
from triage.witness import better

PLANTED = str(Path(__file__).with_name("planted_bodies.py"))
#: A script cannot import that compiler: it says what it said, after as many lines as others take.
SNIPPET = """
session = ReferenceEvaluator(model)
actual = session.run(None, inputs)[0]
raise RuntimeError({!r})
"""
NUMBERS = np.arange(5, dtype=np.float32)


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def pairs(case: Case) -> list[tuple[str, str]]:
    """Operators with bodies, and those in the bodies."""
    graph = parsed(case.model).graph
    return [(node.op_type, inner.op_type) for node in walk(graph) for body in bodies(node) for inner in body.node]


def node_tests() -> list[Case]:
    """The first node test of every set of operators in bodies, the expansions of functions among them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = [case for case in onnx_node.cases(0) if isinstance(case, Case)]
    first: dict[frozenset[tuple[str, str]], Case] = {}
    for case in cases:
        first.setdefault(frozenset(pairs(case)), case)
    return [case for held, case in first.items() if held]


def drafted(judge: Judge, failure: Failure) -> tuple[Failure, str]:
    """The reduced failure in its clearest form, and its script."""

    def fails(case: Case) -> bool:
        found = judge.examine(case, failure.target, fresh=False).failure
        return found is not None and (found.symptom, found.detail) == (failure.symptom, failure.detail)

    found = reduce(failure.case, fails, values=recorded(judge.runner, judge.reference), neighbours=0)
    smallest = judge.examine(found.case, failure.target).failure
    assert smallest is not None
    clear = better(judge, smallest)
    assert clear.outcome.error is not None
    snippet = SNIPPET.format(clear.outcome.error.message)
    return clear, script(clear.case, clear.outcome, None, "exception:RuntimeError", snippet)


def test_every_node_test_with_a_body_has_a_short_script_that_fails(judge: Judge) -> None:
    tests = node_tests()
    assert {outer for case in tests for outer, _ in pairs(case)} >= {"If", "Loop", "Scan", "SequenceMap"}
    for case in tests:
        failure = judge.examine(case, catalogue.target(PLANTED)).failure
        if failure is None:
            continue  # the reference has no words for it
        clear, text = drafted(judge, failure)
        assert code_lines(text) <= MOST_LINES, f"{case.origin.test}\n{text}"
        assert "base64" not in text, case.origin.test
        error = clear.outcome.error
        assert error and reproduces("exception:RuntimeError", error.message, rerun(text)), f"{case.origin.test}\n{text}"


def loop(value: onnx.TensorProto, name: str = "s") -> onnx.ModelProto:
    """A loop that adds a constant of its body to what it is given."""
    flag = [helper.make_tensor_value_info(one, TensorProto.BOOL, []) for one in ("go", "on")]
    state = [helper.make_tensor_value_info(one, TensorProto.FLOAT, [5]) for one in (name, "sum")]
    count = helper.make_tensor_value_info("i", TensorProto.INT64, [])
    nodes = [
        helper.make_node("Identity", ["go"], ["on"]),
        helper.make_node("Constant", [], ["c"], value=value),
        helper.make_node("Add", [name, "c"], ["sum"]),
    ]
    body = helper.make_graph(nodes, "body", [count, flag[0], state[0]], [flag[1], state[1]])
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, [5])]
    returned = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [5])]
    trips = numpy_helper.from_array(np.array(2, np.int64), "trips")
    node = helper.make_node("Loop", ["trips", "", "x"], ["y"], body=body)
    graph = helper.make_graph([node], "g", given, returned, [trips])
    return normalise(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10))


def typed() -> onnx.TensorProto:
    return helper.make_tensor("", TensorProto.FLOAT, [5], NUMBERS)


def test_a_body_reads_as_a_person_writes_it() -> None:
    assert construction_code(loop(typed())) == (
        "import numpy as np\n"
        "from onnx import numpy_helper, parser\n\n"
        'model = parser.parse_model("""\n'
        '<ir_version: 10, opset_import: ["" : 21]>\n'
        "g (float[5] x) => (float[5] y) {\n"
        '    y = Loop (trips, "", x) <body: graph = body (int64 i, bool go, float[5] s) => (bool on, float[5] sum) {\n'
        "        on = Identity (go)\n"
        "        c = Constant <value = float[5] {0,1,2,3,4}> ()\n"
        "        sum = Add (s, c)\n"
        "    }>\n"
        "}\n"
        '""")\n'
        'model.graph.initializer.extend([numpy_helper.from_array(np.array(2, dtype=np.int64), "trips")])\n'
    )


def test_long_lines_are_broken_and_the_model_stays_what_it_was() -> None:
    model = loop(typed(), "a_name_that_is_as_long_as_some_compilers_make_them_" * 2)
    assert "parse_model" in construction_code(model)
    assert all(len(line) <= WIDTH + 20 for line in construction_code(model).splitlines())
    assert rebuilt(model) == model


@pytest.mark.parametrize("name", ["a/b:0", "1", "x y", "a  b", 'a"b', "a\\b", "<!-- x -->", '"""', "\n", "ü", "{}>"])
def test_a_weird_name_in_a_body_survives(name: str) -> None:
    model = loop(typed(), name)
    assert rebuilt(model) == model
    assert "<!--" not in construction_code(model)


def test_bytes_in_a_body_are_no_numbers_until_the_witness_has_them_so(judge: Judge) -> None:
    """Compilers read the two differently, so a script keeps what the failing model has."""
    raw = loop(numpy_helper.from_array(NUMBERS))
    with pytest.raises(Inexpressible):
        text_lines(raw)
    assert executed(construction_code(raw))["model"].graph == raw.graph
    case = Case("onnx", raw.SerializeToString(), {"x": NUMBERS}, Origin("test"))
    failure = judge.examine(case, catalogue.target(PLANTED)).failure
    assert failure is not None
    assert text_lines(normalise(parsed(better(judge, failure).case.model)))


def test_large_tensors_in_a_body_are_no_text() -> None:
    with pytest.raises(Inexpressible):
        text_lines(loop(helper.make_tensor("", TensorProto.FLOAT, [100], np.zeros(100))))


def test_a_node_of_many_inputs_is_one_row_and_its_lines_break_behind_commas() -> None:
    """The calls of `onnx.helper` for it take so many lines that the script would be longer than people read."""
    names = ["x", "x_scale", "x_zero_point", "w", "w_scale", "w_zero_point", "y_scale", "y_zero_point"]
    kinds = [TensorProto.FLOAT if name.endswith("scale") else TensorProto.UINT8 for name in names]
    shapes = [[2, 3, 1] if name in "xw" else [] for name in names]
    infos = list(map(helper.make_tensor_value_info, names, kinds, shapes))
    node = helper.make_node("QLinearConv", names, ["y"], pads=[0, 1], strides=[2])
    out = helper.make_tensor_value_info("y", TensorProto.UINT8, [2, 2, 1])
    model = helper.make_model(helper.make_graph([node], "g", infos, [out]), ir_version=8)
    fed = {
        name: np.ones(shape, helper.tensor_dtype_to_np_dtype(kind))
        for name, kind, shape in zip(names, kinds, shapes, strict=True)
    }
    code = "\n".join(case_code(model.SerializeToString(), fed))
    rows = code.partition('"""')[2].splitlines()
    assert "y = QLinearConv <pads = [0, 1], strides = [2]> (x, x_scale," in code
    assert all(row.endswith((",", "{", ")", ">", "}", '""")')) for row in rows if row.strip()), code


def test_a_long_script_has_its_model_in_the_shortest_form(judge: Judge) -> None:
    """A compiler that is a program of its own takes many lines; then calls of `onnx.helper` are too many."""
    names = [f"x{at}" for at in range(5)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [at + 1]) for at, name in enumerate(names)]
    out = helper.make_tensor_value_info("y", TensorProto.FLOAT, [15])
    node = helper.make_node("Concat", names, ["y"], axis=0)
    model = helper.make_model(helper.make_graph([node], "g", infos, [out]), ir_version=8)
    fed = {name: np.arange(at + 1, dtype=np.float32) + at for at, name in enumerate(names)}
    case = Case("onnx", model.SerializeToString(), fed, Origin("test"))
    outcome = judge.runner.run(case, catalogue.target("reference"))
    short, long = ("\n".join(["actual = []", *["actual += [1]"] * more]) for more in (1, 13))
    by_calls, by_text = (script(case, outcome, None, "exception:RuntimeError", snippet) for snippet in (short, long))
    assert "helper.make_node" in by_calls and "parse_model" in by_text
    assert code_lines(by_text) <= MOST_LINES < code_lines(by_calls) + 12
