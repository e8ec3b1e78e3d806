"""Block corpora: those that come with the project, and clear words for those that cannot be used."""

import pytest

from fuzz.coverage.operator_level import Degrees
from fuzz.graphs import blocks
from fuzz.graphs.blocks import BlockError
from fuzz.operators.families import operators

GOOD = """
shapes = [[2, 3]]
out = [0, 1]
[operators]
Add = {in = [2]}
Relu = {in = [1], out = [0, 1, 2]}
[[subgraphs]]
operators = ["Relu", "Add"]
edges = [[0, 1], [0, 1]]
in = [1]
"""


def written(tmp_path, text):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    return str(path)


def test_the_usual_corpus_has_every_operator_of_the_table_that_has_no_body():
    corpus = blocks.load()
    assert set(corpus.degrees) == set(operators())
    assert sum(block.is_subgraph for block in corpus.blocks) >= 10


def test_the_corpus_of_the_paper_has_fifty_operators_and_three_subgraphs():
    corpus = blocks.load(blocks.PAPER)
    assert len(corpus.degrees) == 50 and sum(block.is_subgraph for block in corpus.blocks) == 3
    assert all(degrees.outs == frozenset(range(6)) for degrees in corpus.degrees.values())


def test_a_file_of_ones_own_is_read(tmp_path):
    corpus = blocks.load(written(tmp_path, GOOD))
    assert [block.name for block in corpus.blocks] == ["Add", "Relu", "Relu+Add"]
    assert corpus.blocks[2].edges == ((0, 1), (0, 1))
    assert corpus.degrees == {"Add": Degrees.of([2], [0, 1]), "Relu": Degrees.of([1], [0, 1, 2])}


def test_what_an_older_opset_lacks_is_left_out_with_the_subgraphs_that_need_it():
    new, old = blocks.load(), blocks.load(opset=17)
    assert {"Gelu", "DeformConv"} <= set(new.degrees) - set(old.degrees)
    assert set(old.degrees) <= set(operators(17))
    assert all(set(block.operators) <= set(old.degrees) for block in old.blocks)


def test_a_part_of_a_corpus_has_the_blocks_of_its_operators_alone():
    part = blocks.load().only({"Mul", "Sigmoid", "Tan"})
    assert sorted(block.name for block in part.blocks) == ["Mul", "Sigmoid", "Sigmoid+Mul", "Tan"]
    assert set(part.degrees) == {"Mul", "Sigmoid", "Tan"}
    with pytest.raises(BlockError, match=r"the corpus has no block of LSTM alone"):
        blocks.load(blocks.PAPER).only({"LSTM"})


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("Add = {in = [2]}", "Adder = {in = [2]}", r"operators\.Adder: the operator table has no such operator"),
        ("Add = {in = [2]}", "Add = [2]", r"operators\.Add: must be \{in = \[...\]\}"),
        ("Add = {in = [2]}", "Add = {in = []}", r"operators\.Add\.in: must be a list of degrees from 0 on"),
        ("Add = {in = [2]}", "Add = {in = [-1]}", r"operators\.Add\.in: must be a list of degrees"),
        ("Add = {in = [2]}", "Add = {in = [true]}", r"operators\.Add\.in: must be a list of degrees"),
        ("Add = {in = [2]}", "Add = {in = [2], outs = [1]}", r"operators\.Add: must be"),
        ("Add = {in = [2]}", "", r"subgraphs\[0\]\.operators: Add is not among the operators of the corpus"),
        ("out = [0, 1]\n", "", r"out: must be a list of degrees"),
        ("out = [0, 1]\n", "out = [0]\ncolour = 1\n", r"colour: is not known; a corpus has operators, out, rest"),
        ("[[2, 3]]", "[[2, 0]]", r"shapes: \[2, 0\]: give at most 5 positive sizes"),
        ("[[2, 3]]", "[[100, 100]]", r"shapes: \[100, 100\]: .* product up to 3125"),
        ("[[2, 3]]", "[]", r"shapes: must be a list of shapes"),
        ('["Relu", "Add"]', '["Relu"]', r"subgraphs\[0\]\.operators: must be two names or more"),
        ('["Relu", "Add"]', '["Relu", "Adder"]', r"no operator 'Adder'"),
        ("[[0, 1], [0, 1]]", "[[1, 0]]", r"subgraphs\[0\]\.edges: \[1, 0\] does not go from an operator to a later"),
        ("[[0, 1], [0, 1]]", "[[0, 2]]", r"subgraphs\[0\]\.edges: \[0, 2\] does not go"),
        ("[[0, 1], [0, 1]]", "[0, 1]", r"subgraphs\[0\]\.edges: must be a list of pairs"),
        ("edges = ", "edge = ", r"subgraphs\[0\]: must have operators, edges and in"),
        ("[operators]", "[operators", r"is not TOML"),
    ],
)
def test_a_corpus_that_cannot_be_used_is_told_with_file_and_place(tmp_path, old, new, told):
    assert old in GOOD
    path = written(tmp_path, GOOD.replace(old, new))
    with pytest.raises(BlockError, match=told) as raised:
        blocks.load(path)
    assert str(raised.value).startswith(path)


def test_a_missing_file_is_told(tmp_path):
    with pytest.raises(BlockError, match=r"none\.toml: No such file or directory; name a corpus"):
        blocks.load(str(tmp_path / "none.toml"))
    with pytest.raises(BlockError, match=r"blocks/mine\.toml: No such file"):
        blocks.load("mine")
