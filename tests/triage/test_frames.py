"""What a report shows of native output."""

from __future__ import annotations

from triage.frames import native_lines, without_harness

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


def test_a_heading_above_the_workers_frames_goes_with_them() -> None:
    died = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x7f (most recent call first):\n"
    worker = '  File "/x/fuzz/backends/mnn.py", line 9 in run\n'
    assert native_lines(died + worker) == ["Fatal Python error: Segmentation fault"]
    theirs = '  File "/x/MNN/tools.py", line 9 in convert\n'
    assert native_lines(died + theirs)[-2:] == ["Current thread 0x7f (most recent call first):", theirs.rstrip()]


def test_a_message_does_not_quote_the_harness() -> None:
    message = (
        "Complex dtype is not supported for isneginf\n\n"
        "While executing %f : call_function[target=torch.ops.aten.f.default](args = (%x,), kwargs = {})\n"
        "Original traceback:\n"
        'File "instance_torch.py", line 230, in forward\n'
        "    return self.target(*args, **kwargs)\n"
        "Use tlparse to see full graph.\n"
    )
    assert without_harness(message) == (
        "Complex dtype is not supported for isneginf\n\n"
        "While executing %f : call_function[target=torch.ops.aten.f.default](args = (%x,), kwargs = {})\n"
        "Use tlparse to see full graph.\n"
    )
    kept = 'from user code:\n  File "layer.py", line 3, in forward\n    return f(x)\n'
    assert without_harness(kept) == kept
    both = 'Original traceback:\n  File "layer.py", line 3, in forward\n  File "/a/fuzz/worker.py", line 9, in run\n'
    assert without_harness(both) == 'Original traceback:\n  File "layer.py", line 3, in forward\n'
