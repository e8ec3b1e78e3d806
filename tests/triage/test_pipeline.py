"""Bugs of a compiler with planted faults, taken from NEW to DRAFTED, or put aside for the right reason."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.campaign import Policy
from fuzz.case import Case, Error, Failure, Origin, Outcome, Stage, Status, Target
from fuzz.data import data_path
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import drafting, hunt, pipeline, twins
from triage.court.evidence import Judgement, Ruling
from triage.lifecycle import State
from triage.records import Bug
from triage.signing import Signer
from triage.steps import confirming, hearing, locating, reducing
from triage.steps.desk import Desk, reduced_case, reduced_failure
from triage.store import open_store
from triage.trials import Answer

PLANTED = Path(__file__).with_name("planted.py")
HONEST, FAULTY = data_path("calibration", "honest.py"), data_path("calibration", "faulty.py")


def chain(*operators: str, size: int = 4) -> Case:
    """A model of one-input operators in a row, on numbers that all of them accept."""
    names = ["x", *(f"v{at}" for at in range(1, len(operators))), "y"]
    nodes = [helper.make_node(op_type, [names[at]], [names[at + 1]]) for at, op_type in enumerate(operators)]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [size]) for name in ("x", "y")]
    model = helper.make_model(
        helper.make_graph(nodes, "g", infos[:1], infos[1:]), opset_imports=[helper.make_opsetid("", 17)], ir_version=8
    )
    data = np.linspace(0.1, 0.7, size, dtype=np.float32)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("test", "-".join(operators).lower()))


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the planted compiler, which counts its turns beside itself."""
    return Path(shutil.copy(PLANTED, tmp_path_factory.mktemp("compiler")))


@pytest.fixture(scope="module")
def target(planted: Path) -> Target:
    return catalogue.target(str(planted), {"steady": "no"})


@pytest.fixture(scope="module")
def runner() -> Iterator[Runner]:
    with Runner(Limits(seconds=600, memory_mb=1000), jobs=2) as shared:
        yield shared


@pytest.fixture
def hasty(target: Target) -> Iterator[Runner]:
    """For what hangs; what it has to import before is imported."""
    with Runner(Limits(seconds=3, memory_mb=1000), jobs=1) as runner:
        for each in (target, catalogue.target("reference")):
            runner.run(chain("Abs"), each)
        yield runner


@pytest.fixture
def desk(runner: Runner, tmp_path: Path) -> Iterator[Desk]:
    with open_store(tmp_path / "hunt.db", create=True) as store:
        yield Desk(store, runner, catalogue.target("reference"), tmp_path / "reports")


def hunted(desk: Desk, target: Target, *cases: Case) -> list[Bug]:
    """The bugs that a hunt in `cases` finds, none of them looked at yet."""
    campaign = desk.store.begin_campaign({"test": 1})
    assert hunt.hunt(desk.store, campaign, cases, [target], desk.reference, desk.runner, Policy())
    return desk.store.bugs()


def recorded(desk: Desk, failure: Failure) -> Bug:
    """A bug that an earlier hunt has seen, whatever the compiler does now."""
    desk.store.record(0, (), [Signer(desk.runner).describe(failure)])
    [bug] = desk.store.bugs()
    return bug


def failure_of(desk: Desk, case: Case, target: Target, perturb: int | None = None) -> Failure:
    found = Judge(desk.runner, desk.reference, perturb).examine(case, target).failure
    assert found is not None
    return found


def advanced(desk: Desk, bugs: Sequence[Bug]) -> list[Bug]:
    pipeline.advance_all(desk, bugs)
    return [desk.store.bug(bug.id) for bug in bugs]


def executed(script: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "reproducer.py"
    path.write_text(script)
    return subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=900, check=False)


def files(desk: Desk) -> list[str]:
    return sorted(path.name for path in desk.reports.rglob("*") if path.is_file())


# ---------------------------------------------------------------- what becomes a draft


FAULTS = {
    "Ceil": "exception:fuzz.backends.planted.Unlowered",
    "Sign": "crash:SIGSEGV",
    "Sinh": "wrong:values",
    "Acosh": "wrong:nan",
}


@pytest.mark.parametrize("op_type", FAULTS)
def test_a_fault_among_other_operators_is_reduced_and_drafted(
    op_type: str, desk: Desk, target: Target, tmp_path: Path
) -> None:
    others = ("Exp", "Abs") if op_type == "Acosh" else ("Neg", "Abs")
    [bug] = advanced(desk, hunted(desk, target, chain(*others, op_type)))
    assert (bug.symptom, bug.state, bug.note) == (FAULTS[op_type], State.DRAFTED, "")
    assert bug.operators == (op_type,) and bug.nodes == 1
    assert bug.target.options == ()  # it was found with steady=no, and needs no option
    text = desk.store.draft(bug.id)
    assert text is not None and op_type in text.title
    assert bug.report_path is not None and Path(bug.report_path).read_text() == f"# {text.title}\n\n{text.body}"
    assert Path(bug.report_path).with_suffix(".py").read_text() == text.script
    done = executed(text.script, tmp_path)
    assert done.returncode != 0 and "PASS" not in done.stdout


def test_a_message_that_is_never_twice_the_same_is_reproduced_all_the_same(desk: Desk, target: Target) -> None:
    """The planted exception names an address, a process and a shape."""
    bugs = hunted(desk, target, chain("Ceil", size=3), chain("Floor", size=5))
    assert [(bug.count, bug.message) for bug in bugs] == [(2, "cannot lower SHAPE at ADDR in lower.py")]
    assert advanced(desk, bugs)[0].state is State.DRAFTED


def test_what_reads_uninitialised_memory_is_shown_with_memory_filled(
    desk: Desk, target: Target, tmp_path: Path
) -> None:
    failure = failure_of(desk, chain("Neg", "Acos"), target, confirming.PERTURB)
    [bug] = advanced(desk, [recorded(desk, failure)])
    assert (bug.state, bug.note, bug.perturb) == (State.DRAFTED, confirming.UNINITIALISED, confirming.PERTURB)
    assert bug.target.options == (("steady", "no"),)  # without, the compiler is right
    text = desk.store.draft(bug.id)
    assert text is not None and "MALLOC_PERTURB_" in text.script
    assert executed(text.script, tmp_path).returncode == 1


def test_a_hang_is_drafted_with_a_script_that_gives_up(
    desk: Desk, target: Target, tmp_path: Path, hasty: Runner
) -> None:
    case, desk = chain("Tan"), replace(desk, runner=hasty)
    bug = recorded(desk, failure_of(desk, case, target))
    desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
    desk.store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=case, nodes=1)  # each run would take its time
    [bug] = advanced(desk, [desk.store.bug(bug.id)])
    assert (bug.symptom, bug.state) == ("hang", State.DRAFTED)
    text = desk.store.draft(bug.id)
    assert text is not None
    done = executed(text.script, tmp_path)
    assert done.returncode == 1 and "Timeout (" in done.stderr


# ---------------------------------------------------------------- what is put aside


def test_a_result_that_is_wrong_every_other_time_is_flaky(desk: Desk, target: Target, planted: Path) -> None:
    planted.with_name("turns").unlink(missing_ok=True)
    bug = recorded(desk, failure_of(desk, chain("Asin"), target))
    [bug] = advanced(desk, [bug])
    assert bug.state is State.FLAKY
    assert re.fullmatch(r"wrong:values in [12] of 3 fresh processes", bug.note)


def test_a_result_that_is_far_off_in_another_way_each_time_is_drafted(
    desk: Desk, target: Target, tmp_path: Path
) -> None:
    [bug] = advanced(desk, hunted(desk, target, chain("Atanh")))
    assert bug.state is State.DRAFTED and bug.judgement is not None and bug.judgement.rule == "erratic"
    text = desk.store.draft(bug.id)
    assert text is not None and "returns other values in every run" in text.title
    assert executed(text.script, tmp_path).returncode == 1


def test_a_failure_that_is_gone_is_flaky(desk: Desk, target: Target) -> None:
    failure = replace(failure_of(desk, chain("Sinh"), target), case=chain("Relu"))
    [bug] = advanced(desk, [recorded(desk, failure)])
    assert (bug.state, bug.note) == (State.FLAKY, "wrong:values in 0 of 3 fresh processes")


def test_a_failure_of_a_case_that_is_none_is_invalid(desk: Desk, target: Target) -> None:
    case = chain("Relu")
    broken = replace(case, model=case.model.replace(b"Relu", b"Rela"))
    failure = replace(failure_of(desk, chain("Sinh"), target), case=broken)
    [bug] = advanced(desk, [recorded(desk, failure)])
    assert bug.state is State.INVALID and "onnx.checker" in bug.note


def edited(planted: Path, folder: Path, edit: Callable[[str], str]) -> Target:
    path = folder / "edited.py"
    path.write_text(edit(planted.read_text()))
    return catalogue.target(str(path))


def test_without_reproduce_there_is_a_bug_but_no_draft(desk: Desk, planted: Path, tmp_path: Path) -> None:
    silent = edited(planted, tmp_path, lambda text: text[: text.index("def reproduce(")])
    [bug] = advanced(desk, hunted(desk, silent, chain("Sinh", "Abs")))
    assert bug.state is State.JUDGED and "reproduce()" in bug.note and "\n" not in bug.note
    assert bug.nodes == 1 and bug.report_path is None and files(desk) == []


def test_a_draft_whose_reproducer_passes_is_no_draft(desk: Desk, planted: Path, tmp_path: Path) -> None:
    right = '    return "import numpy as np\\n[actual] = [np.sinh(value) for value in inputs.values()]"\n'
    fine = edited(planted, tmp_path, lambda text: re.sub(r"(def reproduce.*\n)", lambda m: m[1] + right, text))
    [bug] = advanced(desk, hunted(desk, fine, chain("Sinh")))
    assert bug.state is State.FLAKY and "the reproducer does not show it (exit status 0)" in bug.note
    assert files(desk) == [] and desk.store.draft(bug.id) is None


def test_a_reproducer_that_fails_for_another_reason_is_no_draft(desk: Desk, planted: Path, tmp_path: Path) -> None:
    wrong = "    return \"raise type('Unlowered', (Exception,), {})('no such compiler')\"\n"
    other = edited(planted, tmp_path, lambda text: re.sub(r"(def reproduce.*\n)", lambda m: m[1] + wrong, text))
    [bug] = advanced(desk, hunted(desk, other, chain("Ceil")))
    assert bug.state is State.FLAKY and "no such compiler" in bug.note


def test_a_bug_whose_script_lacks_a_package_waits_for_it(desk: Desk, planted: Path, tmp_path: Path) -> None:
    """A build's environment may have all that the backend needs, and not what the report's script does."""
    lacking = '    return "import no_such_package"\n'
    other = edited(planted, tmp_path, lambda text: re.sub(r"(def reproduce.*\n)", lambda m: m[1] + lacking, text))
    [bug] = advanced(desk, hunted(desk, other, chain("Ceil")))
    assert bug.state is State.JUDGED and "has no no_such_package; add [[requires]]" in bug.note and files(desk) == []


# ---------------------------------------------------------------- what the court says


def rounding() -> Case:
    """The floor of a quotient that is a whole number but for its rounding."""
    nodes = [helper.make_node("Div", ["x", "c"], ["a"]), helper.make_node("Floor", ["a"], ["y"])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [100]) for name in ("x", "y")]
    tenth = helper.make_tensor("c", TensorProto.FLOAT, [], [0.1])
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [tenth])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    data = (np.arange(100) * 0.1).astype(np.float32)
    return Case("onnx", model.SerializeToString(), {"x": data}, Origin("test", "rounding"))


def test_what_rounding_explains_is_put_aside_with_the_evidence(desk: Desk) -> None:
    [bug] = advanced(desk, hunted(desk, catalogue.target(str(HONEST)), rounding()))
    assert bug.state is State.INVALID and bug.note.startswith("numeric noise: ")
    assert bug.judgement is not None and bug.judgement.verdict is Ruling.NOISE
    assert {"repeats", "float64", "votes"} <= {each.kind for each in bug.judgement.evidence}
    assert files(desk) == []


def test_the_report_of_a_bug_shows_the_evidence(desk: Desk, target: Target) -> None:
    [bug] = advanced(desk, hunted(desk, target, chain("Sinh")))
    assert bug.judgement is not None and bug.judgement.verdict is Ruling.COMPILER_BUG
    text = desk.store.draft(bug.id)
    assert text is not None and "### Evidence" in text.body
    assert "agree with the reference" in text.body and "ulp" in text.body


def lost(desk: Desk, case: Case) -> Bug:
    """A bug of the faulty backend whose reduction has ended in something that is no bug; then heard by the court."""
    bug = recorded(desk, failure_of(desk, case, catalogue.target(str(FAULTY), {"fault": "one_element"})))
    desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
    random = chain("RandomNormalLike")
    desk.store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=random, nodes=1)
    desk.store.advance(bug.id, State.REDUCED, State.LOCATED)
    hearing.hear(desk, desk.store.bug(bug.id))
    found = desk.store.bug(bug.id)
    assert found.state is State.JUDGED and found.note.startswith("nondeterministic: ")
    assert found.judgement is not None and found.judgement.verdict is Ruling.COMPILER_BUG
    return found


def test_a_bug_that_reducing_has_lost_is_reported_by_the_smallest_case_on_the_way_that_stands(desk: Desk) -> None:
    case = chain("Abs")
    found = lost(desk, case)
    assert found.reduced_case_id not in (None, case.id)
    before, after = (sum(value.size for value in each.inputs.values()) for each in (case, reduced_case(desk, found)))
    assert after < before


def test_what_reducing_has_lost_is_a_bug_that_is_known_as_well(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """A model that reads memory which nobody wrote does not fail each time, and was drafted beside its only node's."""
    bug = recorded(desk, failure_of(desk, chain("Abs"), catalogue.target(str(FAULTY), {"fault": "one_element"})))
    asked: list[Judgement] = []
    monkeypatch.setattr(
        twins, "kin", lambda store, bug, judgement: asked.append(judgement) or replace(bug, id=77, nodes=1)
    )
    desk.store.advance(bug.id, State.NEW, State.CONFIRMED)
    desk.store.advance(bug.id, State.CONFIRMED, State.REDUCED, reduced=chain("RandomNormalLike"), nodes=1)
    desk.store.advance(bug.id, State.REDUCED, State.LOCATED)
    hearing.hear(desk, desk.store.bug(bug.id))
    found = desk.store.bug(bug.id)
    assert found.state is State.DUPLICATE and "bug 77 " in found.note
    assert [each.verdict for each in asked] == [Ruling.COMPILER_BUG]


def test_where_none_on_the_way_stands_it_is_reported_as_it_was_found(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = chain("Abs")
    judge = hearing._judgement
    noise = Judgement(Ruling.NOISE, "rounding")
    words = {case.id: judge, chain("RandomNormalLike").id: judge}
    monkeypatch.setattr(
        hearing,
        "_judgement",
        lambda desk, bug, tried: words[tried.id](desk, bug, tried) if tried.id in words else noise,
    )
    found = lost(desk, case)
    assert (found.reduced_case_id, found.nodes) == (case.id, 1)


# ---------------------------------------------------------------- duplicates


DEEP = (chain("Neg", "Abs", "Sinh"), chain("Relu", "Exp", "Log", "Sinh"), chain("Sinh"))


def test_bugs_that_are_one_once_reduced_are_merged(desk: Desk, target: Target) -> None:
    bugs = advanced(desk, hunted(desk, target, *DEEP))
    states = sorted(bug.state for bug in bugs)
    assert states == [State.DRAFTED, State.DUPLICATE, State.DUPLICATE]
    [kept] = [bug for bug in bugs if bug.state is State.DRAFTED]
    for bug in bugs:
        if bug is not kept:
            assert bug.count == 0 and bug.note == f"same as bug {kept.id} once reduced"
    assert kept.count == 3
    assert len(files(desk)) == 2


def test_failures_of_a_merged_bug_that_are_seen_again_make_no_new_bug(desk: Desk, target: Target) -> None:
    advanced(desk, hunted(desk, target, *DEEP))
    before = len(desk.store.bugs())
    again = desk.store.begin_campaign({"test": 2})
    hunt.hunt(desk.store, again, DEEP, [target], desk.reference, desk.runner, Policy())
    advanced(desk, desk.store.bugs(campaign_id=again.id))
    assert len(desk.store.bugs()) == before
    assert sorted((bug.state, bug.count) for bug in desk.store.bugs()) == [
        (State.DRAFTED, 3),
        (State.DUPLICATE, 0),
        (State.DUPLICATE, 0),
    ]


def test_different_bugs_of_one_operator_stay_two(desk: Desk, target: Target) -> None:
    bugs = advanced(desk, hunted(desk, target, chain("Sinh"), chain("Sign"), chain("Ceil")))
    assert [bug.state for bug in bugs] == [State.DRAFTED] * 3


# ---------------------------------------------------------------- killed in between


def test_every_step_can_be_the_last_of_its_process(runner: Runner, target: Target, tmp_path: Path) -> None:
    path, reference = tmp_path / "hunt.db", catalogue.target("reference")
    seen = []
    for number in range(7):
        with open_store(path, create=True) as store:
            desk = Desk(store, runner, reference, tmp_path / "reports")
            [bug] = hunted(desk, target, chain("Neg", "Sinh")) if number == 0 else store.bugs()
            seen.append(bug.state)
            if bug.state in pipeline.STEPS:
                pipeline.STEPS[bug.state](desk, bug)
    road = [State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.JUDGED]
    assert seen == [*road, State.DRAFTED, State.DRAFTED]


def test_a_step_that_was_done_but_not_saved_is_done_again(desk: Desk, target: Target) -> None:
    [bug] = hunted(desk, target, chain("Neg", "Sinh"))
    for step in (confirming.confirm, reducing.reduce_bug, locating.locate):
        step(desk, desk.store.bug(bug.id))
    located = desk.store.bug(bug.id)
    failure = reduced_failure(desk, located)
    assert failure is not None
    text = drafting.write(desk.store, located, failure, desk.runner.limits, Signer(desk.runner))
    drafting.save(desk.reports, located, replace(text, title="An earlier title"))
    [bug] = advanced(desk, [located])
    assert bug.state is State.DRAFTED and len(files(desk)) == 2
    assert not any("earlier" in name for name in files(desk))


def test_a_merge_that_was_cut_short_is_completed(desk: Desk, target: Target) -> None:
    deep, plain = hunted(desk, target, *DEEP[1:])
    confirming.confirm(desk, deep)
    reducing.reduce_bug(desk, desk.store.bug(deep.id))
    moved = [desk.store.failure(number).failure for number in desk.store.failure_ids(deep.id)]
    described = [replace(Signer(desk.runner).describe(one), fingerprint=plain.fingerprint) for one in moved]
    desk.store.record(0, (), described)  # and then the process is killed
    assert desk.store.bug(deep.id).count == 0
    bugs = advanced(desk, desk.store.bugs())
    assert [(bug.state, bug.count) for bug in bugs] == [(State.DUPLICATE, 0), (State.DRAFTED, 2)]


def test_a_bug_whose_failures_all_became_another_bugs_is_stale(desk: Desk, target: Target) -> None:
    [bug] = hunted(desk, target, chain("Neg", "Sinh"))
    described = Signer(desk.runner).describe(failure_of(desk, chain("Neg", "Sinh"), target))
    desk.store.record(0, (), [replace(described, fingerprint="0" * 16)])
    lost, found = advanced(desk, desk.store.bugs())
    assert (lost.id, lost.state, lost.count) == (bug.id, State.STALE, 0)
    assert found.state is State.DRAFTED


def test_when_the_time_is_over_nothing_is_begun(desk: Desk, target: Target) -> None:
    bugs = hunted(desk, target, chain("Sinh"))
    late = replace(desk, deadline=time.monotonic())
    assert [bug.state for bug in advanced(late, bugs)] == [State.NEW]
    assert [bug.state for bug in advanced(desk, bugs)] == [State.DRAFTED]


def test_two_triages_of_one_database_draft_every_bug_once(desk: Desk, target: Target, tmp_path: Path) -> None:
    bugs = hunted(desk, target, chain("Sinh"), chain("Ceil"), chain("Exp", "Acosh"))

    def other() -> None:
        with open_store(tmp_path / "hunt.db", create=False) as store:
            pipeline.advance_all(replace(desk, store=store), store.bugs())

    with ThreadPoolExecutor(1) as pool:
        second = pool.submit(other)
        pipeline.advance_all(desk, bugs)
        second.result()
    pipeline.advance_all(desk, desk.store.bugs())
    assert all(bug.state is State.DRAFTED for bug in desk.store.bugs())
    assert len(files(desk)) == 6


def test_deaths_come_before_wrong_values_and_exceptions(desk: Desk, target: Target) -> None:
    bugs = hunted(desk, target, chain("Ceil"), chain("Sinh"), chain("Sign"))
    alone = replace(desk, runner=desk.runner)
    order: list[str] = []
    pipeline.advance_all(alone, bugs, lambda bug: order.append(bug.symptom.partition(":")[0]))
    assert order == ["crash", "wrong", "exception"]


def test_a_steady_result_is_not_reduced_to_one_that_depends_on_memory(
    desk: Desk, target: Target, monkeypatch: pytest.MonkeyPatch
) -> None:
    steady, loose = chain("Sinh"), chain("Neg", "Sinh")
    monkeypatch.setattr(reducing, "_independent", lambda judge, case, target: case.id == steady.id)
    for like, expected in ((steady, Answer.OTHER), (loose, Answer.SAME)):
        confirm = reducing.as_steady(desk.judge, failure_of(desk, like, target), lambda case: Answer.SAME)
        assert confirm(loose) is expected


def test_of_what_a_reduction_slips_to_the_deaths_are_bugs_and_the_rest_waits(desk: Desk, target: Target) -> None:
    wrong = failure_of(desk, chain("Sinh"), target)
    died = replace(wrong, case=chain("Neg", "Sinh"), symptom="crash:SIGSEGV", oracle="crash")
    died = replace(died, outcome=Outcome(Status.SIGNAL, Stage.RUN, error=Error(signal="SIGSEGV")))
    reducing.keep(desk, [wrong, died, died], None)
    found = {bug.symptom: (bug.state, bug.count) for bug in desk.store.bugs()}
    assert found == {"crash:SIGSEGV": (State.NEW, 1), wrong.symptom: (State.SLIP, 1)}
    reducing.keep(desk, [died], died)
    assert len(desk.store.bugs()) == 2


def test_a_slip_is_worked_on_once_a_test_fails_like_it(desk: Desk, target: Target) -> None:
    reducing.keep(desk, [failure_of(desk, chain("Sinh"), target)], None)
    (slip,) = desk.store.bugs()
    pipeline.advance_all(desk, desk.store.bugs())
    assert desk.store.bug(slip.id).state is State.SLIP
    (bug,) = hunted(desk, target, chain("Sinh"))
    assert (bug.id, bug.state) == (slip.id, State.NEW)
