"""Recording somebody's program, with all its Python processes, through its environment alone."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from fuzz.instance import parse
from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._command import CHILD, Recording
from fuzz.migrate._torch_parent import in_order

PROGRAM = Path(__file__).with_name("recorded.py")
#: The fork of a process whose OpenMP threads have run hangs in PyTorch, recorded or not.
os.environ.setdefault("OMP_NUM_THREADS", "1")


class Recorded:
    """What the recording of the whole program gave."""

    def __init__(self, *parts: str, request: Request = Request(jobs=1)) -> None:  # noqa: B008
        self.recording = Recording([sys.executable, str(PROGRAM), *parts], request)
        with pytest.MonkeyPatch.context() as patch:
            patch.delenv("PYTEST_CURRENT_TEST", raising=False)  # the program is a script, not one of our tests
            items = list(self.recording.migrate())
        self.instances = [item for item in items if isinstance(item, Stored)]
        self.omitted = {item.reason: item.count for item in items if isinstance(item, Omitted)}

    def __getitem__(self, api: str) -> Any:
        """The one instance of an operator, as JSON."""
        [found] = [each for each in self.instances if each.operator == api]
        return found.document

    def apis(self) -> set[str]:
        return {each.operator for each in self.instances}


@pytest.fixture(scope="module")
def all_parts() -> Recorded:
    parts = "modules operators in_place failing threads children gradients unusual compiled"
    return Recorded(*parts.split(), "7")


def test_the_exit_status_is_kept_and_every_process_is_seen(all_parts: Recorded) -> None:
    assert all_parts.recording.status == 7
    assert all_parts.recording.processes == 3


def test_every_instance_can_be_parsed_and_tells_its_script(all_parts: Recorded) -> None:
    for each in all_parts.instances:
        parse(each.content)
        assert each.version.count(".") == 2 and "+" not in each.version
    kinds = {(each.source.kind, Path(each.source.test).name) for each in all_parts.instances}
    assert kinds == {("script", "recorded.py"), ("script", "-c")}


def test_modules_are_recorded_with_their_constructors_and_not_what_they_call(all_parts: Recorded) -> None:
    conv = all_parts["torch.nn.Conv2d"]
    assert conv["init"] == {"args": [3, 4, 3], "kwargs": {"padding": 1}}
    assert conv["tensors"][0]["shape"] == [2, 3, 8, 8]
    assert all_parts["torch.nn.ReLU"]["init"]["kwargs"] == {"inplace": True}
    assert not {"torch.nn.functional.conv2d", "torch.nn.Sequential", "torch.nn.functional.relu"} & all_parts.apis()


def test_the_constructors_own_work_is_not_recorded(all_parts: Recorded) -> None:
    assert not {"torch.Tensor.uniform_", "torch.Tensor.zero_", "torch.Tensor.fill_"} & all_parts.apis()


def test_what_a_programs_own_module_calls_is_recorded(all_parts: Recorded) -> None:
    assert {"torch.Tensor.flatten", "torch.Tensor.softmax"} <= all_parts.apis()


def test_arguments_of_every_kind_are_kept(all_parts: Recorded) -> None:
    item = all_parts["torch.Tensor.__getitem__"]
    assert item["args"][1] == {"tuple": [{"slice": [1, None, None]}, None]}
    assert all_parts["torch.nn.functional.pad"]["kwargs"]["value"] == {"float": "inf"}
    summed = all_parts["torch.sum"]["kwargs"]
    assert summed == {"dim": {"tuple": [0, 1]}, "dtype": {"dtype": "float64"}}
    assert all_parts["torch.cat"]["args"] == [[{"tensor": 0}, {"tensor": 0}]]
    assert {"torch.Tensor.T", "torch.Tensor.mT", "torch.Tensor.to"} <= all_parts.apis()


def test_a_call_in_place_keeps_its_input_as_it_was(all_parts: Recorded) -> None:
    assert all_parts["torch.Tensor.add_"]["tensors"][0]["values"] == [0.0, 0.0, 0.0]
    assert all_parts["torch.sin"]["kwargs"] == {"out": {"tensor": 1}}


def test_a_call_that_fails_is_no_instance(all_parts: Recorded) -> None:
    assert "torch.matmul" not in all_parts.apis()


def test_threads_child_processes_and_forks_are_recorded(all_parts: Recorded) -> None:
    assert {"torch.cumsum", "torch.tril", "torch.triu"} <= all_parts.apis()


def test_autograd_and_compiled_functions_work_as_ever(all_parts: Recorded) -> None:
    assert {"torch.sigmoid", "torch.tanh"} <= all_parts.apis()


def test_a_program_that_traces_its_own_calls_sees_none_of_the_recorders() -> None:
    found = Recorded("traced", "0")
    assert found.recording.status == 0
    assert {"torch.sin", "torch.cos", "torch.nn.Linear", "torch.nn.ReLU"} <= found.apis()


def test_a_module_without_a_hash_is_called_as_ever() -> None:
    found = Recorded("unhashable", "0")
    assert (found.recording.status, found.apis()) == (0, {"torch.expm1"})


def test_a_module_that_is_not_as_its_constructor_made_it_is_recorded_by_its_calls() -> None:
    found = Recorded("changed", "0")
    assert found["torch.nn.functional.leaky_relu"]["kwargs"]["negative_slope"] == 0.5
    assert found.apis() == {
        *("torch.nn.functional.leaky_relu", "torch.nn.functional.softplus", "torch.erf"),
        "torch.nn.Dropout",  # its mode is no change
    }


def test_a_module_of_another_dtype_is_recorded_as_one_made_with_it() -> None:
    found = Recorded("other_types", "0")
    assert found["torch.nn.Linear"]["init"] == {"args": [2, 3], "kwargs": {"dtype": {"dtype": "float64"}}}
    assert found["torch.nn.GRU"]["init"]["kwargs"] == {"dtype": {"dtype": "bfloat16"}}
    assert found["torch.nn.Conv1d"]["init"]["kwargs"] == {"dtype": {"dtype": "float64"}}
    # Neither class can be told a dtype.
    assert {"torch.nn.functional.cross_entropy", "torch.nn.functional.nll_loss"} <= found.apis()


def test_tensors_of_eight_bits_are_recorded() -> None:
    found = Recorded("other_types", "0")
    [narrow] = [each for each in found.instances if each.document["tensors"][0]["dtype"] == "float8_e4m3fn"]
    assert narrow.document["tensors"] == [{"dtype": "float8_e4m3fn", "shape": [3], "values": [1.0, 1.0, 1.0]}]


def test_a_call_that_fails_is_counted(all_parts: Recorded) -> None:
    assert all_parts.omitted["the test's own call raises RuntimeError"] == 1


def test_what_cannot_be_an_instance_is_counted_with_its_reason(all_parts: Recorded) -> None:
    assert {
        "a quantised, nested or sparse tensor",
        "a tensor inside torch.func",
        "an argument of type function",
        "a tensor of more than 16384 elements that cannot be drawn",
        "not an operator that PyTorch lists: ones",
    } <= set(all_parts.omitted)


def test_a_large_tensor_is_drawn_within_its_range(all_parts: Recorded) -> None:
    [entry] = all_parts["torch.Tensor.exp"]["tensors"]
    assert entry["shape"] == [2**14 + 1]
    assert 0 <= entry["low"] < entry["high"] <= 1


def test_a_result_that_varies_is_flagged(all_parts: Recorded) -> None:
    flagged = {each.operator for each in all_parts.instances if each.flags}
    assert flagged == {"torch.nn.functional.dropout"}


def test_a_pattern_chooses_operators() -> None:
    found = Recorded("operators", "0", request=Request(1, ("*relu",)))
    assert found.apis() == {"torch.relu"}
    assert found.recording.status == 0


def test_a_suite_of_tests_names_the_test_of_every_instance(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import torch\n\ndef test_one():\n    torch.relu(torch.ones(2))\n\ndef test_two():\n    assert False\n"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        str(tmp_path),
        "--rootdir",
        str(tmp_path),
    ]
    recording = Recording(command, Request(jobs=1))
    [found] = [item for item in recording.migrate() if isinstance(item, Stored)]
    assert (found.source.kind, found.source.test) == ("pytest", "test_it.py::test_one")
    assert recording.status == 1


def test_the_users_own_sitecustomize_still_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text("import builtins\nbuiltins.there = 5\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    recording = Recording([sys.executable, "-c", "assert there == 5"])
    assert list(recording.migrate()) == []
    assert (recording.status, recording.processes) == (0, 0)


def test_a_command_that_cannot_start_is_told_and_one_that_a_signal_ends_is_a_status() -> None:
    with pytest.raises(MigrationFailed, match="no-such-program: No such file"):
        list(Recording(["no-such-program"]).migrate())
    recording = Recording([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"])
    assert list(recording.migrate()) == []
    assert recording.status == -9


def test_the_orders_name_no_more_than_the_recorder_needs() -> None:
    from fuzz.migrate._watching import told

    assert set(json.loads(json.dumps(told("x")))) == {"folder", "namespaces", "refused", "properties"}


def recorded_call(api: str, tensors: list[dict[str, Any]], **arguments: Any) -> str:
    """A line as the recorder writes it."""
    instance = {"library": "torch", "version": "2.13.0", "api": api, "args": [{"tensor": 0}], "kwargs": arguments}
    return json.dumps({"source": {"kind": "script", "test": "t.py"}, "instance": {**instance, "tensors": tensors}})


FLOATS = {"dtype": "float32", "shape": [3], "values": [1.0, 2.0, 3.0]}
RELU, TANH = (recorded_call(f"torch.{name}", [FLOATS]) for name in ("relu", "tanh"))
#: PyTorch reads a thousand million elements of three.
DEADLY = recorded_call(
    "torch.segment_reduce",
    [FLOATS, {"dtype": "int64", "shape": [1], "values": [10**9]}],
    reduce="sum",
    lengths={"tensor": 1},
    unsafe=True,
)


@pytest.mark.parametrize(
    "lines", [(RELU, DEADLY, TANH), (DEADLY, RELU, DEADLY, TANH, DEADLY)], ids=["one", "three of five"]
)
def test_a_recorded_call_that_kills_the_process_that_checks_it_costs_itself_alone(
    lines: Sequence[str], tmp_path: Path
) -> None:
    path = tmp_path / "process.jsonl"
    path.write_text("\n".join(lines) + "\n")
    found = list(in_order(CHILD, [{"file": str(path), "first": 0, "name": "a recorded call"}], Request(jobs=1)))
    assert [item.operator for item in found if isinstance(item, Stored)] == ["torch.relu", "torch.tanh"]
    deaths = [item for item in found if isinstance(item, Omitted)]
    assert deaths == [Omitted("the process died: SIGSEGV", "a recorded call")] * lines.count(DEADLY)
