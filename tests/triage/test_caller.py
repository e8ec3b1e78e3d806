"""Who calls the compiler is none of it: the folder in which a traceback begins, and what leads on from there."""

from __future__ import annotations

import pytest

from fuzz.case import Frame
from triage.caller import without_the_caller

PACKAGE = "/opt/venv/lib/python3.11/site-packages"
CONVERTER = Frame(f"{PACKAGE}/halcyon/convert/pool.py", 80, "convert_pool")
SESSION = Frame(f"{PACKAGE}/halcyon/session.py", 20, "build")


def outermost_last(*frames: Frame) -> tuple[Frame, ...]:
    return frames


@pytest.mark.parametrize(
    "script",
    ["run_case.py", "/home/lin/work/bugs/convert.py", r"C:\Users\lin\work\main.py", "/workspace/proj/src/check.py"],
)
def test_functions_of_the_script_are_taken_away_wherever_it_lies(script: str) -> None:
    found = outermost_last(CONVERTER, SESSION, Frame(script, 12, "compile_and_run"), Frame(script, 30, "main"))
    assert without_the_caller(found) == (CONVERTER, SESSION)


def test_a_harness_and_the_languages_modules_before_a_package_are_taken_away_too() -> None:
    way = (
        Frame("/home/lin/fuzz/harness/worker.py", 9, "run_one"),
        Frame("/usr/lib/python3.11/multiprocessing/pool.py", 774, "get"),
        Frame("/home/lin/bugs/one.py", 3, "main"),
    )
    assert without_the_caller((CONVERTER, *way)) == (CONVERTER,)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        # The beginning is lost, and the compiler's own frame stands first.
        (
            Frame("/home/ann/halcyon/convert/pool.py", 80, "convert_pool"),
            Frame("/home/ann/halcyon/ir/op.py", 9, "make"),
        ),
        (Frame("/home/ann/halcyon/convert/pool.py", 80, "convert_pool"), Frame("", 0, "halcyon::ir::Node::Node")),
        (SESSION, CONVERTER),
        # A list of bare names beside a trace.
        (Frame("pool.py", 0, "convert_pool"), CONVERTER),
    ],
)
def test_a_compilers_own_frames_stay(outer: Frame, inner: Frame) -> None:
    assert without_the_caller((inner, outer)) == (inner, outer)


def test_a_trace_that_lies_in_one_folder_stays_as_it_is() -> None:
    found = (Frame("/srv/nimbus/lower/conv.py", 8, "lower_conv"), Frame("/srv/nimbus/cli.py", 3, "main"))
    assert without_the_caller(found) == found
    assert without_the_caller(()) == ()


def test_a_list_in_the_other_order_stays_as_it_is() -> None:
    found = (
        Frame("/home/ann/work/bug.py", 3, "<module>"),
        Frame("/home/ann/halcyon/convert/pool.py", 80, "convert_pool"),
    )
    assert without_the_caller(found) == found


@pytest.mark.parametrize("tree", ["/workspace/tvm/python/tvm", "/home/lin/tvm/python/tvm", "/opt/tvm/python/tvm"])
@pytest.mark.parametrize("script", ["/workspace/bug.py", "/home/lin/bug.py"])
def test_a_compiler_that_is_not_installed_keeps_what_calls_a_library(tree: str, script: str) -> None:
    library = Frame("/usr/lib/python3/dist-packages/numpy/core/fromnumeric.py", 57, "_wrapfunc")
    converter = Frame(f"{tree}/relay/frontend/onnx.py", 900, "_pad_impl")
    assert converter in without_the_caller((library, converter, Frame(script, 3, "main")))


@pytest.mark.parametrize("tree", ["/workspace/tvm/python/tvm", "/home/lin/tvm/python/tvm", "/opt/tvm/python/tvm"])
@pytest.mark.parametrize("script", ["/workspace/bug.py", "/home/lin/bug.py"])
def test_the_sources_of_a_known_compiler_are_no_callers_whatever_package_they_call(tree: str, script: str) -> None:
    package = Frame(f"{PACKAGE}/torch/export/_unlift.py", 77, "_unlift")
    converter = Frame(f"{tree}/relax/frontend/torch/base_fx_graph_translator.py", 300, "_pad")
    entry = Frame(f"{tree}/relax/frontend/torch/exported_program_translator.py", 900, "from_exported_program")
    assert without_the_caller((package, converter, entry, Frame(script, 3, "main"))) == (package, converter, entry)
