"""Signing with the registry of conversion functions that the compiler itself holds."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper, parser

from fuzz import catalogue
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status, Target
from fuzz.judge import Judge
from fuzz.runner import Runner
from triage import titles
from triage.operators import CALL, node_count, operators, value_names
from triage.signing import Signer

PLANTED = Path(__file__).with_name("planted.py")


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(jobs=1) as shared:
        yield shared


@pytest.fixture(scope="module")
def signer(runner: Runner) -> Signer:
    return Signer(runner)


def case_of(*operators: str) -> Case:
    names = [f"v{at}" for at in range(len(operators) + 1)]
    nodes = [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(operators)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in (names[0], names[-1])]
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos[:1], infos[1:]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    return Case("onnx", model.SerializeToString(), {names[0]: np.zeros(1, np.float32)}, Origin("test"))


def wrong(case: Case, target: Target) -> Failure:
    outcome = Outcome(Status.WRONG, Stage.RUN)
    return Failure(case, target, outcome, None, "inconsistency", "wrong:values", "1 of 1 elements differ")


def test_the_converter_of_a_wrong_result_comes_from_the_compiler(signer: Signer) -> None:
    target = catalogue.target(str(PLANTED))
    assert signer.sign(wrong(case_of("Ceil"), target)).conversion_function == "convert_rounding"
    both = signer.sign(wrong(case_of("Ceil", "Floor"), target))
    assert both.conversion_function == "convert_rounding"
    assert signer.sign(wrong(case_of("Ceil", "Abs"), target)).kind == "operators"


def test_a_real_compiler_is_asked_too(signer: Signer) -> None:
    found = signer.sign(wrong(case_of("Relu"), catalogue.target("onnxruntime")))
    assert found.conversion_function and found.kind == "conversion function"


def test_a_compiler_that_cannot_answer_still_has_its_failures_signed(signer: Signer, tmp_path: Path) -> None:
    text = PLANTED.read_text()
    for name, end in (("dies", "    os._exit(1)\n"), ("raises", "    raise ValueError('no registry')\n")):
        path = tmp_path / f"{name}.py"
        path.write_text(text[: text.index("    return [SHARED.get")] + end)
        found = signer.sign(wrong(case_of("Relu"), catalogue.target(str(path))))
        assert (found.place, found.kind) == ("Relu", "operators")


def test_what_is_stored_names_operators_and_says_why(signer: Signer) -> None:
    target = catalogue.target(str(PLANTED))
    new = signer.describe(wrong(case_of("Abs", "Ceil", "Abs"), target))
    assert new.operators == ("Abs", "Ceil") and new.message == "1 of 1 elements differ"
    assert new.why.startswith("same because") and new.conversion_function == ""
    blamed = Outcome(Status.EXCEPTION, Stage.RUN, error=Error("E", "no", operator="Ceil"))
    failure = Failure(case_of("Abs", "Ceil"), target, blamed, None, "crash", "exception:E", "no")
    assert signer.describe(failure).operators == ("Ceil",)


def test_operators_of_branches_and_functions_are_found_and_calls_of_functions_are_not() -> None:
    branch = helper.make_graph(
        [helper.make_node("Sin", ["x"], ["s"])], "b", [], [helper.make_tensor_value_info("s", TensorProto.FLOAT, None)]
    )
    function = helper.make_function(
        "mine", "Twice", ["a"], ["b"], [helper.make_node("Mul", ["a", "a"], ["b"])], [helper.make_opsetid("", 17)]
    )
    nodes = [
        helper.make_node("If", ["c"], ["y"], then_branch=branch, else_branch=branch),
        helper.make_node("Twice", ["y"], ["z"], domain="mine"),
    ]
    model = helper.make_model(
        helper.make_graph(nodes, "g", [], []),
        functions=[function],
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("mine", 1)],
    )
    case = Case("onnx", model.SerializeToString(), {}, Origin("test"))
    assert operators(case) == [("", "If", 17), ("", "Sin", 17), ("", "Mul", 17)]
    assert node_count(case) == 5
    assert {"c", "y", "z", "s", "a", "b", "Twice"} <= value_names(case)


#: A function that does not read its second parameter, which ONNX Runtime refuses in float8; then another such.
UNREAD = """
<ir_version: 10, opset_import: ["" : 21, "local" : 1]>
g (float[2] x, float8e4m3fn[3] y) => (float[2] z) {{ z = local.{name} (x, y) }}
<domain: "local", opset_import: ["" : 21]>
{name} (a, b) => (c) {{ {body} }}
"""


@pytest.mark.parametrize(("name", "body"), [("f2", "c = Identity (a)"), ("other", "t = Abs (a) c = Neg (t)")])
def test_a_call_that_is_refused_has_nothing_to_do_with_what_the_function_computes(
    signer: Signer, runner: Runner, name: str, body: str
) -> None:
    model = parser.parse_model(UNREAD.format(name=name, body=body)).SerializeToString()
    inputs = {"x": np.ones(2, np.float32), "y": np.ones(3, ml_dtypes.float8_e4m3fn)}
    judge = Judge(runner, catalogue.target("reference"))
    failure = judge.examine(Case("onnx", model, inputs, Origin("test")), catalogue.target("onnxruntime")).failure
    assert failure is not None and failure.outcome.error is not None
    assert failure.outcome.error.operator == name
    told, described = signer.sign(failure), signer.describe(failure)
    assert (told.place, told.conversion_function) == (CALL, "") and described.operators == (CALL,)
    assert told.message == "Type Error: Type 'tensor(DTYPE)' of input parameter of operator (NAME) NODE is invalid."
    assert titles.subject(failure.case, described.operators) == "a local function"


def test_an_instance_is_one_operator() -> None:
    case = Case("instance", b'{"api":"torch.relu","library":"torch"}', {}, Origin("test"))
    assert operators(case) == [("torch", "torch.relu", 0)] and node_count(case) == 1 and value_names(case) == set()


def instance(api: str, *shapes: list[int]) -> Case:
    document = {
        "library": "torch",
        "api": api,
        "args": [{"tensor": at} for at in range(len(shapes))],
        "tensors": [{"dtype": "float32", "shape": shape} for shape in shapes],
    }
    return Case("instance", json.dumps(document).encode(), {}, Origin("test"))


def test_an_instance_is_signed_by_what_the_frontend_makes_of_it(signer: Signer) -> None:
    tvm, openvino = catalogue.target("tvm"), catalogue.target("openvino")
    matmul = [signer.sign(wrong(instance(api, [2, 3], [3, 4]), tvm)) for api in ("torch.mm", "torch.matmul")]
    assert len({one.fingerprint for one in matmul}) == 1 and matmul[0].kind == "conversion function"
    several = signer.sign(wrong(instance("torch.baddbmm", [1, 2, 2], [1, 2, 2], [1, 2, 2]), openvino))
    assert several.place in ("aten.baddbmm", "frontends/pytorch/op/baddbmm.cpp")


@pytest.mark.parametrize(
    ("compiler", "apis", "place"),
    [
        ("openvino", ("torch.var", "torch.Tensor.var"), "aten.var"),
        ("openvino", ("torch.squeeze", "torch.Tensor.squeeze_"), "aten.squeeze"),  # in place: a clone, then the same
        ("tvm", ("torch.norm", "torch.linalg.norm"), "BaseFXGraphImporter._norm"),
        ("openvino", ("torch.argwhere", "torch.nonzero"), "aten.nonzero"),
    ],
)
def test_calls_of_other_names_that_become_the_same_operators_have_one_place(
    signer: Signer, compiler: str, apis: tuple[str, ...], place: str
) -> None:
    signatures = [signer.sign(wrong(instance(api, [2, 1, 3]), catalogue.target(compiler))) for api in apis]
    assert len({one.fingerprint for one in signatures}) == 1 and signatures[0].place == place


def test_a_few_operators_without_one_function_are_the_place(signer: Signer) -> None:
    case = instance("torch.Tensor.addcmul", [2, 3], [2, 3], [2, 3])
    found = signer.sign(wrong(case, catalogue.target("openvino")))
    assert (found.place, found.kind) == ("aten.add+aten.mul", "operators")


def test_an_instance_of_several_functions_is_known_by_its_api(signer: Signer) -> None:
    found = signer.sign(
        wrong(instance("torch.nn.functional.cosine_similarity", [2, 3], [2, 3]), catalogue.target("tvm"))
    )
    assert (found.place, found.kind) == ("torch.nn.functional.cosine_similarity", "operators")


def test_an_instance_that_cannot_be_exported_is_known_by_its_api(signer: Signer) -> None:
    found = signer.sign(wrong(instance("torch.no_such_function", [2]), catalogue.target("tvm")))
    assert (found.place, found.kind) == ("torch.no_such_function", "operators")
