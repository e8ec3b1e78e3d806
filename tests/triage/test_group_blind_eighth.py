"""What the seventh to twelfth blind trials of the grouping taught: what logs, test runners and people write around a
message, helpers whose callers were inlined, stacks that LLVM dumps, tests noted as operators, lines taken from logs."""

from __future__ import annotations

from typing import Any

import pytest

from fuzz.case import Frame
from tests.triage.test_group import PACKAGES, groups, native
from triage.frame_order import Order
from triage.prefixes import prefixed
from triage.reading import Report, read
from triage.testcase import operator_of
from triage.traces import PythonFrame
from triage.traces import read as trace

SAID = "Cannot get length of dynamic dimension"


@pytest.mark.parametrize(
    "written",
    [
        f"2026-09-18T10:16:16.065Z ERROR {SAID}",
        f"2026-09-18 10:16:16,065 - ERROR - {SAID}",
        f"[2026-09-18 10:16:16] [error] {SAID}",
        f"Sep 18 10:16:16 runner[812]: {SAID}",
        f"10:16:16.065 | ERROR | [worker-3] {SAID}",
        f"ERROR: {SAID}",
        f"FATAL - {SAID}",
        f'unknown file: Failure\nC++ exception with description "{SAID}',
        f'C++ exception with description "{SAID}',
        f"FAILED tests/nightly/test_ov.py::test_op[Add-0] - {SAID}",
    ],
)
def test_what_a_log_or_a_test_runner_writes_before_a_message_is_no_part_of_it(written: str) -> None:
    assert prefixed(written)[0] == SAID
    assert groups({"message": written}, {"message": SAID}, {"message": "list of shapes is too long"}) == [{0, 1}, {2}]


def test_what_google_test_writes_behind_a_message_is_no_part_of_it() -> None:
    thrown = f'C++ exception with description "{SAID}" thrown in the test body.'
    assert groups({"message": thrown}, {"message": SAID}) == [{0, 1}]


@pytest.mark.parametrize(
    ("noted", "operator"),
    [
        ("test_clip_float32", "clip"),
        ("test_reduce_max_float16_shape3", "reduce_max"),
        ("test_where[cpu]", "where"),
        ("TestConv", "Conv"),
        ("Clip", "Clip"),
        ("testing", "testing"),
        ("contest_max", "contest_max"),
        ("test_conv2d" + "_1x3" * 40 + " (cpu)", "test_conv2d" + "_1x3" * 40 + " (cpu)"),
    ],
)
def test_a_test_that_is_noted_as_an_operator_names_it(noted: str, operator: str) -> None:
    assert operator_of(noted) == operator


def test_a_helper_whose_caller_was_inlined_is_at_the_place_of_whole_stacks() -> None:
    whole = ("ns::check_shape", "ns::TransformKernel", "ns::Convolution::create", "ns::Net::load")
    inlined = (whole[0], *whole[2:])
    conversions = [native(whole[0], f"ns::Convert{n}", "ns::Net::load") for n in range(6)]
    rows: list[dict[str, Any]] = [
        {"message": f"rank differs {n}", "symptom": "crash", "trace": trace} for n, trace in enumerate(conversions)
    ]
    rows += [{"message": "the tile is too small", "symptom": "crash", "trace": native(*whole)} for _ in range(3)]
    rows += [{"message": "the tile is too small", "symptom": "crash", "trace": native(*inlined)} for _ in range(2)]
    assert {6, 7, 8, 9, 10} in groups(*rows)


def test_a_stack_that_llvm_dumps_without_its_own_handler_is_whole() -> None:
    def dump(function: str) -> dict[str, Any]:
        frames = (f" #3 0x7f5c2dc2c27e {function} (libC.so+0x2d3)", " #4 0x7f795c92 acme::Pass::run() (libC.so+0xacb)")
        trace = "\n".join(("Stack dump:", "0.\tProgram arguments: acme-opt in.mlir", *frames))
        return {"message": "acme-opt: Assertion `Index < Length' failed.", "trace": trace, "symptom": "abort"}

    fold, tile = dump("foldUnits(acme::Rewriter&)"), dump("tileLoops(acme::Rewriter&)")
    assert groups(fold, tile, fold, tile) == [{0, 2}, {1, 3}]


def test_traces_show_who_calls_whom_in_a_list_that_the_batch_as_a_whole_reads_the_other_way() -> None:
    def frames(*names: str) -> tuple[Frame, ...]:
        return tuple(Frame("", 0, f"ns::{name}") for name in names)

    turned = frames("Outer", "Middle", "Inner")
    lists = [turned, *(frames(f"Leaf{name}", "Walk", "Start") for name in "ABC")]
    traces = [turned[::-1], *lists[1:]]  # innermost first
    assert Order(lists, lambda: traces).inner_last(turned)
    assert not Order(lists, lambda: traces).inner_last(lists[1])
    assert not Order(lists, lambda: traces[1:]).inner_last(turned), "nothing tells: what is usual in the batch counts"


INDUCTOR = f"{PACKAGES}/torch/_inductor/graph.py"
SHORT = f"""{INDUCTOR}:861: in run_node
    result = super().run_node(n)
{INDUCTOR}:1045: in call_function
    raise MissingOperatorWithoutDecomp(target, args, kwargs)
E   MissingOperatorWithoutDecomp: missing lowering
E     target: aten.segment_reduce.default"""


@pytest.mark.parametrize(
    "line",
    [
        "##[error]Process completed with exit code 1.",
        "    raise MissingOperatorWithoutDecomp(target, args, kwargs)",
        "result = super().run_node(n)",
    ],
)
def test_a_line_of_the_log_that_tells_nothing_gives_way_to_what_failed(line: str) -> None:
    """A bot that takes any line of a log for the message takes code that ran, or what the runner says of itself."""
    stamped = "\n".join(f"2024-07-17T12:44:{at:02}.0236716Z {each}" for at, each in enumerate(SHORT.splitlines()))
    other = SHORT.replace("segment_reduce", "linalg_eig")
    lines = [{"message": line, "trace": trace} for trace in (SHORT, stamped, f"{stamped}\n", other)]
    assert groups(*lines) == [{0, 1, 2}, {3}]


def test_code_below_a_frame_of_pytest_is_no_text() -> None:
    found = trace(f"{SHORT}\n##[error]Process completed with exit code 1.")
    assert [each.code for each in found.frames if isinstance(each, PythonFrame)] == [
        "raise MissingOperatorWithoutDecomp(target, args, kwargs)",
        "result = super().run_node(n)",
    ]
    assert found.closing.startswith("MissingOperatorWithoutDecomp: missing lowering")


def test_compilers_of_c_say_one_thing_in_words_of_their_own() -> None:
    said = ("'tmp12' was not declared in this scope; did you mean 'tmp11'?", "use of undeclared identifier 'tmp7'")
    lines = [f"C++ compile error: error: {said[0]}", f"error: {said[0]}", f"error: {said[1]}"]
    assert groups(*({"message": each} for each in lines)) == [{0, 1, 2}]


def test_a_builder_that_gives_up_on_nodes_is_no_place_of_one_bug() -> None:
    at, head = (
        "[optimizer.cpp::computeCosts::3780] Error Code 10: Internal Error",
        "Could not find any implementation for",
    )
    texts = (
        f"{at} ({head} node Conv_7 [Convolution] with kernel [3,3,3] (3-D, INT8 NCDHW).)",
        f"{at} ({head} node t.)",
    )
    lines = [{"message": text, "operator": "Conv" if "Conv" in text else ""} for text in (*texts, *texts)]
    assert groups(*lines) == [{0, 2}, {1, 3}]


@pytest.mark.parametrize(
    "message",
    [
        "FAILED test/test_a.py::test_pad - ValueError: negative padding is not allowed",
        "./run.sh: line 7: 4211 Segmentation fault      (core dumped) python case.py",
        "[E] Building engine failed: plugin Foo lacks a kernel",
        "ninja: error: loading 'build.ninja': No such file",
        "unimplemented [aten.foo.default, float8]",
    ],
)
def test_a_message_that_tells_what_failed_stays_whatever_the_log_holds(message: str) -> None:
    log = "warning: could not load the plugin for MYRIAD, ignored\nError: run 1 failed with 2 failures, see above"
    assert read(Report("1", message, trace=log), Order([])).message == message


def test_a_bare_assertion_ends_a_traceback_of_pytest() -> None:
    path = f"{PACKAGES}/tvm/relax/frontend/x.py"
    pads = f"{path}:20: in convert_pad\n    assert len(pads) == rank\nE   assert 4 == 3"
    roll = f"{path}:40: in convert_roll\n    assert len(shift) == rank\nE   assert 4 == 3"
    assert groups(*({"message": "", "trace": each} for each in (pads, roll, pads, roll))) == [{0, 2}, {1, 3}]


@pytest.mark.parametrize(
    "between",
    [
        "some other log line",
        "2 passed in 0.2s",
        "_ _ _ _ _ _ _ _\n\nself = <x>\n\n    def g():\n>       raise ValueError",
    ],
)
def test_what_stands_between_code_and_exception_is_not_what_was_raised(between: str) -> None:
    """pytest shows the last call at length, below a line of its own."""
    raised = f"{PACKAGES}/tvm/relax/x.py:20: in convert\n    return f(x)\n{between}\nE       ValueError: real thing"
    found = read(Report("1", "", trace=raised), Order([]))
    assert (found.message, found.exception) == ("ValueError: real thing", "ValueError")
