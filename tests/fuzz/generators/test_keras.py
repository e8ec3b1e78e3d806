"""The recorded layers of Keras as cases."""

from __future__ import annotations

from importlib.util import find_spec
from itertools import islice

import pytest

from fuzz import instance
from fuzz.case import Case
from fuzz.generators import Skip, keras

with_keras = pytest.mark.skipif(find_spec("keras") is None, reason="the extra 'keras' is not installed")


def api(case: Case | Skip) -> str:
    assert isinstance(case, Case)
    return instance.parse(case.model).api


@with_keras
def test_every_recorded_layer_is_a_case_once() -> None:
    found = [case for case in keras.cases(0) if isinstance(case, Case)]
    assert len({case.id for case in found}) == len(found) >= 1800
    assert {case.kind for case in found} == {"keras"}
    assert len({api(case) for case in found}) >= 110


@with_keras
def test_layers_take_turns_in_an_order_that_the_seed_decides() -> None:
    first = [api(case) for case in islice(keras.cases(1), 100)]
    assert len(set(first)) == 100
    assert first == [api(case) for case in islice(keras.cases(1), 100)]
    assert first != [api(case) for case in islice(keras.cases(2), 100)]


def test_without_keras_one_skip_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keras.importlib.util, "find_spec", lambda name: None)
    (skip,) = keras.cases(0)
    assert isinstance(skip, Skip) and "graphwarden[keras]" in skip.reason
