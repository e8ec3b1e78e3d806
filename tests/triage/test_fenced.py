"""What people paste into a chat."""

from __future__ import annotations

from tests.triage.test_group import groups
from triage.fenced import unfenced, unquoted

RAISED = "TypeError: only size-1 arrays can be converted to Python scalars"
TRACE = f"""Traceback (most recent call last):
  File "/opt/lib/python3.11/site-packages/acme/frontend/ops.py", line 3081, in _cast
    res = const(dtype(x.val))
{RAISED}"""


def test_what_was_pasted_is_the_message_and_the_talk_around_it_is_not() -> None:
    assert unfenced(f"same as yesterday?\n```\n{TRACE}\n```\nany idea?") == TRACE
    assert unquoted(f"got this again on our model `{RAISED}` :cry:") == RAISED
    assert unfenced(f"here:\n```python\nmodel = net()\n```\nand then\n```\n{TRACE}\n```") == TRACE


def test_a_text_without_a_pasted_failure_stays_as_it_is() -> None:
    for text in (
        "the shape of `x` is wrong",
        "```\nmodel = net()\n```\ngives nothing",
        f"### Error\n```\n{TRACE}\n```",
    ):
        assert unfenced(text) == text


def test_a_quote_within_what_a_program_said_takes_nothing_away() -> None:
    for text in (
        f"{TRACE} See `acme.errors.TracerBoolConversionError` for details.",
        f"{TRACE}\n```\nreport the error\n```",
    ):
        assert unfenced(text) == text and unquoted(text) == text


def test_a_console_is_one_bug_however_it_was_pasted() -> None:
    clock = "\n".join(f"11:44:34 {line}" for line in TRACE.splitlines())
    quoted = "\n".join(f"> {line}" for line in TRACE.splitlines())
    pasted = (TRACE, f"FYI\n```\n{clock}\n```", f"hey, anyone seen this?\n```\n{quoted}\n```", f"with fp16:\n{quoted}")
    forum = f"Please help!\n~~~\n{TRACE}\n~~~\n\n---\n**kim_b** (2026-02-03): An error, too? Which version?"
    page = f"It raises:\n<pre><code>{TRACE}</code></pre>\nWhat am I doing wrong?"
    pasted = (*pasted, forum, page)
    other = TRACE.replace("_cast", "_resize").replace("3081", "77")
    assert groups(*({"message": text} for text in (*pasted, other))) == [{0, 1, 2, 3, 4, 5}, {6}]
