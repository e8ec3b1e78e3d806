"""What onnx.checker says of a model that may be invalid, asked in a process of its own.

Shape inference dies of some invalid nodes (GatherND with batch_dims=-9 is a segmentation fault in onnx 1.23.2). What
kills it is no judgement: such a model is not used.
"""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool

import onnx

#: How much of a complaint is kept.
_LONGEST = 200
#: What stands before the complaint proper: lines of context, and the last error of several in one line.
_CONTEXT, _INFERENCE = ("==>", "Bad node spec"), "Error] "


def complaint(model: bytes) -> str:
    """Why onnx.checker with strict shape inference refuses a model, in one line; "" where it does not, or dies."""
    global _pool
    if _pool is None:
        _pool = ProcessPoolExecutor(1, multiprocessing.get_context("spawn"))
    try:
        return _pool.submit(_complaint, model).result()
    except BrokenProcessPool:
        _pool.shutdown()
        _pool = None
        return ""


_pool: ProcessPoolExecutor | None = None


def _complaint(model: bytes) -> str:
    try:
        onnx.checker.check_model(model, full_check=True)
    except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError) as error:
        return one_line(str(error))
    except (ValueError, MemoryError):  # inference itself trips over a number: it does not say that it is forbidden
        return ""
    return ""


def one_line(message: str) -> str:
    """The part of a complaint that says what is wrong."""
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    inferred = [line for line in lines if _INFERENCE in line]
    plain = [line for line in lines if not line.startswith(_CONTEXT)]
    found = inferred[-1].rpartition(_INFERENCE)[2] if inferred else (plain or lines or ["refused"])[0]
    return found[:_LONGEST]
