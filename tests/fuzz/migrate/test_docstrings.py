"""What is read out of a docstring, and what is not."""

from __future__ import annotations

import pytest

from fuzz.migrate._docstrings import Parameter, read
from fuzz.migrate._shapes import Shape

POOL = """
soft_pool(input, kernel_size, stride=None, *, mode='mean', beta=1, out=None) -> (Tensor, LongTensor)

Pools softly. If :attr:`input` is a :math:`(N, C, L)` tensor, the result is smaller.

Args:
    input (Tensor): the input tensor
    kernel_size (int or tuple of ints): size of the window,
        must be > 0
    stride (int, optional): step. Default: :attr:`kernel_size`

Keyword args:
    mode (str, optional): ``'mean'`` | ``'sum'``. Default: ``'mean'``
    beta (float, optional): a value in the range [0, 1].
    out (Tensor, optional): the output tensor.

Example::

    >>> soft_pool(torch.randn(1, 2, 3), 2)  # stride in (7, 9)
"""


def parameters(doc: str, signature: str = "", **kinds: list[str]) -> dict[str, Parameter]:
    function = read("torch.soft_pool", doc, signature, kinds)
    assert function is not None
    return {parameter.name: parameter for parameter in function.parameters}


def test_kinds_bounds_choices_and_shapes_are_read() -> None:
    found = parameters(POOL)
    assert found["input"] == Parameter("input", ("tensor",), shapes=(Shape(("N", "C", "L")),))
    assert found["kernel_size"] == Parameter("kernel_size", ("ints", "int"), low=1)
    assert found["stride"] == Parameter("stride", ("int",), required=False, default="None")
    assert found["mode"] == Parameter("mode", ("str",), False, True, "'mean'", choices=("mean", "sum"))
    assert (found["beta"].kinds, found["beta"].low, found["beta"].high) == (("float",), 0, 1)


def test_what_the_call_cannot_give_is_left_out() -> None:
    assert list(parameters(POOL)) == ["input", "kernel_size", "stride", "mode", "beta"]


def test_examples_are_no_constraints() -> None:
    assert (parameters(POOL)["stride"].low, parameters(POOL)["stride"].high) == (None, None)


def test_the_librarys_own_signature_comes_first() -> None:
    found = parameters(
        "No words.", "(input: torch.Tensor, p: float = 0.5, *, inplace: bool = False, _level=3) -> Tensor"
    )
    assert [(p.name, p.kinds, p.required, p.keyword) for p in found.values()] == [
        ("input", ("tensor",), True, False),
        ("p", ("float",), False, False),
        ("inplace", ("bool",), False, True),
    ]


def test_declared_kinds_fill_what_the_documentation_leaves_open() -> None:
    assert parameters("soft_pool(input, dim) -> Tensor", dim=["int"])["dim"].kinds == ("int",)


@pytest.mark.parametrize(
    ("sentence", "bounds"),
    [
        ("must be non-negative", (0, None)),
        ("must be >= 2", (2, None)),
        ("a positive number", (1, None)),
        ("between 0 and 1", (0, 1)),
        (r"with :math:`p \geq 1`", (1, None)),
        ("the axes (1, 0) are swapped", (None, None)),
        ("any number", (None, None)),
    ],
)
def test_sentences_bound_values(sentence: str, bounds: tuple[float | None, float | None]) -> None:
    found = parameters(f"soft_pool(input, p) -> Tensor\n\nArgs:\n    p (float): {sentence}.\n")["p"]
    assert (found.low, found.high) == bounds


def test_integer_tensors_are_told_from_floating_ones() -> None:
    doc = "soft_pool(input, index) -> Tensor\n\nArgs:\n    input (Tensor): x\n    index (LongTensor): y\n"
    found = parameters(doc)
    assert (found["input"].dtypes, found["index"].dtypes) == ((), ("int64",))


@pytest.mark.parametrize("doc", ["", "Alias for :func:`torch.abs`.", "other(a, b) -> Tensor"])
def test_a_text_without_a_signature_gives_nothing(doc: str) -> None:
    assert read("torch.soft_pool", doc) is None


def test_a_method_is_called_on_a_tensor_that_its_documentation_does_not_name() -> None:
    function = read("torch.Tensor.addmm", "addmm(mat1, mat2, *, beta=1) -> Tensor\n\nSee :func:`torch.addmm`")
    assert function is not None and [p.name for p in function.parameters] == ["input", "mat1", "mat2", "beta"]
    bare = read("torch.Tensor.abs", "\nabs() -> Tensor\n\nSee :func:`torch.abs`\n")
    assert bare is not None and [(p.name, p.kinds) for p in bare.parameters] == [("input", ("tensor",))]
