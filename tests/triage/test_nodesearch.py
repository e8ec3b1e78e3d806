"""Which nodes are needed, seen on graphs alone: a candidate is the set of nodes that it keeps."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
import pytest

from fuzz.case import Case, Origin
from triage.nodesearch import Kept, NodeSearch
from triage.patterns import Hypotheses, Wiring

Needs = Callable[[Kept], bool]


def graph(count: int, seed: int, operators: int = 12) -> Wiring:
    """A random graph in topological order; most nodes read recent ones."""
    rng = random.Random(seed)
    edges = {
        (max(rng.randrange(at), rng.randrange(at)), at) for at in range(1, count) for _ in range(rng.choice((1, 1, 2)))
    }
    names = tuple(f"Op{rng.randrange(operators)}" for _ in range(count))
    return Wiring(names, tuple(sorted(edges)))


class Runs:
    """Builds and judges sets of nodes, and counts."""

    def __init__(self, needs: Needs, impossible: Needs = lambda kept: False) -> None:
        self.needs, self.impossible = needs, impossible
        self.asked: list[Kept] = []
        self.accepted: list[Kept] = []
        self.simple_ones: list[Kept] = []  # asked about in simplified form
        self.matters = False  # whether what is simplified matters

    def build(self, kept: Kept) -> Sequence[Case]:
        text = ",".join(map(str, sorted(kept))).encode()
        return [] if self.impossible(kept) else [Case("instance", text, {}, Origin("test"))]

    def simple(self, kept: Kept) -> Sequence[Case]:
        return [replace(case, model=b"simple " + case.model) for case in self.build(kept)]

    def ask(self, cases: Sequence[Case]) -> list[bool]:
        return [self.answer(case) for case in cases]

    def answer(self, case: Case) -> bool:
        part = self.kept(case)
        if case.model.startswith(b"simple"):
            self.simple_ones.append(part)
            return self.needs(part) and not self.matters
        self.asked.append(part)
        return self.needs(part)

    def kept(self, case: Case) -> Kept:
        return frozenset(int(number) for number in case.model.decode().removeprefix("simple ").split(","))

    def search(self, wiring: Wiring, **options: object) -> Kept:
        accept = lambda case: self.accepted.append(self.kept(case))  # noqa: E731
        return NodeSearch(wiring, self.build, self.ask, accept, **options).run()  # type: ignore[arg-type]


def all_of(*nodes: int) -> Needs:
    return lambda kept: kept.issuperset(nodes)


@pytest.mark.parametrize("count", [2, 3, 10, 50, 200, 500])
@pytest.mark.parametrize("seed", [0, 1])
def test_one_node_is_found_in_few_runs(count: int, seed: int) -> None:
    wanted = random.Random(seed).randrange(count)
    runs = Runs(all_of(wanted))
    assert runs.search(graph(count, seed)) == {wanted}
    assert len(runs.asked) <= 14


def test_a_rare_operator_is_more_suspicious_than_a_common_one() -> None:
    wiring = Wiring(("Often",) * 9 + ("Seldom",) + ("Often",) * 10, tuple((at, at + 1) for at in range(19)))
    hypotheses = Hypotheses(wiring, ())
    weights = [hypotheses.weight(np.arange(20) == at) for at in (3, 9)]
    assert 1.5 * weights[0] < weights[1]


def test_a_node_that_stands_for_others_is_asked_about_at_once() -> None:
    plain = graph(150, 3)
    wiring = replace(plain, operators=(*plain.operators[:80], "Loop", *plain.operators[81:]), composite=(80,))
    runs = Runs(all_of(80))
    assert runs.search(wiring) == {80} and len(runs.asked) <= 3
    runs = Runs(all_of(40))  # and if it is not that one, little is lost
    assert runs.search(wiring) == {40} and len(runs.asked) <= 14


def test_the_last_two_nodes_are_made_final_before_either_is_doubted() -> None:
    wiring = graph(60, 1)
    pair, told = frozenset(wiring.edges[30]), list[tuple[Kept, int]]()
    runs = Runs(all_of(*pair))
    assert runs.search(wiring, polish=lambda kept: told.append((kept, len(runs.asked)))) == pair
    assert [kept for kept, _ in told] in ([], [pair])
    assert all(len(part) > 1 for part in runs.asked[: told[0][1]]) if told else True


@pytest.mark.parametrize("needed", [(7, 8, 9), (5, 6, 7, 8)])
def test_of_a_few_nodes_the_last_is_doubted_when_all_else_is_final(needed: tuple[int, ...]) -> None:
    told = list[tuple[Kept, int]]()
    runs = Runs(all_of(*needed))
    assert runs.search(graph(60, 4), polish=lambda kept: told.append((kept, len(runs.asked)))) == set(needed)
    [(kept, asked)] = told
    assert kept == set(needed) and len(runs.asked) == asked + 1 and len(runs.asked[-1]) == len(needed) - 1


@pytest.mark.parametrize("count", [10, 50, 200])
@pytest.mark.parametrize("seed", range(4))
def test_a_producer_and_its_consumer_are_found(count: int, seed: int) -> None:
    wiring = graph(count, seed)
    pair = random.Random(seed).choice(wiring.edges)
    runs = Runs(all_of(*pair))
    assert runs.search(wiring) == set(pair)
    assert len(runs.asked) <= 20


@pytest.mark.parametrize("size", [2, 3, 5, 8])
@pytest.mark.parametrize("seed", range(3))
def test_any_nodes_anywhere_are_found(size: int, seed: int) -> None:
    wanted = random.Random(seed).sample(range(120), size)
    runs = Runs(all_of(*wanted))
    assert runs.search(graph(120, seed)) == set(wanted)
    assert len(runs.asked) <= 12 + 12 * size


@pytest.mark.parametrize("seed", range(4))
def test_seven_nodes_that_hang_together_cost_fewer_runs_than_seven_anywhere(seed: int) -> None:
    wiring = graph(80, seed)
    rng = random.Random(seed)
    wanted = {rng.randrange(80)}
    while len(wanted) < 7:
        wanted |= {*rng.choice([edge for edge in wiring.edges if len(wanted & {*edge}) == 1])}
    runs = Runs(all_of(*wanted))
    assert runs.search(wiring) == wanted
    assert len(runs.asked) <= 46


@pytest.mark.parametrize("seed", range(4))
def test_an_even_number_of_nodes_comes_down_to_two(seed: int) -> None:
    wiring = graph(80, seed)
    alike = [at for at, name in enumerate(wiring.operators) if name == "Op3"][:6]
    alike = alike[: len(alike) // 2 * 2]
    assert alike

    def even(kept: Kept) -> bool:
        count = len(kept.intersection(alike))
        return count > 0 and count % 2 == 0

    assert len(Runs(even).search(wiring)) <= 4


def test_a_bug_that_a_few_nodes_of_one_operator_hide_loses_them_all() -> None:
    wiring = replace(graph(80, 3), operators=tuple("Hides" if at % 9 == 0 else f"Op{at % 7}" for at in range(80)))
    hiding = {at for at in range(80) if at % 9 == 0}

    def needs(kept: Kept) -> bool:
        return 40 in kept and (not kept & hiding or len(kept & hiding) > 4)

    assert Runs(needs).search(wiring) == {40}


def test_what_needs_everything_keeps_everything() -> None:
    wiring = graph(9, 0)
    runs = Runs(lambda kept: len(kept) == 9)
    assert len(runs.search(wiring)) == 9 and not runs.accepted


def test_every_accepted_set_is_smaller_than_the_one_before_and_fails() -> None:
    needs = all_of(3, 40)
    runs = Runs(needs)
    runs.search(graph(60, 5))
    sizes = [len(kept) for kept in runs.accepted]
    assert sizes == sorted(sizes, reverse=True) and len(set(sizes)) == len(sizes)
    assert all(needs(kept) for kept in runs.accepted)


def test_no_set_is_asked_about_twice() -> None:
    runs = Runs(all_of(1, 30, 59))
    runs.search(graph(60, 2))
    assert len(set(runs.asked)) == len(runs.asked)


def test_sets_that_no_valid_model_keeps_cost_no_run_and_do_no_harm() -> None:
    runs = Runs(all_of(7, 21), impossible=lambda kept: len(kept) % 3 == 0)
    found = runs.search(graph(50, 1))
    assert found >= {7, 21} and len(found) <= 5
    assert all(len(kept) % 3 for kept in runs.asked)


def test_operators_that_the_failure_names_are_looked_at_first() -> None:
    wiring = graph(300, 3, operators=40)
    wanted = next(at for at, name in enumerate(wiring.operators) if name == "Op17")
    plain, told = Runs(all_of(wanted)), Runs(all_of(wanted))
    plain.search(wiring)
    told.search(wiring, suspects=["Op17"])
    assert len(told.asked) < len(plain.asked)


@pytest.mark.parametrize("needed", [(5,), (5, 6), (2, 44)])
def test_several_runs_at_a_time_find_the_same(needed: tuple[int, ...]) -> None:
    runs = Runs(all_of(*needed))
    assert runs.search(graph(60, 4), parallel=4) == set(needed)


def test_the_same_graph_is_searched_in_the_same_way() -> None:
    one, other = Runs(all_of(3, 70)), Runs(all_of(3, 70))
    one.search(graph(90, 6))
    other.search(graph(90, 6))
    assert one.asked == other.asked


@pytest.mark.parametrize("needed", [(5,), (5, 6), (2, 44), (7, 8, 9)])
def test_where_what_is_bypassed_hides_the_bug_the_other_way_is_taken_soon(needed: tuple[int, ...]) -> None:
    runs = Runs(all_of(*needed))

    def asked(cases: Sequence[Case]) -> list[bool]:
        return [runs.answer(case) and case.origin.test == "bare" for case in cases]

    def other(kept: Kept) -> Sequence[Case]:
        return [replace(case, origin=Origin("test", "bare"), inputs={"x": np.zeros(1)}) for case in runs.build(kept)]

    accepted: list[Kept] = []
    search = NodeSearch(graph(60, 4), runs.build, asked, lambda case: accepted.append(runs.kept(case)), bare=other)
    assert search.run() == set(needed) and accepted[-1] == set(needed)
    assert len(runs.asked) <= 22 + 12 * len(needed)


def test_a_way_that_hits_is_not_left_for_another() -> None:
    runs = Runs(all_of(5, 6))
    other = lambda kept: pytest.fail("the other way was taken")  # noqa: E731
    assert NodeSearch(graph(60, 4), runs.build, runs.ask, lambda case: None, bare=other).run() == {5, 6}


# ---------------------------------------------------------------- simplified forms


@pytest.mark.parametrize("needed", [(5,), (5, 6), (2, 44), (7, 8, 9)])
@pytest.mark.parametrize("matters", [False, True])
def test_the_same_nodes_are_found_whether_or_not_their_simplified_form_fails(
    needed: tuple[int, ...], matters: bool
) -> None:
    runs = Runs(all_of(*needed))
    runs.matters = matters
    assert runs.search(graph(60, 4), simple=runs.simple) == set(needed)
    assert len(runs.simple_ones) <= (3 if matters else 12)


def test_simplifying_along_with_the_last_cuts_costs_less_than_one_run_more() -> None:
    alone = together = 0
    searches = [(needed, seed) for needed in [(5,), (5, 6), (7, 8, 9)] for seed in range(8)]
    for needed, seed in searches:
        plain, both = Runs(all_of(*needed)), Runs(all_of(*needed))
        plain.search(graph(60, seed))
        both.search(graph(60, seed), simple=both.simple)
        assert both.accepted[-1] == set(needed) and both.simple_ones
        alone += len(plain.asked)
        together += len(both.asked) + len(both.simple_ones)
    assert together < alone + len(searches)


def test_once_a_simplified_cut_fails_all_later_ones_are_simplified() -> None:
    later = list[bool]()
    for seed in range(12):
        runs, order = Runs(all_of(7, 8, 9)), list[tuple[bool, bool]]()

        def ask(cases: Sequence[Case], runs: Runs = runs, order: list[tuple[bool, bool]] = order) -> list[bool]:
            answers = [runs.answer(case) for case in cases]
            order += [(case.model.startswith(b"simple"), fails) for case, fails in zip(cases, answers, strict=True)]
            return answers

        NodeSearch(graph(60, seed), runs.build, ask, lambda case: None, simple=runs.simple).run()
        hit = order.index((True, True)) if (True, True) in order else len(order)
        later += [simple for simple, _ in order[hit + 1 :]]
    assert len(later) > 12 and all(later)


@pytest.mark.parametrize("seed", [6, 13, 17, 23, 37])
def test_a_node_that_only_seems_needed_goes(seed: int) -> None:
    """One more node hides the bug unless another one is there, too: what was refused with it fails without it."""

    def hidden(kept: Kept) -> bool:
        return {10, 11} <= kept and (12 not in kept or 13 in kept)

    assert Runs(hidden).search(graph(40, seed)) == {10, 11}
