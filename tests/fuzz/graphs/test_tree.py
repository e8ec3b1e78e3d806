"""Monte Carlo tree search: potentials, bounds, exploration and rewards."""

import math

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


def test_a_node_with_room_for_children_is_selected_before_one_below_it():
    tree = Tree(Search(children=2))
    assert tree.select() is tree.root
    first = tree.expand(tree.root, "a")
    assert tree.select() is tree.root
    second = tree.expand(tree.root, "b")
    tree.visit(first, 1.0)
    tree.visit(second, 0.0)
    assert tree.select() is first


def test_rewards_and_visits_go_back_to_the_root():
    tree = Tree(Search())
    node = grown(tree, "a", "b", "c")
    tree.visit(node, 0.5)
    tree.reward(node, 1.0)
    assert [(each.visits, each.value) for each in (node, node.parent, tree.root)] == [(1, 1.5)] * 3
    assert node.path() == ["a", "b", "c"]


def test_a_success_makes_its_branch_more_promising():
    tree = Tree(Search(children=2))
    good, bad = tree.expand(tree.root, "good"), tree.expand(tree.root, "bad")
    for node, value in ((good, 1.0), (bad, 0.0)):
        for _ in range(3):
            tree.visit(node, value)
    assert tree.select() is good


def test_paths_are_no_longer_than_the_tree_has_levels():
    tree = Tree(Search(depth=3, children=1))
    for _ in range(10):
        leaf = tree.select()
        if tree.has_room(leaf):
            leaf = tree.expand(leaf, "x")
        assert leaf.depth <= 3
        tree.visit(leaf, 0.1)


def test_what_is_explored_often_enough_is_left_aside_and_in_the_end_the_tree_begins_anew():
    tree = Tree(Search(depth=1, explored=2, children=2))
    one, other = tree.expand(tree.root, "a"), tree.expand(tree.root, "b")
    for node in (one, one):
        tree.visit(node, 1.0)
    assert one.done and not tree.root.done
    assert tree.select() is other
    for node in (other, other):
        tree.visit(node, 1.0)
    before = tree.root
    assert before.done and tree.select() is not before and not tree.root.children


def test_a_tree_never_has_more_nodes_than_depth_and_children_allow():
    tree = Tree(Search(depth=3, children=2))
    for _ in range(200):
        leaf = tree.select()
        if tree.has_room(leaf):
            leaf = tree.expand(leaf, "x")
        tree.visit(leaf, 0.5)
        assert size(tree.root) <= 1 + 2 + 4 + 8


def size(node: Node) -> int:
    return 1 + sum(size(child) for child in node.children)
