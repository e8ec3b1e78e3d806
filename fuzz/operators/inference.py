"""ONNX's shape inference, for a process that must outlive it.

It is native code, and some models end the process that asks: a Slice along an axis whose size came out negative (a
window larger than what it is moved over) fails an assertion of C++'s library in the wheels of onnx 1.23.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import resource
import signal
from typing import Any

import onnx
from onnx import ModelProto, TypeProto

from fuzz.operators.graph import walk

#: What clamps to a size, and so dies of a negative one.
_DIES = "Slice"
#: By what native code ends a process, and the alarm of one that hangs; other signals come from outside.
_DEATHS = frozenset(
    {signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGALRM}
)
_SECONDS = 60


def infer_shapes(model: ModelProto, **options: Any) -> ModelProto:
    """`onnx.shape_inference.infer_shapes`, which takes the options.

    A model that may end a process is tried in another one first, which takes some milliseconds. Raises
    `onnx.shape_inference.InferenceError` where that dies, and whatever onnx raises.
    """
    if _may_die(model) and (died := _death(model, options)):
        raise onnx.shape_inference.InferenceError(f"shape inference dies of the model ({signal.Signals(died).name})")
    return onnx.shape_inference.infer_shapes(model, **options)


def negative(kind: TypeProto) -> bool:
    """Whether a tensor's type has a size below 0, which no tensor has."""
    return any(dim.dim_value < 0 for dim in kind.tensor_type.shape.dim)


def _may_die(model: ModelProto) -> bool:
    """Whether there is a Slice: sizes are negative by what is inferred before it, which no glance at a model tells."""
    return any(node.op_type == _DIES for part in (model.graph, *model.functions) for node in walk(part))


def _death(model: ModelProto, options: dict[str, Any]) -> int:
    """The signal of which a process dies that infers the model's shapes; 0 where it ends."""
    process = os.fork()
    if not process:
        try:
            signal.signal(signal.SIGALRM, signal.SIG_DFL)  # other threads' locks may be held here for ever
            signal.alarm(_SECONDS)
            faulthandler.disable()
            with contextlib.suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            onnx.shape_inference.infer_shapes(model, **options)
        finally:  # whatever was raised will be raised again
            os._exit(0)
    try:
        _, status = os.waitpid(process, 0)
    except BaseException:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
        raise
    return os.WTERMSIG(status) if os.WIFSIGNALED(status) and os.WTERMSIG(status) in _DEATHS else 0
