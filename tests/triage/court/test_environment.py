"""What is the machine's failure and what a compiler's own, by the words of an error and by a tiny model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from onnx import TensorProto, helper

from fuzz import catalogue
from fuzz.case import Case, Error, Frame, Origin
from fuzz.limits import Limits
from fuzz.runner import Runner
from triage.court.evidence import Ruling, find
from triage.court.hearing import Court
from triage.court.thresholds import environment_rules

STARTED = (Frame("lib/python3.11/subprocess.py", 1, "Popen._execute_child"),)
#: What an error of the machine says, and its class.
MACHINE = {
    "[Errno 13] Permission denied: '/var/cache/compiled/blob.bin'": "PermissionError",
    "[Errno 1] Operation not permitted": "PermissionError",
    "[Errno 30] Read-only file system: '/opt/cache'": "OSError",
    "[Errno 28] No space left on device": "OSError",
    "[Errno 122] Disk quota exceeded": "OSError",
    "[Errno 24] Too many open files": "OSError",
    "[Errno 23] Too many open files in system": "OSError",
    "[Errno 11] Resource temporarily unavailable": "BlockingIOError",
    "can't start new thread": "RuntimeError",
    "[Errno 5] Input/output error": "OSError",
    "[Errno 2] No such file or directory: 'g++'": "FileNotFoundError",
    "[Errno 2] No such file or directory: 'x86_64-linux-gnu-gcc-12'": "FileNotFoundError",
    "[Errno 2] No such file or directory: '/usr/bin/ptxas'": "FileNotFoundError",
    "sh: 1: g++: not found": "RuntimeError",
    "k.cpp:1:10: fatal error: omp.h: No such file or directory": "torch._inductor.exc.CppCompileError",
    "/usr/bin/ld: cannot find -lgomp": "RuntimeError",
    "libcudart.so.12: cannot open shared object file: No such file or directory": "ImportError",
    "/lib/libc.so.6: version `GLIBC_2.38' not found (required by x.so)": "ImportError",
    "[Errno 111] Connection refused": "ConnectionRefusedError",
    "[Errno -3] Temporary failure in name resolution": "socket.gaierror",
    "No valid license found for product 'dlc'": "RuntimeError",
    "[Errno 2] No usable temporary directory found in ['/tmp', '/var/tmp']": "FileNotFoundError",
    "this build requires CPU support for AVX2": "RuntimeError",
}
#: What may well be a compiler's own mistake.
COMPILER = {
    "[Errno 2] No such file or directory: '/tmp/kernel/gemm/node_1.so'": "FileNotFoundError",
    "[Errno 2] No such file or directory: 'node/with/slash.cpp'": "FileNotFoundError",
    "[Errno 36] File name too long: 'kernel_fused_add_mul.so'": "OSError",
    "[Errno 12] Cannot allocate memory": "OSError",
    "k.cpp:7:3: error: 'tmp4' was not declared in this scope": "torch._inductor.exc.CppCompileError",
    "k.cpp:1:10: fatal error: kernel_7.h: No such file or directory": "torch._inductor.exc.CppCompileError",
    "Illegal instruction": "RuntimeError",
    "undefined symbol: fused_add": "OSError",
    "the shape (2, 3) is not permitted here": "ValueError",
}


def reasons(error: Error) -> list[str]:
    return [rule.reason for rule in environment_rules() if rule.matches(error)]


@pytest.mark.parametrize("message", MACHINE)
def test_what_no_compiler_decides_is_the_machines_failure(message: str) -> None:
    assert reasons(Error(MACHINE[message], message))


@pytest.mark.parametrize("message", COMPILER)
def test_what_a_compiler_may_have_done_itself_is_not(message: str) -> None:
    assert not reasons(Error(COMPILER[message], message))


def test_a_program_that_cannot_be_started_is_the_machines_failure_whatever_its_name() -> None:
    message = "[Errno 2] No such file or directory: 'mlir-translate'"
    assert reasons(Error("FileNotFoundError", message, STARTED))
    assert not reasons(Error("FileNotFoundError", message))
    assert reasons(Error("OSError", "[Errno 12] Cannot allocate memory", STARTED))


def test_what_a_process_prints_counts_only_where_a_warning_would_not_say_it() -> None:
    assert reasons(Error(signal="SIGABRT", stderr="No space left on device"))
    assert not reasons(Error(signal="SIGSEGV", stderr="W: /sys/devices/cpu: Permission denied"))


RAISING = """
PACKAGES, KINDS, OPTIONS = (), ("onnx",), {}
def warm(): pass
def devices(): return ["CPU"]
def execute(job, enter):
    enter("run")
"""


@pytest.fixture(scope="module")
def court() -> Iterator[Court]:
    with Runner(Limits(seconds=600), jobs=1) as runner:
        yield Court(runner, catalogue.target("reference"))


def add() -> Case:
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [3]) for name in ("x", "y")]
    graph = helper.make_graph([helper.make_node("Add", ["x", "x"], ["y"])], "g", infos[:1], infos[1:])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    return Case("onnx", model.SerializeToString(), {"x": np.float32([-1, 2, 3])}, Origin("test"))


def test_a_missing_tool_is_told_though_other_compilers_run_the_case(court: Court, tmp_path: Path) -> None:
    lines = "    import subprocess\n    subprocess.run(['a-translator-that-nobody-has'])\n"
    (tmp_path / "tool.py").write_text(RAISING + lines)
    found = court.hear(add(), catalogue.target(str(tmp_path / "tool.py")))
    assert found.verdict is Ruling.ENVIRONMENT and "cannot be started" in found.reason


def test_a_compiler_that_fails_on_one_relu_in_the_same_words_does_not_work_here(court: Court, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(RAISING + "    raise RuntimeError('toolchain 17 at 0x7f3a is unhappy')\n")
    found = court.hear(add(), catalogue.target(str(tmp_path / "broken.py")))
    assert found.verdict is Ruling.ENVIRONMENT and "does not work here" in found.reason


def test_a_compiler_that_fails_on_one_operator_only_is_at_fault(court: Court, tmp_path: Path) -> None:
    lines = "    assert b'Add' not in job.model, 'no kernel for this shape'\n    return [('y', job.inputs['x'])]\n"
    (tmp_path / "picky.py").write_text(RAISING + lines)
    found = court.hear(add(), catalogue.target(str(tmp_path / "picky.py")))
    assert found.verdict is Ruling.COMPILER_BUG and find(found.evidence, "environment") is None, found.reason


@pytest.mark.parametrize(
    ("lines", "verdict"),
    [
        ("    import time; time.sleep(4); return [('y', job.inputs['x'] * 2)]\n", Ruling.ENVIRONMENT),
        ("    import time; time.sleep(100_000)\n", Ruling.COMPILER_BUG),
    ],
)
def test_what_ends_in_a_longer_time_does_not_hang(tmp_path: Path, lines: str, verdict: Ruling) -> None:
    (tmp_path / "slow.py").write_text(RAISING + lines)
    with Runner(Limits(seconds=2), jobs=1) as runner:
        found = Court(runner, catalogue.target("reference")).hear(add(), catalogue.target(str(tmp_path / "slow.py")))
    assert found.verdict is verdict, found.reason
    assert ("too short" in found.reason) is (verdict is Ruling.ENVIRONMENT)


def test_a_court_without_time_gives_a_hang_twice_the_limit_all_the_same(tmp_path: Path) -> None:
    """A hunt's limit is half of its court's time, so that no hang was ever looked at twice."""
    line = "    import time; time.sleep(4); return [('y', job.inputs['x'] * 2)]\n"
    (tmp_path / "slow.py").write_text(RAISING + line)
    with Runner(Limits(seconds=3), jobs=1) as runner:
        slow = catalogue.target(str(tmp_path / "slow.py"))
        found = Court(runner, catalogue.target("reference"), seconds=4).hear(add(), slow)
    assert found.verdict is Ruling.ENVIRONMENT and "too short" in found.reason, found.reason


@pytest.mark.parametrize("name", ["onnxruntime", "tvm"])
def test_a_case_that_the_reference_has_no_memory_for_proves_nothing_against_a_compiler(name: str) -> None:
    sizes = helper.make_tensor("n", TensorProto.INT64, [1], [3_000_000_000])
    nodes = [helper.make_node("Expand", ["x", "n"], ["a"]), helper.make_node("ReduceSum", ["a"], ["y"])]
    infos = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1]) for name in ("x", "y")]
    graph = helper.make_graph(nodes, "g", infos[:1], infos[1:], [sizes])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    case = Case("onnx", model.SerializeToString(), {"x": np.float32([1])}, Origin("test"))
    with Runner(Limits(seconds=60, memory_mb=2000), jobs=1) as runner:
        found = Court(runner, catalogue.target("reference")).hear(case, catalogue.target(name))
    assert found.verdict is Ruling.ENVIRONMENT and "the reference" in found.reason, found.reason
