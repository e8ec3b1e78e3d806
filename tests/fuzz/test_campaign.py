"""A campaign over a backend that misbehaves: every fault becomes the right verdict, and the campaign goes on."""

import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.campaign import CHUNK, Campaign, Policy
from fuzz.case import Case, Origin, Revision, Status, Target, Verdict
from fuzz.generators import Skip
from fuzz.limits import Limits
from fuzz.runner import Runner

MakeCase = Callable[..., Case]


@pytest.fixture(scope="module")
def pool() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=600), jobs=2) as shared:
        yield shared


@pytest.fixture(scope="module")
def hasty() -> Iterator[Runner]:
    """For cases that hang."""
    with Runner(Limits(seconds=5, memory_mb=600), jobs=1) as shared:
        yield shared


@pytest.fixture(scope="module")
def reference() -> Target:
    return catalogue.target("reference")


def hunt(
    pool: Runner,
    reference: Target,
    cases: list[Case | Skip],
    targets: list[Target],
    policy: Policy | None = None,
    done: Callable[[str, str], bool] = lambda case, target: False,
) -> list[Verdict | Skip]:
    campaign = Campaign(pool, targets, reference, policy or Policy())
    return [verdict for chunk in campaign.run(cases, done) for verdict in chunk]


def verdicts_of(found: list[Verdict | Skip], case: Case) -> list[Verdict]:
    return [verdict for verdict in found if isinstance(verdict, Verdict) and verdict.case.id == case.id]


def invalid_case(fault: str) -> Case:
    """A model that onnx.checker refuses: Relu has one input."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [3])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [3])
    node = helper.make_node("Relu", ["x", "x"], ["y"])
    graph = helper.make_graph([node], "g", [x], [y], doc_string=f"fault:{fault};" if fault else "")
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = catalogue._tiny_model()[0].inputs["x"]
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("planted", fault))


@pytest.mark.parametrize(
    ("fault", "status", "symptom"),
    [
        ("", Status.OK, ""),
        ("wrong_result", Status.WRONG, "wrong:values"),
        ("nan_result", Status.WRONG, "wrong:nan"),
        ("never_the_same", Status.WRONG, "wrong:values"),
        ("no_result", Status.WRONG, "wrong:count"),
        ("plain_exception", Status.EXCEPTION, "exception:ValueError"),
        ("exit_three", Status.EXCEPTION, "exception:Exit"),
        ("abort_with_message", Status.SIGNAL, "crash:SIGABRT"),
        ("kill_the_parent", Status.EXCEPTION, "exception:Exit"),
        ("list_without_end", Status.OOM, "oom"),
        ("cannot_feed", Status.SKIPPED, ""),
        ("huge_result", Status.SKIPPED, ""),
    ],
)
def test_every_fault_gets_its_verdict(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase, fault: str, status: Status, symptom: str
) -> None:
    [verdict] = hunt(pool, reference, [case(fault)], [faulty])
    assert isinstance(verdict, Verdict)
    assert verdict.status is status
    assert (verdict.failure.symptom if verdict.failure else "") == symptom
    assert bool(verdict.reason) is (status is not Status.OK)


def test_a_hang_gets_its_verdict(hasty: Runner, reference: Target, faulty: Target, case: MakeCase) -> None:
    hasty.run(case(), reference)  # its imports are no part of what is limited
    [verdict] = hunt(hasty, reference, [case("hang_holding_the_gil")], [faulty])
    assert isinstance(verdict, Verdict) and verdict.failure is not None
    assert (verdict.status, verdict.failure.symptom) == (Status.TIMEOUT, "hang") and verdict.reason


def test_a_campaign_of_faults_ends_with_a_verdict_on_every_case(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase
) -> None:
    faults = ["", "abort_with_message", "plain_exception", "kill_the_parent", "leave_a_daemon", "wrong_result"]
    cases: list[Case | Skip] = [case(faults[n % len(faults)], shift=float(n)) for n in range(3 * CHUNK)]
    found = hunt(pool, reference, cases, [faulty])
    assert sorted(v.case.id for v in found if isinstance(v, Verdict)) == sorted(
        c.id for c in cases if isinstance(c, Case)
    )
    healthy = [v for v in found if isinstance(v, Verdict) and v.case.origin.test in ("healthy", "leave_a_daemon")]
    assert {verdict.status for verdict in healthy} == {Status.OK}


@pytest.mark.parametrize("victim", ["wrong_after_poison", "crash_after_poison"])
def test_what_an_earlier_case_caused_is_flaky_and_no_failure(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase, victim: str
) -> None:
    cases: list[Case | Skip] = [case("poison_later_cases", shift=0.5), case(victim)]
    first, second = hunt(pool, reference, cases, [faulty])
    assert isinstance(first, Verdict) and isinstance(second, Verdict)
    assert (first.status, second.status) == (Status.OK, Status.FLAKY)
    assert second.failure is None and "not in a fresh process" in second.reason


def test_the_case_that_corrupted_the_heap_is_found_behind_the_one_that_died(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase
) -> None:
    culprit = case("corrupt_the_heap")
    victims = [case(shift=float(n)) for n in range(6)]
    found = hunt(pool, reference, [case(shift=20.0), culprit, *victims], [faulty])
    blamed = [verdict for verdict in verdicts_of(found, culprit) if verdict.failure]
    assert blamed and blamed[0].status is Status.SIGNAL
    assert blamed[0].reason in (
        "kills its process after it has returned its result",
        "the process died of SIGABRT",  # where the allocator noticed at once
    )
    for victim in victims:
        assert all(verdict.failure is None for verdict in verdicts_of(found, victim))


def test_invalid_models_are_not_shown_unless_asked_for(pool: Runner, reference: Target, faulty: Target) -> None:
    [verdict] = hunt(pool, reference, [invalid_case("abort_with_message")], [faulty])
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.outcome, verdict.failure) == (Status.INVALID, None, None)
    assert verdict.reason.startswith("rejected by onnx.checker: ")


@pytest.mark.parametrize(
    ("fault", "symptom"),
    [
        ("abort_with_message", "dies-on-invalid:crash:SIGABRT"),
        ("exit_zero", "dies-on-invalid:exception:Exit"),
        ("plain_exception", ""),
        ("wrong_result", ""),
        ("", ""),
    ],
)
def test_on_an_invalid_model_only_dying_is_a_failure(
    pool: Runner, reference: Target, faulty: Target, fault: str, symptom: str
) -> None:
    [verdict] = hunt(pool, reference, [invalid_case(fault)], [faulty], Policy(invalid=True))
    assert isinstance(verdict, Verdict) and verdict.status is Status.INVALID
    assert (verdict.failure.symptom if verdict.failure else "") == symptom


def test_a_hang_on_an_invalid_model_is_a_failure(hasty: Runner, reference: Target, faulty: Target) -> None:
    hasty.run(invalid_case(""), reference)
    [verdict] = hunt(hasty, reference, [invalid_case("python_loop")], [faulty], Policy(invalid=True))
    assert isinstance(verdict, Verdict) and verdict.status is Status.INVALID and verdict.failure is not None
    assert verdict.failure.symptom == "dies-on-invalid:hang"


def test_what_was_done_before_is_not_done_again(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase
) -> None:
    cases: list[Case | Skip] = [case(shift=float(n)) for n in range(20)]
    recorded = {c.id for c in cases[:13] if isinstance(c, Case)}
    found = hunt(pool, reference, cases, [faulty], done=lambda case, target: case in recorded and target == faulty.id)
    assert {v.case.id for v in found if isinstance(v, Verdict)} == {c.id for c in cases[13:] if isinstance(c, Case)}


def test_skips_of_the_source_are_passed_through(pool: Runner, reference: Target, faulty: Target) -> None:
    skip = Skip(Origin("planted", "t"), "no data")
    assert hunt(pool, reference, [skip], [faulty]) == [skip]


def test_a_case_of_a_kind_that_a_backend_does_not_take_is_skipped(
    pool: Runner, reference: Target, faulty: Target
) -> None:
    instance = catalogue._tiny_instance("instance")[0]
    [verdict] = hunt(pool, reference, [instance], [faulty])
    assert isinstance(verdict, Verdict)
    assert (verdict.status, verdict.reason) == (Status.SKIPPED, "faulty takes no operator instances")


def test_a_campaign_whose_time_is_over_confirms_nothing_and_loses_nothing(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase
) -> None:
    def endless() -> Iterator[Case]:
        n = 0
        while True:
            n += 1
            yield case("abort_with_message" if n % 3 == 0 else "", shift=float(n))

    looks = itertools.count()

    @dataclass(frozen=True)
    class AfterSomeLooks(Policy):
        """A budget that ends in the midst of the first chunks, at any speed."""

        def over(self) -> bool:
            return next(looks) > CHUNK

    campaign = Campaign(pool, [faulty], reference, AfterSomeLooks())
    found = [verdict for chunk in campaign.run(endless()) for verdict in chunk]
    assert found
    assert all(isinstance(v, Verdict) and v.status in (Status.OK, Status.SIGNAL) for v in found)
    over = Campaign(pool, [faulty], reference, Policy(deadline=time.monotonic() - 1))
    assert list(over.run(endless())) == []


def test_a_deterministic_majority_puts_the_reference_in_doubt(
    pool: Runner, reference: Target, faulty: Target, faulty_folder: Path, case: MakeCase
) -> None:
    """Two backends that agree with each other and not with the reference: no report against either."""
    twin = Target(str(faulty_folder / "twin.py"), Revision("0"))
    found = hunt(pool, reference, [case("wrong_result")], [faulty, twin])
    assert [v.status for v in found if isinstance(v, Verdict)] == [Status.SKIPPED, Status.SKIPPED]
    assert all(isinstance(v, Verdict) and "the reference is in doubt" in v.reason for v in found)


def test_a_real_compiler_passes_while_a_faulty_one_fails(
    pool: Runner, reference: Target, faulty: Target, case: MakeCase
) -> None:
    onnxruntime = catalogue.target("onnxruntime")
    found = hunt(pool, reference, [case("wrong_result")], [faulty, onnxruntime])
    statuses = {v.target.backend: v.status for v in found if isinstance(v, Verdict)}
    assert statuses == {faulty.backend: Status.WRONG, "onnxruntime": Status.OK}
