"""Small items for tests of orders."""

from __future__ import annotations

from fuzz.ranking.item import Call, Item, Tensor, Value


def item(at: int, operator: str = "Op", **parameters: Value) -> Item:
    """One call of an operator."""
    return Item(at, (Call(operator, parameters),), f"{operator} {parameters}")


def company(at: int, *operators: str) -> Item:
    """A model of several operators."""
    return Item(at, tuple(Call(name, {}) for name in operators), " ".join(operators))


def tensor(*shape: int, dtype: str = "float") -> Tensor:
    return Tensor(dtype, shape)


def spread(operators: int, each: int) -> list[Item]:
    """`each` items of every operator, with different values."""
    return [item(at, f"Op{at % operators}", axis=at // operators, mode=str(at % 3)) for at in range(operators * each)]
