"""Whole hearings with real compilers, a compiler that takes every liberty, and one with planted faults."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Origin, Target
from fuzz.data import data_path
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.calibration import Labelled, read
from triage.court.evidence import FILED, Evidence, Judgement, Ruling, Side, find
from triage.court.hearing import ORDER, Court
from triage.court.lines import lines
from triage.court.thresholds import tie_rules

SLIPS = str(Path(__file__).with_name("slips.py"))
UNSTEADY = str(Path(__file__).with_name("unsteady.py"))
FAULTY_WORKER = Path(__file__).parents[2] / "faulty" / "faulty.py"


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=2) as shared:
        yield shared


@pytest.fixture(scope="module")
def court(runner: Runner) -> Court:
    return Court(runner, catalogue.target("reference"))


@pytest.fixture(scope="module")
def labelled() -> dict[str, Labelled]:
    return {each.id: each for each in read(data_path("calibration", "cases.jsonl"))}


def relu(fault: str = "") -> Case:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", infos[:1], infos[1:], doc_string=fault)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": np.float32([-1, 2, 3])}, Origin("test"))


def heard(court: Court, labelled: dict[str, Labelled], name: str) -> Judgement:
    return court.hear(labelled[name].case, labelled[name].target)


def test_every_kind_of_evidence_has_its_place_in_the_order() -> None:
    kinds = Path(__file__).parents[3] / "triage" / "court" / "kinds"
    assert sorted(ORDER) == sorted(path.stem for path in kinds.glob("*.py") if path.stem != "__init__")


#: One of each sort; `graphwarden calibrate` replays them all.
BUGS = {
    "planted scaled MatMul": "proven",
    "planted one_element Add": "proven",
    "planted uninitialised Add": "uninitialised",
    "planted shifted LayerNormalization": "proven",
    "TVM Dropout mask": "outvoted_compiler",
}
TRAPS = {
    "trap cancellation openvino": Ruling.NOISE,
    "trap floor near a tie honest": Ruling.NOISE,
    "trap long sum tvm": Ruling.NOISE,
    "trap LayerNormalization of nearly constant data honest": Ruling.NOISE,
    "trap float16 mean that overflows onnxruntime": Ruling.NOISE,
    "trap Exp at the overflow border openvino": Ruling.NOISE,
    "trap TopK tie honest": Ruling.UNDEFINED,
    "trap NaN among numbers tvm": Ruling.UNDEFINED,
    "trap random numbers onnxruntime": Ruling.NONDETERMINISTIC,
}


@pytest.mark.parametrize("name", BUGS)
def test_a_bug_near_the_tolerance_is_a_bug(name: str, court: Court, labelled: dict[str, Labelled]) -> None:
    found = heard(court, labelled, name)
    assert (found.verdict, found.rule) == (Ruling.COMPILER_BUG, BUGS[name]), found.reason
    assert found.project == ("tvm" if name.startswith("TVM") else "faulty")


@pytest.mark.parametrize("name", TRAPS)
def test_a_trap_is_no_bug(name: str, court: Court, labelled: dict[str, Labelled]) -> None:
    found = heard(court, labelled, name)
    assert found.verdict is TRAPS[name], found.reason


def test_the_lines_of_a_report_tell_numbers_and_no_places_of_ours(court: Court, labelled: dict[str, Labelled]) -> None:
    told = list(lines(heard(court, labelled, "planted scaled MatMul")))
    assert "ulp" in told[0] and told[0].startswith("Computed in float64, ")
    assert any("agree with the reference" in line for line in told)
    assert not [line for line in told if "/" in line]
    assert list(lines(None)) == []


def test_one_run_with_other_threads_tells_nothing_of_what_memory_decides() -> None:
    """Tile read memory that nobody had written, and the draft sent its reader after a race."""
    threads = Evidence("threads", Side.AGAINST, "with 4 threads the result is the expected one, with 1 it is not", {})
    for depends in (True, False):
        memory = Evidence("memory", Side.AGAINST, "the result follows the byte", {"depends": depends})
        told = list(lines(Judgement(Ruling.COMPILER_BUG, "", (memory, threads))))
        assert any("4 threads" in line for line in told) is not depends


def test_a_case_that_passes_has_no_verdict(court: Court) -> None:
    found = court.hear(relu(), catalogue.target("onnxruntime"))
    assert (found.verdict, found.evidence) == (None, ()) and "agrees with the reference" in found.reason


DEATHS = {
    "fault:null_dereference;": Ruling.COMPILER_BUG,
    "fault:plain_exception;": Ruling.COMPILER_BUG,
    "fault:cannot_feed;": Ruling.UNSUPPORTED,
}


@pytest.mark.parametrize("fault", DEATHS)
def test_a_death_is_judged_by_repeating_it_and_by_votes_alone(fault: str, court: Court) -> None:
    found = court.hear(relu(fault), catalogue.target(str(FAULTY_WORKER)))
    assert found.verdict is DEATHS[fault], found.reason
    assert find(found.evidence, "float64") is None and find(found.evidence, "memory") is None


def test_a_failure_of_the_machine_is_told_apart(runner: Runner, tmp_path: Path) -> None:
    full = tmp_path / "full.py"
    text = FAULTY_WORKER.read_text().replace("shape mismatch in Relu", "[Errno 28] No space left on device")
    full.write_text(text)
    court = Court(runner, catalogue.target("reference"))
    found = court.hear(relu("fault:plain_exception;"), catalogue.target(str(full)))
    assert found.verdict is Ruling.ENVIRONMENT and "disk" in found.reason


def test_a_compiler_that_is_not_there_is_the_environments_fault(court: Court) -> None:
    gone = Target(str(FAULTY_WORKER.with_name("import_raises.py")), catalogue.target("reference").revision)
    found = court.hear(relu(), gone)
    assert found.verdict is Ruling.ENVIRONMENT and "does not work here" in found.reason


def test_an_invalid_model_is_no_test_and_a_death_of_it_is_a_bug(court: Court) -> None:
    case = relu("fault:null_dereference;")
    invalid = replace(case, model=case.model.replace(b"Relu", b"Rulu"))
    dead = court.hear(invalid, catalogue.target(str(FAULTY_WORKER)))
    assert dead.verdict is Ruling.COMPILER_BUG and "must refuse it" in json.dumps(dead.document())
    for backend in ("onnxruntime", "openvino"):
        assert court.hear(invalid, catalogue.target(backend)).verdict is Ruling.INVALID_TEST


def test_two_implementations_against_the_reference_are_its_bug(court: Court) -> None:
    """The evaluator ignores the lengths of the sequences of an RNN (decision 002)."""
    rng = np.random.default_rng(0)
    inputs = {
        "x": rng.standard_normal((3, 2, 2)).astype("f"),
        "w": rng.standard_normal((1, 2, 2)).astype("f"),
        "r": rng.standard_normal((1, 2, 2)).astype("f"),
        "n": np.array([1, 3], np.int32),
    }
    node = helper.make_node("RNN", ["x", "w", "r", "", "n"], ["", "y"], hidden_size=2)
    infos = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), value.shape)
        for name, value in inputs.items()
    ]
    out = [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 2, 2])]
    model = helper.make_model(
        helper.make_graph([node], "g", infos, out), opset_imports=[helper.make_opsetid("", 14)], ir_version=8
    )
    found = court.hear(Case("onnx", model.SerializeToString(), inputs, Origin("test")), catalogue.target("onnxruntime"))
    assert found.verdict is Ruling.REFERENCE_BUG, found.reason
    assert found.verdict in FILED and found.project == "onnx (reference evaluator)"


def test_a_new_attribute_that_two_compilers_ignore_is_no_bug_of_the_reference(court: Court) -> None:
    node = helper.make_node("SpaceToDepth", ["x"], ["y"], blocksize=2, mode="CRD")
    infos = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
        for name, shape in (("x", [1, 2, 2, 2]), ("y", [1, 8, 1, 1]))
    ]
    graph = helper.make_graph([node], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 28)], ir_version=13)
    x = np.arange(8, dtype=np.float32).reshape(1, 2, 2, 2)
    found = court.hear(Case("onnx", model.SerializeToString(), {"x": x}, Origin("test")), catalogue.target("tvm"))
    assert found.verdict in (Ruling.COMPILER_BUG, Ruling.UNSUPPORTED), found.reason


def test_a_hearing_whose_time_is_over_asks_nobody_else(runner: Runner, labelled: dict[str, Labelled]) -> None:
    case = labelled["planted scaled MatMul"]
    found = Court(runner, catalogue.target("reference"), seconds=0.001).hear(case.case, case.target)
    votes = find(found.evidence, "votes")
    assert found.verdict is Ruling.COMPILER_BUG and votes is not None
    assert not votes.figures["reference"] and votes.figures["abstained"]


def one_node(
    op_type: str, opset: int, inputs: dict[str, np.ndarray], shape: tuple[int, ...], **attributes: object
) -> Case:
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape) for n, v in inputs.items()
    ]
    node = helper.make_node(op_type, list(inputs), ["y"], **attributes)
    graph = helper.make_graph([node], "g", infos, [helper.make_tensor_value_info("y", TensorProto.FLOAT, shape)])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)
    return Case("onnx", model.SerializeToString(), inputs, Origin("test"))


def test_what_only_a_newer_operator_set_has_is_not_supported(court: Court) -> None:
    x = np.arange(48, dtype=np.float32).reshape(1, 3, 4, 4)
    case = one_node("SpaceToDepth", 28, {"x": x}, (1, 12, 2, 2), blocksize=2, mode="CRD")
    judgement = court.hear(case, catalogue.target("openvino"))
    assert judgement.verdict is Ruling.UNSUPPORTED
    assert "needs opset 28" in judgement.reason


def test_what_fails_in_an_older_operator_set_too_is_a_bug_whatever_it_is_written_in(court: Court) -> None:
    x = np.float32([np.inf, np.inf])
    newest = one_node("ReduceMin", 28, {"x": x}, (1,))
    judgement = court.hear(newest, catalogue.target("openvino"))
    told = find(judgement.evidence, "opset")
    assert judgement.verdict is Ruling.COMPILER_BUG
    assert told is not None and told.figures["fails_in"] < 28


def picked(op_type: str, x: np.ndarray, outputs: dict[str, int], opset: int = 13, **attributes: object) -> Case:
    """One node that picks among the values `x`; `outputs` are the types of its outputs by name."""
    constants = [helper.make_tensor("k", TensorProto.INT64, [1], [2])] if op_type == "TopK" else []
    node = helper.make_node(op_type, ["x", *(tensor.name for tensor in constants)], list(outputs), **attributes)
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)
    declared = [helper.make_tensor_value_info(name, code, ["n"]) for name, code in outputs.items()]
    graph = helper.make_graph([node], "g", [info], declared, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))


def stubborn(tmp_path: Path, results: str) -> Target:
    """A compiler that gives these results, whatever it is asked."""
    path = tmp_path / "stubborn.py"
    path.write_text(
        "import numpy as np\n"
        'PACKAGES, KINDS, OPTIONS = (), ("onnx",), {}\n'
        "def warm(): pass\n"
        'def devices(): return ["CPU"]\n'
        "def execute(job, enter):\n"
        '    enter("run")\n'
        f"    return {results}\n"
    )
    return catalogue.target(str(path))


TIED = np.float32([1, 3, 3, 0])
INT64 = TensorProto.INT64


def test_a_tie_is_open_where_no_words_are_held_against_the_compiler(court: Court, tmp_path: Path) -> None:
    case = picked("ArgMax", TIED, {"z": INT64}, axis=0)
    found = court.hear(case, stubborn(tmp_path, '[("z", np.array([2]))]'))
    assert found.verdict is Ruling.UNDEFINED
    assert "the index of the first occurrence is selected" in found.reason  # the words are quoted all the same


def test_to_ignore_the_attribute_that_orders_equal_values_is_a_bug(court: Court, tmp_path: Path) -> None:
    case = picked("ArgMax", TIED, {"z": INT64}, axis=0, select_last_index=1)
    found = court.hear(case, stubborn(tmp_path, '[("z", np.array([1]))]'))
    assert (found.verdict, found.rule) == (Ruling.COMPILER_BUG, "misplaced")
    assert "the index of the last occurrence" in found.reason


@pytest.mark.parametrize(
    ("case", "results"),
    [
        (picked("ArgMax", TIED, {"z": INT64}, axis=0), '[("z", np.array([0]))]'),
        (picked("Hardmax", TIED, {"z": TensorProto.FLOAT}, axis=0), '[("z", np.float32([0, 1, 1, 0]))]'),
        (
            picked("TopK", TIED, {"v": TensorProto.FLOAT, "z": INT64}, axis=0),
            '[("v", np.float32([3, 3])), ("z", np.array([2, 2]))]',
        ),
    ],
    ids=["not the largest", "two ones", "one place twice"],
)
def test_what_no_order_of_equal_values_gives_is_a_bug_though_there_are_ties(
    case: Case, results: str, court: Court, tmp_path: Path
) -> None:
    found = court.hear(case, stubborn(tmp_path, results))
    assert (found.verdict, found.rule) == (Ruling.COMPILER_BUG, "misplaced"), found.reason


ONES = np.float32([1] * 39 + [9])


def marked(pick: str, **how: object) -> Case:
    """Forty numbers, all but the last equal, of which three or one are picked; a row of zeros with a one for each."""
    case = picked(pick, ONES, {"v": TensorProto.FLOAT, "i": INT64} if pick == "TopK" else {"i": INT64}, **how)
    model = onnx.load_model_from_string(case.model)
    for tensor in model.graph.initializer:
        tensor.CopyFrom(helper.make_tensor(tensor.name, INT64, [1], [3]))
    depth = helper.make_tensor("d", INT64, [], [40])
    model.graph.initializer.extend([depth, helper.make_tensor("o", TensorProto.FLOAT, [2], [0, 1])])
    model.graph.node.append(helper.make_node("OneHot", ["i", "d", "o"], ["z"]))
    del model.graph.output[:]
    model.graph.output.append(helper.make_tensor_value_info("z", TensorProto.FLOAT, ["n", 40]))
    return replace(case, model=model.SerializeToString())


@pytest.mark.parametrize(
    ("places", "verdict"),
    [([39, 7, 3], Ruling.UNDEFINED), ([39, 38, 0], Ruling.UNDEFINED), ([3, 7, 1], Ruling.COMPILER_BUG)],
    ids=["other equal values", "still others", "not the largest"],
)
def test_what_is_made_of_any_equal_values_is_open_and_of_no_others(
    places: list[int], verdict: Ruling, court: Court, tmp_path: Path
) -> None:
    results = f'[("z", np.eye(40, dtype=np.float32)[{places}])]'
    found = court.hear(marked("TopK"), stubborn(tmp_path, results))
    assert found.verdict is verdict, found.reason


def test_words_on_the_order_of_equal_values_hold_where_more_nodes_follow_too(court: Court, tmp_path: Path) -> None:
    for held, verdict in ((0, Ruling.UNDEFINED), (1, Ruling.COMPILER_BUG)):
        case = marked("ArgMin", axis=0, select_last_index=held)
        found = court.hear(case, stubborn(tmp_path, '[("z", np.eye(40, dtype=np.float32)[[4]])]'))
        assert found.verdict is verdict, found.reason


def test_values_that_rounding_makes_equal_are_noise(court: Court, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Add", ["x", "c"], ["a"]),
        helper.make_node("Sub", ["a", "c"], ["b"]),
        helper.make_node("ArgMax", ["b"], ["z"], axis=0),
    ]
    x = np.float32([0.3, 0.1])
    info = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    out = helper.make_tensor_value_info("z", INT64, [1])
    big = helper.make_tensor("c", TensorProto.FLOAT, [], [1e8])
    graph = helper.make_graph(nodes, "g", [info], [out], [big])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"x": x}, Origin("test"))
    found = court.hear(case, stubborn(tmp_path, '[("z", np.array([1]))]'))
    assert found.verdict in (Ruling.NOISE, Ruling.UNDEFINED), found.reason


def test_words_that_the_reference_does_not_keep_to_are_held_against_it_even_alone(court: Court) -> None:
    """LpPool: the norm of what is in the window, which three implementations scale up where the window is cut off."""
    x = np.float32([[[[3, 4, 0, 5]]]])
    case = one_node("LpPool", 18, {"x": x}, (1, 1, 1, 2), kernel_shape=[1, 3], strides=[1, 2], ceil_mode=1, p=2)
    found = court.hear(case, catalogue.target("onnxruntime"))
    assert (found.verdict, found.rule) in ((Ruling.REFERENCE_BUG, "by_the_words"), (None, "")), found.reason


def test_the_words_on_equal_values_stand_in_the_specification() -> None:
    for rule in tie_rules():
        for operator in rule.operators:
            schema = onnx.defs.get_schema(operator, 13)
            assert rule.spec in " ".join(schema.doc.split())


def test_what_pytorch_itself_raises_is_no_bug_of_who_called_it(court: Court) -> None:
    """A frontend that decomposes a program gets the errors of PyTorch's own decompositions."""
    pytest.importorskip("tvm")
    complex_number = b'{"dtype": "complex64", "shape": [1]}'
    case = Case(
        "instance", b'{"api": "torch.nan_to_num", "args": [%s, 1.0, 1.0, 0.0]}' % complex_number, {}, Origin("t")
    )
    judgement = court.hear(case, catalogue.target("tvm"))
    assert judgement.verdict is Ruling.REFERENCE_BUG, judgement
    assert "torch/" in judgement.reason and "Complex dtype is not supported for isneginf" in judgement.reason
    assert judgement.project == "PyTorch (eager)"


def test_values_that_differ_within_the_tolerance_are_not_said_to_be_equal(court: Court) -> None:
    """Tiny numbers are all zero to the tolerance, and yet no arithmetic gives another one in every run."""
    repeats = find(court.hear(relu(), catalogue.target(UNSTEADY)).evidence, "repeats")
    assert repeats is not None
    assert repeats.sentence == "it fails in 3 of 3 fresh processes, with slightly other values each time"
    assert (repeats.figures["values_vary"], repeats.figures["steady"]) == (False, False)


def test_what_the_library_itself_dies_of_in_the_same_way_is_no_compilers_fault(runner: Runner, tmp_path: Path) -> None:
    """Eager PyTorch dies of SIGFPE where the smallest integer is divided by -1; so does what copies it."""
    tensors = [{"dtype": "int32", "shape": [1], "values": [-(2**31)]}, {"dtype": "int32", "shape": [1], "values": [-1]}]
    call = {"api": "torch.div", "args": [{"tensor": 0}, {"tensor": 1}], "kwargs": {"rounding_mode": "trunc"}}
    case = Case("instance", json.dumps({**call, "tensors": tensors}).encode(), {}, Origin("test"))
    head = (
        'import os\nPACKAGES, KINDS, OPTIONS = (), ("instance",), {}\ndef warm(): pass\ndef devices(): return ["CPU"]\n'
    )
    for name, verdict in (("SIGFPE", Ruling.INVALID_TEST), ("SIGSEGV", Ruling.COMPILER_BUG)):
        line = f"def execute(job, enter):\n    import signal\n    os.kill(os.getpid(), signal.{name})\n"
        (tmp_path / f"{name.lower()}.py").write_text(head + line)
        accused = catalogue.target(str(tmp_path / f"{name.lower()}.py"))
        found = Court(runner, catalogue.target("reference"), 5.0).hear(case, accused)
        assert found.verdict is verdict, found.reason


def test_of_equal_values_float64_tells_nothing_where_no_order_of_them_explains_the_result(court: Court) -> None:
    infos = [helper.make_tensor_value_info("x", TensorProto.UINT8, [2])]
    results = [helper.make_tensor_value_info("y", TensorProto.INT64, [1])]
    graph = helper.make_graph([helper.make_node("ArgMax", ["x"], ["y"])], "g", infos, results)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    case = Case("onnx", model.SerializeToString(), {"x": np.uint8([0, 0])}, Origin("test"))
    below = court.hear(case, catalogue.target(SLIPS, {"slip": "one less"}))
    assert below.verdict is Ruling.COMPILER_BUG
    assert find(below.evidence, "float64") is None
    assert find(below.evidence, "ties").figures["breaks"]
    other = court.hear(case, catalogue.target(SLIPS, {"slip": "one more"}))
    assert other.verdict is Ruling.UNDEFINED


def test_a_maximum_that_is_none_is_not_excused_by_ties_in_other_windows(court: Court, tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        g (float[1,1,4] x) => (float[1,1,2] y, int64[1,1,2] i) { y, i = MaxPool<kernel_shape=[2], strides=[2]>(x) }""")
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([[[1, 1, 2, -3]]])}, Origin("test"))
    y, tied, smallest = "np.float32([[[1, {}]]])", "np.int64([[[1, 2]]])", "np.int64([[[1, 3]]])"
    honest = answering(tmp_path, "honest", y.format(2), tied)
    assert court.hear(case, honest).verdict is Ruling.UNDEFINED
    assert court.hear(case, answering(tmp_path, "planted", y.format(-3), smallest)).verdict is Ruling.COMPILER_BUG


def test_a_tie_of_quantization_excuses_one_step_and_no_more(court: Court, tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        g (float[3] x) => (uint8[3] y) { y, s, z = DynamicQuantizeLinear(x) }""")
    inputs = {"x": np.float32([0.5, 0, 5])}  # the first is 25.5 of the steps of 5 / 255, as far as float32 can tell
    case = Case("onnx", model.SerializeToString(), inputs, Origin("test"))
    down = court.hear(case, answering(tmp_path, "down", "np.uint8([25, 0, 255])"))
    assert down.verdict not in FILED
    off = court.hear(case, answering(tmp_path, "off", "np.uint8([31, 0, 255])"))
    assert off.verdict is Ruling.COMPILER_BUG


def test_a_zero_point_that_is_a_tie_moves_all_values_by_one_more(court: Court, tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 17]>
        g (float[3] x) => (uint8[3] y, uint8 z) { y, s, z = DynamicQuantizeLinear(x) }""")
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([-0.5, 0.5, 4.5])}, Origin("test"))
    honest = answering(tmp_path, "honest_zero", "np.uint8([0, 50, 254])", "np.uint8(25)")
    assert court.hear(case, honest).verdict not in FILED


def test_a_voter_is_asked_of_the_outputs_that_differ_and_not_of_the_others(court: Court, tmp_path: Path) -> None:
    model = onnx.parser.parse_model("""<ir_version: 8, opset_import: ["": 18]>
        g (float[2] x) => (bool h, float[2] y) {
            o = Optional(x) h = OptionalHasElement(o) y = OptionalGetElement(o) }""")
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([1, 2])}, Origin("test"))
    found = court.hear(case, answering(tmp_path, "denies", "np.array(False)", "[np.float32([1, 2])]"))
    assert found.verdict is Ruling.COMPILER_BUG
    assert "onnxruntime" in find(found.evidence, "votes").figures["reference"]


def answering(tmp_path: Path, name: str, *answers: str) -> Target:
    """A compiler that gives these results, as Python writes them, whatever it is asked."""
    path = tmp_path / f"{name}.py"
    path.write_text(
        "import numpy as np\n"
        "PACKAGES, KINDS, OPTIONS = (), ('onnx',), {}\n"
        "def warm():\n    pass\n"
        "def devices():\n    return ['CPU']\n"
        "def execute(job, enter):\n"
        "    import onnx\n"
        "    enter('run')\n"
        "    names = [info.name for info in onnx.load_from_string(job.model).graph.output]\n"
        f"    return list(zip(names, [{', '.join(answers)}]))\n"
    )
    return catalogue.target(str(path))


def on_a_device(tmp_path: Path, library: str) -> Target:
    """A compiler whose Relu is wrong on a device, where its `library` uncompiled gives this of x."""
    path = tmp_path / "on_a_device.py"
    path.write_text(
        "import numpy as np\n"
        "PACKAGES, KINDS = (), ('onnx',)\n"
        "OPTIONS = {'device': ('CPU', 'gpu'), 'engine': ('compiler', 'none')}\n"
        "UNCOMPILED_WITH = {'device=gpu': {'engine': 'none'}}\n"
        "def warm():\n    pass\n"
        "def devices():\n    return ['CPU', 'gpu']\n"
        "def execute(job, enter):\n"
        "    x = job.inputs['x']\n"
        "    if job.options.get('engine') == 'none':\n"
        f"        return [('y', {library})]\n"
        "    return [('y', x if job.options.get('device') == 'gpu' else np.maximum(x, 0))]\n"
    )
    return catalogue.target(str(path), {"device": "gpu"})


def test_a_wrong_result_of_a_device_is_held_against_the_cpu_and_the_library_alone(court: Court, tmp_path: Path) -> None:
    judgement = court.hear(relu(), on_a_device(tmp_path, "np.maximum(x, 0)"))
    assert judgement.verdict is Ruling.COMPILER_BUG
    told = find(judgement.evidence, "devices")
    assert told is not None and told.sentence in [
        line.rstrip(".")[0].lower() + line.rstrip(".")[1:] for line in lines(judgement)
    ]
    assert told.sentence == (
        "the same compiler on the CPU gives the expected result; "
        "its library, uncompiled on gpu, gives the expected result"
    )


def test_where_the_library_alone_errs_on_a_device_nothing_is_told_against_the_compiler(
    court: Court, tmp_path: Path
) -> None:
    told = find(court.hear(relu(), on_a_device(tmp_path, "x")).evidence, "devices")
    assert (
        told is not None and told.side is Side.NEUTRAL and told.sentence.endswith("does not give the expected result")
    )
