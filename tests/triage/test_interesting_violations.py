"""A reduction cannot slide from a valid model into one that breaks the specification."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin, Revision, Target
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.interesting import same_signature
from triage.signature import Signature, sign

FAULTY = Target(str(Path(__file__).parents[1] / "faulty" / "faulty.py"), Revision("0"))
TEXT = '<ir_version: 8, opset_import: ["": 17]> g (float[n] x, int64[m] by) => (float[k] y) { y = Tile(x, by) }'


def tile(fault: str, *repeats: int, first: float = 1) -> Case:
    model = parser.parse_model(TEXT)
    model.graph.doc_string = f"fault:{fault};"
    inputs = {"x": np.array([first, 1], np.float32), "by": np.array(repeats, np.int64)}
    return Case("onnx", model.SerializeToString(), inputs, Origin("planted"))


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def signed(found: Failure) -> Signature:
    return sign(found, [("", "Tile", 17)], [""])


@pytest.mark.parametrize("fault", ["plain_exception", "null_dereference", "wrong_result"])
def test_a_candidate_that_breaks_the_specification_is_never_interesting(judge: Judge, fault: str) -> None:
    like = judge.examine(tile(fault, 1, first=3), FAULTY).failure
    assert like is not None
    interesting = same_signature(judge, like, signed)
    assert interesting(tile(fault, 1))
    assert not interesting(tile(fault, 1, 1))
