"""Calls made from PyTorch's own documentation, checked by PyTorch."""

from __future__ import annotations

from collections import Counter

import pytest

from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request, load


@pytest.fixture(scope="module")
def found() -> list[Stored | Omitted]:
    wanted = ("torch.nn.functional.conv2d", "torch.cumsum", "torch.addmm")
    return list(load("docs")(Request(jobs=1, operators=wanted)))


def test_each_operator_has_calls_within_its_documentation(found: list[Stored | Omitted]) -> None:
    kept = [one for one in found if isinstance(one, Stored)]
    kinds = Counter((one.operator, one.source.kind) for one in kept)
    for operator in ("torch.nn.functional.conv2d", "torch.cumsum", "torch.addmm"):
        assert 3 <= kinds[operator, "docs-conforming"] <= 16, kinds
    assert len({one.id for one in kept}) == len(kept)


def test_what_pytorch_takes_against_its_documentation_is_told_apart(found: list[Stored | Omitted]) -> None:
    broken = {one.source.test for one in found if isinstance(one, Stored) and one.source.kind == "docs-violating"}
    assert "torch.cumsum sign of dim" in broken


def test_what_pytorch_refuses_is_counted(found: list[Stored | Omitted]) -> None:
    refused = [one for one in found if isinstance(one, Omitted)]
    assert sum(one.count for one in refused) > 0 and all(one.reason for one in refused)


def test_an_unknown_operator_is_told() -> None:
    with pytest.raises(MigrationFailed, match=r"no operator of PyTorch matches torch\.nonsense"):
        list(load("docs")(Request(operators=("torch.nonsense",))))
