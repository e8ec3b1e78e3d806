"""Reading what is left of a stack."""

from __future__ import annotations

import subprocess
import sys

from fuzz.case import Error, Frame
from triage.stack import faulthandler_frames, frames, native_site, telling

CRASH = """
import faulthandler, ctypes, threading, time
faulthandler.enable()
def outer(): inner()
def inner(): ctypes.string_at(0)
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
outer()
"""


def test_the_frames_of_a_real_crash_are_read_outermost_first() -> None:
    done = subprocess.run([sys.executable, "-c", CRASH], capture_output=True, text=True, check=False)
    assert done.returncode < 0
    names = [frame.function for frame in faulthandler_frames(done.stderr)]
    assert names[:3] == ["<module>", "outer", "inner"]


def test_text_without_a_stack_has_no_frames() -> None:
    assert faulthandler_frames("") == ()
    assert faulthandler_frames("Segmentation fault\n  File of another kind\n") == ()


def test_a_traceback_is_preferred_to_native_output() -> None:
    own = (Frame("a.py", 1, "f"),)
    assert frames(Error(frames=own, stderr='(most recent call first):\n  File "b.py", line 2 in g\n')) == own
    assert frames(Error(stderr='(most recent call first):\n  File "b.py", line 2 in g\n')) == (Frame("b.py", 2, "g"),)


def test_frames_that_every_failure_passes_through_tell_nothing() -> None:
    found = [
        Frame("/x/fuzz/worker.py", 1, "main"),
        Frame("/x/site-packages/tvm/relax/build.py", 2, "build"),
        Frame("python/tvm_ffi/cython/function.pxi", 3, "__call__"),
        Frame("C:\\work\\lower.py", 4, "<module>"),
        Frame("<frozen importlib._bootstrap>", 5, "_load"),
    ]
    assert telling(found) == ["lower.py", "build.py build"]
    assert telling(found, most=1) == ["lower.py"]
    assert telling([]) == []


def test_the_first_native_place_of_a_message_is_its_last_three_parts() -> None:
    assert (
        native_site("Check failed at src/core/src/op/util/elementwise_args.cpp:18:") == "op/util/elementwise_args.cpp"
    )
    assert native_site("at pad.cc:7 and then a/b.hpp:9") == "pad.cc"
    assert native_site("pad.cc without a line, and pad.py:3") == ""
