"""Reports of real failures: what the maintainer reads, and a script that really fails."""

from __future__ import annotations

import dataclasses
import importlib
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import helper

from fuzz import native
from fuzz.case import Case, Error, Frame, Origin, Outcome, Revision, Stage, Status, Target
from fuzz.oracles import crash, differential
from fuzz.runner import Runner
from fuzz.wire import Value
from triage.conditions import Condition
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.facts import Facts
from triage.frames import native_lines, telling_frames
from triage.localize import Part
from triage.regression import Regression
from triage.report import LONGEST_BODY, Draft, draft, title
from triage.script import confirms
from triage.summary import summary

GOLDEN = Path(__file__).parent.parent / "golden" / "reports"
Arrays = dict[str, np.ndarray[Any, Any]]


def model_of(op_type: str, inputs: Arrays, outputs: Arrays, **attributes: Any) -> onnx.ModelProto:
    def info(name: str, value: np.ndarray[Any, Any]) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(value.dtype), list(value.shape))

    node = helper.make_node(op_type, list(inputs), list(outputs), **attributes)
    described = [[info(*item) for item in values.items()] for values in (inputs, outputs)]
    graph = helper.make_graph([node], "g", *described)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def int32(*values: int) -> np.ndarray[Any, Any]:
    return np.array(values, np.int32)


def float32(*values: float) -> np.ndarray[Any, Any]:
    return np.array(values, np.float32)


X = float32(1.5, -2.0, 3.25).reshape(1, 3)


def facts_of(op_type: str, backend: str, inputs: Arrays, outputs: Arrays, **attributes: Any) -> Facts:
    """Facts without an outcome yet: every field that does not depend on running is filled."""
    model = model_of(op_type, inputs, outputs, **attributes)
    values: dict[str, Value] = dict(inputs)
    dtypes = [[value.dtype.name for value in side.values()] for side in (inputs, outputs)]
    return Facts(
        case=Case("onnx", model.SerializeToString(), values, Origin("test")),
        target=Target(backend, Revision("1.0"), (("opt", "all"),)),
        outcome=Outcome(Status.OK, Stage.RUN),
        reference=None,
        symptom="",
        detail="",
        fingerprint="0123abcd",
        snippet=importlib.import_module(f"fuzz.backends.{backend}").reproduce("onnx", {}, *dtypes),
        operators=(op_type,),
        versions={backend: "1.0", "onnx": "1.2"},
        machine={"os": "Linux x86-64"},
        private=("testhost",),
    )


def assumed(facts: Facts, got: Value, want: Value, symptom: str = "wrong:values") -> Facts:
    """Facts of a wrong result that is given rather than measured."""
    return dataclasses.replace(
        facts,
        outcome=Outcome(Status.WRONG, Stage.RUN, outputs=(("y", got),)),
        reference=Outcome(Status.OK, Stage.RUN, outputs=(("y", want),)),
        symptom=symptom,
        detail="1 of 3 elements differs",
    )


def relu(backend: str = "reference") -> Facts:
    return facts_of("Relu", backend, {"x": X}, {"y": X})


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner() as runner:
        yield runner


def measured(facts: Facts, runner: Runner) -> Facts:
    """The facts with what the compiler and the reference really do."""
    outcome = runner.run_fresh(facts.case, dataclasses.replace(facts.target, options=()))
    reference = runner.run_fresh(facts.case, Target("reference", Revision("1")))
    symptom, detail = crash.symptom(outcome), "it fails"
    if outcome.status is Status.OK:
        got, want = ([value for _, value in one.outputs] for one in (outcome, reference))
        difference = differential.compare(got, want)
        assert difference is not None, "the compiler no longer has this bug: find another for the test"
        outcome = dataclasses.replace(outcome, status=Status.WRONG)
        symptom, detail = difference.symptom, difference.detail
    return dataclasses.replace(facts, outcome=outcome, reference=reference, symptom=symptom, detail=detail)


def executed(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "repro.py"
    path.write_text(script)
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    return subprocess.run(
        [sys.executable, str(path)], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )


# ---------------------------------------------------------------- scripts, executed


REAL = {
    "a wrong shape": (
        "tvm",
        lambda: facts_of("LayerNormalization", "tvm", {"x": X, "w": float32(1, 1, 1)}, {"y": X, "mean": X[:, :1]}),
    ),
    "an exception": ("tvm", lambda: facts_of("Pow", "tvm", {"x": int32(1, 2), "p": float32(1, 2)}, {"y": int32(1, 2)})),
    "a fatal signal": (
        "onnxruntime",
        lambda: facts_of("Div", "onnxruntime", {"x": int32(1, -(2**31)), "d": int32(-1, -1)}, {"y": int32(0, 0)}),
    ),
}


@pytest.mark.parametrize("name", REAL)
def test_the_script_of_a_real_bug_fails(name: str, runner: Runner, tmp_path: Path) -> None:
    backend, make = REAL[name]
    pytest.importorskip(backend)
    facts = measured(make(), runner)
    result = draft(facts)
    done = executed(result.script, tmp_path)
    assert done.returncode != 0 and "PASS" not in done.stdout
    assert confirms(facts.symptom, done.returncode, done.stderr)
    assert result.script in result.body and len(result.script.splitlines()) <= 40
    if facts.outcome.status is Status.SIGNAL:
        assert done.returncode == -signal.SIGFPE and "SIGFPE" in result.title


def test_the_script_passes_where_there_is_no_bug(tmp_path: Path) -> None:
    facts = assumed(relu("onnxruntime"), X, np.maximum(X, 0))
    done = executed(draft(facts).script, tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("PASS\n"), done.stderr


@pytest.mark.parametrize(
    ("got", "want"),
    [
        (X, X + 1),
        (X, X.reshape(3)),
        (X, X.astype(np.float64)),
        (X, np.array(1.5, np.float32)),
        (X, np.where(X < 0, np.nan, X)),
        (X, np.zeros((30, 30), np.float32)),
    ],
)
def test_the_script_compares_shape_dtype_nan_and_values(got: Value, want: Value, tmp_path: Path) -> None:
    facts = dataclasses.replace(assumed(relu(), got, want), snippet="actual = inputs['x']")
    done = executed(draft(facts).script, tmp_path)
    assert done.returncode == 1 and "AssertionError" in done.stderr


@pytest.mark.parametrize(
    "value",
    [
        np.array(["ü", '"'], dtype=object),
        np.array([True, False]),
        np.array([1, 2], np.uint64),
        np.array([1.5, np.nan], ml_dtypes.bfloat16),
        np.array([1, -1], ml_dtypes.int4),
        np.array([1 + 2j], np.complex64),
        np.array(2.5, np.float16),
        [X, X],
        [],
        None,
    ],
)
def test_every_kind_of_value_equals_itself_in_a_script(value: Value, tmp_path: Path) -> None:
    facts = assumed(relu(), value, value)
    case = dataclasses.replace(facts.case, inputs={"x": value})
    facts = dataclasses.replace(facts, case=case, snippet="actual = inputs['x']")
    done = executed(draft(facts).script, tmp_path)
    assert done.returncode == 0 and done.stdout.endswith("PASS\n"), done.stderr


def test_a_large_result_is_computed_by_the_reference_evaluator(tmp_path: Path) -> None:
    x = np.random.default_rng(0).standard_normal((20, 20)).astype(np.float32)
    facts = assumed(facts_of("Relu", "reference", {"x": x}, {"y": x}), x, np.maximum(x, 0))
    wrong = dataclasses.replace(facts, snippet="actual = inputs['x']")
    assert "ReferenceEvaluator(model).run" in draft(wrong).script
    assert executed(draft(wrong).script, tmp_path).returncode == 1
    assert executed(draft(facts).script, tmp_path).returncode == 0


def test_only_the_outputs_that_differ_are_compared() -> None:
    facts = assumed(relu(), X, X)
    outcome = Outcome(Status.WRONG, Stage.RUN, outputs=(("a", X), ("b", X)))
    reference = Outcome(Status.OK, Stage.RUN, outputs=(("a", X), ("b", X + 1)))
    script = draft(dataclasses.replace(facts, outcome=outcome, reference=reference)).script
    assert "actual[1]" in script and "actual[0]" not in script


def test_a_hang_ends_with_a_failure(tmp_path: Path) -> None:
    facts = dataclasses.replace(
        relu(), outcome=Outcome(Status.TIMEOUT, Stage.COMPILE), symptom="hang", snippet="while True: pass", timeout=0.5
    )
    done = executed(draft(facts).script, tmp_path)
    assert confirms("hang", done.returncode, done.stderr)


@pytest.mark.parametrize(
    ("symptom", "returncode", "stderr"),
    [
        ("wrong:values", 0, ""),
        ("wrong:values", 1, "ModuleNotFoundError: No module named 'tvm'"),
        ("wrong:values", 1, "TypeError: Got unsupported ScalarType BFloat16"),
        ("crash:SIGSEGV", -signal.SIGABRT, ""),
        ("crash:SIGSEGV", 1, "RuntimeError: no"),
        ("dies-on-invalid:crash:SIGSEGV", 0, ""),
        ("exception:tvm.error.OpError", 1, "ImportError: tvm.error.OpError"),
        ("hang", 1, "AssertionError"),
    ],
)
def test_a_script_that_fails_in_another_way_confirms_nothing(symptom: str, returncode: int, stderr: str) -> None:
    assert not confirms(symptom, returncode, stderr)


def test_memory_is_limited_where_it_runs_out(tmp_path: Path) -> None:
    snippet = "actual = np.ones(2**31)"
    outcome = Outcome(Status.OOM, Stage.RUN, peak_mb=900)
    facts = dataclasses.replace(relu(), outcome=outcome, symptom="oom", snippet=snippet, memory_mb=4096)
    done = executed(draft(facts).script, tmp_path)
    assert done.returncode == 1 and "MemoryError" in done.stderr


@pytest.mark.parametrize(
    ("snippet", "code"), [("raise ValueError('no')", 0), ("import os\nos.abort()", -signal.SIGABRT), ("pass", 0)]
)
def test_an_error_is_the_right_answer_to_an_invalid_model(snippet: str, code: int, tmp_path: Path) -> None:
    outcome = Outcome(Status.SIGNAL, Stage.LOAD, error=Error(signal="SIGABRT"))
    facts = dataclasses.replace(relu(), outcome=outcome, symptom="dies-on-invalid:crash:SIGABRT", snippet=snippet)
    assert executed(draft(facts).script, tmp_path).returncode == code


def test_variables_that_a_bug_needs_are_set_by_the_script(tmp_path: Path) -> None:
    snippet = "import os\nassert os.environ.get('MALLOC_PERTURB_') != '170'"
    outcome = Outcome(Status.EXCEPTION, Stage.RUN, error=Error(type="AssertionError"))
    facts = dataclasses.replace(relu(), outcome=outcome, symptom="exception:AssertionError", snippet=snippet)
    assert executed(draft(facts).script, tmp_path).returncode == 0
    facts = dataclasses.replace(facts, environment={"MALLOC_PERTURB_": "170"})
    assert executed(draft(facts).script, tmp_path).returncode == 1


def test_an_instance_has_a_script_for_torch(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    model = b'{"api": "torch.abs", "args": [{"dtype": "float32", "shape": [2], "values": [-1.0, 2.0]}]}'
    facts = assumed(relu(), float32(-1, 2), float32(1, 2))
    case = Case("instance", model, {}, Origin("test"))
    snippet = "import torch\n\nactual = args[0].numpy()"
    target = Target("inductor", Revision("2"))
    facts = dataclasses.replace(facts, case=case, target=target, operators=("torch.abs",), snippet=snippet)
    result = draft(facts)
    assert result.title == "[inductor] torch.abs returns -1 instead of 1"
    assert "import onnx" not in result.script and executed(result.script, tmp_path).returncode == 1
    assert "module: inductor" in result.labels
    before = draft(dataclasses.replace(facts, part=Part.FRONTEND))
    assert before.title == "[torch.compile] torch.abs returns -1 instead of 1"
    assert "module: inductor" not in before.labels and "oncall: pt2" in before.labels


# ---------------------------------------------------------------- bodies


HOSTILE = (
    "</details>\n````\n@octocat Fixes #1 <!-- graphwarden:bug:evil --> <img src=x>\n"
    "/home/alice/model.onnx on testhost, mail alice@example.com"
)


def hostile() -> Facts:
    facts = facts_of("Relu", "reference", {"x": X}, {HOSTILE: X})
    frames = (Frame("/home/alice/v/lib/python3.11/site-packages/tvm/a.py", 3, HOSTILE),)
    error = Error(type="ValueError", message=HOSTILE, frames=frames, stderr=HOSTILE)
    return dataclasses.replace(
        facts,
        outcome=Outcome(Status.EXCEPTION, Stage.CONVERT, error=error),
        symptom="exception:ValueError",
        detail=HOSTILE,
        conversion_function=HOSTILE,
        examples=(HOSTILE,),
        operators=(HOSTILE,),
        machine={"os": HOSTILE},
    )


def test_what_an_exception_says_is_quoted_as_it_is() -> None:
    error = Error(type="ValueError", message="shape_of expects a tensor")
    refused = dataclasses.replace(
        relu(), outcome=Outcome(Status.EXCEPTION, Stage.CONVERT, error=error), symptom="exception:ValueError"
    )
    told = draft(dataclasses.replace(refused, detail="shape_of expects a tensor")).body
    assert ' The error: "shape_of expects a tensor".' in told and "Shape_of" not in told
    said = draft(dataclasses.replace(refused, detail="Some input has no shape.")).body
    assert ' The error: "Some input has no shape".' in said
    quoting = draft(dataclasses.replace(refused, detail='unknown "op"\nhere...')).body
    assert " The error: “unknown" in quoting and "here...”." in quoting


def outside_of_code(body: str) -> str:
    """The body without fenced blocks and inline code, where GitHub acts upon nothing."""
    body = re.sub(r"^(`{3,})[^\n]*\n.*?^\1$", "", body, flags=re.DOTALL | re.MULTILINE)
    return re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", body)


def test_untrusted_text_cannot_act_in_the_body() -> None:
    result = draft(hostile())
    assert result.body.count("<!--") == 1 and result.body.rstrip().endswith("<!-- graphwarden:bug:0123abcd -->")
    live = outside_of_code(result.body)
    assert live.count("<details>") == live.count("</details>") == 2
    for active in ("@octocat", "#1", "<img"):
        assert active not in live.replace("\\<", "")
    assert "@" not in result.title and "`" not in result.title and "\n" not in result.title


def test_a_native_stack_is_shown_by_itself_short_and_without_places_in_files() -> None:
    frames = [f"#{at}  ns::f{at} from lib.so" for at in range(1, 30)]
    stack = "\n".join([native.HEADING, "#0  ?? from plugin.so+0x2e64ea7", *frames, ""])
    error = Error(signal="SIGSEGV", stderr=f"Fatal Python error: Segmentation fault\n\n{stack}")
    outcome = Outcome(Status.SIGNAL, Stage.RUN, error=error)
    body = draft(dataclasses.replace(relu(), outcome=outcome, symptom="crash:SIGSEGV")).body
    told, _, output = body.partition("Native output")
    assert "??  (plugin.so)\nns::f1  (lib.so)" in told and "ns::f11  (lib.so)\n... 18 outer frames" in told
    assert "2e64ea7" not in body and "ns::f" not in output and "Fatal Python error" in output


def test_nothing_private_is_in_the_report_but_what_the_model_itself_says() -> None:
    facts = hostile()
    plain = dataclasses.replace(facts, case=relu().case)
    result = draft(plain)
    for text in (result.body, result.title, result.script):
        assert not re.search(r"alice|testhost|/home|site-packages", text)


def test_the_script_of_a_hostile_model_is_still_exact(tmp_path: Path) -> None:
    facts = dataclasses.replace(hostile(), snippet="assert model.graph.output[0].name.count('octocat') == 1")
    assert executed(draft(facts).script, tmp_path).returncode == 0


def test_the_same_facts_give_the_same_text() -> None:
    assert draft(hostile()) == draft(hostile())


def test_a_long_body_is_cut_and_the_script_is_attached_whole() -> None:
    x = np.random.default_rng(0).standard_normal((200, 200))
    error = Error(type="ValueError", message="word " * 40_000, stderr="line\n" * 9_000)
    facts = facts_of("Relu", "reference", {"x": x}, {"y": x})
    outcome = Outcome(Status.EXCEPTION, Stage.RUN, error=error)
    result = draft(dataclasses.replace(facts, outcome=outcome, symptom="exception:ValueError"))
    assert len(result.body) <= LONGEST_BODY < len(result.script)
    assert "attached as `repro.py`" in result.body and "np.frombuffer" not in result.body


def test_a_fingerprint_that_could_leave_its_comment_is_refused() -> None:
    with pytest.raises(ValueError, match="fingerprint"):
        draft(dataclasses.replace(relu(), fingerprint="x --> y"))


def test_differing_elements_are_pointed_out() -> None:
    body = draft(assumed(relu(), X, X * np.array([1, 2, 1], np.float32))).body
    assert "1 of 3 elements differ, largest difference 2" in body
    assert re.search(r"\[1\.5, -4\.0, 3\.25\]\s+\[1\.5, -2\.0, 3\.25\]", body)


@pytest.mark.parametrize(
    ("symptom", "status", "title"),
    [
        ("crash:SIGSEGV", Status.SIGNAL, "[Bug][Relax][ONNX] Segmentation fault when compiling Relu"),
        ("hang", Status.TIMEOUT, "[Bug][Relax][ONNX] Hang when compiling Relu"),
        ("oom", Status.OOM, "[Bug][Relax][ONNX] Out of memory when compiling Relu"),
        ("exception:a.B", Status.EXCEPTION, "[Bug][Relax][ONNX] Compiling Relu fails with B: cannot do that"),
        (
            "dies-on-invalid:crash:SIGABRT",
            Status.SIGNAL,
            "[Bug][Relax][ONNX] Abort instead of an error when compiling Relu (invalid model)",
        ),
    ],
)
def test_titles_say_what_happens_to_what(symptom: str, status: Status, title: str) -> None:
    outcome = Outcome(status, Stage.COMPILE, error=Error(type="a.B", message="\ncannot do that\nmore"))
    assert draft(dataclasses.replace(relu("tvm"), outcome=outcome, symptom=symptom)).title == title


def test_a_title_names_only_what_was_seen_to_matter() -> None:
    facts = facts_of("AveragePool", "tvm", {"x": X}, {"y": X}, kernel_shape=[3], ceil_mode=1, count_include_pad=1)
    facts = assumed(facts, X * 2 + 1, X * 2 + np.array([2, 3, 1], np.float32))
    assert draft(facts).title == "[Bug][Relax][ONNX] AveragePool returns wrong values (off by up to 2)"
    seen = (
        Condition("attribute", "ceil_mode=1", "Without `ceil_mode` the same model passes.", True),
        Condition(
            "attribute", "count_include_pad=1", "Without `count_include_pad` the same model fails as well.", False
        ),
    )
    result = draft(dataclasses.replace(facts, conditions=seen))
    assert result.title == "[Bug][Relax][ONNX] AveragePool with ceil_mode=1 returns wrong values (off by up to 2)"
    assert "Without `ceil_mode` the same model passes" in result.body and "count_include_pad" not in result.title


def test_an_unknown_backend_has_a_title_too() -> None:
    facts = dataclasses.replace(assumed(relu(), X, X), target=Target("newcomer", Revision("1")))
    assert draft(facts).title.startswith("[newcomer] Relu")


def test_frames_of_the_harness_are_left_out_and_repeats_folded() -> None:
    inner = Frame("site-packages/tvm/a.py", 7, "visit")
    frames = (Frame("x/fuzz/worker.py", 1, "_perform"), Frame("tvm/b.py", 2, "main"), *[inner] * 900)
    assert telling_frames(frames) == ["tvm/b.py:2 in main", "site-packages/tvm/a.py:7 in visit  (repeated 900 times)"]


def test_native_output_loses_times_and_the_harness() -> None:
    stderr = (
        '\x1b[1;31m2026-11-20 14:17:51.4 [E] bad\x1b[m\n\n[14:18:59] x\n  File "/p/fuzz/worker.py", line 3 in serve\n'
    )
    assert native_lines(stderr) == ["[E] bad", "x"]


def test_a_drawing_is_for_models_of_several_nodes() -> None:
    one = assumed(relu(), X, X + 1)
    assert "mermaid" not in draft(one).body
    model = onnx.load_model_from_string(one.case.model)
    model.graph.node.insert(0, helper.make_node("Neg", ["x"], ["t"]))
    model.graph.node[1].input[0] = "t"
    two = dataclasses.replace(one.case, model=model.SerializeToString())
    assert "mermaid" in draft(dataclasses.replace(one, case=two)).body


def test_a_model_of_a_recent_opset_is_said_to_be_one() -> None:
    newest = onnx.defs.onnx_opset_version()
    facts = facts_of("BitShift", "tvm", {"x": int32(1), "s": int32(1)}, {"y": int32(1)}, direction="LEFT")
    facts = assumed(facts, int32(0), int32(2))
    model = onnx.load_model_from_string(facts.case.model)
    model.opset_import[0].version = newest
    needed = onnx.defs.get_schema("BitShift", newest).since_version
    recent = dataclasses.replace(facts, case=dataclasses.replace(facts.case, model=model.SerializeToString()))
    assert "needs opset" not in draft(facts).body and draft(recent).labels == draft(facts).labels
    assert (f"needs opset {needed}" in draft(recent).body) is (needed > newest - 3)
    older = Condition("opset", "opset 25", "In opset 25 the same model fails as well.", needed=False)
    body = draft(dataclasses.replace(recent, conditions=(older,))).body
    assert "needs opset" not in body and (older.sentence in body) is (needed > newest - 3)


@pytest.mark.parametrize(
    ("backend", "part", "labels"),
    [
        ("openvino", Part.UNKNOWN, {"bug", "support_request"}),
        ("openvino", Part.FRONTEND, {"bug", "support_request", "category: ONNX FE"}),
        ("openvino", Part.BEHIND, {"bug", "support_request", "category: CPU"}),
        ("tvm", Part.LOWERING, {"needs-triage", "type: bug", "frontend:onnx"}),
        ("onnxruntime", Part.UNKNOWN, set()),
    ],
)
def test_labels_are_those_that_the_tracker_has(backend: str, part: Part, labels: set[str]) -> None:
    result = draft(dataclasses.replace(assumed(relu(backend), X, X + 1), part=part))
    assert set(result.labels) == labels
    assert ("Labels: " in result.body) is bool(labels)


def test_a_wrong_result_quotes_the_specification() -> None:
    facts = facts_of("IsInf", "tvm", {"x": X}, {"y": X > 0}, detect_positive=0)
    model = onnx.load_model_from_string(facts.case.model)
    model.opset_import[0].version = 20
    case = dataclasses.replace(facts.case, model=model.SerializeToString())
    facts = assumed(dataclasses.replace(facts, case=case), X > 0, X > 9)
    seen = Condition("attribute", "detect_positive=0", "It passes without.", True)
    body = draft(dataclasses.replace(facts, conditions=(seen,))).body
    assert "> Set this attribute to 0 if positive infinity should be mapped to false." in body
    assert "(IsInf-20, attribute `detect_positive`: https://onnx.ai/onnx/operators/onnx__IsInf.html#" in body


def test_what_the_projects_own_suite_says_is_told() -> None:
    facts = dataclasses.replace(assumed(relu(), X, X + 1), listed=("The project's own suite skips `test_relu`.",))
    assert "- The project's own suite skips `test_relu`." in draft(facts).body


def test_the_reason_for_the_severity_is_given() -> None:
    special = (Condition("value", "NaN x", "With no NaN in `x` the same model passes.", True),)
    body = draft(dataclasses.replace(assumed(relu(), X, X + 1), conditions=special)).body
    assert "Severity: medium, since" in body and "only for special values" in body
    assert "Severity: high, since the result is wrong" in draft(assumed(relu(), X, X + 1)).body


def test_a_wrong_type_of_another_shape_is_no_mere_matter_of_type() -> None:
    typed = dataclasses.replace(assumed(relu(), X, X.astype(np.float64)), symptom="wrong:dtype")
    assert "Severity: medium, since the result has another type" in draft(typed).body
    shaped = dataclasses.replace(assumed(relu(), X, X.astype(np.float64)[None]), symptom="wrong:dtype")
    assert "Severity: high, since the result is wrong" in draft(shaped).body


@pytest.mark.parametrize(
    ("part", "function", "told"),
    [
        (Part.FRONTEND, "op/pad.cpp", "The frontend converts the operator in op/pad.cpp."),
        (Part.UNKNOWN, "op/pad.cpp", "This compiler handles the operator in op/pad.cpp; whether the fault lies there"),
        (Part.BEHIND, "op/pad.cpp", ""),
        (Part.LOWERING, "lowering aten.pad", "This compiler handles the operator in lowering aten.pad."),
    ],
)
def test_a_converter_is_accused_only_where_the_frontend_is(part: Part, function: str, told: str) -> None:
    facts = dataclasses.replace(assumed(relu("openvino"), X, X + 1), part=part, conversion_function=function)
    body = draft(facts).body
    assert told in body if told else function not in body.partition("**Analysis**")[2]
    error = Error(type="a.B", message="no such pad", conversion_function="op/pad.cpp")
    outcome = Outcome(Status.EXCEPTION, Stage.COMPILE, error=error)
    raised = dataclasses.replace(facts, outcome=outcome, symptom="exception:a.B", conversion_function="op/pad.cpp")
    assert "The failing call is inside op/pad.cpp." in draft(raised).body


@pytest.mark.parametrize(
    ("function", "told"),
    [("_impl_v13", "The failing call is inside"), ("normalize", "The frontend converts the operator in")],
)
def test_a_converter_that_has_returned_is_not_said_to_hold_the_failing_call(function: str, told: str) -> None:
    """TVM's importer normalises what a converter gave, and names the converter in its error."""
    name, frames = "Reshape._impl_v13", (Frame("a.py", 3, function),)
    error = Error(type="TypeError", message="no shape", conversion_function=name, frames=frames)
    outcome = Outcome(Status.EXCEPTION, Stage.CONVERT, error=error)
    facts = assumed(relu("tvm"), X, X + 1)
    raised = dataclasses.replace(facts, outcome=outcome, symptom="exception:TypeError", conversion_function=name)
    assert f"{told} {name}" in draft(raised).body.replace("\\", "")


def test_the_reference_evaluator_converts_nothing() -> None:
    facts = dataclasses.replace(assumed(relu("reference"), X, X + 1), part=Part.FRONTEND, conversion_function="op_relu")
    assert "op_relu" not in draft(facts).body


def test_a_wrong_type_that_spoils_values_is_severe() -> None:
    harmless = assumed(relu(), X.astype(np.float64), X, "wrong:dtype")
    assert "Severity: medium" in draft(harmless).body
    spoilt = draft(assumed(relu(), int32(1, 7, 3), np.array([1, 2**33 + 7, 3]), "wrong:dtype"))
    assert "Severity: high" in spoilt.body and "returns int32 7 instead of int64 8589934599" in spoilt.title


def test_of_a_wrong_type_no_numbers_are_told_that_are_wrong_in_float32_too() -> None:
    """They are another bug's."""
    spoilt = assumed(relu(), int32(1, 7, 3), np.array([1, 2**33 + 7, 3]), "wrong:dtype")
    sentence = "In float32 instead of int64 the same call is wrong in another way: 1 instead of 2."
    told = dataclasses.replace(spoilt, conditions=(Condition("dtype", "int64", sentence, needed=True),))
    assert draft(told).title.endswith("returns int32 instead of int64")


def test_a_message_of_any_length_is_told_in_whole_words() -> None:
    for message, words in (
        ("The first sentence says it. " + "More " * 40, "The first sentence says it."),
        ("word " * 40, "word " * 15 + "word …"),
    ):
        outcome = Outcome(Status.EXCEPTION, Stage.COMPILE, error=Error(type="a.B", message=message))
        facts = dataclasses.replace(relu("tvm"), outcome=outcome, symptom="exception:a.B")
        assert draft(facts).title == f"[Bug][Relax][ONNX] Compiling Relu fails with B: {words}"


def test_memory_that_nobody_wrote_is_explained() -> None:
    facts = dataclasses.replace(assumed(relu("tvm"), X, np.full_like(X, np.inf)), environment={"MALLOC_PERTURB_": "85"})
    result = draft(facts)
    assert result.title == "[Bug][Relax][ONNX] Relu returns uninitialised memory instead of inf"
    assert "`MALLOC_PERTURB_` makes glibc fill every new allocation" in result.body
    assert "# glibc fills fresh memory with a byte made of this one" in result.script


def test_memory_that_decides_on_places_alone_is_not_said_to_be_returned() -> None:
    tensor = {"dtype": "float32", "shape": [3], "values": [3.0, 1.0, 2.0]}
    document = {"api": "torch.sort", "args": [{"tensor": 0}], "tensors": [tensor]}
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    for found, told in (([3, 1, 2], "depends on"), ([3, 1, 7], "returns")):
        outcome = Outcome(Status.WRONG, Stage.RUN, outputs=(("y", np.float32(found)),))
        facts = dataclasses.replace(
            relu("tvm"), case=case, outcome=outcome, symptom="wrong:values", environment={"MALLOC_PERTURB_": "85"}
        )
        assert f" {told} uninitialised memory" in title(facts)


def test_a_regression_test_is_part_of_the_body() -> None:
    test = Regression("tests/test_x.py", "pytest", "def test_x():\n    assert False\n")
    body = draft(dataclasses.replace(assumed(relu(), X, X + 1), regression=test)).body
    assert "For `tests/test_x.py`:" in body and "    assert False" in body
    new = dataclasses.replace(test, is_new=True, variables={"MODE": "EXPORT"})
    told = draft(dataclasses.replace(assumed(relu(), X, X + 1), regression=new)).body
    assert "For `tests/test_x.py` (a new file), run with `MODE=EXPORT`:" in told
    assert body.count("<details>") == body.count("</details>") == 1


# ---------------------------------------------------------------- whole reports beside their facts


def golden() -> dict[str, Facts]:
    gather = facts_of("Gather", "tvm", {"x": X, "i": np.array([0, -1])}, {"y": np.zeros((1, 2), np.float32)}, axis=1)
    wrong = assumed(gather, X[:, :2].copy(), X[:, [0, 2]].copy())
    frames = (Frame("/opt/lib/python3.11/site-packages/openvino/_ov_api.py", 610, "Core.compile_model"),)
    error = Error(signal="SIGSEGV", frames=frames, stderr="[00:00:01] about to read /home/alice/x\n")
    died = Outcome(Status.SIGNAL, Stage.COMPILE, peak_mb=300, error=error)
    reference = Outcome(Status.OK, Stage.RUN, outputs=(("y", np.maximum(X, 0)),))
    crashed = dataclasses.replace(
        relu(), target=Target("openvino", Revision("2026.4.1")), outcome=died, reference=reference,
        symptom="crash:SIGSEGV", detail="the process is killed by SIGSEGV", tests=2,
        examples=("test_relu", "test_relu_frozen"), conversion_function="frontends/onnx/op/relu.cpp", reduced_from=9,
    )  # fmt: skip
    wrong = dataclasses.replace(
        wrong,
        conditions=(
            Condition("value", "negative indices", "With no negative number in `i` the same model passes.", True),
            Condition("attribute", "axis=1", "Without `axis` (default 0) the same model fails as well.", False),
        ),
        min_good="It passes with i: [0, -1] -> [0, 2].",
        findings=("Where it lies: the frontend itself fails.",),
        regression=Regression("tests/test_gather.py", "pytest", "def test_gather():\n    assert False\n"),
    )
    reports = {"wrong_values": wrong, "crash": crashed, "hostile": hostile()}
    snippet = "import compiler\n\nactual = compiler.run(model, inputs)"
    return {name: dataclasses.replace(facts, snippet=snippet) for name, facts in reports.items()}


@pytest.mark.parametrize("name", ["wrong_values", "crash", "hostile"])
def test_whole_reports_stay_as_they_were_approved(name: str) -> None:
    """Set UPDATE_GOLDEN=1 to rewrite the approved reports, then read them."""
    result: Draft = draft(golden()[name])
    text = f"{result.title}\n{', '.join(result.labels)}\n\n{result.body}"
    path = GOLDEN / f"{name}.md"
    if os.environ.get("UPDATE_GOLDEN"):
        path.write_text(text)
    assert path.read_text() == text


def test_generated_models_are_counted_but_have_no_names() -> None:
    """Their tests are called by numbers that say nothing to a maintainer."""
    facts = golden()["wrong_values"]
    assert "2 generated models fail this way" in draft(dataclasses.replace(facts, tests=2)).body
    named = dataclasses.replace(facts, tests=2, examples=("test_relu",))
    assert "At least 2 tests fail this way" in draft(named).body


def test_values_that_are_others_in_every_run_are_no_part_of_a_title() -> None:
    facts = assumed(relu(), float32(7e-23), float32(1), "wrong:values")
    repeats = Evidence(
        "repeats", Side.AGAINST, "it fails", {"runs": 3, "same": 3, "values_vary": False, "steady": False}
    )
    unsteady = dataclasses.replace(facts, judgement=Judgement(Ruling.COMPILER_BUG, "", (repeats,)))
    assert draft(unsteady).title.endswith("Relu returns other values in every run instead of 1")
    assert draft(facts).title.endswith("Relu returns 7e-23 instead of 1")


def test_a_key_that_a_converter_does_not_find_is_told_in_a_sentence() -> None:
    """`'num_heads'.` had stood in the first paragraph by itself."""
    error = Error("builtins.KeyError", "'alpha_'")
    failed = dataclasses.replace(
        facts_of("Elu", "tvm", {"x": X}, {"y": X}),
        outcome=Outcome(Status.EXCEPTION, Stage.CONVERT, error=error),
        symptom="exception:KeyError",
        detail="'alpha_'",
    )
    told = summary(failed, "Converting Elu fails with KeyError")
    assert "The key that is not found is `alpha_`, no attribute of Elu-" in told and "'alpha_'." not in told


def test_an_exception_without_a_word_is_told_once() -> None:
    """It had stood alone behind the happening in the first paragraph."""
    failed = dataclasses.replace(
        facts_of("PRelu", "tvm", {"x": X}, {"y": X}),
        outcome=Outcome(Status.EXCEPTION, Stage.COMPILE, error=Error("builtins.AssertionError", "")),
        symptom="exception:AssertionError",
        detail="AssertionError",
    )
    assert summary(failed, "Compiling PRelu fails with AssertionError").count("AssertionError") == 1
