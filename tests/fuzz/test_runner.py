"""The runner: whole campaigns of cases, confirmation in fresh processes, and what it gives back at the end."""

import gc
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnx
import pytest

from fuzz import catalogue, zygote
from fuzz.case import Case, Revision, Stage, Status, Target
from fuzz.limits import Limits
from fuzz.runner import Runner
from fuzz.zygote import BackendUnavailable

MakeCase = Callable[..., Case]


def test_outcomes_come_in_the_order_of_the_cases_whatever_dies_between(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    faults = ["", "abort_with_message", "", "kill_the_parent", "", "plain_exception", "kill_the_whole_ancestry", ""]
    outcomes = list(runner.run_batch([case(fault, shift=float(n)) for n, fault in enumerate(faults)], faulty))
    expected = ["ok", "signal", "ok", "exception", "ok", "exception", "exception", "ok"]
    assert [outcome.status.value for outcome in outcomes] == expected
    assert [float(o.outputs[0][1][2]) for o in outcomes if o.outputs] == [3.0, 5.0, 7.0, 10.0]  # type: ignore[index]


def test_a_crash_that_an_earlier_case_caused_does_not_repeat_alone(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    culprit, victim = case("poison_later_cases", shift=1.0), case("crash_after_poison")
    first, second = runner.run_batch([culprit, victim], faulty)
    assert (first.status, second.status) == (Status.OK, Status.SIGNAL)
    assert runner.run_fresh(victim, faulty).status is Status.OK
    assert culprit in runner.predecessors(victim, faulty)
    assert runner.predecessors(victim, faulty) == ()


def test_a_wrong_result_that_an_earlier_case_caused_does_not_repeat_alone(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    victim = case("wrong_after_poison")
    runner.run(case("poison_later_cases"), faulty)
    spoilt = runner.run(victim, faulty)
    clean = runner.run_fresh(victim, faulty)
    assert np.asarray(spoilt.outputs[0][1]).tolist() == [98.5, 102.0, 103.0]
    assert np.asarray(clean.outputs[0][1]).tolist() == [0.0, 2.0, 3.0]


def test_what_ends_a_worker_for_a_device_is_no_failure_of_the_cases_after_it(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    faults = ["needs_the_device", "lose_the_device", "needs_the_device", "needs_the_device"]
    outcomes = list(runner.run_batch([case(fault, shift=float(n)) for n, fault in enumerate(faults)], faulty))
    assert [outcome.status.value for outcome in outcomes] == ["ok", "exception", "ok", "ok"]
    assert runner.run(case("needs_the_device"), faulty).status is Status.OK


def test_filled_memory_makes_an_uninitialised_read_repeatable(runner: Runner, case: MakeCase, faulty: Target) -> None:
    seen = [runner.run_fresh(case("read_uninitialised"), faulty, perturb=170) for _ in range(3)]
    values = [np.asarray(outcome.outputs[0][1]).tolist() for outcome in seen]
    assert values[0] == values[1] == values[2] == [255 - 170] * 3
    other = runner.run_fresh(case("read_uninitialised"), faulty, perturb=15)
    assert np.asarray(other.outputs[0][1]).tolist() == [255 - 15] * 3


def test_an_abandoned_batch_leaves_the_runner_usable(runner: Runner, case: MakeCase, faulty: Target) -> None:
    batch = runner.run_batch([case(shift=float(n)) for n in range(100)], faulty)
    next(iter(batch))
    del batch
    gc.collect()
    outcome = runner.run(case(shift=4.0), faulty)
    assert np.asarray(outcome.outputs[0][1]).tolist() == [0.0, 2.0, 7.0]


def test_several_threads_share_one_runner(case: MakeCase, faulty: Target) -> None:
    faults = ["", "abort_with_message", "plain_exception", "kill_the_parent"]

    def batch(thread: int) -> list[str]:
        cases = [case(faults[(n + thread) % 4], shift=float(n)) for n in range(12)]
        return [outcome.status.value for outcome in runner.run_batch(cases, faulty)]

    expected = {
        "": "ok",
        "abort_with_message": "signal",
        "plain_exception": "exception",
        "kill_the_parent": "exception",
    }
    with Runner(Limits(600), jobs=3) as runner, ThreadPoolExecutor(3) as pool:
        found = list(pool.map(batch, range(3)))
    assert found == [[expected[faults[(n + thread) % 4]] for n in range(12)] for thread in range(3)]


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ("import_segfaults", "its import ended the process with signal SIGSEGV"),
        ("import_raises", "ImportError: libnative.so.4: cannot open shared object file"),
        ("import_exits", "its import ended the process with exit status 5"),
    ],
)
def test_a_backend_that_cannot_be_imported_is_unavailable_and_says_why(
    case: MakeCase, faulty_folder: Path, backend: str, reason: str
) -> None:
    target = Target(str(faulty_folder / f"{backend}.py"), Revision("0"))
    with Runner(Limits(2), jobs=1) as runner:
        for attempt in (runner.run, runner.run_fresh):
            with pytest.raises(BackendUnavailable, match=reason):
                attempt(case(), target)


def test_what_an_import_printed_before_it_died_is_part_of_the_reason(case: MakeCase, faulty_folder: Path) -> None:
    target = Target(str(faulty_folder / "import_segfaults.py"), Revision("0"))
    with Runner(Limits(2), jobs=1) as runner, pytest.raises(BackendUnavailable, match="loading the native library"):
        runner.devices(target)


def test_of_an_import_that_prints_much_the_end_is_told_and_no_file_grows_for_ever(faulty_folder: Path) -> None:
    target = Target(str(faulty_folder / "import_prints.py"), Revision("0"))
    with Runner(Limits(2), jobs=1) as runner, pytest.raises(BackendUnavailable) as problem:
        runner.devices(target)
    told = str(problem.value)
    assert told.endswith(f"at most {1 << 30} bytes in one file") and len(told) < 3000


@pytest.fixture
def hanging(faulty_folder: Path, tmp_path: Path) -> Path:
    """A backend whose import hangs, under a name by which nobody else's processes are taken for its own."""
    return Path(shutil.copy(faulty_folder / "import_hangs.py", tmp_path / f"hangs_{uuid.uuid4().hex}.py"))


def test_an_import_that_hangs_is_ended_with_all_it_started(
    case: MakeCase, hanging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote, "START_SECONDS", 1.0)
    target = Target(str(hanging), Revision("0"))
    with Runner(Limits(2), jobs=1) as runner, pytest.raises(BackendUnavailable, match="does not end within 1 s"):
        runner.run(case(), target)
    assert _wait_until_gone(hanging.name) == []


def test_devices_that_raise_make_the_backend_unavailable(faulty_folder: Path) -> None:
    target = Target(str(faulty_folder / "no_device.py"), Revision("0"))
    with Runner(Limits(2), jobs=1) as runner, pytest.raises(BackendUnavailable, match="RuntimeError: no such device"):
        runner.devices(target)


@pytest.mark.parametrize(("deaths", "answer"), [(1, "CPU"), (2, "died when asked for its devices: signal")])
def test_a_process_that_dies_over_a_question_is_no_answer_yet(
    faulty_folder: Path, tmp_path: Path, deaths: int, answer: str
) -> None:
    """It may have been the machine's fault, and a failure signed without the answer is another bug."""
    mortal = Path(shutil.copy(faulty_folder / "kills_its_host.py", tmp_path / "mortal.py"))
    dies = (
        "\n\ndef devices():\n"
        f"    with open({str(tmp_path / 'deaths')!r}, 'a+') as deaths:\n"
        "        deaths.write('x')\n"
        f"        if deaths.tell() <= {deaths}:\n"
        "            deaths.close()\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "    return ['CPU']\n"
    )
    mortal.write_text(mortal.read_text() + dies)
    with Runner(Limits(60), jobs=1) as runner:
        try:
            told = runner.devices(Target(str(mortal), Revision("0")))
        except BackendUnavailable as problem:
            told = [str(problem)]
    assert told[0].startswith(answer)


CAMPAIGN = """
import sys, time
sys.path[:0] = {path!r}
from fuzz.case import Case, Origin, Revision, Target
from fuzz.runner import Runner
from fuzz.limits import Limits
import numpy as np
def case(text):
    return Case("onnx", text, {{"x": np.ones(3, np.float32)}}, Origin("x"))
target = Target({backend!r}, Revision("0"))
with Runner(Limits(3000), jobs=2) as runner:
    runner.run(case(b"fault:leave_a_daemon;"), target)
    print("ready", flush=True)
    runner.run(case({fault!r}), target)
"""


@pytest.mark.parametrize("fault", ["fault:leave_a_daemon_and_hang;", "fault:hang_deaf_to_signals;"])
def test_nothing_survives_a_campaign_that_is_killed(faulty: Target, fault: str, tmp_path: Path) -> None:
    text = CAMPAIGN.format(path=sys.path, backend=faulty.backend, fault=fault.encode())
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, env=environment) as campaign:
        assert campaign.stdout is not None
        assert campaign.stdout.readline() == b"ready\n"
        mine = _wait_for(lambda: [pid for pid in _below(campaign.pid) if pid != campaign.pid], at_least=3)
        campaign.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 300
    while (_alive(mine) or list(tmp_path.iterdir())) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert _alive(mine) == []
    assert list(tmp_path.iterdir()) == []


STANDING = """
import sys
sys.path[:0] = {path!r}
from fuzz.case import Case, Origin, Revision, Target
from fuzz.runner import Runner
from fuzz.limits import Limits
import numpy as np
target = Target({backend!r}, Revision("0"))
with Runner(Limits(3), jobs=1) as runner:
    case = Case("onnx", b"fault:take_a_second;", {{"x": np.ones(3, np.float32)}}, Origin("x"))
    print(runner.run(case, target).status.value)
"""


def test_the_time_in_which_the_whole_machine_stands_still_is_none_that_a_case_takes(
    faulty: Target, tmp_path: Path
) -> None:
    text = STANDING.format(path=sys.path, backend=faulty.backend)
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", text], stdout=subprocess.PIPE, env=environment) as campaign:
        while not list(tmp_path.glob("*/begun")):
            assert campaign.poll() is None
            time.sleep(0.02)
        for pid in (everything := [campaign.pid, *_below(campaign.pid)]):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(4)
        for pid in reversed(everything):
            os.kill(pid, signal.SIGCONT)
        assert campaign.communicate(timeout=900)[0] == b"ok\n"


def test_a_killed_campaign_does_not_leave_an_import_that_hangs(hanging: Path) -> None:
    text = CAMPAIGN.format(path=sys.path, backend=str(hanging), fault=b"")
    with subprocess.Popen([sys.executable, "-c", text]) as campaign:
        mine = _wait_for(lambda: _running(hanging.name), at_least=1)
        campaign.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 300
    while _alive(mine[:1]) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert _alive(mine[:1]) == []
    for pid in _running(hanging.name):  # its own child, which nobody could know of
        os.kill(pid, signal.SIGKILL)


def test_the_parent_stays_small_over_a_large_batch(runner: Runner, case: MakeCase, faulty: Target) -> None:
    cases = [case("megabyte_result", shift=float(n)) for n in range(600)]
    statuses = {outcome.status for outcome in runner.run_batch(cases[:50], faulty)}
    before = _resident_mb()
    statuses |= {outcome.status for outcome in runner.run_batch(cases, faulty)}
    assert statuses == {Status.OK}
    assert _resident_mb() - before < 100


@pytest.fixture(scope="module")
def older_onnxruntime(tmp_path_factory: pytest.TempPathFactory) -> str:
    """An environment with an ONNX Runtime of two years ago and nothing else of ours."""
    folder = tmp_path_factory.mktemp("older") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = str(folder / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "--quiet"]
    subprocess.run([*pip, "--no-deps", "onnxruntime==1.22.0", "numpy==2.2.6"], check=True)
    return python


def test_an_older_compiler_runs_in_its_own_environment(older_onnxruntime: str, case: MakeCase) -> None:
    older = Target("onnxruntime", Revision("1.22.0", python=older_onnxruntime))
    with Runner(Limits(600), jobs=1) as runner:
        ours = runner.run(case(), catalogue.target("onnxruntime"))
        theirs = runner.run(case(), older)
        crowd = list(runner.run_batch([case(shift=float(n)) for n in range(20)], older))
        assert runner.devices(older) == ["CPU"]
        with pytest.raises(BackendUnavailable, match="No module named 'onnx'"):
            runner.run(case(), Target("reference", Revision("0", python=older_onnxruntime)))
    assert np.asarray(theirs.outputs[0][1]).tolist() == np.asarray(ours.outputs[0][1]).tolist() == [0.0, 2.0, 3.0]
    assert {outcome.status for outcome in crowd} == {Status.OK}


def test_small_dtypes_pass_through_an_environment_without_ml_dtypes(older_onnxruntime: str) -> None:
    import ml_dtypes
    from onnx import TensorProto, helper

    from fuzz.case import Origin

    x = helper.make_tensor_value_info("x", TensorProto.BFLOAT16, [3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
    node = helper.make_node("Cast", ["x"], ["y"], to=TensorProto.FLOAT)
    graph = helper.make_graph([node], "g", [x], [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = np.array([1.5, -2.0, 0.25], dtype=ml_dtypes.bfloat16)
    with Runner(Limits(600), jobs=1) as runner:
        target = Target("onnxruntime", Revision("1.22.0", python=older_onnxruntime))
        outcome = runner.run(Case("onnx", model.SerializeToString(), {"x": data}, Origin("t")), target)
    assert (outcome.status, outcome.stage) == (Status.OK, Stage.RUN), outcome
    assert np.asarray(outcome.outputs[0][1]).tolist() == [1.5, -2.0, 0.25]


def _below(pid: int) -> list[int]:
    from fuzz.worker import descendants

    return descendants(pid)


def _alive(pids: list[int]) -> list[int]:
    return [pid for pid in pids if Path(f"/proc/{pid}/stat").exists() and "Z" not in _state(pid)]


def _state(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


def _running(words: str) -> list[int]:
    """Zygotes of our own making whose command line names `words`, oldest first."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            command = (entry / "cmdline").read_bytes().decode().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if any(part.endswith("worker.py") for part in command) and any(part.endswith(words) for part in command):
            found.append(int(entry.name))
    return sorted(_alive(found))


def _wait_for(look: Callable[[], list[int]], at_least: int) -> list[int]:
    """What `look` finds once it finds as much twice in a row: a process of an earlier case may still be dying."""
    deadline = time.monotonic() + 300
    before: list[int] = []
    while (found := look()) != before or len(found) < at_least:
        assert time.monotonic() < deadline, found
        before = found
        time.sleep(0.1)
    return found


def _wait_until_gone(words: str) -> list[int]:
    deadline = time.monotonic() + 300
    while _running(words) and time.monotonic() < deadline:
        time.sleep(0.02)
    return _running(words)


def _resident_mb() -> float:
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / (1 << 20)


def test_compilers_tell_the_newest_opset_they_know_and_one_that_does_not_say_tells_none(
    runner: Runner, faulty: Target
) -> None:
    known = {name: runner.newest_opset(catalogue.target(name)) for name in ("openvino", "tvm")}
    assert all(13 < newest <= onnx.defs.onnx_opset_version() for newest in known.values()), known
    assert runner.newest_opset(faulty) == 0
