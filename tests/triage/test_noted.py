"""The class of a symptom, however a runner calls it."""

from __future__ import annotations

import pytest

from tests.triage.test_group import groups, native
from triage.hollow import hollow
from triage.messages import said as said_of
from triage.noted import classed


def test_symptoms_of_no_class_tell_where_nothing_else_is_said() -> None:
    assert groups(*({"symptom": each, "operator": "Gather"} for each in ("layout lost", "layout lost", "odd"))) == [
        {0, 1},
        {2},
    ]


@pytest.mark.parametrize(
    ("noted", "meant"),
    [
        ("CRASH (signal 11)", "crash"),
        ("App terminates", "crash"),
        ("CrashLoopBackOff", "crash"),
        ("KILLED (exit 137)", "crash"),
        ("exc.compile", "exception"),
        ("Conversion fails", "exception"),
        ("FAILED", "exception"),
        ("timeout.compile", "hang"),
        ("liveness probe failed", "hang"),
        ("stuck", "hang"),
        ("OOMKilled", "oom"),
        ("Out of memory", "oom"),
        ("results differ", "wrong result"),
        ("ACCURACY", "wrong result"),
        ("diff.value", "wrong:values"),
        ("diff.nan", "wrong:nan"),
        ("wrong:shape", "wrong:shape"),
        ("exception:KeyError", "exception:keyerror"),
        ("dies-on-invalid:crash:SIGFPE", "dies-on-invalid:crash:sigfpe"),
        ("nondeterministic", "nondeterministic"),
        ("exit status: 1", "exception"),
        ("exit status: 139", "crash"),
        ("V03:NOTSUP", "exception"),
        ("V07:ACC", "wrong result"),
        ("1 ulp", "wrong result"),
        ("V01:ABC", ""),
        ("exit_code_139", "crash"),
        ("exit -11", "crash"),
        ("process_died", "crash"),
        ("compiler_died", "crash"),
        ("stack overflow", "crash"),
        ("illegal memory access", "crash"),
        ("cuda_oom", "oom"),
        ("miscompile", "wrong result"),
        ("eager_vs_compiled_diff", "wrong result"),
        ("outputs_differ", "wrong result"),
        ("acc_fail", "wrong result"),
        ("type mismatch error", "exception"),
        ("unsupported precision", "exception"),
        ("golden build failed", "exception"),
        ("performance regression", "slow"),
        ("output changed", ""),
        ("indeterminate output", ""),
        ("", ""),
    ],
)
def test_a_symptom_is_of_one_class_however_a_runner_calls_it(noted: str, meant: str) -> None:
    assert classed(noted) == meant


def test_one_place_is_one_bug_whether_a_build_with_checks_raises_there_or_another_one_dies() -> None:
    trace = native("acme::Fuser::Merge", "acme::Pass::Run")
    raising = {"symptom": "FAILED", "message": "Check failed: it != map.end()", "trace": trace}
    dying = {"symptom": "CRASH (signal 11)", "message": "Segmentation fault (core dumped)", "trace": trace}
    elsewhere = {**dying, "trace": native("acme::Folder::Visit", "acme::Pass::Run")}
    assert groups(raising, dying, raising, dying, elsewhere) == [{0, 1, 2, 3}, {4}]


def test_a_signal_in_the_place_of_an_exception_is_a_death() -> None:
    trace = native("acme::Fuser::Merge", "acme::Pass::Run")
    noted = ("SIGABRT", "EXCEPTION_ACCESS_VIOLATION_READ", "EXC_BAD_ACCESS (KERN_INVALID_ADDRESS)")
    rows = [{"symptom": "error", "exception": each, "message": "", "trace": trace} for each in noted]
    assert groups(*rows, {"symptom": "crash", "message": "", "trace": trace}) == [{0, 1, 2, 3}]


@pytest.mark.parametrize(
    "said",
    [
        "EXC_BAD_ACCESS in libacme.dylib",
        "SIGSEGV in libacme.so.1.16.3",
        "EXCEPTION_ACCESS_VIOLATION_READ in acme_gpu.dll",
    ],
)
def test_the_name_of_a_death_and_of_a_library_say_nothing_of_the_bug(said: str) -> None:
    assert hollow(said_of(said))
    assert not hollow(said_of(f"{said}: the tile is too small"))
