"""Files of drafted reports."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from onnx import parser

from fuzz import native
from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.triage.bugs import bug
from triage import drafting
from triage.court.evidence import Evidence, Judgement, Ruling, Side
from triage.localize import Location
from triage.records import StoredDraft
from triage.reproducer import Rerun
from triage.store import Store

BUG = bug("tvm", id=7, title="Hang when compiling Pad", operators=("Pad",), symptom="hang", message="")
TEXT = StoredDraft("Hang when compiling Pad", "The body.\n", "print('PASS')\n")


def test_a_draft_is_two_files_below_its_compiler(tmp_path: Path) -> None:
    path = drafting.save(tmp_path, BUG, TEXT)
    assert path == tmp_path / "tvm" / "0007-hang-when-compiling-pad.md"
    assert path.read_text() == "# Hang when compiling Pad\n\nThe body.\n"
    assert path.with_suffix(".py").read_text() == "print('PASS')\n"


def test_a_regression_test_is_a_file_of_its_own_and_goes_with_the_draft(tmp_path: Path) -> None:
    path = drafting.save(tmp_path, BUG, replace(TEXT, test="def test_pad(): ...\n"))
    assert path.with_suffix(".test.py").read_text() == "def test_pad(): ...\n"
    drafting.save(tmp_path, BUG, TEXT)
    assert sorted(each.suffix for each in path.parent.iterdir()) == [".md", ".py"]


def test_what_stands_in_for_a_projects_helpers_lies_beside_the_test_that_imports_them(tmp_path: Path) -> None:
    test = "from pytorch_layer_test_class import PytorchLayerTest\n"
    path = drafting.save(tmp_path, BUG, replace(TEXT, test=test))
    assert "class PytorchLayerTest:" in (path.parent / "pytorch_layer_test_class.py").read_text()
    assert "def ie_device()" in (path.parent / "conftest.py").read_text()


def test_a_new_title_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    drafting.save(tmp_path, BUG, TEXT)
    drafting.save(tmp_path, replace(BUG, id=70), TEXT)
    drafting.save(tmp_path, BUG, replace(TEXT, title="Now something else"))
    names = sorted(path.name for path in (tmp_path / "tvm").glob("*.md"))
    assert names == ["0007-now-something-else.md", "0070-hang-when-compiling-pad.md"]


def test_no_title_leads_out_of_the_folder(tmp_path: Path) -> None:
    for title in ("../../etc/passwd", "/", "\0", "x" * 500, "", "ÜÜ", "a\nb", "--help"):
        path = drafting.save(tmp_path, BUG, replace(TEXT, title=title))
        assert path.parent == tmp_path / "tvm" and path.is_file() and len(path.name) < 100


def test_a_backend_given_as_a_file_has_its_own_folder(tmp_path: Path) -> None:
    mine = replace(BUG, target=Target("/home/me/secret/mine.py", Revision("0")))
    assert drafting.save(tmp_path, mine, TEXT).parent == tmp_path / "mine"


def test_the_index_lists_what_is_drafted_the_most_frequent_first(tmp_path: Path) -> None:
    bugs = [
        replace(BUG, id=1, report_path=str(tmp_path / "tvm" / "0001-a.md"), count=2),
        replace(BUG, id=2, report_path=str(tmp_path / "tvm" / "0002-b.md"), count=9, title="a | b [c](d)"),
        replace(BUG, id=3, report_path=None),
    ]
    lines = drafting.index(tmp_path / "new" / "folder", bugs).read_text().splitlines()
    rows = [line for line in lines if line.startswith("| ") and not line.startswith("| bug")]
    assert [row.split(" | ")[0] for row in rows] == ["| 2", "| 1"]
    assert r"a \| b \[c\](d)" in rows[0] and "../../tvm/0002-b.md" in rows[0]


def test_an_index_of_nothing_is_still_a_page(tmp_path: Path) -> None:
    assert drafting.index(tmp_path, []).read_text().startswith("# Drafted reports\n")


def sequence_failure(stage: Stage) -> Failure:
    error = Error(type="TypeError", message="object of type 'Var' has no len()")
    case = Case("onnx", b"", {"s": [np.ones(2, np.float32)]}, Origin("test"))
    target = Target("tvm", Revision("0.27.0"))
    return Failure(
        case, target, Outcome(Status.EXCEPTION, stage, error=error), None, "crash", "exception:TypeError", ""
    )


def test_what_fails_before_anything_is_fed_needs_no_way_to_feed_it() -> None:
    snippet = drafting._snippet(BUG, sequence_failure(Stage.CONVERT))
    assert "from_onnx(model)" in snippet and "actual" not in snippet


def test_what_cannot_be_fed_shortly_has_no_draft_when_it_is_the_run_that_fails() -> None:
    with pytest.raises(drafting.CannotDraft, match="takes or returns sequence"):
        drafting._snippet(BUG, sequence_failure(Stage.RUN))


def test_what_no_short_script_does_has_no_draft_wherever_it_fails() -> None:
    """A compiler may take a kind of case for which its file has no script at all."""
    target = Target("inductor", Revision("2.13.0"))
    for stage in (Stage.CONVERT, Stage.COMPILE, Stage.RUN):
        failure = replace(sequence_failure(stage), target=target)
        with pytest.raises(drafting.CannotDraft, match="takes operator instances, not onnx"):
            drafting._snippet(replace(BUG, target=target), failure)


def test_mutants_of_a_network_are_no_tests_that_a_maintainer_could_look_for() -> None:
    origins = [
        Origin("mtdlcomp", "lstm/15", "mutant"),
        Origin("isra", "12"),
        Origin("docs", "torch.Tensor.any conforming"),
        Origin("relations", "torch.Tensor.T as torch.Tensor.t"),
        Origin("onnx_node", "test_relu", "frozen"),
    ]
    assert [origin.test for origin in origins if drafting._is_test(origin)] == ["test_relu"]


@pytest.mark.parametrize(("depends", "shown"), [(False, True), (True, False)])
def test_a_passing_neighbour_is_told_unless_fresh_memory_decides_what_passes(depends: bool, shown: bool) -> None:
    memory = Evidence("memory", Side.AGAINST, "the result follows the byte", {"depends": depends})
    judged = Judgement(Ruling.COMPILER_BUG, "", (memory,))
    told = drafting._min_good(replace(BUG, judgement=judged, passes_with="axis of Softmax: 0 -> 1"))
    assert ("axis of Softmax" in told) is shown


@pytest.mark.parametrize("symptom", ["wrong:shape", "wrong:dtype", "wrong:count"])
def test_memory_that_decides_the_values_has_no_part_in_a_wrong_shape(symptom: str) -> None:
    memory = Evidence("memory", Side.AGAINST, "the result follows the byte", {"depends": True, "bytes": [85, 170]})
    judged = replace(BUG, judgement=Judgement(Ruling.COMPILER_BUG, "", (memory,)))
    case, target = Case("instance", b"{}", {}, Origin("test")), Target("tvm", Revision("1"))
    failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", symptom, "")
    never_asked = cast(Any, SimpleNamespace())
    assert drafting._repeatable(judged, failure, None, never_asked) == (failure, None)


def test_that_a_model_passes_without_its_only_operator_is_not_told() -> None:
    copied = "Identity in the place of Sum"
    assert drafting._min_good(replace(BUG, nodes=1, passes_with=copied)) == ""
    assert copied in drafting._min_good(replace(BUG, nodes=2, passes_with=copied))


def test_a_guess_is_no_finding() -> None:
    """What is not known is for the one who triages, not for the maintainer who reads the report."""
    case = Case("onnx", b"", {}, Origin("test"))
    raised = Failure(case, BUG.target, Outcome(Status.EXCEPTION, Stage.CONVERT), None, "crash", "exception:E", "")
    located = Location(evidence=("the frontend itself fails", "perhaps a type problem (it says so)"))
    assert drafting._findings(replace(BUG, location=located), raised, None) == (
        "Where it lies: the frontend itself fails.",
    )
    guessed = Location(evidence=("perhaps a type problem (it says so)",))
    assert drafting._findings(replace(BUG, location=guessed), raised, None) == ()


def test_where_the_machines_number_of_threads_hides_a_failure_the_one_that_shows_it_is_named() -> None:
    raised = Failure(
        Case("onnx", b"", {}, Origin("test")),
        Target("openvino", Revision("2026.4.1")),
        Outcome(Status.EXCEPTION, Stage.COMPILE),
        None,
        "crash",
        "exception:E",
        "",
    )
    first, second = drafting.spelled_out(raised)
    assert first is raised and dict(second.target.options) == {"threads": "1"}
    assert list(drafting.spelled_out(second)) == [second]  # whoever chose the number was told of it already
    found = bug("openvino")
    assert "THREADS" not in drafting._snippet(found, first)
    assert '"INFERENCE_NUM_THREADS": 1' in drafting._snippet(found, second)
    assert drafting._findings(found, second, None) == (
        "It depends on the number of threads: with one thread it fails, with the default number it passes.",
    )
    refused = Rerun(1, "Traceback (most recent call last):\nopenvino.Error: in a frame\nRuntimeError: Check failed\n\n")
    assert drafting._findings(found, second, None, refused) == (
        "It depends on the number of threads: with one thread it fails, with the default number otherwise"
        " (RuntimeError).",
    )
    assert drafting._findings(found, first, None) == ()


@pytest.mark.parametrize(
    ("api", "located", "blamed", "named"),
    [
        ("torch.baddbmm", "aten.var_mean.correction", "", "torch.baddbmm (aten.var_mean)"),
        ("torch.baddbmm", "", "aten.where.self", "torch.baddbmm (aten.where)"),
        ("torch.nn.functional.elu", "aten.elu.default", "", "torch.nn.functional.elu"),
        ("torch.Tensor.squeeze_", "aten.squeeze.dim", "", "torch.Tensor.squeeze_ (aten.squeeze.dim)"),
        ("torch.nn.AvgPool3d", "aten.avg_pool3d.default", "", "torch.nn.AvgPool3d"),
        ("torch.baddbmm", "", "", "torch.baddbmm"),
        ("torch.Tensor.min", "aten.min.dim", "", "torch.Tensor.min (aten.min.dim)"),
        ("torch.baddbmm", "", "_private_pass", "torch.baddbmm"),
    ],
)
def test_an_api_is_named_with_the_core_operator_that_is_at_fault(
    api: str, located: str, blamed: str, named: str
) -> None:
    raised = Failure(
        Case("instance", b"", {}, Origin("test")),
        Target("tvm", Revision("0.27.0")),
        Outcome(Status.EXCEPTION, Stage.CONVERT, error=Error(operator=blamed)),
        None,
        "crash",
        "exception:E",
        "",
    )
    assert drafting._named((api,), Location(operator=located), raised) == (named,)
    model = replace(raised, case=Case("onnx", b"", {}, Origin("test")))
    assert drafting._named(("Relu",), Location(operator="Relu"), model) == ("Relu",)


class Stored:
    """A store that knows the failures of one bug and nothing else."""

    def __init__(self, failures: list[Failure]) -> None:
        self._failures = failures

    def origins(self, bug_id: int) -> list[Origin]:
        return [one.case.origin for one in self._failures]

    def failure_ids(self, bug_id: int) -> list[int]:
        return list(range(len(self._failures)))

    def failure(self, number: int) -> Any:
        return SimpleNamespace(failure=self._failures[number])


def died(test: str, body: str, stderr: str = "") -> Failure:
    model = parser.parse_model(f'<ir_version: 10, opset_import: ["" : 20]> g (float[2] x) => (float[2] y) {{ {body} }}')
    case = Case("onnx", model.SerializeToString(), {}, Origin("test", test))
    outcome = Outcome(Status.SIGNAL, Stage.COMPILE, error=Error("", "", stderr=stderr))
    return Failure(case, BUG.target, outcome, None, "crash", "crash:SIGABRT", "")


STACK = f"{native.HEADING}\n#0  tiny::Pad::compile from libtiny.so+0x12\n"


@pytest.mark.parametrize(
    ("stderr", "told"), [("", ["test_neg", "test_both"]), (STACK, ["test_neg", "test_abs", "test_both"])]
)
def test_of_deaths_at_no_known_place_only_tests_of_the_operator_are_told(stderr: str, told: list[str]) -> None:
    bodies = {"test_neg": "y = Neg (x)", "test_abs": "y = Abs (x)", "test_both": "a = Abs (x) y = Neg (a)"}
    failures = [died(test, body, stderr) for test, body in bodies.items()]
    found = drafting.origins_of(cast(Store, Stored(failures)), BUG, failures[0])
    assert [one.test for one in found] == told


def test_where_no_failing_case_has_the_operator_of_the_reduced_one_all_are_told() -> None:
    """A newer operator set may have another operator for the same thing."""
    failures = [died("test_neg", "y = Neg (x)"), died("test_abs", "y = Abs (x)")]
    found = drafting.origins_of(cast(Store, Stored(failures)), BUG, died("", "y = Exp (x)"))
    assert [one.test for one in found] == ["test_neg", "test_abs"]


def test_of_a_wrong_cast_only_tests_that_cast_to_the_same_type_are_told(tmp_path: Path) -> None:
    """One to a narrow type lacks saturation, one to float64 has an infinity wrong: mending one leaves the other."""

    def wrong(test: str, dtype: Any) -> Failure:
        model = parser.parse_model(
            f'<ir_version: 9, opset_import: ["": 19]> {test} (float[1] x) => (y) {{ y = Abs(x) }}'
        )
        case = Case("onnx", model.SerializeToString(), {"x": np.ones(1, np.float32)}, Origin("test", test))
        right, got = (
            Outcome(status, Stage.RUN, outputs=(("y", np.ones(1, dtype)),)) for status in (Status.OK, Status.WRONG)
        )
        return Failure(case, BUG.target, got, right, "inconsistency", "wrong:inf", "")

    failures = [wrong("double", np.float64), wrong("half", np.float16)]
    store = cast(
        Store,
        SimpleNamespace(
            failure_ids=lambda number: [0, 1],
            failure=lambda number: SimpleNamespace(failure=failures[number]),
            origins=lambda number: [one.case.origin for one in failures],
        ),
    )
    bugs = [replace(BUG, operators=(name,), symptom="wrong:inf") for name in ("Cast", "Abs")]
    told = [[origin.test for origin in drafting.origins_of(store, one, failures[0])] for one in bugs]
    assert told == [["double"], ["double", "half"]]


def test_a_test_of_which_only_a_variant_fails_is_named_with_what_was_made_of_it() -> None:
    """Who runs the project's own test sees it pass."""
    origins = [
        Origin("onnx_node", "test_one", "frozen"),
        Origin("onnx_node", "test_two", "frozen"),
        Origin("onnx_node", "test_two", "plain"),
        Origin("onnx_node", "test_three_expanded", "expanded"),
    ]
    named = drafting._as_run(["test_one", "test_two", "test_three_expanded"], origins)
    assert named == ("test_one (inputs as constants)", "test_two", "test_three_expanded")
