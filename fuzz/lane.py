"""A place for one warm worker: runs jobs in it, replaces it once it is worn out or dead.

A lane belongs to one thread. It never interprets results; `fuzz.runner` turns replies into Outcomes.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Iterator, Sequence

from fuzz.jobs import BEAT, MOST_UNANSWERED
from fuzz.lane_worker import LaneWorker
from fuzz.limits import Job, Limits, Recycling, Reply
from fuzz.zygote import Zygote, ZygoteGone


class Lane:
    """A zygote clone with at most one live worker."""

    def __init__(self, zygote: Zygote, limits: Limits, recycling: Recycling | None = None) -> None:
        self._zygote, self._limits = zygote, limits
        self._recycling = recycling or Recycling()
        self._beat_fd = os.memfd_create("graphwarden-beat")
        os.ftruncate(self._beat_fd, mmap.PAGESIZE)
        self._beat = mmap.mmap(self._beat_fd, mmap.PAGESIZE)
        self._worker: LaneWorker | None = None
        self._sequence = 0

    @property
    def usable(self) -> bool:
        """Whether the lane can run more jobs; false once its zygote is gone."""
        return self._worker is None or not self._worker.orphaned

    def run(self, jobs: Sequence[Job], prompt: bool = False) -> Iterator[Reply]:
        """One Reply per job, in order. A death costs only the job that was running.

        With `prompt` the worker answers each job before it begins the next. Raises ZygoteGone before a
        job when no worker can be forked for it, or when its worker's parent died.
        """
        done = 0
        prompt_until = len(jobs) if prompt else 0
        deaths: dict[int, Reply] = {}  # of jobs before which others have lost their answers: these run again
        while done < len(jobs):
            if done in deaths:
                yield deaths.pop(done)
                done += 1
                continue
            prompt = done < prompt_until
            worker = self._worker or self._start()
            ahead = jobs[done : min([len(jobs), *deaths, *([prompt_until] if prompt else [])])]
            for reply in worker.run(ahead, prompt):
                if not prompt and (worker.tired or (reply.lost and reply.death == "garbage")):
                    # Any of the jobs that were answered together has done it: this time each is answered alone.
                    prompt_until = done + MOST_UNANSWERED
                    break
                if reply.lost:
                    deaths[done + reply.lost] = reply
                    break
                done += 1
                yield reply
                if reply.death or self._worn_out(worker):
                    break
            if worker.orphaned:
                raise ZygoteGone("a case killed the worker's parent process")
            if worker.ended or self._worn_out(worker):
                self._retire()

    def run_alone(self, job: Job, limits: Limits | None = None) -> Reply:
        """Run one job in a worker that has run nothing before, and see it exit in peace. Raises ZygoteGone.

        One that dies of a fatal signal tells its native stack at the end of `Reply.stderr`, where it can be taken.
        `limits` take the place of the lane's own for this job.
        """
        self._retire()
        worker = self._start(limits, stands=True)
        header, model, inputs = job
        reply = next(iter(worker.run([({**header, "fresh": True}, model, inputs)])))
        if not reply.death:
            reply = worker.farewell(reply)
        if not worker.orphaned:
            self._retire()
        return reply

    def close(self) -> None:
        """Kill the worker and hang up."""
        self._retire()
        self._zygote.close()
        self._beat.close()
        os.close(self._beat_fd)

    def _start(self, limits: Limits | None = None, stands: bool = False) -> LaneWorker:
        self._beat[: BEAT.size] = bytes(BEAT.size)
        self._worker = LaneWorker(self._zygote, limits or self._limits, self._beat, self._beat_fd, self._next, stands)
        return self._worker

    def _next(self) -> int:
        self._sequence += 1
        return self._sequence

    def _worn_out(self, worker: LaneWorker) -> bool:
        grown = worker.peak_mb - worker.first_peak_mb > self._recycling.growth_mb
        return worker.tired or grown or worker.jobs >= self._recycling.jobs

    def _retire(self) -> None:
        if self._worker is not None:
            self._worker.close()
            self._worker = None
