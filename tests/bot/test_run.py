"""`graphwarden run --json`, as a script sees it: one document, a status, an exit code."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from onnx import TensorProto, helper

from bot import describe
from fuzz.case import Outcome, Stage, Status
from fuzz.wire import Raw
from tests.bot.support import FAULTY, Run, one_node, relu, saved, tensor

KEYS = {"status", "stage", "class", "seconds", "peak_mb", "outputs", "error"}
ERROR_KEYS = {"type", "message", "frames", "signal", "stderr"}


def values(folder: Path, **arrays: np.ndarray) -> Path:
    np.savez(folder / "v.npz", **arrays)  # type: ignore[arg-type]
    return folder / "v.npz"


def test_a_model_that_runs_is_ok(gw: Run, tmp_path: Path) -> None:
    model, given = saved(tmp_path / "m.onnx", relu()), values(tmp_path, x=np.array([1, -2, 3], np.float32))
    done = gw("run", model, "--backend", "onnxruntime", "--inputs", given, "--compare", "--json")
    assert (done.code, done.err) == (0, "")
    assert set(done.json) == KEYS
    assert (done.json["status"], done.json["stage"], done.json["error"]) == ("ok", "run", None)
    assert done.json["class"] == "pass"
    assert done.json["seconds"] > 0 and done.json["peak_mb"] > 0
    expected = hashlib.sha256(np.array([1, 0, 3], np.float32).tobytes()).hexdigest()
    assert done.json["outputs"] == [{"name": "y", "dtype": "float32", "shape": [3], "sha256": expected}]


#: fault -> (status, exit code, what is known of the error)
FAULTS = {
    "wrong_result": ("wrong", 1, None),
    "nan_result": ("wrong", 1, None),
    "plain_exception": ("exception", 1, ("type", "builtins.ValueError")),
    "exit_three": ("exception", 1, ("message", "the process exited with status 3")),
    "null_dereference": ("signal", 1, ("signal", "SIGSEGV")),
    "abort_with_message": ("signal", 1, ("signal", "SIGABRT")),
    "python_loop": ("timeout", 1, ("message", "did not end within the time limit")),
    "malloc_and_touch": ("oom", 1, ("type", "")),
    "cannot_feed": ("unsupported", 0, ("type", "fuzz.wire.CannotFeed")),
    "unencodable_dtype": ("unsupported", 0, ("type", "fuzz.wire.WireError")),
    "kill_the_parent": ("exception", 1, ("type", "Exit")),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_backend_with_the_fault(fault: str, gw: Run, tmp_path: Path) -> None:
    status, code, known = FAULTS[fault]
    model = saved(tmp_path / "m.onnx", relu(f"fault:{fault};"))
    limits = ("--timeout", 2 if status == "timeout" else 120, "--memory", 400)
    done = gw("run", model, "--backend", FAULTY, "--compare", *limits, "--json")
    assert (done.json["status"], done.code) == (status, code)
    told = {"wrong": "comparison failure", "unsupported": None}
    assert done.json["class"] == told.get(status, "inference failure")
    if known is None:
        assert done.json["error"] is None
    else:
        key, told = known
        assert set(done.json["error"]) == ERROR_KEYS
        assert told.rpartition(".")[2] in done.json["error"][key]


def test_native_last_words_and_python_frames_are_told(gw: Run, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", relu("fault:abort_with_message;"))
    error = gw("run", model, "--backend", FAULTY, "--json").json["error"]
    assert "Check failed: lanes == 4 (3 vs. 4)" in error["stderr"]
    assert "abort_with_message" in error["stderr"]
    raising = gw("run", saved(model, relu("fault:plain_exception;")), "--backend", FAULTY, "--json").json["error"]
    assert raising["message"] == "shape mismatch in Relu"
    assert raising["frames"][-1]["function"].endswith("plain_exception")
    assert set(raising["frames"][-1]) == {"file", "line", "function"}


def test_foreign_text_does_not_break_the_document_or_the_terminal(gw: Run, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", relu("fault:surrogates_in_message;"))
    document = gw("run", model, "--backend", FAULTY, "--json")
    assert document.code == 1 and document.json["status"] == "exception"
    document.out.encode("ascii")
    shown = gw("run", model, "--backend", FAULTY)
    assert shown.code == 1 and "\x1b" not in shown.out and "\x00" not in shown.out


def test_names_with_control_characters_are_shown_without_them(gw: Run, tmp_path: Path) -> None:
    model = relu()
    model.graph.output[0].name = model.graph.node[0].output[0] = "y\x1b[31m\n[bold]"
    path = saved(tmp_path / "m.onnx", model)
    done = gw("run", path, "--backend", "onnxruntime")
    assert done.code == 0 and "\x1b" not in done.out and "[bold]" in done.out
    document = gw("run", path, "--backend", "onnxruntime", "--json").json
    assert document["outputs"][0]["name"] == "y\x1b[31m\n[bold]"


def test_wrong_is_said_only_when_asked_to_compare(gw: Run, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", relu("fault:wrong_result;"))
    done = gw("run", model, "--backend", FAULTY, "--json")
    assert (done.json["status"], done.code) == ("ok", 0)


def test_an_invalid_model_is_invalid_when_compared_and_says_why(gw: Run, tmp_path: Path) -> None:
    model = relu()
    model.graph.node[0].op_type = "Rleu"
    done = gw("run", saved(tmp_path / "m.onnx", model), "--backend", "onnxruntime", "--compare", "--json")
    assert (done.json["status"], done.code) == ("invalid", 2)
    assert "onnx.checker" in done.json["error"]["message"]


def test_dying_on_an_invalid_model_is_a_failure_all_the_same(gw: Run, tmp_path: Path) -> None:
    model = relu("fault:null_dereference;")
    model.graph.output[0].type.tensor_type.elem_type = TensorProto.INT32
    done = gw("run", saved(tmp_path / "m.onnx", model), "--backend", FAULTY, "--compare", "--json")
    assert (done.json["status"], done.code) == ("signal", 1)


def test_an_honest_refusal_is_unsupported(gw: Run, tmp_path: Path) -> None:
    model = one_node("Xor", [TensorProto.BOOL] * 2, tensor(TensorProto.BOOL, 3))
    model.ir_version = 99
    done = gw("run", saved(tmp_path / "m.onnx", model), "--backend", "onnxruntime", "--json")
    assert (done.json["status"], done.code) == ("unsupported", 0)
    assert "Unsupported model IR version" in done.json["error"]["message"]


def test_a_backend_that_takes_no_such_case_does_not_support_it(gw: Run, tmp_path: Path) -> None:
    instance = tmp_path / "i.json"
    instance.write_text('{"library": "torch", "api": "torch.relu", "args": [{"dtype": "float32", "shape": [2]}]}')
    for case, backend in ((instance, "onnxruntime"), (saved(tmp_path / "m.onnx", relu()), "inductor")):
        done = gw("run", case, "--backend", backend, "--compare", "--json")
        assert (done.json["status"], done.code) == ("unsupported", 0)


def test_an_instance_is_compared_with_its_library(gw: Run, tmp_path: Path) -> None:
    path = tmp_path / "i.json"
    path.write_text('{"library": "torch", "api": "torch.relu", "args": [{"dtype": "float32", "shape": [2, 3]}]}')
    once, again = (gw("run", path, "--backend", "openvino", "--compare", "--json") for _ in range(2))
    assert (once.json["status"], once.code) == ("ok", 0)
    assert once.json["outputs"][0]["shape"] == [2, 3] and once.json["outputs"] == again.json["outputs"]


OUTPUTS = {
    "a sequence": (
        one_node(
            "SequenceConstruct", [TensorProto.FLOAT] * 2, helper.make_sequence_type_proto(tensor(TensorProto.FLOAT, 3))
        ),
        ("sequence", [2]),
    ),
    "strings": (one_node("Identity", [TensorProto.STRING], tensor(TensorProto.STRING, 3)), ("string", [3])),
    "bfloat16": (
        one_node("Cast", [TensorProto.FLOAT], tensor(TensorProto.BFLOAT16, 3), to=TensorProto.BFLOAT16),
        ("bfloat16", [3]),
    ),
}


@pytest.mark.parametrize("name", OUTPUTS)
def test_an_output_that_is(name: str, gw: Run, tmp_path: Path) -> None:
    model, (dtype, shape) = OUTPUTS[name]
    path = saved(tmp_path / "m.onnx", model)
    once, again, other = (
        gw("run", path, "--backend", "onnxruntime", "--compare", "--seed", seed, "--json") for seed in (0, 0, 5)
    )
    assert once.code == 0
    [output] = once.json["outputs"]
    assert (output["dtype"], output["shape"]) == (dtype, shape)
    assert again.json["outputs"] == once.json["outputs"] != other.json["outputs"]


UNUSABLE = {
    "an unknown backend": (["--backend", "gcc"], "unknown backend 'gcc': choose one of reference, "),
    "no backend": ([], "Missing option '--backend'"),
    "a backend file that is missing": (["--backend", "./no.py"], "does not exist"),
    "an unknown option": (["--backend", "onnxruntime", "--option", "speed=1"], "has no option 'speed' (it has: opt"),
    "an unknown value": (["--backend", "onnxruntime", "--option", "opt=fast"], "must be one of: all, off"),
    "half an option": (["--backend", "onnxruntime", "--option", "opt"], "is not of the form key=value"),
    "a negative timeout": (["--backend", "onnxruntime", "--timeout", "-1"], "--timeout"),
    "a timeout that is no number": (["--backend", "onnxruntime", "--timeout", "nan"], "--timeout"),
    "too little memory": (["--backend", "onnxruntime", "--memory", "1"], "--memory"),
    "a negative seed": (["--backend", "onnxruntime", "--seed", "-1"], "--seed"),
    "an unknown flag": (["--backend", "onnxruntime", "--fast"], "--fast"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_arguments_are_answered_by_one_line(name: str, gw: Run, tmp_path: Path) -> None:
    arguments, says = UNUSABLE[name]
    done = gw("run", saved(tmp_path / "m.onnx", relu()), *arguments, "--json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err and done.err.startswith("graphwarden: ") and done.err.count("\n") == 1


def test_a_file_that_is_no_backend_is_refused(gw: Run, tmp_path: Path) -> None:
    model = saved(tmp_path / "m.onnx", relu())
    for text, says in (
        ("x = 1", "is no backend"),
        ("import nowhere", "cannot be imported"),
        ("def (", "cannot be imported"),
    ):
        (tmp_path / "mine.py").write_text(text)
        done = gw("run", model, "--backend", tmp_path / "mine.py")
        (tmp_path / "mine.py").rename(tmp_path / f"old{len(text)}.py")
        assert done.code == 2 and says in done.err and done.err.count("\n") == 1, text


def test_a_backend_that_is_not_installed_ends_with_three(gw: Run, tmp_path: Path) -> None:
    done = gw("run", saved(tmp_path / "m.onnx", relu()), "--backend", "tensorrt", "--json")
    assert (done.code, done.out) == (3, "")
    assert done.err.count("\n") == 1


def test_the_help_names_the_exit_codes(gw: Run) -> None:
    assert "Exit code 0 for ok and unsupported" in " ".join(gw("run", "--help").out.split())
    for command in ("hunt", "reduce", "bugs", "report", "backends"):
        done = gw(command, "--help")
        assert done.code == 0 and "--json" in done.out


def test_a_digest_is_that_of_the_bytes_whatever_holds_them() -> None:
    array = np.array([[1, 2], [3, 4]], ml_dtypes.bfloat16)
    assert describe.digest(array) == describe.digest(Raw("bfloat16", (2, 2), array.tobytes()))
    assert describe.digest(array.T) != describe.digest(array)
    assert describe.digest([array, array]) == hashlib.sha256(array.tobytes() * 2).hexdigest()
    assert describe.digest(None) == hashlib.sha256().hexdigest()
    texts = np.array(["ü", "b"], object)
    assert describe.digest(texts) == hashlib.sha256(json.dumps(["ü", "b"]).encode()).hexdigest()
    assert describe.digest(np.array(1.0, np.float32)) == describe.digest(np.array([1.0], np.float32))


def test_absent_and_scalar_outputs_have_a_description() -> None:
    found = Outcome(Status.OK, Stage.RUN, outputs=(("a", None), ("b", np.array(2.0)), ("c", [])))
    shapes = [(entry["dtype"], entry["shape"]) for entry in describe.outcome(found, Status.OK)["outputs"]]
    assert shapes == [("none", [0]), ("float64", []), ("sequence", [0])]
