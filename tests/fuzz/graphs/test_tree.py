"""Monte Carlo tree search: potentials, bounds, exploration and rewards."""

import json
import math

from fuzz.graphs.kept import KeptTree
from fuzz.graphs.tree import Node, Search, Tree


def grown(tree, *blocks):
    node = tree.root
    for block in blocks:
        node = tree.expand(node, block)
    return node


def test_the_potential_is_that_of_the_paper():
    tree = Tree(Search())
    node = grown(tree, "a")
    assert node.potential(1.0) == math.inf
    tree.root.visits, node.visits, node.value = 8, 2, 1.0
    assert node.potential(1 / math.sqrt(2)) == 1.0 / 2 + math.sqrt(math.log(8) / 2) / math.sqrt(2)


def test_a_node_has_as_many_children_as_its_visits_allow():
    tree = Tree(Search(widening=0.5))
    assert tree.select() is tree.root
    first = tree.expand(tree.root, "a")
    assert not tree.has_room(tree.root) and tree.select() is first
    for visits, children in ((1, 1), (2, 2), (4, 2), (5, 3), (9, 3), (10, 4)):
        tree.root.visits = visits
        while tree.has_room(tree.root):
            tree.expand(tree.root, "b")
        assert len(tree.root.children) == children


def test_rewards_and_visits_go_back_to_the_root():
    tree = Tree(Search())
    node = grown(tree, "a", "b", "c")
    tree.visit(node, 0.5)
    tree.correct(node, 0.5, 1.5)
    assert [(each.visits, each.value) for each in (node, node.parent, tree.root)] == [(1, 1.5)] * 3
    assert node.path() == ["a", "b", "c"]


def test_a_success_makes_its_branch_more_promising():
    tree = Tree(Search())
    good, bad = tree.expand(tree.root, "good"), tree.expand(tree.root, "bad")
    for node, value in ((good, 1.0), (bad, 0.0)):
        for _ in range(2):
            tree.visit(node, value)
    assert tree.select() is good


def test_bounds_are_as_wide_as_rewards_are_spread():
    """Rewards between 0.50 and 0.52 decide just as those between 0 and 1 do: a branch that is better is taken."""
    for scale in (1.0, 0.01):
        tree = Tree(Search(depth=1, explored=1000))
        good, bad = tree.expand(tree.root, "good"), tree.expand(tree.root, "bad")
        for at in range(30):
            tree.visit(good, 0.5 + scale * (0.4 + 0.1 * (at % 2)))
            tree.visit(bad, 0.5 - scale * (0.4 + 0.1 * (at % 2)))
        tree.root.full = True
        assert tree.select() is good
        for _ in range(30):
            tree.visit(good, 0.5 + scale * 0.4)
        assert tree.select() is good


def test_paths_are_no_longer_than_the_tree_has_levels():
    tree = Tree(Search(depth=3))
    for _ in range(10):
        leaf = tree.select()
        if tree.has_room(leaf):
            leaf = tree.expand(leaf, "x")
        assert leaf.depth <= 3
        tree.visit(leaf, 0.1)


def test_what_is_explored_often_enough_is_left_aside_and_in_the_end_the_tree_begins_anew():
    tree = Tree(Search(depth=1, explored=2))
    one, other = tree.expand(tree.root, "a"), tree.expand(tree.root, "b")
    tree.root.full = True
    for node in (one, one):
        tree.visit(node, 1.0)
    assert one.done and not tree.root.done
    assert tree.select() is other
    for node in (other, other):
        tree.visit(node, 1.0)
    before = tree.root
    assert before.done and tree.select() is not before and not tree.root.children


def test_a_node_whose_children_are_all_explored_gets_another_one():
    tree = Tree(Search(depth=1, explored=1))
    tree.visit(tree.expand(tree.root, "a"), 1.0)
    assert tree.root.children[0].done and not tree.root.done and tree.has_room(tree.root)


def test_a_tree_never_has_more_nodes_than_are_allowed():
    tree = Tree(Search(depth=3, nodes=20))
    for _ in range(200):
        leaf = tree.select()
        if tree.has_room(leaf):
            leaf = tree.expand(leaf, "x")
        tree.visit(leaf, 0.5)
        assert size(tree.root) == tree.size <= 20


def test_a_tree_goes_on_where_another_one_stopped_without_blocks_that_are_gone():
    tree = searched(Tree(Search(depth=3)), 40)
    state = KeptTree(**json.loads(json.dumps(tree.state())))
    again = Tree(Search(depth=3))
    again.restore(state, lambda block: True)
    assert again.state() == tree.state() and again.size == tree.size
    assert searched(again, 25).state() == searched(tree, 25).state()
    fewer = Tree(Search(depth=3))
    fewer.restore(state, lambda block: block != "0")
    assert fewer.size < again.size and size(fewer.root) == fewer.size
    assert not any("0" in node.path() for node in everything(fewer.root))


def searched(tree, models):
    for at in range(models):
        leaf = tree.select()
        if tree.has_room(leaf):
            leaf = tree.expand(leaf, str(len(leaf.children)))
        tree.visit(leaf, (len(leaf.path()) + at % 3) / 10)
    return tree


def everything(node):
    yield node
    for child in node.children:
        yield from everything(child)


def size(node: Node) -> int:
    return 1 + sum(size(child) for child in node.children)
