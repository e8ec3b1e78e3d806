"""The lane: jobs sent ahead, replies in order, recycling, and what is kept of native output."""

from collections.abc import Callable, Iterator

import pytest

from fuzz.case import Case, Target
from fuzz.lane import Lane
from fuzz.limits import Job, Limits, Recycling
from fuzz.zygote import BaseZygote, ZygoteGone

MakeCase = Callable[..., Case]


@pytest.fixture(scope="module")
def base(faulty: Target) -> Iterator[BaseZygote]:
    zygote = BaseZygote(faulty.backend)
    yield zygote
    zygote.close()


@pytest.fixture
def open_lane(base: BaseZygote) -> Iterator[Callable[..., Lane]]:
    lanes: list[Lane] = []

    def make(limits: Limits | None = None, recycling: Recycling | None = None) -> Lane:
        lanes.append(Lane(base.clone(), limits or Limits(600, 400), recycling))
        return lanes[-1]

    yield make
    for lane in lanes:
        lane.close()


def job(case: Case) -> Job:
    return {"op": "run", "kind": case.kind, "options": {}}, case.model, dict(case.inputs)


def third(reply_values: dict[str, object]) -> float:
    return float(reply_values["0"][2])  # type: ignore[index]


def test_a_thousand_jobs_are_answered_in_order(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    replies = list(open_lane().run([job(case(shift=float(n))) for n in range(1000)]))
    assert [third(reply.values) for reply in replies] == [3.0 + n for n in range(1000)]
    assert not any(reply.death for reply in replies)


def test_a_death_costs_only_the_job_that_was_running(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    faults = ["abort_with_message" if n % 7 == 3 else "" for n in range(40)]
    jobs = [job(case(fault, shift=float(n))) for n, fault in enumerate(faults)]
    replies = list(open_lane().run(jobs))
    assert [reply.death for reply in replies] == ["signal:SIGABRT" if fault else "" for fault in faults]
    alive = [(n, reply) for n, reply in enumerate(replies) if not reply.death]
    assert [third(reply.values) for _, reply in alive] == [3.0 + n for n, _ in alive]


def test_answers_that_a_death_took_with_it_are_computed_again(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    jobs = [job(case("count_my_cases")) for _ in range(3)]
    replies = list(open_lane().run([*jobs, job(case("null_dereference")), *jobs]))
    assert replies[3].death == "signal:SIGSEGV" and replies[3].header["seq"] == 4
    assert [third(reply.values) for reply in replies[:3]] == [1, 2, 3]
    assert not any(reply.death for reply in replies[4:])


def test_a_hang_after_quick_jobs_is_run_once(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    jobs = [job(case()), job(case()), job(case("python_loop")), job(case())]
    for _ in range(5):  # on a machine that stands still quick jobs may take too long as well
        replies = list(open_lane(Limits(2, 400)).run(jobs))
        if [reply.death for reply in replies] == ["", "", "timeout", ""]:
            break
    assert [reply.death for reply in replies] == ["", "", "timeout", ""]
    first, second, hang = (reply.header["seq"] for reply in replies[:3])
    assert hang == 3 and first in (1, 5) and second in (2, 5, 6)  # those before it run a second time at most


@pytest.mark.parametrize("fault", ["garbage_on_the_result_pipe", "forged_reply"])
def test_garbage_is_laid_at_the_door_of_the_job_that_wrote_it(
    open_lane: Callable[..., Lane], case: MakeCase, fault: str
) -> None:
    faults = ["", "", "", fault, "", ""]
    replies = list(open_lane().run([job(case(name)) for name in faults]))
    assert [reply.death for reply in replies] == ["garbage" if name else "" for name in faults]


def test_a_result_that_a_later_job_writes_over_is_answered_before_that(
    open_lane: Callable[..., Lane], case: MakeCase
) -> None:
    replies = list(open_lane().run([job(case("return_a_shared_buffer", shift=float(n))) for n in range(5)]))
    assert [third(reply.values) for reply in replies] == [3.0 + n for n in range(5)]


def test_jobs_larger_than_a_pipe_pass_in_both_directions(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    large = case()
    inputs = {"x": large.inputs["x"].repeat(4_000_000)}  # type: ignore[union-attr]
    header, model, _ = job(large)
    replies = list(open_lane().run([(header, model, inputs)] * 3))
    assert [reply.values["0"].shape for reply in replies] == [(12_000_000,)] * 3  # type: ignore[union-attr]


def test_a_worker_is_replaced_after_so_many_jobs(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    lane = open_lane(recycling=Recycling(jobs=5))
    replies = list(lane.run([job(case("count_my_cases")) for _ in range(12)]))
    counts = [third(reply.values) for reply in replies]
    assert counts == [1, 2, 3, 4, 5, 1, 2, 3, 4, 5, 1, 2]


def test_a_worker_is_replaced_when_it_has_grown(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    lane = open_lane(recycling=Recycling(growth_mb=50))
    faults = ["count_my_cases", "keep_a_hundred_megabytes", "count_my_cases"]
    replies = list(lane.run([job(case(fault)) for fault in faults]))
    assert third(replies[0].values) == third(replies[2].values) == 1
    assert replies[1].peak_mb > 100


def test_the_peak_is_that_of_the_job_and_not_of_an_earlier_one(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    replies = list(open_lane().run([job(case()), job(case("use_a_hundred_megabytes")), job(case())]))
    before, during, after = (reply.peak_mb for reply in replies)
    assert during > before + 90
    assert after < before + 50


def test_a_job_that_leaves_a_process_ends_its_worker(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    faults = ["count_my_cases", "leave_a_child", "count_my_cases"]
    replies = list(open_lane().run([job(case(fault)) for fault in faults]))
    assert third(replies[2].values) == 1


def test_running_alone_means_that_nothing_ran_before(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    lane = open_lane()
    list(lane.run([job(case("poison_later_cases"))]))
    [warm] = lane.run([job(case("wrong_after_poison"))])
    alone = lane.run_alone(job(case("wrong_after_poison")))
    assert third(warm.values) == 103.0
    assert third(alone.values) == 3.0


def test_native_output_is_that_of_the_failing_job_only(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    faults = ["print_a_line", "abort_with_message", "print_a_line", "plain_exception", "print_a_line"]
    replies = list(open_lane().run([job(case(fault)) for fault in faults]))
    assert "Check failed" in replies[1].stderr and "chatter" not in replies[1].stderr
    assert replies[3].stderr == ""


def test_chatter_that_nobody_reads_does_not_block_the_worker(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    replies = list(open_lane().run([job(case("print_fifty_kilobytes")) for _ in range(200)]))
    assert not any(reply.death for reply in replies)


def test_a_lane_whose_zygote_was_killed_says_so_and_is_not_usable(
    open_lane: Callable[..., Lane], case: MakeCase
) -> None:
    lane = open_lane()
    replies = lane.run([job(case("kill_the_parent")), job(case())])
    assert next(replies).death == "orphaned"
    assert not lane.usable
    with pytest.raises(ZygoteGone):
        next(replies)


def test_an_abandoned_batch_can_be_closed(base: BaseZygote, case: MakeCase) -> None:
    lane = Lane(base.clone(), Limits(600, 400))
    replies = lane.run([job(case()) for _ in range(50)])
    next(replies)
    replies.close()  # type: ignore[attr-defined]
    lane.close()
    assert next(replies, None) is None


def test_cyclic_garbage_does_not_pile_up_to_the_memory_limit(open_lane: Callable[..., Lane], case: MakeCase) -> None:
    jobs = [job(case("drop_a_cycle_of_fifty_megabytes")) for _ in range(40)]
    replies = list(open_lane(recycling=Recycling(growth_mb=10_000)).run(jobs))
    assert not any(reply.death or "error" in reply.header for reply in replies)
    assert max(reply.peak_mb for reply in replies) < 350
