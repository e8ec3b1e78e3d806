"""Frames out of raw text."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fuzz.case import Frame
from triage.trace_listed import listed
from triage.traces import PythonFrame, read

RUST = """thread 'main' panicked at src/foo.rs:12:5:
index out of bounds
stack backtrace:
   0: rust_begin_unwind
             at /rustc/1f/library/std/src/panicking.rs:645:5
   1: foo::bar
             at ./src/foo.rs:12:5
"""
TVM = """Traceback (most recent call last):
  File "run.py", line 3, in <module>
    build(m)
  1: tvm::relax::Bar(int)
        at /x/y.cc:12
  0: tvm::relax::Foo(int)
        at /x/y.cc:10
InternalError: Check failed
"""
THREADS = """Fatal Python error: Segmentation fault

Thread 0x00007f01 (most recent call first):
  File "/usr/lib/python3.11/threading.py", line 1 in wait

Current thread 0x00007f02 (most recent call first):
  File "/a/inner.py", line 5 in inner
  File "/a/run.py", line 9 in <module>
"""
GDB = """Thread 2 (Thread 0x7f (LWP 12)):
#0  0x01 in wait () from /lib/libc.so.6
#1  0x02 in idle () at i.c:1

Thread 1 (Thread 0x7e (LWP 11)):
#0  0x03 in raise () from /lib/libc.so.6
#1  0x04 in handler () at h.c:1
#2  <signal handler called>
#3  0x05 in ns::f (x=1, y=...) at f.cc:7
"""


def functions(text: str) -> list[str]:
    return [frame.function for frame in read(text).frames]


def test_a_real_traceback_is_read_innermost_first() -> None:
    code = "def outer(): inner()\ndef inner(): raise KeyError('x')\nouter()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    found = read(done.stderr)
    assert [frame.function for frame in found.frames] == ["inner", "outer", "<module>"]
    assert (found.text, found.cut) == ("KeyError: 'x'", False)


@pytest.mark.parametrize(
    ("handler", "functions"),
    [
        ("raise ValueError('v') from e", ["a", "b", "b", "<module>"]),
        ("raise ValueError('v')", ["a", "b", "b", "<module>"]),
        ("c()", ["c", "b", "<module>"]),
        ("raise ValueError('v') from None", ["b", "<module>"]),
    ],
    ids=["from", "renamed", "handler failed", "from None"],
)
def test_a_chain_of_exceptions_begins_where_the_first_was_raised_unless_the_handler_itself_failed(
    handler: str, functions: list[str]
) -> None:
    code = f"def a(): 1 / 0\ndef c(): [][1]\ndef b():\n    try: a()\n    except Exception as e:\n        {handler}\nb()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert [frame.function for frame in read(done.stderr).frames] == functions


def test_every_form_gives_its_frames_innermost_first() -> None:
    assert functions(RUST) == ["rust_begin_unwind", "foo::bar"]
    assert read(RUST).frames[1] == Frame("./src/foo.rs", 12, "foo::bar")
    assert functions(TVM) == ["tvm::relax::Foo(int)", "tvm::relax::Bar(int)", "<module>"]
    assert functions(THREADS) == ["inner", "<module>"]


def test_a_frame_of_python_keeps_its_line_of_code_but_not_the_marks_below_it() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "a.py", line 4, in <module>\n    f(2)\n'
        '  File "a.py", line 2, in f\n    return (x + 1 / 0)\n                ~~^~~\n'
        '  File "b.cc", line 9, in ns::f(int)\n  0: ns::g(int)\nZeroDivisionError: division by zero\n'
    )
    found = [each for each in read(trace).frames if isinstance(each, PythonFrame)]
    assert [each.code for each in found] == ["", "return (x + 1 / 0)", "f(2)"]


def test_where_the_traced_program_was_is_none_of_the_compilers_calls() -> None:
    trace = (
        'Traceback (most recent call last):\n  File "c.py", line 1, in compile\n    raise E\nE: boom\n\n'
        'from user code:\n  File "net.py", line 9, in forward\n    return x\n\nSet A=1 for more\n'
    )
    assert [frame.file for frame in read(trace).frames] == ["c.py"]
    assert not read(trace).cut
    again = trace + 'Traceback (most recent call last):\n  File "d.py", line 1, in g\n    raise F\nF\n'
    assert [frame.file for frame in read(again).frames] == ["d.py"]


def test_of_several_threads_the_one_that_died_counts_below_its_handler() -> None:
    assert read(GDB).frames == (Frame("f.cc", 7, "ns::f"),)


def test_a_trace_without_its_inner_end_is_known_as_cut() -> None:
    assert read("#3 0x1 in f () at a.c:1\n#4 0x2 in g () at a.c:2").cut
    assert read('Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()').cut
    assert not read("#0 0x1 in f () at a.c:1").cut
    assert not read('Traceback (most recent call last):\n  File "a.py", line 1, in f\n    g()\nKeyError').cut


def test_text_that_is_no_trace_has_no_frames() -> None:
    for text in ("", "\n\n", "12: not indented", "see http://x/y:80", "at last", "File not found", "a!b", "f(x)"):
        assert read(text).frames == (), text


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        ("ns::f", Frame("", 0, "ns::f")),
        ("f at a/b.cc:12", Frame("a/b.cc", 12, "f")),
        ("f (a/b.cc:12)", Frame("a/b.cc", 12, "f")),
        ("f@a/b.cc:12", Frame("a/b.cc", 12, "f")),
        ("a/b.py:12 in f", Frame("a/b.py", 12, "f")),
        ("a/b.py:12", Frame("a/b.py", 12, "")),
        ("b.py:f", Frame("b.py", 0, "f")),
        ("b.py", Frame("b.py", 0, "")),
        ("f:12", Frame("", 12, "f")),
        ('File "a.py", line 3, in f', Frame("a.py", 3, "f")),
        ("#3 0x1 in ns::f(int) at x.cc:1", Frame("x.cc", 1, "ns::f(int)")),
        ("lib.so!ns::f+0x12", Frame("", 0, "ns::f")),
        ("libx.so(_ZN1a1bEv+0x1) [0x12]", Frame("libx.so", 0, "_ZN1a1bEv")),
        ("C:\\src\\a.cc:12 f", Frame("C:\\src\\a.cc", 12, "f")),
    ],
)
def test_one_frame_may_be_written_in_many_ways(text: str, frame: Frame) -> None:
    assert listed([text]) == (frame,)


def test_frames_come_as_objects_lists_and_one_text() -> None:
    assert listed([{"filename": "a.py", "lineno": "3", "name": "f"}]) == (Frame("a.py", 3, "f"),)
    assert listed([["a.py", 3, "f"], ["a.py", "f"]]) == (Frame("a.py", 3, "f"), Frame("a.py", 0, "f"))
    assert listed("a.py:1 f\nb.py:2 g") == (Frame("a.py", 1, "f"), Frame("b.py", 2, "g"))
    assert listed(None) == listed([]) == ()
    assert listed(["#0 f", "#1 g"]) == (Frame("", 0, "g"), Frame("", 0, "f"))  # numbered: outermost first
    assert listed([{"line": -1}]) == (Frame("", 0, ""),)
    for wrong in (5, [5], [[]], [["a", 1, 2, 3]], {"file": "a"}):
        with pytest.raises(ValueError, match="frame"):
            listed(wrong)


def test_headlines_warnings_and_logs_are_no_message() -> None:
    stderr = (
        "/x/onnx_frontend.py:12: UserWarning: Field 'shape' is missing\n  warnings.warn(\n"
        "[19:12:29] /project/src/relax/ir/block_builder.cc:67: Warning: BlockBuilder destroyed\n"
        "Fatal Python error: Segmentation fault\n\nStack (most recent call first):\n"
        '  File "/x/fuzz/backends/tvm.py", line 59 in execute\n\nExtension modules: numpy (total: 1)\n'
    )
    assert read(stderr).text == "Fatal Python error: Segmentation fault"
    assert [frame.function for frame in read(stderr).frames] == ["execute"]


def test_native_frames_whose_file_nobody_knows_stand_where_python_calls_them() -> None:
    text = """Traceback (most recent call last):
  File "/v/tvm/driver/build.py", line 104, in compile
    return build(mod)
  File "<unknown>", line 0, in tvm::codegen::Emit(tvm::IRModule const&)
  File "<unknown>", in tvm::codegen::Pad::Pad(int)
tvm.error.InternalError: Check failed
"""
    assert functions(text) == ["tvm::codegen::Pad::Pad(int)", "tvm::codegen::Emit(tvm::IRModule const&)", "compile"]


def test_what_an_exception_says_on_indented_lines_below_belongs_to_it() -> None:
    text = (
        'Traceback (most recent call last):\n  File "/v/a.py", line 5, in run\n    go()\nTVMError:\n  no such layout\n'
    )
    assert read(text).said == "TVMError:\nno such layout"
    assert not read(text).cut


@pytest.mark.parametrize("mark", ["...", "[... 12 frames omitted ...]"])
def test_frames_that_are_left_out_behind_the_first_ones_are_counted(mark: str) -> None:
    frames = [f"    @ 0x7f0{at}  ns::f{at}()" for at in range(4)]
    assert read("\n".join(["*** Check failure stack trace: ***", *frames])).gap == 0
    assert read("\n".join(["*** Check failure stack trace: ***", *frames[:2], mark, *frames[2:]])).gap == 2


def test_numbers_that_are_missing_tell_that_frames_are_left_out() -> None:
    assert read("#0 0x1 in a ()\n#1 0x2 in b ()\n#7 0x3 in c ()").gap == 2
