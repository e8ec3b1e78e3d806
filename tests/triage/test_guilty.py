"""Bugs of one guilty pass are one bug where the pass does one thing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from triage import guilty
from triage.lifecycle import State
from triage.localize import Location
from triage.records import Bug, NewFailure
from triage.signature import Signature
from triage.store import Store, open_store

OPENVINO = Target("openvino", Revision("2026.4.1"))


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "hunt.db", create=True) as opened:
        yield opened


def bug(store: Store, fingerprint: str, message: str = "", pass_: str = "") -> Bug:
    case = Case("onnx", fingerprint.encode(), {"x": np.arange(3)}, Origin("test", fingerprint))
    failure = Failure(
        case, OPENVINO, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "differs"
    )
    store.record(0, (), [NewFailure(failure, fingerprint, "", (fingerprint,), message, "same")])
    made = next(found for found in store.bugs() if found.fingerprint == fingerprint)
    if pass_:
        store.advance(made.id, State.NEW, State.CONFIRMED)
        store.advance(made.id, State.CONFIRMED, State.REDUCED)
        store.advance(made.id, State.REDUCED, State.LOCATED, location=Location(pass_=pass_))
    return store.bug(made.id)


def signed(symptom: str = "wrong:values", message: str = "") -> Signature:
    return Signature("openvino", "Abs", "operators", symptom, message, "same")


def test_two_wrong_results_of_one_rewriting_are_one_bug(store: Store) -> None:
    first, second = bug(store, "Cast+Abs", pass_="AbsSinking"), bug(store, "Concat+Abs")
    found = guilty.twin(store, second, signed(), Location(pass_="AbsSinking"))
    assert found is not None and found.id == first.id
    assert "AbsSinking is guilty of both" in guilty.why("AbsSinking", found)
    assert guilty.twin(store, second, signed("wrong:shape"), Location(pass_="AbsSinking")) is None
    assert guilty.twin(store, second, signed(), Location(pass_="TransposeSinking")) is None
    assert guilty.twin(store, second, signed(), Location()) is None


def test_what_a_person_has_parted_stays_apart(store: Store) -> None:
    first, second = bug(store, "a", pass_="AbsSinking"), bug(store, "b")
    store.merge(first.id, second.id)
    store.split(first.id, store.failure_ids(first.id)[1:], "they are two")
    parted = next(each for each in store.bugs() if each.id not in (first.id, second.id))
    assert guilty.twin(store, parted, signed(), Location(pass_="AbsSinking")) is None


@pytest.mark.parametrize(
    ("backend", "name", "one"),
    [
        ("onnxruntime", "FuseReluClip", True),
        ("onnxruntime", "ConstantFolding", False),
        ("openvino", "AbsSinking", True),
        ("openvino", "snippets", False),
        ("inductor", "lowerings any", True),
        ("inductor", "fusion", False),
        ("tvm", "FuseOps", False),
        ("openvino", "", False),
    ],
)
def test_a_pass_that_does_many_things_makes_no_two_bugs_one(backend: str, name: str, one: bool) -> None:
    assert guilty.does_one_thing(backend, name) is one
