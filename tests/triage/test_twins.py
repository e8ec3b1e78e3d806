"""Bugs that turn out to be the same once they are reduced."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage import drafting, twins
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.lifecycle import State
from triage.records import Bug, NewFailure, StoredDraft
from triage.signature import Signature
from triage.steps import hearing
from triage.steps.desk import Desk
from triage.store import Store, open_store

TVM = Target("tvm", Revision("0.27.0"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def bug(
    store: Store, fingerprint: str, operators: tuple[str, ...], function: str = "", symptom: str = "wrong:nan"
) -> Bug:
    case = Case("onnx", fingerprint.encode(), {"x": np.arange(3)}, Origin("onnx_node", fingerprint))
    failure = Failure(case, TVM, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", symptom, "differs")
    store.record(0, (), [NewFailure(failure, fingerprint, function, operators, "", "same")])
    return next(found for found in store.bugs() if found.fingerprint == fingerprint)


def settled(store: Store, found: Bug, judgement: Judgement | None = None) -> Bug:
    steps = (State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED, State.JUDGED)
    for before, after in itertools.pairwise(steps):
        judged = {"judgement": judgement} if judgement and after is State.JUDGED else {}
        store.advance(found.id, before, after, **judged)  # type: ignore[arg-type]
    return store.bug(found.id)


def signed(operators: str, function: str = "", symptom: str = "wrong:nan") -> Signature:
    kind = "conversion function" if function else "operators"
    return Signature("tvm", function or operators, kind, symptom, "", "same")


def test_two_reduced_models_of_the_same_operators_are_one_bug_where_no_function_is_known(store: Store) -> None:
    first = settled(store, bug(store, "a", ("ReduceMax", "Equal", "Where")))
    second = bug(store, "b", ("Where", "Equal", "ReduceMax", "Cast"))
    found = twins.twin(store, second, signed("..."), ["Where", "Equal", "ReduceMax"])
    assert found is not None and found.id == first.id
    assert twins.twin(store, second, signed("..."), ["Where", "ReduceMax"]) is None
    assert twins.twin(store, second, signed("...", symptom="wrong:inf"), ["Where", "Equal", "ReduceMax"]) is None


def test_what_needs_passes_of_a_sequence_is_no_twin_of_what_needs_none(store: Store) -> None:
    settled(store, bug(store, "a", ("Conv",), "conv.cpp"))
    second = bug(store, "b", ("Conv",), "conv.cpp")
    plain = signed("Conv", "conv.cpp")
    assert twins.twin(store, second, plain, ["Conv"]) is not None
    assert twins.twin(store, second, replace(plain, passes=("FoldConstant",)), ["Conv"]) is None


def test_operators_say_nothing_before_a_bug_is_reduced(store: Store) -> None:
    bug(store, "a", ("Where",))
    assert twins.twin(store, bug(store, "b", ("Where",)), signed("..."), ["Where"]) is None


def test_a_known_function_is_stronger_than_equal_operators(store: Store) -> None:
    settled(store, bug(store, "a", ("Where",), function="convert_where"))
    second = bug(store, "b", ("Where",))
    assert twins.twin(store, second, signed("Where", "convert_select"), ["Where"]) is None
    assert twins.twin(store, second, signed("Where", "convert_where"), ["Where"]) is not None


def reads(depends: bool) -> Judgement:
    memory = Evidence("memory", Side.AGAINST, "the result follows the byte", {"depends": depends})
    return Judgement(Ruling.COMPILER_BUG, "", (memory,))


def test_uninitialised_results_of_one_family_are_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("ReduceProd",), "prod", "wrong:values"), reads(True))
    found = twins.kin(store, bug(store, "b", ("ReduceMin",), "min", "wrong:inf"), reads(True))
    assert found is not None and found.id == first.id
    assert twins.kin(store, bug(store, "c", ("Tile",), "tile"), reads(True)) is None
    assert twins.kin(store, bug(store, "d", ("ReduceMin",), "min2"), reads(False)) is None


@pytest.mark.parametrize(("nodes", "filed", "kept"), [(4, False, "new"), (4, True, "old"), (1, False, "old")])
def test_of_two_bugs_that_read_uninitialised_memory_the_simpler_is_kept_unless_the_other_is_filed(
    store: Store, tmp_path: Path, nodes: int, filed: bool, kept: str
) -> None:
    desk = Desk(store, None, TVM, tmp_path)  # type: ignore[arg-type]  nothing is run
    old = settled(store, bug(store, "a", ("Exp", "ReduceSum"), symptom="wrong:inf"), reads(True))
    text = StoredDraft("sums return nothing", "body", "script")
    path = drafting.save(tmp_path, old, text)
    store.advance(old.id, State.JUDGED, State.DRAFTED, nodes=nodes, draft=text, report_path=str(path))
    if filed:
        store.advance(old.id, State.DRAFTED, State.REPORTED)
    new = bug(store, "b", ("ReduceSum",), "sum")
    for before, after in itertools.pairwise((State.NEW, State.CONFIRMED, State.REDUCED, State.LOCATED)):
        store.advance(new.id, before, after, nodes=1)
    hearing.settle(desk, store.bug(new.id), reads(True))
    old, new = store.bug(old.id), store.bug(new.id)
    if kept == "new":
        assert (old.state, new.state) == (State.DUPLICATE, State.JUDGED)
        assert f"bug {new.id} " in old.note and not old.report_path and not path.exists()
    else:
        assert new.state is State.DUPLICATE and f"bug {old.id} " in new.note and path.exists()


def test_an_attribute_that_a_family_ignores_is_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("LSTM",), "lstm"))
    draft = StoredDraft("[Bug]: [ONNX] LSTM ignores layout=1: returns 0 instead of 1", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft)
    other = bug(store, "b", ("GRU",), "gru")
    found = twins.sibling(store, other, "[Bug]: [ONNX] GRU ignores layout=1: returns shape (1, 2) instead of (2, 1)")
    assert found is not None and found.id == first.id
    assert twins.sibling(store, other, "[Bug]: [ONNX] GRU ignores linear_before_reset=1: returns 0") is None
    assert twins.sibling(store, other, "[Bug]: [ONNX] GRU with layout=1 returns 0") is None
    assert twins.sibling(store, bug(store, "c", ("Conv",)), "[ONNX] Conv ignores layout=1: returns 0") is None


def test_one_wrong_result_in_several_numbers_of_dimensions_is_one_bug_where_a_title_says_so(store: Store) -> None:
    first = settled(store, bug(store, "a", ("torch.max_pool2d_with_indices",), "_max_pool2d", "wrong:dtype"))
    title = (
        "[PyTorch] torch.max_pool2d_with_indices (also max_pool3d_with_indices) returns float32 0 instead of int64 1"
    )
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(title, "", "", ()), report_path="x")
    other = bug(store, "b", ("torch.max_pool3d_with_indices",), "_max_pool3d", "wrong:dtype")
    found = twins.sibling(store, other, "[PyTorch] torch.max_pool3d_with_indices returns float32 0 instead of int64 1")
    assert found is not None and found.id == first.id
    assert twins.sibling(store, other, "[PyTorch] torch.max_pool3d_with_indices returns zeros") is None
    untold = bug(store, "c", ("torch.max_pool1d_with_indices",), "_max_pool1d", "wrong:dtype")
    title = "[PyTorch] torch.max_pool1d_with_indices returns float32 0 instead of int64 1"
    assert twins.sibling(store, untold, title) is None
    values = bug(store, "d", ("torch.max_pool3d_with_indices",), "_max_pool3d", "wrong:values")
    assert twins.sibling(store, values, title.replace("1d", "3d")) is None


def test_what_an_attribute_does_wrong_in_a_family_is_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("ReduceLogSum",), "log"))
    title = "[ONNX] ReduceLogSum (also ReduceSumSquare) with noop_with_empty_axes=1 returns its input data unchanged"
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(title, "", "", ()), report_path="x")
    other = bug(store, "b", ("ReduceL2",), "l2")
    found = twins.sibling(store, other, "[ONNX] ReduceL2 with noop_with_empty_axes=1 returns 2 instead of 4")
    assert found is not None and found.id == first.id
    assert twins.sibling(store, other, "[ONNX] ReduceL2 with keepdims=0 returns 2 instead of 4") is None
    assert twins.sibling(store, other, "[ONNX] ReduceL2 with scalar data returns 2 instead of 4") is None
    assert twins.sibling(store, other, "[ONNX] ReduceL2 returns 2 instead of 4") is None
    raised = bug(store, "c", ("ReduceL1",), "l1", "exception:ValueError")
    assert (
        twins.sibling(store, raised, "[ONNX] Converting ReduceL1 with noop_with_empty_axes=1 fails with ValueError")
        is None
    )


def test_what_two_attributes_together_do_wrong_in_a_family_is_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("QLinearConv",), "linear", "wrong:shape"))
    title = "[ONNX] %s with %s on some inputs returns shape (%d, 2) instead of (1, 1)"
    told = title % ("QLinearConv (kernel of 1)", "strides and pads", 2)
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(told, "", "", ()), report_path="x")
    other = bug(store, "b", ("ConvInteger",), "integer", "wrong:shape")
    found = twins.sibling(store, other, title % ("ConvInteger (kernel of 1x1)", "strides and pads", 1))
    assert found is not None and found.id == first.id
    assert twins.sibling(store, other, title % ("ConvInteger", "strides and group", 1)) is None
    assert twins.sibling(store, other, title % ("ConvInteger", "strides and scalar x", 1)) is None


def test_of_a_wrong_type_the_numbers_of_the_witness_are_no_difference(store: Store) -> None:
    first = settled(store, bug(store, "a", ("torch.bmm",), "_matmul(bmm)", "wrong:dtype"))
    title = "[PyTorch] torch.%s returns float32 %s instead of int64 %d"
    told = title % ("bmm (int64; also matmul and mm)", "1.07374e+10", 10737418245)
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(told, "", "", ()), report_path="x")
    other = bug(store, "b", ("torch.mm",), "_matmul(mm)", "wrong:dtype")
    found = twins.sibling(store, other, title % ("mm (int64)", "-2", -2))
    assert found is not None and found.id == first.id
    half = "[PyTorch] torch.mm (int64) returns float16 -2 instead of int64 -2"
    assert twins.sibling(store, other, half) is None


def test_what_a_call_ignores_in_two_and_in_three_dimensions_is_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("torch.nn.AvgPool3d",), "_avg_pool3d"))
    title = "[PyTorch] torch.nn.AvgPool3d ignores divisor_override: returns 1"
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(title, "", "", ()), report_path="x")
    other = bug(store, "b", ("torch.nn.functional.avg_pool2d",), "_avg_pool2d")
    found = twins.sibling(store, other, "[PyTorch] torch.nn.functional.avg_pool2d ignores divisor_override: returns 2")
    assert found is not None and found.id == first.id
    pool = bug(store, "c", ("torch.nn.MaxPool2d",), "_max_pool2d")
    assert twins.sibling(store, pool, "[PyTorch] torch.nn.MaxPool2d ignores divisor_override: returns 2") is None


def test_what_one_function_ignores_of_all_that_it_converts_is_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("torch.add",), "_binary_op.<locals>.convert(add)"))
    title = "[PyTorch] torch.add ignores alpha: returns wrong values (2 instead of 1 at [0])"
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(title, "", "", ()), report_path="x")
    other = bug(store, "b", ("torch.rsub",), "_binary_op.<locals>.convert(sub)")
    found = twins.sibling(store, other, "[PyTorch] torch.rsub ignores alpha: returns wrong values (-6 instead of 1)")
    assert found is not None and found.id == first.id
    assert twins.sibling(store, other, "[PyTorch] torch.rsub ignores other: returns 0") is None
    lone = bug(store, "c", ("torch.addmv",), "_addmv")
    assert twins.sibling(store, lone, "[PyTorch] torch.addmv ignores alpha: returns 0") is None


def test_a_converter_that_looks_at_no_attribute_at_all_has_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("IsInf",), "isinf"))
    draft = StoredDraft("[Bug][Relax][ONNX] IsInf ignores detect_positive=0: returns True instead of False", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft)
    found = twins.sibling(store, bug(store, "b", ("IsInf",), "isinf2"), "[ONNX] IsInf ignores detect_negative=0: True")
    assert found is not None and found.id == first.id


def test_two_attributes_of_many_that_are_ignored_are_two_bugs(store: Store) -> None:
    first = settled(store, bug(store, "a", ("Resize",), "resize"))
    draft = StoredDraft("[Bug]: [ONNX] Resize ignores antialias=1: returns 2 instead of 2.1", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft)
    assert (
        twins.sibling(store, bug(store, "b", ("Resize",), "r2"), "[ONNX] Resize ignores exclude_outside=1: 0") is None
    )


def test_an_exception_that_one_draft_tells_of_two_operators_is_one_bug(store: Store) -> None:
    raised = "exception:TypeError"
    first = settled(store, bug(store, "a", ("Selu",), "selu", raised))
    draft = StoredDraft("[ONNX] Converting Selu (float64, also float16; also Elu) fails with TypeError: no", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft, report_path="x")
    elu, celu = bug(store, "b", ("Elu",), "elu", raised), bug(store, "c", ("Celu",), "celu", raised)
    found = twins.told_with(store, elu, "[ONNX] Converting Elu fails with TypeError: no")
    assert found is not None and found.id == first.id
    assert twins.told_with(store, celu, "[ONNX] Converting Celu fails with TypeError: no") is None
    found = twins.told_with(store, celu, "[ONNX] Converting Celu (also Elu and Selu) fails with TypeError: no")
    assert found is not None and found.id == first.id
    other = bug(store, "d", ("Elu",), "elu2", "exception:ValueError")
    assert twins.told_with(store, other, "[ONNX] Converting Elu (also Selu) fails with ValueError: no") is None


@pytest.mark.parametrize(
    ("one", "told", "other", "title", "same"),
    [
        ("ReduceMax", "[ONNX] Compiling ReduceMax (bool) fails with E: no minimum", "ReduceMin", "(bool)", True),
        ("ReduceMax", "[ONNX] Compiling ReduceMax (bool) fails with E: no minimum", "ReduceMin", "with axes", False),
        ("ReduceMax", "[ONNX] Compiling ReduceMax fails with E: no minimum", "ReduceMin", "", False),
        ("ReduceMax", "[ONNX] Compiling ReduceMax (bool) fails with E: no minimum", "Resize", "(bool)", False),
        ("ReduceMax", "[ONNX] Running ReduceMax (bool) fails with E: no minimum", "ReduceMin", "(bool)", False),
        (
            "torch.nanmean",
            "[PyTorch] Compiling nanmean (also mean and 2 more) with dim fails with E: In sum",
            "torch.sum",
            "(int64; also 3 more) with dim",
            False,
        ),
        (
            "torch.nanmean",
            "[PyTorch] Compiling nanmean (also mean and 2 more) with dim fails with E: In sum",
            "torch.mean",
            "(also nanmean and 2 more) with dim",
            True,
        ),
    ],
)
def test_two_of_a_family_that_raise_under_the_same_are_one_bug_whatever_the_words(
    store: Store, one: str, told: str, other: str, title: str, same: bool
) -> None:
    first = settled(store, bug(store, "a", (one,), "one", "exception:E"))
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(told, "", "", ()), report_path="x")
    second = bug(store, "b", (other,), "other", "exception:E")
    found = twins.told_with(store, second, f"[ONNX] Compiling {other} {title} fails with E: no maximum")
    assert (found is not None and found.id == first.id) == same


def test_two_calls_that_raise_the_same_words_under_the_same_option_are_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("torch.nanmean",), "nanmean", "exception:E"))
    told = "[PyTorch] Converting nanmean (also mean and 2 more) with dim and %s fails with E: no"
    draft = StoredDraft(told % "keepdim=True", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft, report_path="x")
    other = bug(store, "b", ("torch.aminmax",), "aminmax", "exception:E")
    found = twins.told_with(store, other, "[PyTorch] Converting aminmax with dim and keepdim=True fails with E: no")
    assert found is not None and found.id == first.id
    assert twins.told_with(store, other, "[PyTorch] Converting aminmax with 0-D input fails with E: no") is None


def test_of_two_reports_with_one_title_about_one_converter_the_second_is_none(store: Store) -> None:
    title, raised = (
        "[ONNX] Converting Pow with inputs of different types fails with TypeError: no",
        "exception:TypeError",
    )
    first = settled(store, bug(store, "a", ("Pow",), "Pow._impl_v7", raised))
    draft = StoredDraft(title, "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft, report_path="x")
    found = twins.told_with(store, bug(store, "b", ("Pow",), "Pow._impl_v7", raised), title)
    assert found is not None and found.id == first.id
    assert twins.told_with(store, bug(store, "c", ("Pow",), "Pow._impl_v15", raised), title) is None


@pytest.mark.parametrize("what", ["ignores input axis", "computes as if axis were 1 instead of -2"])
def test_what_one_operator_ignores_or_mistakes_is_one_bug_however_it_shows(store: Store, what: str) -> None:
    first = settled(store, bug(store, "a", ("DFT",), "dft"))
    draft = StoredDraft(f"[ONNX] DFT {what}: returns 1 instead of 2", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft)
    other = bug(store, "b", ("DFT",), "dft2", "wrong:shape")
    found = twins.sibling(store, other, f"[ONNX] DFT {what}: returns shape (2, 1) instead of (1, 2)")
    assert found is not None and found.id == first.id


def test_what_one_converter_cannot_take_is_one_bug_whichever_of_its_checks_refuses_it(store: Store) -> None:
    first = settled(store, bug(store, "a", ("Scan",), "scan.cpp", "exception:RuntimeError"))
    title = "[ONNX] Converting Scan with non-constant value from outside the body fails with RuntimeError: "
    draft = StoredDraft(f"{title}num_scan_outputs can't be negative", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft, report_path="x")
    other = bug(store, "b", ("Scan",), "scan.cpp", "exception:RuntimeError")
    found = twins.told_with(store, other, f"{title}Number of inputs (2) is less than required (3)")
    assert found is not None and found.id == first.id
    assert twins.told_with(store, other, title.replace("non-constant value", "2-D value") + "no") is None
    assert twins.told_with(store, other, "[ONNX] Converting Scan fails with RuntimeError: Number of inputs") is None


def test_what_an_operator_with_bodies_cannot_take_is_one_bug_whatever_is_in_them(store: Store) -> None:
    """OpenVINO's Scan counts values from outside the body as inputs: one, and two, break different checks."""
    title = "[ONNX] Converting Scan with non-constant value from outside the body fails with E: "
    first = settled(store, bug(store, "a", ("Scan", "Mul", "Identity"), "scan.cpp", "exception:E"), reads(False))
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=StoredDraft(title + "few", "", "", ()), report_path="x")
    other = bug(store, "b", ("Scan", "Transpose", "Expand"), "scan.cpp", "exception:E")
    found = twins.told_with(store, other, f"{title}num_scan_outputs can't be negative")
    assert found is not None and found.id == first.id
    assert twins.told_with(store, other, "[ONNX] Converting Scan with axes=1 fails with E: no") is None
    elsewhere = bug(store, "c", ("Scan", "Mul"), "loop.cpp", "exception:E")
    assert twins.told_with(store, elsewhere, f"{title}few") is None


def test_an_attribute_at_which_one_converter_raises_with_different_words_is_one_bug(store: Store) -> None:
    first = settled(store, bug(store, "a", ("Resize",), "Resize._impl_v18", "exception:ValueError"))
    draft = StoredDraft("[ONNX] Converting Resize with axes fails with ValueError: sizes", "", "", ())
    store.advance(first.id, State.JUDGED, State.DRAFTED, draft=draft, report_path="x")
    other = bug(store, "b", ("Resize",), "Resize._impl_v18", "exception:IndexError")
    found = twins.told_with(store, other, "[ONNX] Converting Resize with axes=[1, 2] fails with IndexError: no")
    assert found is not None and found.id == first.id
    assert twins.told_with(store, other, "[ONNX] Converting Resize with antialias=1 fails with IndexError: no") is None
    assert twins.told_with(store, other, "[ONNX] Converting Resize with scalar X fails with IndexError: no") is None
    elsewhere = bug(store, "c", ("Resize",), "Resize._impl_v10", "exception:IndexError")
    assert twins.told_with(store, elsewhere, "[ONNX] Converting Resize with axes fails with IndexError: no") is None


def drafted(store: Store, name: str, operator: str, symptom: str, title: str) -> Bug:
    found = settled(store, bug(store, name, (operator,), symptom=symptom))
    text = StoredDraft(title, "", "")
    store.advance(found.id, State.JUDGED, State.DRAFTED, draft=text, report_path=f"{name}.md")
    return store.bug(found.id)


def test_a_wrong_shape_is_one_bug_of_two_operators_whatever_the_sizes_of_each_witness(store: Store) -> None:
    said = "returns shape (1, 1, 2, 2) instead of (1, 2, 2) for output Y_h"
    first = drafted(store, "a", "RNN", "wrong:shape", f"[x] RNN (also GRU and LSTM) {said}")
    second = settled(store, bug(store, "b", ("LSTM",), symptom="wrong:shape"))
    other = said.replace("2, 2", "3, 3")
    found = twins.sibling(store, second, f"[x] LSTM (also GRU and RNN) with non-constant W or R {other}")
    assert found is not None and found.id == first.id
    assert (
        twins.sibling(store, second, "[x] LSTM (also RNN) returns shape (1,) instead of (1, 2) for output Y_h") is None
    )


def test_deaths_of_one_family_with_one_condition_are_one_bug(store: Store) -> None:
    title = "[x] Segmentation fault when running ReduceMax with empty data"
    first = drafted(store, "a", "ReduceMax", "crash:SIGSEGV", title)
    second = settled(store, bug(store, "b", ("ReduceMin",), symptom="crash:SIGSEGV"))
    found = twins.sibling(store, second, title.replace("Max", "Min"))
    assert found is not None and found.id == first.id
    assert twins.sibling(store, second, "[x] Segmentation fault when running ReduceMin") is None
    assert twins.sibling(store, second, "[x] Segmentation fault when running ReduceMin with scalar data") is None
    assert twins.sibling(store, second, "[x] Segmentation fault when converting ReduceMin with empty data") is None
