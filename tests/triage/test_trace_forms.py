"""Traces of other tools and languages: which frames they hold, innermost first."""

from __future__ import annotations

import pytest

from triage.functions import function_name
from triage.messages import said
from triage.trace_windows import windows
from triage.traces import read

GO = """panic: runtime error: index out of range [3] with length 3

goroutine 1 [running]:
example.org/quill/onnx.convertSplit(0xc000112000, 0x3)
\t/home/ci/go/src/example.org/quill/onnx/split.go:41 +0x1d
example.org/quill/onnx.(*Importer).Node(0xc000112000)
\t/home/ci/go/src/example.org/quill/onnx/importer.go:88 +0x2a
exit status 2
"""
JAVA = """Exception in thread "main" java.lang.ArrayIndexOutOfBoundsException: Index 4 out of bounds for length 4
\tat io.graphite.ops.SliceOp.infer(SliceOp.java:31)
\tat io.graphite.Importer.visit(Importer.java:201)
\t... 12 more
"""
JULIA = """ERROR: DimensionMismatch: lengths 3 and 4
Stacktrace:
  [1] _bcs1(a::Base.OneTo{Int64}, b::Base.OneTo{Int64})
    @ Base.Broadcast ./broadcast.jl:555
  [2] prelu(x::Matrix{Float32}, s::Vector{Float32})
    @ Lumen ~/.julia/packages/Lumen/aX3/src/ops/activation.jl:44
"""
VALGRIND = """==77== Conditional jump or move depends on uninitialised value(s)
==77==    at 0x4C31A20: kernels::TopKRow(float const*, int) (topk.cc:51)
==77==    by 0x4C31B55: kernels::TopK(Tensor const&) (topk.cc:80)
"""
GLOG = """F1122 08:14:22.118230    4412 hlo.cc:4120] Check failed: operands.size() == 2 (3 vs. 2)
*** Check failure stack trace: ***
    @     0x7f2bc1d21a0d  absl::log_internal::LogMessage::Flush()
    @     0x7f2bbf0aa111  xla::HloFusion::FuseClamp()
    @     0x7f2bbf0aa222  (unknown)
"""
XLA = """INTERNAL: RET_CHECK failure (xla/service/simplifier.cc:61) compatible
*** Begin stack trace ***
\txla::Simplifier::HandleDot(xla::HloInstruction*)
\txla::Simplifier::Run()
*** End stack trace ***
after it
"""
LLVM = """Stack dump:
0.\tProgram arguments: /opt/b/bin/b-opt --lower in.mlir
 #0 0x000055d18d10 llvm::sys::PrintStackTrace(llvm::raw_ostream&, int) /opt/b/bin/b-opt+0x1f8d10
 #1 0x00007faa2520 (/lib/x86_64-linux-gnu/libc.so.6+0x42520)
 #2 0x000055d117aa b::GatherLowering::match(b::GatherOp) const /opt/b/bin/b-opt+0x7917aa
"""
LLDB = """* thread #1, name = 'run', stop reason = signal SIGSEGV
  * frame #0: 0x00007ffff7a libk.so`k::CountNonZero(x=0x00007ff0, n=4) at nonzero.cc:21:9
    frame #1: 0x00007ffff7b libk.so`k::NonZero(t=0x00007ff8) at nonzero.cc:40:3
"""
FRAMES: dict[str, tuple[str, list[tuple[str, str, int]]]] = {
    "Go": (
        GO,
        [
            ("split.go", "example.org/quill/onnx.convertSplit", 41),
            ("importer.go", "example.org/quill/onnx.Importer.Node", 88),
        ],
    ),
    "Java": (
        JAVA,
        [("SliceOp.java", "io.graphite.ops.SliceOp.infer", 31), ("Importer.java", "io.graphite.Importer.visit", 201)],
    ),
    "Julia": (JULIA, [("broadcast.jl", "_bcs1", 555), ("activation.jl", "prelu", 44)]),
    "Valgrind": (VALGRIND, [("topk.cc", "kernels::TopKRow", 51), ("topk.cc", "kernels::TopK", 80)]),
    "glog": (
        GLOG,
        [("", "absl::log_internal::LogMessage::Flush", 0), ("", "xla::HloFusion::FuseClamp", 0), ("", "", 0)],
    ),
    "XLA": (XLA, [("", "xla::Simplifier::HandleDot", 0), ("", "xla::Simplifier::Run", 0)]),
    "LLVM": (LLVM, [("", "llvm::sys::PrintStackTrace", 0), ("libc.so.6", "", 0), ("", "b::GatherLowering::match", 0)]),
    "lldb": (LLDB, [("nonzero.cc", "k::CountNonZero", 21), ("nonzero.cc", "k::NonZero", 40)]),
}


@pytest.mark.parametrize("form", FRAMES)
def test_every_form_gives_its_frames_innermost_first(form: str) -> None:
    raw, wanted = FRAMES[form]
    found = read(raw)
    told = [(each.file.rpartition("/")[2], function_name(each.function), each.line) for each in found.frames]
    assert told == wanted and not found.cut


def test_what_stands_around_a_listing_is_text() -> None:
    assert read(XLA).text.splitlines() == [
        "INTERNAL: RET_CHECK failure (xla/service/simplifier.cc:61) compatible",
        "after it",
    ]
    assert read(GO).text == "panic: runtime error: index out of range [3] with length 3"


def test_text_that_only_looks_like_a_frame_of_these_forms_is_text() -> None:
    for text in ("see split.go:41", "[1] is the first", "@ Home we know better", "at the end (of it)", "by 0xname"):
        assert read(text).frames == () and read(text).text == text


def test_what_a_type_of_the_language_does_is_the_standard_librarys() -> None:
    assert (
        function_name("<usize as core::slice::index::SliceIndex<[T]>>::index")
        == "core::slice::index::SliceIndex::index"
    )
    assert function_name("<my::Shape as core::ops::index::Index<usize>>::index") == "my::Shape::index"


#: Two messages of one bug.
SAME = {
    "where it stands in a model's text": (
        """loc("model.mlir":17:10): error: 'linalg.generic' op has no operand""",
        """loc(callsite("f"("a.mlir":1:2) at unknown)): error: 'linalg.generic' op has no operand""",
    ),
    "a location that is unknown": ("loc(unknown): error: no operand", """loc("m.mlir":3:4): error: no operand"""),
    "an echo of the text": ("/tmp/x/model.mlir:17:10: error: no operand", "g.mlir:203:11: error: no operand"),
    "instructions of HLO": (
        "not implemented: %sort.5 = (f32[8]{0}, s32[8]{0}) sort(f32[8]{0} %p0, s32[8]{0} %iota.2)",
        "not implemented: ROOT %sort = f64[3]{0} sort(f64[3]{0} %p), dimensions={0}",
    ),
    "a line of a log": ("F1122 08:14:22.118230 4412 hlo.cc:41] no", "F0930 23:01:07.000412 9 hlo.cc:44] no"),
    "what TensorRT logs": (
        "[E] Error Code 4: Internal Error (/model/Resize_12: IResizeLayer: no size)",
        "[TRT] [E] 4: [layers.cpp::check::88] Error Code 4: Internal Error (up: IResizeLayer: no size)",
    ),
    "fused nodes": (
        "Could not find any implementation for node {ForeignNode[/a/ReduceMean.../a/Add_1]}.",
        "Could not find any implementation for node {ForeignNode[onnx::MatMul_8 + /b/R.../b/Add]}.",
    ),
    "amounts of memory": ("tried to allocate 2.00 GiB of 15.7 GiB", "tried to allocate 312.00 MiB of 1 GiB"),
    "generated code": (
        "Command:\ng++ /tmp/torchinductor_ci/x/cx.cpp -o a\n\nOutput:\n/tmp/torchinductor_ci/x/cx.cpp:31:25: error: no",
        "Command:\ng++ /tmp/torchinductor_me/q/cq.cpp\n\nOutput:\n/tmp/torchinductor_me/q/cq.cpp:3:5: error: no",
    ),
    "template arguments": ("no match for 'complex<float>'", "no match for 'complex<double>'"),
}


@pytest.mark.parametrize("what", SAME)
def test_a_message_is_the_same_whatever_differs_between_two_runs(what: str) -> None:
    one, other = SAME[what]
    assert said(one) == said(other)


def test_what_an_instruction_does_still_tells() -> None:
    assert said("%a.1 = f32[2]{0} sort(f32[2]{0} %b)") != said("%a.1 = f32[2]{0} reduce(f32[2]{0} %b)")
    assert said("Error (/m/R_1: IResizeLayer: no size)") != said("Error (/m/R_1: IPoolingLayer: no size)")


CDB = """PROCESS_NAME:  runner.exe

KEY_VALUES_STRING: 1
    Key  : Failure.Bucket
    Value: INVALID_POINTER_READ_c0000005_quill!quill::Edges::at

STACK_TEXT:
00000076`93f15f0f 00007ff5`6050b078     : quill!quill::Edges::at+0xbab [D:\\j\\quill\\src\\edges.cpp @ 112]
00000076`93f15faf 00007ffc`3f63a599 : 00000000`00000001 00000000`00000000 : quill!quill::Fuse::run+0xcc1
03 (Inline Function) --------`--------     : quill!quill::Graph::build+0x5 [D:\\j\\quill\\src\\graph.cpp @ 7]
00000076`93f16bcf 00000000`00000000     : KERNEL32!BaseThreadInitThunk+0x14
"""
MINIDUMP = """Thread 8 (id: 0x2320) CRASHED
  0  quill.dll!quill::Edges::at [edges.cpp : 226] + 0x37f
  1  quill.dll!quill::Fuse::run [fuse.cpp : 1835] + 0xb75
  2  quill.dll!quill::Graph::build [graph.cpp : 430] + 0x1b3
"""
VISUAL_STUDIO = """quill.dll!quill::Edges::at(int at=3) Line 226\tC++
quill.dll!quill::Fuse::run Line 1835
quill.dll!quill::Graph::build()  Line 430 C++
"""


@pytest.mark.parametrize("raw", [CDB, MINIDUMP, VISUAL_STUDIO], ids=["cdb", "minidump", "Visual Studio"])
def test_stacks_of_windows_tools_are_read(raw: str) -> None:
    names = [function_name(frame.function) for frame in read(raw).frames]
    assert names[:3] == ["quill::Edges::at", "quill::Fuse::run", "quill::Graph::build"]


def test_the_place_of_a_windows_frame_is_kept() -> None:
    first = read(CDB).frames[0]
    assert (first.file, first.line) == ("D:/j/quill/src/edges.cpp", 112)
    second = read(MINIDUMP).frames[1]
    assert (second.file, second.line) == ("fuse.cpp", 1835)


def test_what_windbg_says_beside_the_stack_is_no_frame_and_no_message() -> None:
    found = read(CDB)
    assert not any("INVALID_POINTER" in frame.function for frame in found.frames)
    assert "Bucket" not in found.said


@pytest.mark.parametrize(
    "line",
    [
        "Oh no!this failed",
        "Error!Shapes do not match Line 12",
        "value!=expected Line 12",
        "x!=nullptr [foo.cc : 12]",
        "runner.exe!exit code 3 after converting Conv",
        "ntdll.dll!00007ffc3f63a599()\tUnknown",
    ],
)
def test_a_sentence_with_an_exclamation_mark_is_no_frame_of_windows(line: str) -> None:
    assert windows(line) is None


@pytest.mark.parametrize(
    ("line", "function"),
    [
        (">\tquill.dll!quill::at(int) Line 3\tC++", "quill::at(int)"),
        ("[Inline Frame] quill.dll!quill::at Line 226 + 0x12 bytes\tC++", "quill::at"),
        ("KERNEL32.dll!BaseThreadInitThunk()\tUnknown", "BaseThreadInitThunk()"),
        ("quill!quill::Edges::operator[]+0x12", "quill::Edges::operator[]"),
        ("quill!std::vector<int, std::allocator<int> >::at+0x12", "std::vector<int, std::allocator<int> >::at"),
        ("libquill.so!f [edges.cpp : 226 + 0x8]", "f"),
    ],
)
def test_a_frame_of_windows_is_known_in_all_its_dress(line: str, function: str) -> None:
    found = windows(line)
    assert found is not None and found.function == function


@pytest.mark.parametrize(
    "line", ["Value: 3 is out of range for axis 2", "FAILURE_REASON: cannot fuse conv with relu", "Key: w not found"]
)
def test_what_a_program_says_in_words_like_windbgs_is_its_message(line: str) -> None:
    assert line in read(f"{line}\n{CDB}").said


def test_the_pass_that_mlir_says_to_have_failed_is_where_it_happened() -> None:
    raw = """// -----// IR Dump After FuseRegionsPass Failed (fuse-regions) //----- //
model.mlir:893:9: error: operand #2 does not dominate this use
    %630 = linalg.generic ins(%862 : tensor<8xf32>)
"""
    assert [frame.function for frame in read(raw).frames] == ["FuseRegionsPass::runOnOperation"]
