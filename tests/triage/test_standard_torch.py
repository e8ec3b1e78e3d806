"""PyTorch's documentation is quoted as it stands, read from the installed sources."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from fuzz.case import Case, Origin, Outcome, Stage, Status
from triage.conditions import Condition
from triage.docstrings_torch import docstring
from triage.standard import sentences
from triage.standard_torch import parameter, quotations

WRONG = Outcome(Status.WRONG, Stage.RUN)


def quoted(api: str, *conditions: Condition, outcome: Outcome = WRONG) -> list[tuple[str, str]]:
    case = Case("instance", json.dumps({"api": api, "args": []}).encode(), {}, Origin("test"))
    return [(one.text, one.where) for one in quotations(case, outcome, conditions)]


def needs(text: str) -> Condition:
    return Condition("attribute", text, "It passes without.", True)


def test_the_sentence_on_the_argument_is_quoted() -> None:
    [(text, where)] = quoted("torch.nn.AvgPool2d", needs("ceil_mode=True"), needs("argument 2 = 3"))
    assert text == "when True, will use `ceil` instead of `floor` to compute the output shape"
    assert where == "torch.nn.AvgPool2d, argument `ceil_mode`"


def test_what_holds_for_training_alone_is_not_quoted_for_a_result() -> None:
    [(text, _)] = quoted("torch.nn.functional.embedding_bag", needs("padding_idx=0"))
    assert text == "Note that the embedding vector at `padding_idx` is excluded from the reduction."


@pytest.mark.parametrize(
    ("api", "condition", "outcome"),
    [
        ("torch.nn.AvgPool2d", needs("no_such_argument=1"), WRONG),
        ("torch.nn.AvgPool2d", Condition("attribute", "ceil_mode=True", "", False), WRONG),
        ("torch.nn.AvgPool2d", needs("ceil_mode=True"), Outcome(Status.SIGNAL, Stage.RUN)),
        ("torch.addmm", needs("beta=0"), WRONG),  # a formula
        ("torch.nn.functional.pad", needs("mode='reflect'"), WRONG),  # a list of words
        ("torch.sum", needs("keepdim=True"), WRONG),  # filled in elsewhere
        ("torch.no_such_function", needs("x=1"), WRONG),
        ("somewhere.else", needs("x=1"), WRONG),
    ],
)
def test_nothing_is_quoted_where_nothing_fits(api: str, condition: Condition, outcome: Outcome) -> None:
    assert quoted(api, condition, outcome=outcome) == []


FOUND = {
    "torch.nn.LSTM": "batch_first",
    "torch.nn.functional.interpolate": "antialias",  # a function with overloads
    "torch.nn.functional.avg_pool2d": "divisor_override",  # text attached to what C++ defines
    "torch.special.logit": "eps",
    "torch.div": "rounding_mode",
    "torch.stft": "center",
}


def test_what_is_read_from_the_sources_is_what_torch_itself_says() -> None:
    code = "import json, sys, torch; print(json.dumps({n: eval(n).__doc__ for n in sys.argv[1:]}))"
    done = subprocess.run([sys.executable, "-c", code, *FOUND], capture_output=True, text=True, check=True)
    for api, doc in json.loads(done.stdout).items():
        told = parameter(docstring(api), FOUND[api])
        assert told == parameter(doc, FOUND[api]) and next(sentences(told)), api


def test_torch_is_not_imported_for_it() -> None:
    code = "import sys; from triage import docstrings_torch as s; assert s.docstring('torch.add')"
    code += "; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
