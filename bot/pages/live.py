"""The numbers of a hunt as they come, as server-sent events: for a page that is looked at while the hunt goes on."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass

from fastapi import APIRouter, Request, Response
from fastapi.responses import StreamingResponse
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from bot.pages import documents, reading
from bot.pages.api import Number
from bot.pages.door import Visitor
from bot.pages.rendering import page as rendered
from triage.store import Store, StoreError

#: Seconds between two looks at a hunt however many watch it, between two signs of life, and of one connection: a
#: browser opens the next one by itself.
EVERY, ALIVE, LONGEST = 2.0, 15.0, 600.0
#: Connections at a time; whoever finds none asks every few seconds instead.
MOST = 32
_HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}


@dataclass(frozen=True)
class Shot:
    """A hunt at a moment (monotonic seconds): its numbers as a piece of a page, and whether they will change again."""

    taken: float
    html: str
    over: bool


class Camera:
    """Takes shots of hunts, one for all who watch it."""

    def __init__(self, store: Store) -> None:
        self._store, self._shots, self._lock = store, dict[int, Shot](), threading.Lock()
        self.watched = 0

    def shot(self, number: int) -> Shot:
        """The hunt now, or just before. Raises Unknown, StoreError."""
        with self._lock:
            last = self._shots.get(number)
            if last is None or time.monotonic() - last.taken >= EVERY / 2:
                if len(self._shots) >= MOST:
                    self._shots.clear()
                last = self._shots[number] = self._taken(number)
            return last

    def _taken(self, number: int) -> Shot:
        known, seen = reading.campaign(self._store, number), reading.seen(self._store, number)
        told = documents.whole_campaign(known, reading.standing(self._store, number), seen.told)
        html = rendered("_numbers.html.j2", Visitor(), campaign=told, seen=seen)
        return Shot(time.monotonic(), html, known.finished is not None)


def router(store: Store) -> APIRouter:
    """The stream of one hunt."""
    found, camera = APIRouter(include_in_schema=False), Camera(store)

    @found.get("/campaigns/{number}/live")
    async def live(number: Number, request: Request) -> Response:
        await run_in_threadpool(camera.shot, number)
        if camera.watched >= MOST:
            raise HTTPException(503, "too many watch already", {"Retry-After": "60"})
        events = _events(camera, number, request.app.state.ending)
        return StreamingResponse(events, media_type="text/event-stream", headers=_HEADERS)

    return found


async def _events(camera: Camera, number: int, ending: Callable[[], bool]) -> AsyncIterator[str]:
    """What a browser is told until the hunt is over, the server ends or the connection has lasted long enough."""
    camera.watched += 1
    try:
        begun = spoken = time.monotonic()
        before = ""
        while not ending() and time.monotonic() - begun < LONGEST:
            shot = await run_in_threadpool(camera.shot, number)
            if shot.html != before:
                before, spoken = shot.html, time.monotonic()
                yield event("numbers", shot.html)
            elif time.monotonic() - spoken >= ALIVE:
                spoken = time.monotonic()
                yield ": nothing new\n\n"
            if shot.over:
                yield event("end", "")
                return
            await asyncio.sleep(EVERY)
    except StoreError:
        return  # the browser asks again
    finally:
        camera.watched -= 1


def event(name: str, text: str) -> str:
    """One server-sent event (WHATWG HTML, 9.2.6): a text has as many lines of data as it has lines."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return "".join((f"event: {name}\n", *(f"data: {line}\n" for line in lines), "\n"))
