"""What a worker does: reads jobs from a pipe, runs them with its backend, answers on another pipe.

It uses the standard library, `fuzz.wire` and one backend file, in Python 3.8 syntax, like `fuzz.worker`,
which makes the process that this runs in.
"""

from __future__ import annotations

import ctypes
import gc
import json
import mmap
import os
import resource
import struct
import time
import types
from json.encoder import encode_basestring_ascii
from typing import Any, Dict, List, NamedTuple, Optional, Tuple

import numpy as np

from fuzz import watching, wire

STAGES = ("start", "load", "convert", "compile", "run")
_NUMBER_OF = {stage: number for number, stage in enumerate(STAGES)}
#: The heartbeat that the parent reads while a case runs: job number, start (monotonic s), stage.
BEAT = struct.Struct("<QdB")
#: Printed on stderr before each job, so that native messages can be told apart by job.
MARK = b"\x1e@job %d\n"
LONGEST_MESSAGE = 64 * 1024
MOST_FRAMES = 64
#: Larger results are not sent: the parent compares many at a time.
MOST_RESULT_BYTES = 128 << 20
#: How many jobs that have ended may wait for their answer, and for how long.
MOST_UNANSWERED, _ANSWER_SECONDS = 32, 0.02
_MOST_COPIED_BYTES = 1 << 16
#: A job that took less cannot have touched memory worth measuring (a MiB takes 0.1 ms).
_QUICK_SECONDS = 0.001
#: Garbage is collected after jobs that have used so much more memory than the worker had.
_COLLECT_GROWTH_KB = 64 << 10
_M_PERTURB = -6

_libc = ctypes.CDLL(None, use_errno=True)


class Done(NamedTuple):
    """A job that has run and is not answered yet: what the reply will say, and the outputs."""

    sequence: int
    stage: str
    seconds: float
    peak_kb: int
    more: Dict[str, Any]  # the error, or the answer to a question
    outputs: List[Tuple[str, Any]]
    kept: bool  # nobody else holds the outputs, to write over them later


class Worker:
    """Runs jobs one after another until its request pipe closes.

    Quick jobs are answered, and what they left behind is looked for, several at a time: between two
    compilations, which fill the processor's caches, that costs as much for one job as for ten in a row.
    A death may thus cost answers to jobs that had ended well; the parent has those run again.
    """

    def __init__(self, backend: types.ModuleType, fds: List[int]) -> None:
        self.backend = backend
        self.requests, self.results = fds[0], fds[1]
        self.beat = mmap.mmap(fds[2], mmap.PAGESIZE)
        self.pid = os.getpid()
        self.peak_reset = os.open("/proc/self/clear_refs", os.O_WRONLY)
        self.stage = 0
        self.out_of_memory = False
        self.peak_kb = _peak_kb()
        self.much_kb = self.peak_kb + _COLLECT_GROWTH_KB
        self.roomy_kb = 0
        self.unanswered: List[Done] = []
        self.now = self.answer_by = 0.0  # monotonic seconds

    def enter(self, stage: str) -> None:
        """Called by the backend as it reaches a stage."""
        self.stage = self.beat[16] = _NUMBER_OF[stage]

    def serve(self) -> None:
        """Read jobs and answer them, in order, until the parent closes the pipe."""
        reader = wire.JobReader()
        while True:
            data = os.read(self.requests, 1 << 20)
            if not data:
                return
            for sequence, header, job in reader.feed(data):
                done = self._run(sequence, header, job)
                if os.getpid() != self.pid:  # a backend forked and its child came back here
                    os._exit(0)
                self.unanswered.append(done)
                if "prompt" in header or self._should_answer(done):
                    self._answer()
                if "fresh" in header:
                    _shake_heap()
            self._answer()

    def _should_answer(self, done: Done) -> bool:
        """Whether to answer now, since nothing waits long; what used much memory is answered before the next begins."""
        if len(self.unanswered) == 1:
            self.answer_by = self.now + _ANSWER_SECONDS
        much = self.peak_kb > self.much_kb
        return len(self.unanswered) >= MOST_UNANSWERED or self.now > self.answer_by or much or not done.kept

    def _answer(self) -> None:
        waiting, self.unanswered = self.unanswered, []
        if not waiting:
            return
        tired = self.out_of_memory or self._spent() or _has_children()
        _write_all(self.results, b"".join([self._encode(done, tired) for done in waiting]))
        del waiting
        if _peak_kb() > self.roomy_kb:
            gc.collect()
            self.roomy_kb = _resident_kb() + _COLLECT_GROWTH_KB
        os.pwrite(self.peak_reset, b"5\n", 0)  # forget the peak of these jobs
        self.peak_kb = _peak_kb()
        self.much_kb = self.peak_kb + _COLLECT_GROWTH_KB

    def _run(self, sequence: int, header: Dict[str, Any], job: wire.Job) -> Done:
        started = time.monotonic()
        BEAT.pack_into(self.beat, 0, sequence, started, 1)
        os.write(2, MARK % sequence)
        self.stage = 1
        outputs: List[Tuple[str, Any]] = []
        more: Dict[str, Any] = {}
        try:
            if header["op"] == "run":
                if "perturb" in header and header["perturb"] is not None:
                    _libc.mallopt(_M_PERTURB, header["perturb"])
                watching.begin()
                outputs = self.backend.execute(job, self.enter)
            else:
                more = self._tell(header)
        # The process edge: SystemExit and KeyboardInterrupt from a compiler are data as well.
        except BaseException as error:  # noqa: BLE001
            if isinstance(error, MemoryError):
                self._release_reserve()
            more = {"error": self._describe(error, header, job)}
        watching.rest()
        self.now = time.monotonic()
        tried = watching.taken()
        if tried:
            more["tried"] = tried
        seconds = self.now - started
        if seconds > _QUICK_SECONDS:
            self.peak_kb = _peak_kb()
        kept = _kept(outputs)
        return Done(sequence, STAGES[self.stage], seconds, self.peak_kb, more, kept or outputs, kept is not None)

    def _spent(self) -> bool:
        """Whether the backend says that this process can run nothing more."""
        asked = getattr(self.backend, "spent", None)
        return bool(asked and asked())

    def _release_reserve(self) -> None:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        resource.setrlimit(resource.RLIMIT_DATA, (hard, hard))
        self.out_of_memory = True

    def _tell(self, header: Dict[str, Any]) -> Dict[str, Any]:
        """The answer to a question about the compiler itself."""
        if header["op"] == "devices":
            return {"devices": self.backend.devices()}
        if header["op"] == "converters":
            look_up = getattr(self.backend, "converters", None)
            operators = [tuple(entry) for entry in header["operators"]]
            return {"converters": look_up(operators) if look_up else ["" for _ in operators]}
        if header["op"] == "opset":
            return {"opset": getattr(self.backend, "newest_opset", int)()}
        raise ValueError("unknown operation %r" % header["op"])

    def _encode(self, done: Done, tired: bool) -> bytes:
        try:
            values = {str(position): value for position, (_, value) in enumerate(done.outputs)}
            size = 0 if done.kept else wire.nbytes(list(values.values()))
            if size > MOST_RESULT_BYTES:
                raise wire.WireError("results of %d MiB are too large to compare" % (size >> 20))
            return wire.pack(_header(done, tired, [str(name) for name, _ in done.outputs]), values)
        # The process edge: what a compiler returned may be any object, with any methods.
        except BaseException as error:  # noqa: BLE001
            if isinstance(error, MemoryError):
                self._release_reserve()
            said = _message(error)
            reason = said if isinstance(error, wire.WireError) else _kind(error) + ": " + said
            done = done._replace(more={**done.more, "unencodable": reason})
            return wire.pack(_header(done, tired or self.out_of_memory, []), {})

    def _describe(self, error: BaseException, header: Dict[str, Any], job: wire.Job) -> Dict[str, Any]:
        operator = function = ""
        if header["op"] == "run" and hasattr(self.backend, "blame"):
            try:
                operator, function = self.backend.blame(error, job)
            except BaseException as problem:  # noqa: BLE001 evidence only: the failure is reported all the same
                said = "blame() failed: %s: %s\n" % (_kind(problem), _message(problem))
                os.write(2, said.encode("utf-8", "replace"))
        return {
            "type": _kind(error),
            "message": _message(error),
            "frames": _frames(error),
            "operator": str(operator),
            "function": str(function),
        }


def _kept(outputs: Any) -> Optional[List[Tuple[str, Any]]]:
    """The outputs in memory of their own; None where they are large or no plain arrays."""
    try:
        kept = []
        for name, value in outputs:
            if type(value) is not np.ndarray or value.nbytes > _MOST_COPIED_BYTES:
                return None
            kept.append((name, value.copy()))
        return kept
    # The process edge: what a compiler returned may be any object; encoding it says what is wrong with it.
    except BaseException:  # noqa: BLE001
        return None


def _header(done: Done, tired: bool, names: List[str]) -> str:
    """The reply's header as JSON. Formatted by hand: an encoder takes longer than all the rest."""
    text = '{"seq":%d,"stage":"%s","seconds":%.9f,"peak_kb":%d,"tired":%s,"names":[%s]' % (
        done.sequence,
        done.stage,
        done.seconds,
        done.peak_kb,
        "true" if tired else "false",
        ",".join(map(encode_basestring_ascii, names)),
    )
    return text + ("," + json.dumps(done.more)[1:] if done.more else "}")


def _kind(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else "%s.%s" % (kind.__module__, kind.__qualname__)


def _message(error: BaseException) -> str:
    """What an exception says, cut to `LONGEST_MESSAGE`, whatever its class does when asked."""
    try:
        text = str(error)
    except BaseException as problem:  # noqa: BLE001 a compiler's class, a compiler's __str__
        text = "<message could not be formatted: %s>" % type(problem).__name__
    return text[:LONGEST_MESSAGE]


def _frames(error: BaseException) -> List[Tuple[str, int, str]]:
    """(file, line, qualified function), outermost first; a long stack keeps both ends."""
    found = []
    place = error.__traceback__
    while place is not None:
        code = place.tb_frame.f_code
        if code.co_filename != __file__:
            found.append((code.co_filename, place.tb_lineno, getattr(code, "co_qualname", code.co_name)))
        place = place.tb_next
    if len(found) > MOST_FRAMES:
        found = found[:8] + found[8 - MOST_FRAMES :]
    return found


def _peak_kb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _resident_kb() -> int:
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * mmap.PAGESIZE // 1024


def _has_children() -> bool:
    """Whether a job left processes behind: the worker is a subreaper, so daemons come back to it."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return False
    return True


def _shake_heap() -> None:
    """After a lone job: let a corrupted heap or a late thread show itself before the exit."""
    gc.collect()
    held = [_libc_malloc(size) for size in (24, 120, 600, 2000, 3000, 9000, 70000) for _ in range(16)]
    for pointer in held:
        _libc_free(pointer)
    _libc.malloc_trim(0)
    time.sleep(0.02)


_libc_malloc = _libc.malloc
_libc_malloc.restype, _libc_malloc.argtypes = ctypes.c_void_p, [ctypes.c_size_t]
_libc_free = _libc.free
_libc_free.restype, _libc_free.argtypes = None, [ctypes.c_void_p]


def _write_all(fd: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
