"""Labels in files: a subject of any labelled campaign, and what is wrong with a file is told in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fuzz.ranking.replay import learning_order
from tests.fuzz.ranking.support import item
from triage import comparing
from triage.labelled import UnusableLabels, subject
from triage.subjects import Subject

ITEMS = [item(at, f"Op{at % 4}", axis=at // 4) for at in range(200)]


def labelled(folder: Path, labels: object, tested: int = 0) -> Subject:
    path = folder / "labels.json"
    path.write_text(labels if isinstance(labels, str) else json.dumps(labels), "utf-8")
    return subject(Path("some.jsonl"), ITEMS, ITEMS[:tested], path)


def test_labels_are_bugs_and_the_tests_that_show_them(tmp_path: Path) -> None:
    found = labelled(tmp_path, {"first": [3, 7, 3], "second": [39]})
    assert found.bugs == {"first": (3, 7), "second": (39,)}
    assert found.name == "some.jsonl, labels.json" and len(found.items) == 200
    assert not any(found.refused) and set(found.seconds) == {1.0}


def test_refusals_may_be_labelled_too_and_learning_heeds_them(tmp_path: Path) -> None:
    refused = [at for at in range(200) if at % 4 == 0]
    plain = labelled(tmp_path, {"late": [197]})
    told = labelled(tmp_path, {"bugs": {"late": [197]}, "refused": refused})
    assert told.bugs == plain.bugs and [at for at, is_so in enumerate(told.refused) if is_so] == refused
    orders = [learning_order(each.items, (), 0, each.bugs, each.refused) for each in (plain, told)]
    places = [sum(order.index(at) for at in refused) for order in orders]
    assert places[1] > places[0]


def test_a_bug_may_be_called_bugs(tmp_path: Path) -> None:
    assert labelled(tmp_path, {"bugs": [3], "refused": [4]}).bugs == {"bugs": (3,), "refused": (4,)}


def test_with_equal_costs_cost_changes_nothing_and_what_is_tested_counts(tmp_path: Path) -> None:
    bugs = {"a": [5], "b": [30]}
    plain, equipped = (labelled(tmp_path, bugs, tested) for tested in (0, 30))
    score = comparing.score(plain, "graphwarden", 3)
    assert score.apfdc.mean == pytest.approx(score.apfd.mean)
    assert comparing.score(equipped, "graphwarden", 3).ranks != score.ranks


@pytest.mark.parametrize(
    ("labels", "told"),
    [
        ("{", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("\xff", "is no JSON"),
        ([1, 2], "must be an object"),
        ({}, "holds no bugs"),
        ({"first": []}, "bug 'first' has no instances"),
        ({"first": 3}, "must be a list of ids"),
        ({"first": [True]}, "must be a list of ids"),
        ({"first": [{}]}, "must be a list of ids"),
        ({"first": [3, 999]}, "999 is the id of no instance"),
        ({"first": ["3"]}, r"'3' is the id of no instance \(there is 3"),
        ({"bugs": {"first": [3]}, "refused": [999]}, "refused: 999 is the id of no instance"),
    ],
)
def test_labels_that_cannot_be_used_are_refused(tmp_path: Path, labels: object, told: str) -> None:
    with pytest.raises(UnusableLabels, match=told) as refused:
        labelled(tmp_path, labels)
    assert "labels.json" in str(refused.value) and "\n" not in str(refused.value)
