"""The native stack of a worker that dies: taken where it can be, and a death is a death where it cannot."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fuzz import native
from fuzz.case import Case, Outcome, Revision, Status, Target
from fuzz.limits import Limits
from fuzz.runner import Runner

MakeCase = Callable[..., Case]


@pytest.fixture
def dying(faulty_folder: Path) -> Target:
    return Target(str(faulty_folder / "dies_in_a_library.py"), Revision("0"))


@pytest.fixture(scope="module")
def alone() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=400), jobs=4) as shared:
        yield shared


def stack(outcome: Outcome) -> list[str]:
    assert outcome.error is not None
    _, heading, frames = outcome.error.stderr.partition(native.HEADING)
    return frames.split("\n")[1:-1] if heading else []


def test_the_native_frames_of_a_death_reach_the_outcome(alone: Runner, dying: Target, case: MakeCase) -> None:
    outcome = alone.run_fresh(case("checksum"), dying)
    assert outcome.status is Status.SIGNAL and outcome.error is not None and outcome.error.signal == "SIGSEGV"
    assert "Fatal Python error: Segmentation fault" in outcome.error.stderr
    assert "crc32" in stack(outcome)[0] and "from libz.so" in stack(outcome)[0]


def test_a_death_on_another_thread_shows_that_thread(alone: Runner, dying: Target, case: MakeCase) -> None:
    outcome = alone.run_fresh(case("dies_on_another_thread"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV"
    assert "crc32" in stack(outcome)[0]


def test_abort_is_told_as_abort_with_its_callers(alone: Runner, dying: Target, case: MakeCase) -> None:
    outcome = alone.run_fresh(case("freed_nonsense"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGABRT"
    assert any("free from libc" in frame for frame in stack(outcome))


def test_a_warm_worker_dies_at_once_and_without_a_stack(alone: Runner, dying: Target, case: MakeCase) -> None:
    outcome = alone.run(case("checksum"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV"
    assert stack(outcome) == []


def test_a_case_that_says_that_it_dies_is_believed_only_when_it_does(
    alone: Runner, dying: Target, case: MakeCase
) -> None:
    assert alone.run_fresh(case("claims_to_die"), dying).status is Status.OK


def test_a_thread_that_blocks_one_signal_for_its_own_reasons_does_not_stand_still(
    alone: Runner, dying: Target, case: MakeCase
) -> None:
    assert alone.run_fresh(case("claims_to_die_with_one_signal_blocked"), dying).status is Status.OK


def test_of_two_threads_that_block_one_signal_the_one_that_dies_is_shown(
    alone: Runner, dying: Target, case: MakeCase
) -> None:
    outcome = alone.run_fresh(case("dies_beside_a_thread_with_one_signal_blocked"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV"
    assert "crc32" in stack(outcome)[0]


def test_a_death_without_stderr_is_a_death_at_the_end_of_its_time(dying: Target, case: MakeCase) -> None:
    with Runner(Limits(seconds=3, memory_mb=400), jobs=1) as hasty:
        outcome = hasty.run_fresh(case("dies_with_stderr_closed"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV"


@pytest.mark.parametrize("program", ["", "/bin/false", "/bin/true", "/nonexistent/py-spy"])
def test_a_process_that_cannot_be_looked_at_still_counts_as_the_crash_it_is(
    alone: Runner, dying: Target, case: MakeCase, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(native, "program", lambda: program)
    outcome = alone.run_fresh(case("checksum"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV"
    assert "Fatal Python error: Segmentation fault" in outcome.error.stderr and stack(outcome) == []


def test_a_look_that_never_ends_is_given_up(
    alone: Runner, dying: Target, case: MakeCase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stuck = tmp_path / "py-spy"
    stuck.write_text("#!/bin/sh\nexec sleep 1000\n")
    stuck.chmod(0o755)
    monkeypatch.setattr(native, "program", lambda: str(stuck))
    monkeypatch.setattr(native, "_SECONDS", 0.5)
    outcome = alone.run_fresh(case("checksum"), dying)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV" and stack(outcome) == []


def test_many_that_die_at_once_all_tell_their_stacks(alone: Runner, dying: Target, case: MakeCase) -> None:
    found: list[Outcome] = []

    def die(shift: float) -> None:
        found.append(alone.run_fresh(case("checksum", shift=shift), dying))

    threads = [threading.Thread(target=die, args=(float(number),)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [outcome.status for outcome in found] == [Status.SIGNAL] * 8
    assert all("crc32" in stack(outcome)[0] for outcome in found)


def test_untrusted_workers_never_stand_still(dying: Target, case: MakeCase) -> None:
    untrusted = Target(dying.backend, Revision("0", untrusted=True))
    with Runner(Limits(seconds=600, memory_mb=400), jobs=1) as confined:
        outcome = confined.run_fresh(case("checksum"), untrusted)
    assert outcome.error is not None and outcome.error.signal == "SIGSEGV" and stack(outcome) == []
