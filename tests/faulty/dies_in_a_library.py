"""A backend that computes Relu, and on demand dies inside a library: real frames of native code, without a compiler.

A case names what to call by the text ``fault:NAME;`` in its model.
"""

import ctypes
import os
import re
import signal
import threading
import time

import numpy as np

PACKAGES = ()
KINDS = ("onnx",)
OPTIONS = {}

_NOWHERE = ctypes.c_void_p(16)


def warm():
    pass


def devices():
    return ["CPU"]


def execute(job, enter):
    enter("compile")
    asked = re.search(rb"fault:(\w+);", job.model)
    name = asked.group(1).decode() if asked else ""
    enter("run")
    if name:
        CALLS[name]()
    return [("y", np.maximum(job.inputs["x"], 0))]


def zlib():
    return ctypes.CDLL("libz.so.1")


def checksum():
    zlib().crc32(ctypes.c_ulong(1), _NOWHERE, ctypes.c_uint(64))


def other_checksum():
    zlib().adler32(ctypes.c_ulong(1), _NOWHERE, ctypes.c_uint(64))


def freed_nonsense():
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    buffer = ctypes.create_string_buffer(256)
    libc.free(ctypes.addressof(buffer) + 24)


def dies_on_another_thread():
    thread = threading.Thread(target=checksum)
    thread.start()
    thread.join()


def dies_with_stderr_closed():
    os.close(2)
    checksum()


def claims_to_die():
    os.write(2, b"Fatal Python error: Segmentation fault\n\n")
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals))


def claims_to_die_with_one_signal_blocked():
    os.write(2, b"Fatal Python error: Segmentation fault\n\n")
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGFPE})
    time.sleep(1)


def dies_beside_a_thread_with_one_signal_blocked():
    blocked = threading.Event()
    thread = threading.Thread(target=lambda: (blocked.wait(), checksum()))
    thread.start()
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGFPE})
    blocked.set()
    thread.join()


def dies_anywhere():
    """In another function each time, as a program does that has written where it should not."""
    count = os.path.join(os.environ["HOME"], "deaths")
    with open(count, "a") as file:
        file.write("x")
    (checksum if os.path.getsize(count) % 2 else other_checksum)()


CALLS = {
    each.__name__: each
    for each in (
        checksum,
        other_checksum,
        freed_nonsense,
        dies_anywhere,
        dies_on_another_thread,
        dies_with_stderr_closed,
        claims_to_die,
        claims_to_die_with_one_signal_blocked,
        dies_beside_a_thread_with_one_signal_blocked,
    )
}
