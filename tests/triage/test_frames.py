"""What a report shows of native output."""

from __future__ import annotations

from triage.frames import native_lines

STDERR = """copyreg.py:105: FutureWarning: `isinstance(treespec, LeafSpec)` is deprecated, use something else.
  return cls.__new__(cls, *args)
[08:14:22] /src/relax/block_builder.cc:67: Warning: BlockBuilder destroyed with remaining blocks!

Fatal Python error: Floating point exception
"""


def test_warnings_of_python_are_no_part_of_what_a_compiler_said() -> None:
    assert native_lines(STDERR) == [
        "/src/relax/block_builder.cc:67: Warning: BlockBuilder destroyed with remaining blocks!",
        "Fatal Python error: Floating point exception",
    ]


def test_a_warning_at_the_end_takes_no_other_line_along() -> None:
    assert native_lines("a.py:1: UserWarning: no\nAborted") == ["Aborted"]
    assert native_lines("a.py:1: UserWarning: no") == ["a.py:1: UserWarning: no"], "it may have been cut"
