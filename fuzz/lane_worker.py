"""One worker process seen from its parent: sends it jobs ahead, watches time, memory and processes, notices death."""

from __future__ import annotations

import contextlib
import mmap
import os
import select
import signal
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence

from fuzz import native, pipes, processes, wire
from fuzz.jobs import BEAT, MARK, MOST_RESULT_BYTES, STAGES
from fuzz.limits import Job, Limits, Reply
from fuzz.standing import ANNOUNCED, Standing, standing
from fuzz.worker import descendants
from fuzz.zygote import Exit, Zygote, ZygoteGone

TICK_SECONDS = 0.1
#: A wait of a tick that takes longer than this: the machine stood still, or had no time for us, and so none for cases.
_STANDSTILL_SECONDS = 1.0
#: So many times its limit a case may wait for a machine that has no time; then it ends, for all that stands still.
_MOST_STANDSTILL = 9
#: A worker that is silent for so long may be blocked on a full stderr pipe, which is read only then
#: and when its text is wanted: being woken for every line that a compiler prints costs a tenth.
_QUIET_SECONDS = 0.005
#: How much of a job's native output is kept: the last messages tell what went wrong.
STDERR_BYTES = 16 * 1024
MOST_PROCESSES = 200
#: Keys of every answer of a worker.
_REPLY_KEYS = {"seq", "stage", "seconds", "peak_kb", "tired", "names"}
#: How often the native output of jobs that went well is taken out of the pipe.
_JOBS_PER_LOG = 32
_AHEAD_JOBS = 64
_AHEAD_BYTES = 1 << 19


class LaneWorker:
    """A worker process and its pipes."""

    def __init__(
        self,
        zygote: Zygote,
        limits: Limits,
        beat: mmap.mmap,
        beat_fd: int,
        next_sequence: Callable[[], int],
        stands: bool = False,
    ) -> None:
        self._zygote, self._limits, self._beat, self._next = zygote, limits, beat, next_sequence
        requests, self._requests = pipes.pipe()
        self._results, results = pipes.pipe()
        self._errors, errors = pipes.pipe()
        try:
            zygote.exits()
            self._pid = zygote.fork_worker([requests, results, errors, beat_fd], limits.memory_mb, stands)
        except ZygoteGone:
            for fd in (self._requests, self._results, self._errors):
                os.close(fd)
            raise
        finally:
            for fd in (requests, results, errors):
                os.close(fd)
        for fd in (self._requests, self._results, self._errors):
            os.set_blocking(fd, False)
        self._unpacker = wire.Unpacker(MOST_RESULT_BYTES + (16 << 20))
        self._arrived: deque[wire.Frame] = deque()
        self._outgoing = bytearray()
        self._log = b""
        self._exit: Exit | None = None
        self._garbage = ""
        self._kernel_kills = processes.killed_by_kernel()
        self.ended = self.orphaned = False
        self.jobs = 0
        self._sent = 0  # the last job's sequence number
        self._prompt = False
        self._idle_mb = processes.resident_mb([self._pid])
        self.peak_mb = self.first_peak_mb = 0.0
        self.tired = False  # it says itself that it should be replaced
        self._stands = stands  # over a fatal signal, to be looked at
        self._stood: Standing | None = None
        self._native = ""  # its native stack there

    # ------------------------------------------------------------ jobs

    def run(self, jobs: Sequence[Job], prompt: bool = False) -> Iterator[Reply]:
        """Yield one Reply per job until the jobs or the worker end.

        The reply of a death may be that of a later job than the next one: see `Reply.lost`.
        """
        self._prompt = prompt
        ahead: deque[tuple[int, int]] = deque()  # (sequence, bytes) of jobs sent and not answered
        upcoming = iter(jobs)
        while True:
            if len(ahead) <= _AHEAD_JOBS // 2:
                self._send_ahead(upcoming, ahead)
            if not ahead:
                return
            reply = self._await(ahead[0][0])
            ahead.popleft()
            yield reply
            if reply.death:
                return

    def _send_ahead(self, upcoming: Iterator[Job], ahead: deque[tuple[int, int]]) -> None:
        """Many at once, so that the worker unpacks them in one go while that code is in its caches."""
        manner = {"prompt": True} if self._prompt else {}
        room = _AHEAD_BYTES - sum(size for _, size in ahead)
        while room > 0 and len(ahead) < _AHEAD_JOBS:
            job = next(upcoming, None)
            if job is None:
                break
            header, model, inputs = job
            sequence = self._sent = self._next()
            data = wire.pack_job(sequence, {**header, **manner}, model, inputs)
            self._outgoing += data
            ahead.append((sequence, len(data)))
            room -= len(data)
        self._write_requests()

    def _await(self, sequence: int) -> Reply:
        """The answer to job `sequence`, or how the worker died over it."""
        handed_over = time.monotonic()
        looked = before = handed_over
        stood = 0.0
        quiet = False
        while True:
            if self._arrived:
                return self._answer(self._arrived.popleft(), sequence)
            if self.ended or self._garbage:
                return self._obituary(sequence, self._manner_of_death())
            if quiet:
                self._pump(TICK_SECONDS, errors=True)
                self._look_at_the_dying()
            else:
                quiet = not self._pump(_QUIET_SECONDS)
            now = time.monotonic()
            stood += now - before if now - before > _STANDSTILL_SECONDS else 0.0
            before = now
            if now - looked >= TICK_SECONDS and not self._arrived:
                looked = now
                verdict = self._overstepped(sequence, handed_over, stood)
                if verdict == "timeout":
                    self._look_at_the_dying(announced=False)
                if verdict and self._stood is None:
                    return self._execute_sentence(sequence, verdict)

    def _answer(self, frame: wire.Frame, sequence: int) -> Reply:
        header = frame.header
        if header.get("seq") != sequence or not header.keys() >= _REPLY_KEYS:
            self._garbage = f"a reply that answers no job: {str(header)[:200]}"
            return self._obituary(sequence, "garbage")
        self.jobs += 1
        text = ""
        if "error" in header or self.jobs % _JOBS_PER_LOG == 0:
            self._read_errors()
            text, self._log = _split_log(self._log, sequence)
        self.peak_mb = header["peak_kb"] / 1024
        self.first_peak_mb = self.first_peak_mb or self.peak_mb
        self.tired = self.tired or header["tired"]
        return Reply(header, frame.values, text, "", header["stage"], header["seconds"], self.peak_mb)

    def farewell(self, reply: Reply) -> Reply:
        """Close the request pipe and wait for the exit; a death now belongs to this job too."""
        self._close_requests()
        now = time.monotonic()
        deadline = now + min(10.0, self._limits.seconds)
        while not self.ended and now < deadline:
            self._pump(TICK_SECONDS, errors=True)
            self._look_at_the_dying()
            before, now = now, time.monotonic()
            deadline += now - before if now - before > _STANDSTILL_SECONDS else 0.0
        self._look_at_the_dying(announced=False)
        if self._exit is not None and self._exit.status == 0:
            return reply
        death = self._manner_of_death() if self.ended else "timeout"
        return self._obituary(int(reply.header["seq"]), death)

    # ------------------------------------------------------------ watching

    def _pump(self, timeout: float, errors: bool = False) -> bool:
        """Move bytes when there are any within `timeout` seconds; false when there were none."""
        poll = select.poll()
        poll.register(self._results, select.POLLIN)
        poll.register(self._zygote.control, select.POLLIN)
        if errors:
            poll.register(self._errors, select.POLLIN)
        if self._outgoing:
            poll.register(self._requests, select.POLLOUT)
        events = poll.poll(timeout * 1000)
        if events and all(event == select.POLLHUP for _, event in events):
            time.sleep(TICK_SECONDS / 50)  # the worker closed its pipes and lives on: do not spin
        ready = {fd for fd, _ in events}
        if self._outgoing and self._requests in ready:
            self._write_requests()
        if self._errors in ready:
            self._read_errors()
        if self._zygote.control.fileno() in ready:
            self._hear_zygote()
        if self._results in ready or self.ended:
            self._read_results()
        return bool(events)

    def _hear_zygote(self) -> None:
        try:
            self._exit = next((gone for gone in self._zygote.exits() if gone.pid == self._pid), self._exit)
        except ZygoteGone:
            self.orphaned = True  # the kernel has killed the worker with its parent
        self.ended = self.ended or self.orphaned or self._exit is not None

    def _write_requests(self) -> None:
        if not self._outgoing:
            return
        try:
            written = os.write(self._requests, memoryview(self._outgoing)[: pipes.BYTES])
        except BlockingIOError:
            return
        except BrokenPipeError:
            self._outgoing.clear()  # the exit report is on its way
            return
        del self._outgoing[:written]

    def _read_results(self) -> None:
        for data in pipes.available(self._results):
            if self._garbage:
                return
            try:
                self._arrived.extend(self._unpacker.feed(data))
            except wire.WireError as error:
                self._garbage = str(error)

    def _read_errors(self) -> None:
        for data in pipes.available(self._errors):
            self._log = (self._log + data)[-4 * STDERR_BYTES :]

    def _look_at_the_dying(self, announced: bool = True) -> None:
        """Where the worker stands still over a fatal signal, take its native stack and end it.

        A case may have closed stderr: at the end of its time it is looked at without having `announced` its death.
        """
        if not self._stands or self.ended or (announced and ANNOUNCED not in self._log):
            return
        self._stood = standing(self._pid)
        if self._stood is not None:
            self._native = native.taken(self._pid, self._stood.thread)
            self.kill()

    def _overstepped(self, sequence: int, handed_over: float, stood: float) -> str:
        """Which limit the running job has broken, or ""; for `stood` seconds of the wait nothing could be done."""
        _, started, _ = self._at_work(sequence)
        limit = self._limits.seconds
        if time.monotonic() - (started or handed_over) - min(stood, _MOST_STANDSTILL * limit) > limit:
            return "timeout"
        family = [self._pid, *descendants(self._pid)]
        if len(family) > MOST_PROCESSES:
            return "processes"
        limit = self._idle_mb + self._limits.memory_mb
        return "oom" if processes.resident_mb(family) > limit and processes.used_mb(family) > limit else ""

    def _at_work(self, sequence: int) -> tuple[int, float, int]:
        """(job, when it began, stage) of what the worker does, told by its heartbeat.

        `sequence` is the first job without an answer; it stands in, as not begun, where the heartbeat
        tells of none that can be running.
        """
        running, started, stage = BEAT.unpack_from(self._beat, 0)
        if not sequence <= running <= self._sent:
            return sequence, 0.0, 0
        return running, started, stage

    # ------------------------------------------------------------ death

    def _execute_sentence(self, sequence: int, verdict: str) -> Reply:
        """Have a stuck worker print its Python stack, then kill it and all it started."""
        peak = processes.used_mb([self._pid, *descendants(self._pid)])
        if verdict == "timeout":
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._pid, signal.SIGUSR1)
            until = time.monotonic() + TICK_SECONDS
            while time.monotonic() < until and not self.ended:
                self._pump(TICK_SECONDS / 4, errors=True)
        return self._obituary(sequence, verdict, peak)

    def _obituary(self, sequence: int, death: str, peak_mb: float = 0.0) -> Reply:
        """The reply of the job that died; answers from `sequence` up to it are lost."""
        running, started, stage = self._at_work(sequence)
        if death == "garbage" and self._prompt:
            running = sequence  # the answers before it are here: it wrote between those and its own
        lasted = time.monotonic() - started if started else 0.0
        self.kill()
        self._read_errors()  # all of it is there now
        text, _ = _split_log(self._log, running)
        return Reply(
            header={"seq": running},
            values={},
            stderr=text + self._native + (f"\n[worker sent garbage: {self._garbage}]" if self._garbage else ""),
            death=death,
            stage=STAGES[stage] if stage < len(STAGES) else "start",
            seconds=lasted,
            peak_mb=peak_mb or (self._exit.peak_mb if self._exit else 0.0),
            lost=running - sequence,
        )

    def _manner_of_death(self) -> str:
        if self._garbage:
            return "garbage"
        if self._stood is not None:
            return f"signal:{self._stood.signal}"
        if self._exit is None:
            return "orphaned"
        status = self._exit.status
        if os.WIFSIGNALED(status):
            number = os.WTERMSIG(status)
            if number == signal.SIGKILL and processes.killed_by_kernel() != self._kernel_kills:
                return "oom"
            return f"signal:{processes.signal_name(number)}"
        return f"exit:{os.WEXITSTATUS(status)}"

    def kill(self) -> None:
        """End the worker and everything below it, and wait for its exit. Idempotent."""
        if not self.ended:
            for pid in [*descendants(self._pid), self._pid]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            until = time.monotonic() + 5
            while not self.ended and time.monotonic() < until:
                self._pump(TICK_SECONDS, errors=True)
        self.ended = True

    def close(self) -> None:
        """Kill the worker and give its pipes back. Once only."""
        self.kill()
        self._close_requests()
        os.close(self._results)
        os.close(self._errors)

    def _close_requests(self) -> None:
        if self._requests >= 0:
            os.close(self._requests)
            self._requests = -1
            self._outgoing.clear()


def _split_log(log: bytes, sequence: int) -> tuple[str, bytes]:
    """What job `sequence` printed, and what later jobs have printed already."""
    start = log.rfind(MARK % sequence)
    mine = log[start + len(MARK % sequence) :] if start >= 0 else log
    following = mine.find(MARK % (sequence + 1))
    rest = mine[following:] if following >= 0 else b""
    mine = mine[:following] if following >= 0 else mine
    return mine[-STDERR_BYTES:].decode("utf-8", "replace"), rest
