"""Where a hunt's cases come from: sources that learn beside those that do not, and what is kept between hunts."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.case import Case, Origin, Stage, Status
from fuzz.generators import UnknownGenerator
from fuzz.ranking import failed_before
from fuzz.ranking.stream import LEARNS
from triage.records import Result
from triage.sources import SourceError, Sources
from triage.store import Store, open_store


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(tmp_path / "h.db", create=True) as found:
        yield found


def sources(store: Store, *names: str, seed: int = 0, beside: Path | None = None) -> Sources:
    campaign = store.begin_campaign({"sources": sorted(names), "seed": seed})
    return Sources(store, campaign, names, LEARNS, beside)


def cases(found: Sources, count: int) -> list[Case]:
    return [each for each in itertools.islice(iter(found), count) if isinstance(each, Case)]


def test_what_a_source_learnt_lies_beside_the_database_and_steers_the_next_hunt(store: Store, tmp_path: Path) -> None:
    first = sources(store, "mcts")
    for case in cases(first, 40):
        first.observe(case.id, Status.OK)
    first.write()
    assert (tmp_path / "h.db.mcts.json").exists()
    fresh = [case.id for case in cases(sources(store, "mcts", seed=1, beside=tmp_path / "elsewhere"), 12)]
    later = [case.id for case in cases(sources(store, "mcts", seed=1), 12)]
    assert later != fresh


def test_what_is_shipped_of_an_older_release_leads_until_the_database_knows_better(store: Store) -> None:
    """A bug that this database has seen, or of which a case was run before, is not looked for once more."""
    shipped = failed_before.of(["onnxruntime"])
    named = {case_id for cases_of in shipped.values() for case_id in cases_of}
    asked = {"sources": ["onnx_node"], "targets": ["onnxruntime@9.9"]}
    first = store.begin_campaign({**asked, "seed": 1})
    led = [case.id for case in cases(Sources(store, first, ["onnx_node"], LEARNS), len(shipped))]
    assert set(led) <= named and led
    origin = Origin("onnx_node", "t", "plain", 1)
    store.record(first.id, [Result(each, "onnxruntime@9.9", origin, Status.OK, Stage.RUN) for each in sorted(named)])
    second = store.begin_campaign({**asked, "seed": 2})
    later = [case.id for case in cases(Sources(store, second, ["onnx_node"], LEARNS), len(shipped))]
    assert not set(later) <= named


def test_an_interrupted_campaign_goes_on_behind_the_cases_that_it_had(store: Store) -> None:
    campaign = store.begin_campaign({"sources": ["mcts"], "seed": 0})
    origin = Origin("mcts", "7", "plain", 0)
    store.record(campaign.id, [Result("0123456789abcdef", "openvino@1", origin, Status.OK, Stage.RUN)])
    assert [case.origin.test for case in cases(sources(store, "mcts"), 3)] == ["8", "9", "10"]


def test_sources_take_turns_and_only_one_that_learns_is_told_of_suspects(store: Store) -> None:
    found = sources(store, "mcts", "onnx_node")
    first = cases(found, 200)
    assert {case.origin.generator for case in first} == {"mcts", "onnx_node"}
    for case in first:
        found.observe(case.id, Status.EXCEPTION, "a failure", ("Conv",))


def test_a_damaged_file_and_an_empty_source_are_told_in_one_line(store: Store, tmp_path: Path) -> None:
    (tmp_path / "h.db.mcts.json").write_text("nothing")
    with pytest.raises(SourceError, match=r"h\.db\.mcts\.json: is not what the source mcts keeps.*remove it"):
        sources(store, "mcts")
    with pytest.raises(UnknownGenerator):
        sources(store, "no_such_source")
