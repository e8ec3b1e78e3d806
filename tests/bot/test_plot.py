"""`graphwarden plot`: the pictures of the pages as files."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import onnx
import pytest
from onnx import TensorProto, helper

from fuzz.case import Case, Error, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.support import Run, relu
from triage.ledger import Ledger
from triage.ledger.records import NewOutgoing, OutKind
from triage.records import NewFailure, Result
from triage.store import open_store

TVM = Target("tvm", Revision("0.27.0"))
SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    """A hunt with one bug in three cases, and one without results."""
    path = tmp_path / "hunt.db"
    cases = [Case("onnx", relu(name).SerializeToString(), {}, Origin("onnx_node", name)) for name in "abc"]
    failure = Failure(
        cases[0], TVM, Outcome(Status.EXCEPTION, Stage.RUN, error=Error("ValueError", "no")), None, "crash", "e", "d"
    )
    with open_store(path, create=True) as store:
        campaign = store.begin_campaign({"seed": 1}).id
        ends = [Status.EXCEPTION, Status.OK, Status.OK]
        results = [Result(case.id, TVM.id, case.origin, end) for case, end in zip(cases, ends, strict=True)]
        store.record(campaign, results, [NewFailure(failure, "f", "", ("Relu",), "no", "why")])
        store.begin_campaign({"seed": 2})
    return path


def texts(path: Path) -> list[str]:
    return [each.text or "" for each in ElementTree.parse(path).iter(f"{SVG}text")]


def test_the_smallest_model_of_a_bug_is_drawn(gw: Run, db: Path, tmp_path: Path) -> None:
    done = gw("plot", "bug", 1, "--db", db, "-o", tmp_path / "bug.svg")
    assert (done.code, done.out) == (0, "")
    assert "Relu" in texts(tmp_path / "bug.svg")


def test_a_hunt_is_drawn_over_its_time(gw: Run, db: Path, tmp_path: Path) -> None:
    assert gw("plot", "campaign", 1, "--db", db, "-o", tmp_path / "hunt.svg").code == 0
    found = texts(tmp_path / "hunt.svg")
    assert found[:2] == ["Cases", "3"] and found[found.index("Bugs that stand") + 1] == "1"
    assert len(list(ElementTree.parse(tmp_path / "hunt.svg").iter(f"{SVG}polyline"))) == 2


def test_the_life_of_a_bug_is_drawn_once_there_is_one(gw: Run, db: Path, tmp_path: Path) -> None:
    out = tmp_path / "life.svg"
    done = gw("plot", "life", 1, "--db", db, "-o", out)
    assert (done.code, out.exists()) == (2, False) and "nothing is known of it but that it was found" in done.err
    with open_store(db, create=False) as store:
        outbox = Ledger(store).outbox
        outbox.add(NewOutgoing(OutKind.ISSUE, "issue:f", "o/r", {"title": "t", "body": "b"}, "bug:1", bug_id=1))
        one = outbox.next()
        assert one is not None
        outbox.sent(one, {"number": 3})
    assert gw("plot", "life", 1, "--db", db, "-o", out).code == 0
    assert [text[11:] for text in texts(out)] == ["found in tvm 0.27.0", "reported in o/r as #3"]


def test_any_model_is_drawn(gw: Run, tmp_path: Path) -> None:
    onnx.save(relu("one"), tmp_path / "m.onnx")
    assert gw("plot", "model", tmp_path / "m.onnx", "-o", tmp_path / "m.svg").code == 0
    assert "Relu" in texts(tmp_path / "m.svg")


def test_what_cannot_be_drawn_is_told_and_leaves_no_file(gw: Run, db: Path, tmp_path: Path) -> None:
    (tmp_path / "text.onnx").write_text("no model")
    many = [helper.make_node("Relu", ["x" if not at else f"t{at}"], [f"t{at + 1}"]) for at in range(200)]
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "t200")]
    onnx.save(helper.make_model(helper.make_graph(many, "g", ends[:1], ends[1:])), tmp_path / "large.onnx")
    out = tmp_path / "x.svg"
    for words, told in (
        (("bug", 9, "--db", db), "no bug 9"),
        (("campaign", 2, "--db", db), "nothing is known of it by time"),
        (("campaign", 7, "--db", db), "no campaign 7"),
        (("model", tmp_path / "text.onnx"), "is no ONNX model"),
        (("model", tmp_path / "none.onnx"), "No such file"),
        (("model", tmp_path / "large.onnx"), "more than 150 boxes"),
    ):
        done = gw("plot", *words, "-o", out)
        assert (done.code, out.exists()) == (2, False) and told in done.err, done.err
        assert done.err.count("\n") == 1 and "Traceback" not in done.err
    wrong = gw("plot", "bug", 1, "--db", db, "-o", tmp_path / "x.png")
    assert wrong.code == 2 and "ends in .svg" in wrong.err
