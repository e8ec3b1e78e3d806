"""`graphwarden reduce`: from a failing file to the smallest one that fails the same way."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from tests.bot.support import FAULTY, PLANTED, Run, relu, saved, start

#: A compiler with passes that can be left out, one of which gets Sinh wrong, and two that it cannot do without.
PASSES = str(Path(__file__).parents[1] / "triage" / "localize" / "planted_passes.py")


def chain(path: Path, *operators: str) -> Path:
    names = [f"v{at}" for at in range(len(operators) + 1)]
    nodes = [helper.make_node(op, [names[at]], [names[at + 1]]) for at, op in enumerate(operators)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [8]) for name in (names[0], names[-1])]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:])
    return saved(path, helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8))


def test_a_reduced_case_is_small_and_still_fails(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", "Abs", "Neg", "Sinh", "Relu", "Neg")
    small = tmp_path / "small.onnx"
    done = gw("reduce", model, "--backend", PLANTED, "-o", small, "--json")
    assert done.code == 0, done.err
    assert (done.json["nodes_before"], done.json["nodes_after"]) == (5, 1)
    assert done.json["elements_after"] == 2 < done.json["elements_before"]
    assert done.json["files"] == [str(small), str(small.with_suffix(".npz"))]
    assert [node.op_type for node in onnx.load(small).graph.node] == ["Sinh"]
    again = gw("run", small, "--inputs", small.with_suffix(".npz"), "--backend", PLANTED, "--compare", "--json")
    assert (again.json["status"], again.code) == ("wrong", 1)


def test_a_deadline_that_is_over_leaves_the_best_so_far(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", "Abs", "Sinh")
    done = gw("reduce", model, "--backend", PLANTED, "-o", tmp_path / "s.onnx", "--deadline", "0.001s", "--json")
    assert done.code == 0 and (tmp_path / "s.onnx").is_file()


def test_a_case_that_does_not_fail_is_not_reduced(gw: Run, tmp_path: Path) -> None:
    invalid = relu()
    invalid.graph.node[0].op_type = "Rleu"
    for model, why in ((relu(), "ok"), (invalid, "invalid"), (relu("fault:cannot_feed;"), "skipped")):
        done = gw("reduce", saved(tmp_path / "m.onnx", model), "--backend", FAULTY, "-o", tmp_path / "s.onnx", "--json")
        assert (done.code, done.out) == (1, "")
        assert f"does not fail on {FAULTY}: {why}, " in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "s.onnx").exists()


UNUSABLE = {
    "no output": ([], "Missing option"),
    "an output that is a folder": (["-o", "."], "is a folder"),
    "an output that is the case": (["-o", "m.onnx"], "is the case itself"),
    "an output in no folder": (["-o", "no/such/s.onnx"], "there is no folder"),
    "a deadline that is none": (["-o", "s.onnx", "--deadline", "soon"], "--deadline 'soon' is not a duration"),
    "values that are not there": (["-o", "s.onnx", "--inputs", "v.npz"], "v.npz: no such file"),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_unusable_arguments(name: str, gw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments, says = UNUSABLE[name]
    monkeypatch.chdir(tmp_path)
    done = gw("reduce", saved(tmp_path / "m.onnx", relu()), "--backend", FAULTY, *arguments, "--json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err and done.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["m.onnx"]


def test_given_values_are_kept_as_long_as_they_fail(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "m.onnx", "Sinh")
    np.savez(tmp_path / "v.npz", v0=np.linspace(0, 1, 8, dtype=np.float32))
    done = gw(
        "reduce", model, "--inputs", tmp_path / "v.npz", "--backend", PLANTED, "-o", tmp_path / "s.onnx", "--json"
    )
    assert done.code == 0 and done.json["signature"].startswith("same because ")


def test_a_passing_neighbour_lies_beside_the_smallest_failing_case(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", "Abs", "Sinh", "Neg")
    done = gw("reduce", model, "--backend", PLANTED, "-o", tmp_path / "small.onnx", "--json")
    assert done.json["min_good"]["difference"] == "Identity in the place of Sinh"
    good = Path(done.json["min_good"]["model"])
    assert good == tmp_path / "small.min_good.onnx"
    again = gw("run", good, "--inputs", good.with_suffix(".npz"), "--backend", PLANTED, "--compare", "--json")
    assert again.json["status"] == "ok"


def test_options_that_the_failure_does_not_need_are_told_as_needless(gw: Run, tmp_path: Path) -> None:
    model, small = chain(tmp_path / "big.onnx", "Sinh"), tmp_path / "s.onnx"
    done = gw("reduce", model, "--backend", PLANTED, "--option", "steady=no", "-o", small, "--json")
    assert done.json["options"] == {}


def test_the_passes_that_must_stay_on_are_told(gw: Run, tmp_path: Path) -> None:
    model, small = chain(tmp_path / "big.onnx", "Abs", "Sinh", "Neg"), tmp_path / "s.onnx"
    done = gw("reduce", model, "--backend", PASSES, "-o", small, "--json")
    assert done.json["passes"] == ["Legalize", "FuseBroken", "Emit"]
    assert done.json["options"] == {} and done.json["levels"] == {}
    assert done.json["predicate_runs"] <= 40


# ---------------------------------------------------------------- a command as the predicate

HOLDS = """
import os, sys, onnx
model = onnx.load(sys.argv[1])
print("looked at", sys.argv[1])
sys.exit(0 if "Exp" in [node.op_type for node in model.graph.node] else 1)
"""


def check(tmp_path: Path, text: str = HOLDS, name: str = "check it.py") -> str:
    """A command that runs a script with an awkward name and counts its runs in a file."""
    script = tmp_path / name
    script.write_text(f"open({str(tmp_path / 'runs')!r}, 'a').write('x')\n{text}")
    return f"{shlex.quote(sys.executable)} {shlex.quote(str(script))} {{model}}"


def test_any_command_can_be_the_predicate_and_every_start_is_counted(gw: Run, tmp_path: Path) -> None:
    model, small = chain(tmp_path / "big.onnx", "Abs", "Neg", "Exp", "Relu", "Tanh", "Neg"), tmp_path / "small.onnx"
    done = gw("reduce", model, "--check", check(tmp_path), "-o", small, "--json")
    assert done.code == 0, done.err
    assert [node.op_type for node in onnx.load(small).graph.node] == ["Exp"]
    assert set(KEYS) <= set(done.json) and (done.json["nodes_before"], done.json["nodes_after"]) == (6, 1)
    assert done.json["predicate_runs"] == len((tmp_path / "runs").read_text()) < 12
    assert done.json["min_good"]["difference"] == "Identity in the place of Exp"
    assert not list(tmp_path.glob("*.journal"))


KEYS = (
    "nodes_before",
    "nodes_after",
    "elements_before",
    "elements_after",
    "predicate_runs",
    "seconds",
    "signature",
    "min_good",
)


def test_the_command_sees_the_values_of_the_inputs(gw: Run, tmp_path: Path) -> None:
    text = """
import os, sys, numpy as np
values = np.load(sys.argv[1])
assert os.environ["GRAPHWARDEN_INPUTS"] == sys.argv[1] and os.path.dirname(sys.argv[1]) == os.path.dirname(sys.argv[2])
sys.exit(0 if any((values[name] < -5).any() for name in values) else 1)
"""
    model = chain(tmp_path / "m.onnx", "Abs", "Neg")
    np.savez(tmp_path / "v.npz", v0=np.array([1, 2, -7.25, 3, 4, 5, 6, 7], np.float32))
    command = check(tmp_path, text).replace("{model}", "{inputs} {model}")
    small = tmp_path / "s.onnx"
    done = gw("reduce", model, "--inputs", tmp_path / "v.npz", "--check", command, "-o", small, "--json")
    assert done.code == 0, done.err
    values = np.load(small.with_suffix(".npz"))
    assert any((values[name] < -5).any() for name in values) and done.json["elements_after"] <= 3


REFUSED = {
    "an exit code": ("import sys; sys.exit('no such luck')", "exit code 1 (no such luck)"),
    "a signal": ("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", "it died of SIGSEGV"),
    "no end": ("import time; time.sleep(600)", "it did not end within 2 s"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_check_that_does_not_hold_for_the_case_itself_says_how_it_ended(name: str, gw: Run, tmp_path: Path) -> None:
    text, says = REFUSED[name]
    model = chain(tmp_path / "m.onnx", "Abs")
    command = check(tmp_path, text)
    limit = "2" if name == "no end" else "120"
    done = gw("reduce", model, "--check", command, "--timeout", limit, "-o", tmp_path / "s.onnx", "--json")
    assert (done.code, done.out) == (1, "")
    assert says in done.err and done.err.count("\n") == 1
    assert not (tmp_path / "s.onnx").exists() and not list(tmp_path.glob("*.journal"))


def test_a_check_that_holds_now_and_then_is_told_as_such(gw: Run, tmp_path: Path) -> None:
    runs = f"import sys; sys.exit(len(open({str(tmp_path / 'runs')!r}).read()) % 2)"
    model = chain(tmp_path / "m.onnx", "Abs")
    done = gw("reduce", model, "--check", check(tmp_path, runs), "-o", tmp_path / "s.onnx")
    assert done.code == 1 and "holds in 1 of 3 runs" in done.err


UNUSABLE_CHECKS = {
    "neither": ([], "say what must be kept"),
    "both": (["--backend", FAULTY, "--check", "true {model}"], "say what must be kept"),
    "no place for the model": (["--check", "true"], "write {model} in it"),
    "no such command": (["--check", "no-such-command {model}"], "could not be started"),
    "a folder as command": (["--check", "/ {model}"], "could not be started"),
}


@pytest.mark.parametrize("name", UNUSABLE_CHECKS)
def test_unusable_checks(name: str, gw: Run, tmp_path: Path) -> None:
    arguments, says = UNUSABLE_CHECKS[name]
    done = gw("reduce", saved(tmp_path / "m.onnx", relu()), *arguments, "-o", tmp_path / "s.onnx", "--json")
    assert (done.code, done.out) == (2, "")
    assert says in done.err and done.err.count("\n") == 1


def test_what_a_check_leaves_running_is_ended_with_it(gw: Run, tmp_path: Path) -> None:
    left = tmp_path / "left"
    text = f"""
import subprocess, sys
child = subprocess.Popen(["sleep", "600"])
open({str(left)!r}, "a").write(f"{{child.pid}}\\n")
"""
    model = chain(tmp_path / "m.onnx", "Abs")
    assert gw("reduce", model, "--check", check(tmp_path, text), "-o", tmp_path / "s.onnx").code == 0
    for line in left.read_text().split():
        status = Path("/proc", line, "stat")
        assert not status.exists() or status.read_text().rpartition(")")[2].split()[0] == "Z"


def test_a_killed_reduction_goes_on_where_it_was(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", *["Abs", "Neg"] * 10, "Exp", *["Relu", "Tanh"] * 10)
    small, runs = tmp_path / "small.onnx", tmp_path / "runs"
    hold = tmp_path / "hold"
    hold.touch()
    waits = f"while os.path.exists({str(hold)!r}) and len(open({str(runs)!r}).read()) > 5: time.sleep(0.02)\n"
    slow = check(tmp_path, "import os, time\n" + waits + HOLDS)
    arguments = ("reduce", model, "--check", slow, "--timeout", "3600", "-o", small, "--json")
    process = start(tmp_path, *arguments)
    journal = tmp_path / "small.onnx.journal"
    while not (runs.exists() and len(runs.read_text()) > 5):  # and that one waits
        assert process.poll() is None
        time.sleep(0.02)
    assert journal.exists()
    process.kill()
    process.communicate()
    before = len(runs.read_text())
    hold.unlink()
    done = gw(*arguments)
    assert done.code == 0, done.err
    assert [node.op_type for node in onnx.load(small).graph.node] == ["Exp"]
    started = len(runs.read_text())
    assert before >= 3 and started - 1 <= done.json["predicate_runs"] <= started  # one may have been under way
    assert started - before <= done.json["predicate_runs"] - 2
    assert not journal.exists()


def test_several_runs_at_a_time_find_the_same(gw: Run, tmp_path: Path) -> None:
    model = chain(tmp_path / "big.onnx", *["Abs", "Neg"] * 10, "Exp", *["Relu", "Tanh"] * 10)
    small = tmp_path / "small.onnx"
    done = gw("reduce", model, "--check", check(tmp_path), "--jobs", "3", "--repeats", "2", "-o", small, "--json")
    assert done.code == 0, done.err
    assert [node.op_type for node in onnx.load(small).graph.node] == ["Exp"]
    assert done.json["predicate_runs"] == len((tmp_path / "runs").read_text())
