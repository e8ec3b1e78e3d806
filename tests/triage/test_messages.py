"""What is left of a compiler's message once its empty words are gone."""

import random

import pytest

from triage.messages import core, normalise, part, said

OPENVINO = """Exception from src/inference/src/cpp/core.cpp:105:
Check 'false' failed at src/frontends/common_translators/src/unconverted_ops_report.cpp:151:
FrontEnd API failed with OpConversionFailure:
Model wasn't fully converted. Failed operations detailed log:
-- GatherElements-20 with a message:
While validating ONNX node '<Node(GatherElements): t>': Check 'data_rank == indices_rank' failed at src/core/x.hpp:45:
While validating node 'opset6::GatherElements G_16 (P[0]:f32[1]) -> (dynamic[...])' with friendly_name 'G_16':
data and indices rank must be equal. But instead got: 1 and 2

Summary:
-- Conversion is failed for: GatherElements-20
"""


def test_openvinos_chain_of_rethrows_leaves_the_check_and_its_sentence():
    assert core(OPENVINO) == (
        "Check 'data_rank == indices_rank' failed at src/core/x.hpp:45:\n"
        "data and indices rank must be equal. But instead got: 1 and 2"
    )


def test_onnx_runtimes_status_prefix_goes():
    told = (
        "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : Non-zero status code returned while running ReduceMax node. "
        "Name:'' Status Message: empty set"
    )
    assert core(told) == "ReduceMax node. empty set"


def test_onnx_runtimes_message_of_a_body_is_that_of_the_node_in_it():
    loop = "Non-zero status code returned while running Loop node. Name:'n1' Status Message: "
    told = "[ONNXRuntimeError] : 6 : RUNTIME_EXCEPTION : "
    inner = "Non-zero status code returned while running ReduceMax node. Name:'' Status Message: empty set"
    assert core(told + loop + loop + inner) == "ReduceMax node. empty set"


def test_a_message_of_nothing_but_empty_words_stays_as_it_is():
    assert core("[ONNXRuntimeError] : 1 : FAIL : ") == "[ONNXRuntimeError] : 1 : FAIL :"


def test_other_messages_are_untouched():
    assert core("no value in Constant") == "no value in Constant"


#: What inductor says of a node: what it was given, and the lines of the program, which depend on the version.
NODE = """TypeError: no such lerp

While executing %lerp : [num_users=1] = call_function[target=torch.lerp](args = (%x, {given}), kwargs = {{}})
Original traceback:
  File "/home/me/model.py", line 230, in forward
    return self.target(*args, **kwargs)
{carets}
Use tlparse to see full graph. (https://github.com/pytorch/tlparse)
"""
CARETS = f"           {'^' * 28}\n"
#: (what differs, one message, the other): the same once normalised.
SAME = (
    ("ansi codes", "\x1b[1;31mno\x1b[0m \x1b]8;;http://x\x07kernel", "no kernel"),
    ("quotes", "no ‘Pad’ here", "no 'Pad' here"),
    ("an invisible mark", "no\u200b kernel", "no kernel"),
    ("a Windows path", r"C:\Users\me\src\pad.cc:12: no", "/home/me/src/pad.cc:99: no"),
    ("a model's file", "cannot read /tmp/tmpx1/model_12.onnx", r"cannot read C:\work\other.onnx"),
    ("a node's long name", "bad input of /block.3/attn/MatMul_2", "bad input of /head/Add"),
    ("a parameter", "no shape of block3.attn.weight", "no shape of layer.11.mlp.bias"),
    ("a hash", "kernel 9f8e7d6c5b4a3210 is stale", "kernel 00112233445566aa is stale"),
    ("an SSA name", "cannot lower %arg0", "cannot lower %17"),
    ("what was given", "expects none, sum, mean. Got: MEAN", "expects none, sum, mean. Got: "),
    ("crosses", "tile 2x3x4 of it", "tile 16x1 of it"),
    ("a time", "[19:12:29] no kernel", "[03:00:01] no kernel"),
    ("a thread", "thread 140 in 0x7fab", "thread 7 in 0x00"),
    ("the element type of a kernel", "Pad<T>::Pad() [with T = int] no", "Pad<T>::Pad() [with T = long int] no"),
    ("a type of MLIR", "no Pad of tensor<0x3xf32> here", "no Pad of tensor<*xi8> here"),
    ("an element type of ONNX", "got tensor(float) here", "got tensor(float16) here"),
    ("a figure that is no number", "max abs error nan at (0, 1)", "max abs error 1.5e-3 at (2,)"),
    ("the shape of a scalar", "cannot reshape {} here", "cannot reshape {2,3} here"),
    ("the shape of a scalar at the end", "shapes (2,3) ()", "shapes (2,3) (4,)"),
    ("the shape of a scalar of XLA", "shapes: f32[] and s32[2].", "shapes: f32[2,3] and f32[4]."),
    ("no known rank", "shapes {[],[...]} differ", "shapes {[2,3],[4]} differ"),
    ("a free size", "expected R.Tensor((n, 3))", "expected R.Tensor((2, 3))"),
    ("a free size times two", "shapes [batch, n * 2, 7] differ", "shapes [1, 2] differ"),
    ("a size that is bounded", "shapes f32[<=5,2] differ", "shapes f32[4,2] differ"),
    ("an element type of PyTorch", "\"mm\" not implemented for 'Half'", "\"mm\" not implemented for 'Long'"),
    (
        "an element type of C++",
        "to have the same dtype, but got: float != double",
        "to have the same dtype, but got: int != bool",
    ),
    (
        "an input that is called by its name",
        "Got invalid dimensions for input: x for 1",
        "Got invalid dimensions for input: data.1 for 2",
    ),
    ("CRLF", "no\r\nkernel", "no\nkernel"),
    ("a node of a traced graph", NODE.format(given="(0.3+2j)", carets=""), NODE.format(given="1j", carets=CARETS)),
)


@pytest.mark.parametrize(("what", "one", "other"), SAME, ids=[what for what, _, _ in SAME])
def test_messages_are_the_same_whatever_is(what: str, one: str, other: str) -> None:
    assert said(one) == said(other) != ""


def test_the_end_of_a_contraction_is_no_name() -> None:
    """The value is called t: a model with short names failed with another message, so long ones were kept."""
    told = "y, t num_scan_outputs can't be negative, t"
    assert normalise(told, ["y", "t"]) == "NAME num_scan_outputs can't be negative, NAME"
    assert normalise("'t' is no input", ["t"]) == "'NAME' is no input"


def test_a_list_of_names_is_as_long_as_the_model_has_outputs() -> None:
    one, three = (normalise(f"{names} Number of inputs is less", ["y", "z", "w"]) for names in ("y", "y, z, w"))
    assert one == three == "NAME Number of inputs is less"


def test_words_that_tell_stay() -> None:
    for message in (
        "N/A and/or input/output",
        "aten::conv is no leaf",
        "'num_heads'",
        "no such mode: cubic",
        "call foo() first",
        "missing (name, other) here",
        "the result contains nan",
    ):
        assert said(message) == message


def test_numbers_glued_to_a_word_show_as_one_letter() -> None:
    assert said("arg0 of conv2d is not arg1") == "argN of convNd is not argN"


def test_what_is_said_is_the_normalised_core_and_stays_so() -> None:
    for message in (OPENVINO, "no value in Constant", "x" * 5_000, "", "\ud800"):
        assert said(message) == normalise(core(message)) == said(said(message))


def test_the_first_sentence_of_an_endless_message_is_read() -> None:
    assert said("no kernel for 7\n" + "0123456789abcdef " * 6_000_000).startswith("no kernel for N ")


LOG = """Model wasn't fully converted. Failed operations detailed log:
-- HardSigmoid-26 with a message:
Element not supported

-- ai.onnx.ml.Scaler-1 with a message:
Number of inputs (3) is less than required (4)

Summary:
-- Conversion is failed for: HardSigmoid-26, ai.onnx.ml.Scaler-1
"""


def test_of_a_log_of_several_operators_the_part_of_the_one_to_blame_is_the_message() -> None:
    assert core(part(LOG, "Scaler")) == "Number of inputs (3) is less than required (4)"
    assert core(part(LOG, "HardSigmoid")) == "Element not supported"


@pytest.mark.parametrize("operator", ["", "caler", "Add"])
def test_a_log_that_has_no_part_of_the_operator_is_taken_whole(operator: str) -> None:
    assert part(LOG, operator) == LOG


def test_the_arguments_of_a_call_say_nothing_however_they_are_nested_or_left_out():
    begun = "Binary operators must have the same datatype for both operands.  However, "
    omitted = "# Metadata omitted. Use show_meta=True in script() method to show it."
    calls = (
        "R.power(t1, t5)",
        'R.power(R.const(0.48980918526649475, "float32"), t16)',
        'R.power(t7, R.const(2, "int64"))',
        'R.power(t7, R.reshape(R.const([2, 3], "int64"), R.shape((1, 2))))',
        f'R.power(t4, metadata["ir.GenericConst"][0])\n{omitted}',
    )
    ends = ' uses datatype T.float32 on the LHS (Type of R.Tensor((2,), dtype="float32"))'
    assert len({said(f"{begun}{call}{ends}") for call in calls}) == 1
    assert said(f"{begun}R.power(t1, t5){ends}") != said(f"{begun}R.divide(t1, t5){ends}")


def test_the_part_of_an_operator_ends_where_that_of_a_missing_result_begins() -> None:
    own = "-- aten.topk.default with a message:\nInput rank must be greater than 0.\n"
    follows = "-- <built-in function getitem> with a message:\nIndex: 1 is out of bounds of input list of len: 1\n"
    for log in (own + follows, follows + own):
        assert part(f"Failed operations detailed log:\n{log}", "aten.topk.default") == own
    assert core(follows) == "Index: 1 is out of bounds of input list of len: 1"


def test_what_takes_a_result_apart_is_not_what_failed():
    """OpenVINO's log is sorted by name, and `getitem` fails wherever an operator with several results did."""
    log = (
        "-- <built-in function getitem> with a message:\n[PyTorch Frontend] Index: 1 is out of bounds of input list\n\n"
        "-- aten.max.dim with a message:\nAccessing out-of-range dimension\n"
    )
    for operator in ("", "<built-in function getitem>", "aten.max.dim"):
        assert part(log, operator).startswith("-- aten.max.dim")
    assert part(log.partition("\n\n")[0], "") == log.partition("\n\n")[0], "it may fail alone"


def test_an_identifier_in_hexadecimal_goes_wherever_it_stands():
    draw = random.Random(5)
    for _ in range(2_000):
        digits = "".join(draw.choices("0123456789abcdef", k=draw.randint(8, 40)))
        if not digits.isdigit() and not digits.isalpha():
            assert said(f"no kernel {digits} is known") == "no kernel HASH is known"
    generated = "c" + "".join(draw.choices("abcdefghijklmnopqrstuvwxyz234567", k=50)) + "2"
    assert said(f"no kernel {generated} is known") == "no kernel HASH is known"


def test_the_shape_of_a_scalar_is_a_shape():
    told = 'R.power(X, Y) uses datatype T.float16 on the RHS (Type of R.Tensor({}, dtype="float16"))'
    assert normalise(told.format("()")) == normalise(told.format("(2, 3)"))


def test_where_a_tensor_lies_makes_no_other_bug() -> None:
    """PyTorch tells the device of a tensor unless it is the CPU."""
    said = "Pending unbacked symbols {u1} not in returned outputs FakeTensor(..., %ssize=(u0, 2)) ((2, 1), 0)."
    assert normalise(said % "device='cuda:0', ") == normalise(said % "")
    assert normalise("f(device='cuda', dtype=int)") == normalise("f(dtype=int)")
    assert "cuda" not in normalise("expected f(x, device=device(type='cuda', index=0)) to be of 2 elements")


def test_what_is_said_of_each_dimension_is_said_once() -> None:
    """inductor compares strides dimension by dimension: the rank of a call makes no other bug."""
    clause = "expected size 5==5, stride %d==5 at dim=%d"
    flat, deep = ("; ".join(clause % (at, at) for at in range(rank)) for rank in (2, 4))
    assert normalise(f"{flat}\nError in op: f") == normalise(f"{deep}\nError in op: f") != normalise("Error in op: f")
    assert normalise("a is not allowed; b is not allowed") == "a is not allowed; b is not allowed"
