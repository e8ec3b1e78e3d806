"""Lines of a trace without what stands before each of them."""

from __future__ import annotations

import pytest

from triage.trace_lines import lines

BARE = ["Traceback (most recent call last):", '  File "/v/a.py", line 5, in run', "    go()", "ValueError: no"]


@pytest.mark.parametrize(
    "prefix",
    [
        "[rank{n}]: ",
        "2024-05-12T10:11:12.{n}Z worker-1 | ",
        "(Worker pid={n}) ",
        "[host:{n}] ",
        "==77{n}== ",
        "    | ",
        "E0712 08:46:16.86800{n} 713 site-packages/harness/log.py:6{n}] ",
        "05-12 12:33:44.12{n}  1234  1240 F DEBUG   : ",
        "\x1b[31m",
        "3: ",
        "> ",
        "> > ",
        "#12 45.3{n} ",
        "2026-02-03T10:11:12.12345678{n}Z stderr F ",
        "        ",
        "",
    ],
)
def test_what_every_line_begins_with_is_gone_and_nothing_else(prefix: str) -> None:
    raw = "\n".join(prefix.format(n=at) + line for at, line in enumerate(BARE))
    assert lines(raw) == BARE


@pytest.mark.parametrize(
    "raw",
    [
        "#0 0x1 in a ()\n#1 0x2 in b ()\n#2 0x3 in c ()",
        "[bt] (0) a\n[bt] (1) b\n[bt] (2) c",
        "frame #0: a\nframe #1: b\nframe #2: c",
        "    @ 0x1 a\n    @ 0x2 b\n    @ 0x3 c",
        "\tat a.B.c(B.java:1)\n\tat a.B.d(B.java:2)\n\tat a.B.e(B.java:3)",
        "",
    ],
)
def test_the_marks_of_frames_are_no_prefix(raw: str) -> None:
    assert lines(raw) == raw.splitlines()


def test_a_prefix_of_a_few_lines_only_stays() -> None:
    raw = "note: a\nnote: b\nc\nd\ne\nf"
    assert lines(raw) == raw.splitlines()


def test_lines_that_a_terminal_broke_are_put_together() -> None:
    long = ["ValueError: " + "a" * 140, "  #1 ns::Function<" + "b" * 90 + ">::call()", "end"]
    broken = [line[at : at + 80] for line in long for at in range(0, len(line), 80)]
    assert lines("\n".join(broken)) == long


def test_lines_of_one_length_that_begin_anew_stay_apart() -> None:
    raw = "\n".join(f"#{at} 0x{at:016x} in ns::f" + "x" * 43 + f"{at:017}" for at in range(4))
    assert len(raw.splitlines()[0]) == 90
    assert lines(raw) == raw.splitlines()
