"""The worker against planted faults: really dying children, no mocks."""

import os
import socket
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fuzz.case import Case, Outcome, Revision, Stage, Status, Target
from fuzz.limits import Limits
from fuzz.runner import Runner

MakeCase = Callable[..., Case]
Settled = Callable[[], None]
LIMIT_SECONDS, LIMIT_MB = 2, 400
#: What must be done within the limit of a hang may take longer on a machine that stands still now and then.
TRIES = 5


def error_of(outcome: Outcome) -> tuple[str, str, str, str]:
    assert outcome.error is not None, outcome
    return outcome.error.type, outcome.error.message, outcome.error.signal, outcome.error.stderr


def assert_goes_on(runner: Runner, case: MakeCase, faulty: Target) -> None:
    """The same runner still gives right answers."""
    for _ in range(TRIES):
        outcome = runner.run(case(shift=1.0), faulty)
        if outcome.status is not Status.TIMEOUT:
            break
    assert outcome.status is Status.OK, outcome
    assert outcome.outputs[0][1].tolist() == [0.0, 2.0, 4.0]  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("fault", "signal"),
    [
        ("null_dereference", "SIGSEGV"),
        ("abort_with_message", "SIGABRT"),
        ("raise_sigsegv", "SIGSEGV"),
        ("raise_sigkill", "SIGKILL"),
        ("raise_real_time_signal", "SIGRTMIN+3"),
        ("float_exception", "SIGFPE"),
        ("native_stack_overflow", "SIGSEGV"),
        ("leave_a_daemon_and_abort", "SIGABRT"),
    ],
)
def test_a_deadly_signal_is_an_outcome_with_its_name(
    runner: Runner, case: MakeCase, faulty: Target, settled: Settled, fault: str, signal: str
) -> None:
    for outcome in (runner.run(case(fault), faulty), runner.run_fresh(case(fault), faulty)):
        assert (outcome.status, outcome.stage) == (Status.SIGNAL, Stage.RUN)
        assert error_of(outcome)[2] == signal
        assert_goes_on(runner, case, faulty)
    settled()


def test_a_native_crash_shows_the_python_frame_that_called_it(runner: Runner, case: MakeCase, faulty: Target) -> None:
    stderr = error_of(runner.run(case("null_dereference"), faulty))[3]
    assert "Segmentation fault" in stderr
    assert "faulty.py" in stderr and "in null_dereference" in stderr


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("abort_with_message", "Check failed: lanes == 4 (3 vs. 4)"),
        ("buffered_message_then_abort", "assertion in native stdout"),
    ],
)
def test_the_native_message_before_an_abort_is_kept(
    runner: Runner, case: MakeCase, faulty: Target, fault: str, message: str
) -> None:
    assert message in error_of(runner.run(case(fault), faulty))[3]


def test_native_messages_of_earlier_cases_are_not_mixed_in(runner: Runner, case: MakeCase, faulty: Target) -> None:
    cases = [case("abort_with_message"), case("print_a_line"), case("plain_exception"), case("null_dereference")]
    outcomes = list(runner.run_batch(cases, faulty))
    assert error_of(outcomes[2])[3] == ""
    assert "a line of chatter" not in error_of(outcomes[3])[3]
    assert "Check failed" not in error_of(outcomes[3])[3]


@pytest.mark.parametrize(
    ("fault", "kind", "message"),
    [
        ("plain_exception", "ValueError", "shape mismatch in Relu"),
        ("python_recursion", "RecursionError", "maximum recursion depth exceeded"),
        ("system_exit", "SystemExit", "the library thinks that it owns the process"),
        ("keyboard_interrupt", "KeyboardInterrupt", ""),
        ("base_exception", "fuzz.backends.faulty.base_exception.<locals>.Alien", "from elsewhere"),
        (
            "unprintable_exception",
            "fuzz.backends.faulty.unprintable_exception.<locals>.Unprintable",
            "<message could not be formatted: SystemExit>",
        ),
        ("surrogates_in_message", "ValueError", "bad \ud800 text \x00\x1b[31m"),
        ("exit_zero", "Exit", "the process exited with status 0"),
        ("exit_three", "Exit", "the process exited with status 3"),
        ("kill_the_parent", "Exit", "killed the worker's parent process"),
        ("kill_the_whole_ancestry", "Exit", "killed the worker's parent process"),
        ("leave_a_daemon_and_kill_the_parent", "Exit", "killed the worker's parent process"),
        ("close_all_descriptors", "Exit", "the process exited with status 70"),
        ("garbage_on_the_result_pipe", "Exit", "wrote over the worker's result pipe"),
        ("a_little_garbage", "Exit", "wrote over the worker's result pipe"),
        ("garbage_without_end", "Exit", "wrote over the worker's result pipe"),
        ("forged_reply", "Exit", "wrote over the worker's result pipe"),
    ],
)
def test_whatever_is_raised_or_exits_is_an_exception_outcome(
    runner: Runner, case: MakeCase, faulty: Target, settled: Settled, fault: str, kind: str, message: str
) -> None:
    for outcome in (runner.run(case(fault), faulty), runner.run_fresh(case(fault), faulty)):
        assert (outcome.status, outcome.stage) == (Status.EXCEPTION, Stage.RUN)
        assert error_of(outcome)[:2] == (kind, message)
        assert_goes_on(runner, case, faulty)
    runner.run(case(), faulty)
    settled()


def test_an_exception_carries_its_frames_outermost_first(runner: Runner, case: MakeCase, faulty: Target) -> None:
    error = runner.run(case("plain_exception"), faulty).error
    assert error is not None
    assert [frame.function for frame in error.frames] == ["execute", "plain_exception"]
    assert all(frame.file.endswith("faulty.py") and frame.line > 0 for frame in error.frames)


def test_an_enormous_message_is_cut(runner: Runner, case: MakeCase, faulty: Target) -> None:
    message = error_of(runner.run(case("enormous_message"), faulty))[1]
    assert message == "x" * (64 * 1024)


@pytest.mark.parametrize(
    ("fault", "frame"),
    [
        ("python_loop", "in python_loop"),
        ("hang_holding_the_gil", "in hang_holding_the_gil"),
        ("print_for_ever", "WARNING: again"),
        ("stop_itself", ""),
        ("hang_deaf_to_signals", ""),
        ("fork_a_long_chain", "in fork_a_long_chain"),
    ],
)
def test_a_hang_ends_at_the_limit_and_shows_where_it_was(
    impatient: Runner, case: MakeCase, faulty: Target, settled: Settled, fault: str, frame: str
) -> None:
    for _ in range(TRIES):
        outcome = impatient.run(case(fault), faulty)
        assert outcome.status is Status.TIMEOUT
        assert outcome.seconds >= LIMIT_SECONDS
        if outcome.stage is Stage.RUN and frame in error_of(outcome)[3]:
            break
    assert outcome.stage is Stage.RUN and frame in error_of(outcome)[3]
    assert_goes_on(impatient, case, faulty)
    settled()


@pytest.mark.parametrize(
    "fault",
    [
        "list_without_end",
        "malloc_and_touch",
        "one_huge_array",
        "more_shared_memory_than_it_may",
        "children_eat_the_memory",
    ],
)
def test_runaway_allocation_is_an_out_of_memory_outcome(
    runner: Runner, case: MakeCase, faulty: Target, settled: Settled, fault: str
) -> None:
    outcome = runner.run(case(fault), faulty)
    assert (outcome.status, outcome.stage) == (Status.OOM, Stage.RUN)
    assert outcome.peak_mb < 3 * LIMIT_MB
    assert_goes_on(runner, case, faulty)
    settled()


def test_a_fork_bomb_is_ended(runner: Runner, case: MakeCase, faulty: Target, settled: Settled) -> None:
    with Runner(Limits(seconds=600), jobs=1) as patient:
        outcome = patient.run(case("fork_bomb"), faulty)
        assert outcome.status is Status.EXCEPTION
        assert error_of(outcome)[1] == "started too many processes"
        assert_goes_on(patient, case, faulty)
    settled()


@pytest.mark.parametrize("fault", ["fork_into_the_worker", "fork_and_raise", "leave_a_daemon", "leave_a_child"])
def test_processes_that_a_case_leaves_behind_neither_answer_nor_survive(
    runner: Runner, case: MakeCase, faulty: Target, settled: Settled, fault: str
) -> None:
    outcomes = list(runner.run_batch([case(fault), case(), case("plain_exception")], faulty))
    assert [outcome.status for outcome in outcomes] == [Status.OK, Status.OK, Status.EXCEPTION]
    assert runner.run_fresh(case(fault), faulty).status is Status.OK
    assert_goes_on(runner, case, faulty)
    settled()


def test_a_thread_that_crashes_after_the_result_is_seen_in_a_fresh_process(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    outcome = runner.run_fresh(case("thread_that_crashes_later"), faulty)
    assert outcome.status is Status.SIGNAL
    assert error_of(outcome)[2] == "SIGSEGV"


def test_a_corrupted_heap_is_seen_in_a_fresh_process(runner: Runner, case: MakeCase, faulty: Target) -> None:
    outcome = runner.run_fresh(case("corrupt_the_heap"), faulty)
    assert outcome.status is Status.SIGNAL
    assert error_of(outcome)[2] in ("SIGABRT", "SIGSEGV")
    assert_goes_on(runner, case, faulty)


@pytest.mark.parametrize("fault", ["print_a_hundred_megabytes", "print_a_line"])
def test_printing_does_not_hurt(runner: Runner, case: MakeCase, faulty: Target, fault: str) -> None:
    assert runner.run(case(fault), faulty).status is Status.OK


def test_the_last_words_after_a_hundred_megabytes_are_kept_and_no_more_than_the_tail(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    stderr = error_of(runner.run(case("print_a_hundred_megabytes_and_raise"), faulty))[3]
    assert stderr.endswith("\nthe last words\n")
    assert len(stderr) <= 16 * 1024


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("unencodable_value", "a dict cannot be sent"),
        ("unencodable_dtype", "dtype [('a', '<i4')] cannot be sent"),
        ("not_pairs", "TypeError: 'int' object is not iterable"),
        ("value_with_a_trap", "SystemExit: gotcha"),
        ("deeply_nested_result", "RecursionError: maximum recursion depth exceeded"),
        ("huge_result", "results of 200 MiB are too large to compare"),
        ("cannot_feed", "no run-time value for float32"),
    ],
)
def test_results_that_cannot_be_judged_are_skipped_with_the_reason(
    runner: Runner, case: MakeCase, faulty: Target, fault: str, reason: str
) -> None:
    outcome = runner.run(case(fault), faulty)
    assert outcome.status is Status.SKIPPED
    assert error_of(outcome)[1].startswith(reason)
    assert_goes_on(runner, case, faulty)


def test_what_a_case_changes_in_its_process_does_not_reach_a_fresh_one(
    runner: Runner, case: MakeCase, faulty: Target
) -> None:
    assert runner.run(case("change_everything"), faulty).status is Status.OK
    assert_goes_on(runner, case, faulty)
    assert runner.run_fresh(case("needs_its_home"), faulty).status is Status.OK
    shown = error_of(runner.run_fresh(case("show_environment"), faulty))[1]
    assert "CI=true" in shown.splitlines()


def test_a_deleted_home_is_made_again_for_the_next_worker(runner: Runner, case: MakeCase, faulty: Target) -> None:
    assert runner.run_fresh(case("delete_its_home"), faulty).status is Status.OK
    assert runner.run_fresh(case("needs_its_home"), faulty).status is Status.OK
    assert "pip is not available" in error_of(runner.run_fresh(case("install_packages"), faulty))[1]


def test_pip_refuses_to_install(runner: Runner, case: MakeCase, faulty: Target) -> None:
    said = error_of(runner.run(case("install_packages"), faulty))[1].split("|")
    assert said == ["1 pip is not available to workers"] * 2


def test_a_worker_has_no_network(case: MakeCase, faulty: Target) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert socket.create_connection(("127.0.0.1", port), timeout=300).close() is None
        with Runner(Limits(600), jobs=1) as runner:
            outcome = runner.run(case(f"use_the_network_{port}"), faulty)
    assert outcome.status is Status.EXCEPTION
    assert error_of(outcome)[0] in ("OSError", "PermissionError")


def test_a_worker_sees_no_secrets_and_one_native_thread(case: MakeCase, faulty: Target) -> None:
    os.environ["GITHUB_TOKEN"] = "not for workers"
    try:
        with Runner(Limits(600), jobs=1) as runner:
            shown = error_of(runner.run(case("show_environment"), faulty))[1]
    finally:
        del os.environ["GITHUB_TOKEN"]
    variables = dict(line.split("=", 1) for line in shown.splitlines())
    assert "GITHUB_TOKEN" not in variables and "PYTHONPATH" not in variables
    assert variables["OMP_NUM_THREADS"] == variables["TVM_NUM_THREADS"] == "1"
    assert variables["HOME"] != os.path.expanduser("~")


def test_a_worker_leaves_no_core_files(runner: Runner, case: MakeCase, faulty: Target) -> None:
    assert error_of(runner.run(case("show_limits"), faulty))[1].startswith("core (0, 0)")


def test_stages_are_known_even_when_the_process_dies(runner: Runner, case: MakeCase, faulty: Target) -> None:
    outcome = runner.run(case("abort_while_compiling"), faulty)
    assert (outcome.status, outcome.stage) == (Status.SIGNAL, Stage.COMPILE)


def test_a_fault_in_blame_does_not_hide_the_failure(runner: Runner, case: MakeCase, faulty: Target) -> None:
    kind, message, _, stderr = error_of(runner.run(case("plain_exception_with_bad_blame"), faulty))
    assert (kind, message) == ("ValueError", "blame me")
    assert "blame() failed: ZeroDivisionError" in stderr


def test_an_interpreter_that_does_not_start_is_unavailable(case: MakeCase, tmp_path: Path) -> None:
    from fuzz.zygote import BackendUnavailable

    bare = tmp_path / "bin" / "python"
    bare.parent.mkdir()
    bare.write_text("#!/bin/sh\nexec /usr/bin/env -i /bin/false\n")
    bare.chmod(0o755)
    target = Target("onnxruntime", Revision("0", python=str(bare)))
    with Runner(jobs=1) as runner, pytest.raises(BackendUnavailable, match="exit status 1"):
        runner.run(case(), target)


def test_no_temporary_folder_is_left_after_closing(
    case: MakeCase, faulty: Target, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with Runner(Limits(600), jobs=1) as runner:
        runner.run(case("abort_with_message"), faulty)
        assert len(list(tmp_path.iterdir())) == 1
    deadline = time.monotonic() + 300
    while list(tmp_path.iterdir()) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert list(tmp_path.iterdir()) == []
