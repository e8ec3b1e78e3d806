"""A wrong call of PyTorch is one step's bug where that step is wrong alone."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import pytest

from fuzz import catalogue
from fuzz.case import Case, Failure, Origin
from fuzz.judge import Judge
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage import roots, roots_call
from triage.passes._instances import parsed

TWO_BY_THREE = {"dtype": "float32", "shape": [2, 3], "values": [1, 2, 3, 4, 5, 6.5]}
INTEGERS = {"dtype": "int64", "shape": [3], "values": [1, 2, 3]}


@pytest.fixture(scope="module")
def judge() -> Iterator[Judge]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Judge(runner, catalogue.target("reference"))


def failing(judge: Judge, api: str, tensors: list[Mapping[str, Any]], *args: object, backend: str = "tvm") -> Failure:
    given = [*({"tensor": at} for at in range(len(tensors))), *args]
    document = {"library": "torch", "api": api, "args": given, "kwargs": {}, "tensors": tensors}
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    failure = judge.examine(case, catalogue.target(backend)).failure
    assert failure is not None
    return failure


def test_what_takes_the_last_element_is_a_bug_of_select(judge: Judge) -> None:
    """TVM's frontend hands -1 on as an index, which reads beyond the tensor's first axis."""
    found = roots.root(judge, failing(judge, "torch.trapezoid", [TWO_BY_THREE]))
    assert found is not None and found.symptom == "wrong:values"
    assert parsed(found.case).api == "torch.select" and parsed(found.case).args[1:] == (-1, -1)


def test_behind_a_wrong_type_is_the_step_that_gives_it_and_not_another_wrong_one(judge: Judge) -> None:
    """Of integers, trapz multiplies by one half, which TVM does in int64; select is wrong in its values before that."""
    failure = failing(judge, "torch.trapz", [INTEGERS])
    assert failure.symptom == "wrong:dtype"
    found = roots.root(judge, failure)
    assert found is not None and found.symptom == "wrong:dtype" and parsed(found.case).api == "torch.mul"


def test_a_call_of_one_step_is_its_own_bug(judge: Judge) -> None:
    assert roots.root(judge, failing(judge, "torch.select", [TWO_BY_THREE], -1, -1)) is None


def test_a_call_that_goes_wrong_otherwise_than_its_steps_do_is_its_own_bug(judge: Judge) -> None:
    failure = failing(judge, "torch.trapezoid", [TWO_BY_THREE])
    right = judge.runner.run(failure.case, judge.reference)
    assert roots.root(judge, failure) is not None
    other = replace(failure, outcome=replace(failure.outcome, outputs=right.outputs))
    assert roots.root(judge, other) is None, "given the steps, the compiler does not do what it does with the call"


def test_one_function_by_another_name_goes_by_the_one_that_it_becomes(judge: Judge) -> None:
    halves = {"dtype": "int64", "shape": [1, 1], "values": [2]}
    found = roots_call.renamed(judge, failing(judge, "torch.dsmm", [halves, halves]))
    assert found is not None and parsed(found.case).api == "torch.mm"
    scalar = {"dtype": "float32", "shape": [], "values": [1.0]}
    found = roots_call.renamed(judge, failing(judge, "torch.Tensor.argwhere", [scalar], backend="openvino"))
    assert found is not None and parsed(found.case).api == "torch.nonzero", "beside questions about its size"


def test_a_module_and_what_takes_more_words_as_its_step_keep_their_names(judge: Judge) -> None:
    picture = {"dtype": "float32", "shape": [1, 1, 3], "values": [1, 2, 3]}
    call = {"api": "torch.nn.MaxPool2d", "init": {"args": [1], "kwargs": {"return_indices": True}}}
    document = {"library": "torch", **call, "args": [{"tensor": 0}], "tensors": [picture]}
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None and roots_call.renamed(judge, failure) is None
    assert roots_call.renamed(judge, failing(judge, "torch.select", [TWO_BY_THREE], -1, -1)) is None


def test_a_normalisation_is_a_step_by_the_function_that_people_know(judge: Judge) -> None:
    rows = {"dtype": "float16", "shape": [1, 2, 1, 2], "values": [1, 2, 3, 4]}
    means = {"dtype": "float32", "shape": [2], "values": [1, 2]}
    given = [{"tensor": 0}, {"tensor": 1}, {"tensor": 2}]
    document = {
        "library": "torch",
        "api": "torch.nn.functional.instance_norm",
        "args": given,
        "tensors": [rows, means, means],
    }
    case = Case("instance", json.dumps(document).encode(), {}, Origin("test"))
    failure = judge.examine(case, catalogue.target("tvm")).failure
    assert failure is not None and failure.symptom == "wrong:dtype"
    found = roots.root(judge, failure)
    assert found is not None and parsed(found.case).api == "torch.nn.functional.batch_norm"


def test_behind_an_exception_that_no_step_raises_alone_is_the_one_that_gives_a_wrong_type(judge: Judge) -> None:
    """TVM's cumprod of int8 stays int8, where PyTorch's is int64; what joins it to a column of ones refuses it."""
    failure = failing(judge, "torch.linalg.vander", [{"dtype": "int8", "shape": [2], "values": [-8, 6]}])
    assert failure.symptom == "exception:TypeError"
    found = roots.root(judge, failure)
    assert found is not None and found.symptom == "wrong:dtype" and parsed(found.case).api == "torch.cumprod"
