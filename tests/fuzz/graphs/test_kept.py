"""What a search keeps, damaged: it is refused when it is read, not in the middle of a campaign."""

import copy
import itertools
import json

import pytest

from fuzz.case import Status
from fuzz.generators import mcts

MODELS = 40


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    """What a campaign of some results has written."""
    path = tmp_path_factory.mktemp("kept") / "h.db.mcts.json"
    stream = mcts.stream(0)
    stream.keep(path)
    for at, case in enumerate(itertools.islice(stream, MODELS)):
        failed = at % 4 == 0
        stream.observe(case.id, Status.WRONG if failed else Status.OK, f"kind {at}" if failed else "", ("Conv",))
    stream.write()
    stream.write()
    return json.loads(path.read_text())


def replaced(document, where, value):
    found = copy.deepcopy(document)
    part = found
    for key in where[:-1]:
        part = part[key]
    part[where[-1]] = value
    return found


def first(kept):
    return next(iter(kept["coverage"]))


def settled(kept):
    return next(iter(kept["chooser"]["pairwise"]))


@pytest.mark.parametrize(
    ("where", "value"),
    [
        (("coverage",), [1]),
        (("coverage", first, 0), ["x"]),
        (("coverage", first, 2), [1]),
        (("coverage", first, 4), float("nan")),
        (("coverage", first, 4), [[]]),
        (("chooser",), {}),
        (("chooser", "usual"), "x"),
        (("chooser", "made"), -1),
        (("chooser", "tried", 0), ["Conv"]),
        (("chooser", "tree", "rewards", 1), None),
        (("chooser", "tree", "root", 4), [["Conv", 1.0]]),
        (("chooser", "experience", "once"), 1e308),
        (("chooser", "experience", "once", "kind 0"), []),
        (("chooser", "experience", "results", "Conv"), 1e308),
        (("chooser", "pairwise"), [1]),
        (("chooser", "pairwise", settled), [1]),
        (("chooser", "pairwise", settled), {"axis": 1}),
        (("chooser", "pairwise", settled), {"1": -(10**13)}),
    ],
)
def test_a_damaged_value_is_told_when_the_file_is_read(kept, tmp_path, where, value):
    path = tmp_path / "h.db.mcts.json"
    place = [each(kept) if callable(each) else each for each in where]
    path.write_text(json.dumps(replaced(kept, place, value)))
    with pytest.raises(ValueError, match=r"h\.db\.mcts\.json: is not what the source mcts keeps.*remove it"):
        mcts.stream(0).keep(path)


def test_a_file_that_cannot_be_read_is_told_and_so_is_one_nested_without_end(tmp_path):
    path = tmp_path / "h.db.mcts.json"
    path.write_text("[" * 100_000)
    with pytest.raises(ValueError, match=r"h\.db\.mcts\.json: is not what the source mcts keeps"):
        mcts.stream(0).keep(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(ValueError, match=r"h\.db\.mcts\.json: cannot be read \(Is a directory\); take it away"):
        mcts.stream(0).keep(path)


def test_more_refusals_than_results_are_no_chance_below_zero(kept, tmp_path):
    path = tmp_path / "h.db.mcts.json"
    path.write_text(json.dumps(replaced(kept, ("chooser", "experience", "refused", "Conv"), 10**9)))
    stream = mcts.stream(0)
    stream.keep(path)
    assert len(list(itertools.islice(stream, 5))) == 5
    chooser = stream._fuzzer.chooser
    assert all(0 < chooser._succeeds(block) <= 1 for block in chooser._blocks.values())


def test_what_was_kept_of_a_larger_corpus_leaves_nothing_behind_that_the_corpus_lacks(kept, tmp_path):
    foreign = replaced(kept, ("coverage", "Unknown"), [[1], [1], ["Conv"], [5], 0.5])
    foreign["chooser"]["tried"] += [["Unknown", 1, 3], ["Conv", "Unknown", 3]]
    foreign["chooser"]["pairwise"]["Unknown"] = {"1": 0}
    foreign["chooser"]["tree"]["root"][4].append(["Unknown", 1.0, 1, False, []])
    path = tmp_path / "h.db.mcts.json"
    path.write_text(json.dumps(foreign))
    stream = mcts.stream(0)
    stream.keep(path)
    assert len(list(itertools.islice(stream, 5))) == 5
    assert "Unknown" not in json.dumps(stream._fuzzer.state())


def test_a_file_of_a_search_that_knew_no_values_yet_is_read(kept, tmp_path):
    older = copy.deepcopy(kept)
    del older["chooser"]["pairwise"]
    path = tmp_path / "h.db.mcts.json"
    path.write_text(json.dumps(older))
    stream = mcts.stream(0)
    stream.keep(path)
    assert stream._fuzzer.chooser.pairwise.count() == 0
    assert stream._fuzzer.chooser.state()["tried"] == kept["chooser"]["tried"]
    assert len(list(itertools.islice(stream, 5))) == 5
    assert stream._fuzzer.chooser.pairwise.count() > 0


def test_values_that_were_shown_are_known_to_the_next_campaign(kept, tmp_path):
    path = tmp_path / "h.db.mcts.json"
    path.write_text(json.dumps(kept))
    stream = mcts.stream(0)
    stream.keep(path)
    assert stream._fuzzer.chooser.pairwise.count() == sum(map(len, kept["chooser"]["pairwise"].values())) > 0
