"""Issues that look like a bug are linked, and strangers are not. Titles in `known/` are those of real issues."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from triage.known import MOST, Issue, Similar, Sought, similar, with_section
from triage.projects import described

FOLDER = Path(__file__).parent / "known"
#: The project data that holds for a tracker.
BACKENDS = {described(name).tracker: name for name in ("tvm", "openvino", "onnxruntime", "inductor", "reference")}

#: What the judge says of a process that died without a word.
DIED = "the process died of SIGSEGV"


def pairs(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (FOLDER / name).read_text().splitlines()]


def found(pair: dict[str, Any]) -> bool:
    elsewhere = described(BACKENDS[pair["repository"]]).elsewhere
    sought = Sought(pair["title"], tuple(pair["operators"]), pair["message"], pair["symptom"], elsewhere)
    return bool(similar(sought, [Issue(pair["issue"], pair["issue_title"], pair.get("body", ""))]))


@pytest.mark.parametrize("name", ["pairs.jsonl", "held_out.jsonl"])
def test_what_is_linked_looks_alike_to_a_person_too(name: str) -> None:
    labelled = pairs(name)
    wrongly = [pair["title"] for pair in labelled if found(pair) and not pair["similar"]]
    missed = [pair["title"] for pair in labelled if pair["similar"] and not found(pair)]
    assert not wrongly and len(missed) <= 0.2 * sum(pair["similar"] for pair in labelled), (wrongly, missed)


GATHER = Sought("Gather with negative indices returns 0 instead of 5", ("Gather",), "", "wrong:values", ("relay",))


@pytest.mark.parametrize(
    ("title", "why"),
    [
        ("Gather mishandles negative indices", "names Gather and indices, negative"),
        ("Wrong result of the gather operator", "names Gather with the same kind of failure"),
        ("Gather crashes with SIGSEGV for negative indices", ""),
        ("Gather returns NaN for float16", ""),
        ("[Relay] Gather mishandles negative indices", ""),
        ("GatherND mishandles negative indices", ""),
        ("How do I gather negative examples?", ""),
    ],
)
def test_the_reason_is_what_both_name(title: str, why: str) -> None:
    assert [one.why for one in similar(GATHER, [Issue(1, title)])] == ([why] if why else [])


def test_a_message_is_recognised_whatever_numbers_and_names_stand_in_it() -> None:
    message = "Check failed: (slot->value_computed) is false: Symbolic var N is not computed"
    sought = Sought("Compiling Add fails with InternalError", ("Add",), message, "exception:InternalError")
    body = "Trace:\n  Check failed: (slot->value_computed) is false: Symbolic var 17 is not computed\n"
    [one] = similar(sought, [Issue(1, "It does not compile", body)])
    assert one.why == "holds the same message"
    assert not similar(sought, [Issue(1, "It does not compile", "Check failed: it is false")])


def test_two_checks_are_told_apart_by_their_conditions() -> None:
    message = "Check failed: (from.MatchesCode(kDLFloat) && to.MatchesCode(kDLFloat)) is false:"
    sought = Sought("Compiling Cast fails with InternalError", ("Cast",), message, "exception:InternalError")
    assert not similar(
        sought, [Issue(1, "Compiling mul fails", "Check failed: (t.MatchesCode(kDLFloat)) is false: to")]
    )
    assert similar(sought, [Issue(1, "It fails", f"{message} no float")])


def test_that_a_process_died_is_no_message_that_two_bugs_share() -> None:
    sought = Sought("Segmentation fault when running MaxPool", ("MaxPool",), DIED, "crash:SIGSEGV")
    assert not similar(sought, [Issue(1, "Segmentation fault when converting Sum", DIED)])
    [one] = similar(sought, [Issue(1, "Segmentation fault in MaxPool", DIED)])
    assert one.why == "names MaxPool with the same kind of failure"


def test_two_messages_of_one_wording_are_told_apart_by_what_they_quote() -> None:
    sought = Sought(
        "Converting Pad fails", ("Pad",), "'Var' object has no attribute 'value'", "exception:AttributeError"
    )
    assert not similar(sought, [Issue(1, "x", "'Var' object has no attribute 'tolist'")])
    assert similar(sought, [Issue(1, "x", "AttributeError: 'Var' object has no attribute 'value'")])


def test_a_general_title_is_read_on_in_its_body() -> None:
    body = 'node = helper.make_node("Gather", ["x", "i"], ["y"])  # negative indices'
    assert similar(GATHER, [Issue(1, "[Bug] mismatch between TVM and ONNX Runtime", body)])
    assert not similar(GATHER, [Issue(1, "[Bug] Conv is wrong", body)])


def test_the_likeliest_come_first_then_open_ones_then_new_ones_and_only_a_few() -> None:
    generic, exact = "The Gather operator is wrong", "Gather mishandles negative indices"
    issues = [Issue(number, generic, state="OPEN") for number in range(1, 9)]
    issues += [Issue(20, exact, state="closed"), Issue(10, exact, state="OPEN")]
    listed = [one.issue.number for one in similar(GATHER, issues)]
    assert listed == [10, 20, 8, 7, 6] and len(listed) == MOST


BODY = "text\n\n*Found, reduced and drafted by Graphwarden.*\n<!-- graphwarden:bug:1 -->\n"


def test_the_section_stands_before_the_end_and_is_replaced_not_repeated() -> None:
    one = Similar(Issue(7, "A @b <!-- c", "", "https://github.com/a/b/issues/7", "OPEN"), "names Gather", 1)
    body = with_section(BODY, [one])
    assert (
        "### Similar issues\n\n- [#7](https://github.com/a/b/issues/7): A @\u200bb \\<!-- c (open, names Gather)\n"
        in body
    )
    assert body.endswith(BODY.removeprefix("text\n\n")) and with_section(body, [one]) == body
    assert with_section(body, []) == BODY


def test_an_address_that_is_none_is_no_link() -> None:
    one = Similar(Issue(7, "A", "", "javascript:alert(1)) [x](http://evil", "OPEN"), "why", 1)
    assert "- `#7`: A (open, why)" in with_section(BODY, [one])
