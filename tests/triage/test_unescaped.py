"""Traces and messages that went through a page, a string or the log of a CI."""

from __future__ import annotations

import pytest

from triage.frame_order import Order
from triage.reading import Report, read
from triage.traces import Trace
from triage.traces import read as trace
from triage.unescaped import unescaped

TRACE = """Traceback (most recent call last):
  File "bug.py", line 3, in main
    build(model)
  File "/opt/venv/lib/python3.11/site-packages/halcyon/ir.py", line 8, in <lambda>
    check(a < b)
ValueError: Ramp<float> & lanes > 1"""


def escaped(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


@pytest.mark.parametrize(
    "written",
    [
        escaped(TRACE),
        TRACE.replace("\n", "\\n").replace('"', '\\"'),
        "\n".join(
            f"test (3.11)\tRun tests\t2024-05-04T11:22:0{at}.1234567Z {x}" for at, x in enumerate(TRACE.split("\n"))
        ),
    ],
)
def test_a_trace_is_read_as_it_was(written: str) -> None:
    assert unescaped(written) == TRACE
    found = trace(written)
    assert isinstance(found, Trace) and found == trace(TRACE) and found.frames


def test_a_message_is_read_as_it_was() -> None:
    assert (
        read(Report("1", "Ramp&lt;float&gt; is bad"), Order([])).normal
        == read(Report("1", "Ramp<float> is bad"), Order([])).normal
    )


@pytest.mark.parametrize("text", ["a && b", "C:\\new\\name", "line one\nregex '\\n\\n'", "R&D\tZ", ""])
def test_what_only_looks_so_stays(text: str) -> None:
    assert unescaped(text) is text


def test_only_the_signs_that_a_page_needs_itself_are_turned_back() -> None:
    assert unescaped("a &lt; b &notin; c &amp;lt; d") == "a < b &notin; c &lt; d"


def test_lines_that_are_no_records_stay_as_they_are() -> None:
    for text in ('{"log": 3}', '{"pod": "a"}', '{"log": "cut', '{"a":' * 100_000, "{" * 10):
        assert unescaped(f"{text}\nx") == f"{text}\nx"
    assert unescaped('{"log": "one\\n", "stream": "stderr"}\nplain\n{"msg": "two", "ts": 3}') == "one\nplain\ntwo"
