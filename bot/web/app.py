"""The web application: takes deliveries at one path, says how it is at ``/healthz``, and does nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import structlog
from fastapi import FastAPI, Request
from fastapi.responses import JSONResponse, PlainTextResponse, Response

from bot.settings import Settings
from bot.web.health import Health
from bot.web.inbox import Inbox, NotStored
from bot.web.request import ClientDisconnect, Intake, Rejected
from triage.ledger import Ledger

log = structlog.get_logger()

#: Seconds that a request waits for the database: GitHub gives up after ten in all.
PATIENCE = 8.0
ABOUT = """\
Graphwarden finds and reports bugs of deep-learning compilers. This is where GitHub's webhooks arrive; /healthz says
how it is.
"""


def make_app(settings: Settings, ledger: Ledger) -> FastAPI:
    """The application over one ledger. Raises BadSettings where there is no webhook secret."""
    intake = Intake(settings.webhook_secret)
    inbox, health = Inbox(ledger.deliveries), Health(ledger)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with inbox:
            yield

    # No pages about the interface, and no redirects: there is nothing to explore.
    app = FastAPI(lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None, redirect_slashes=False)

    @app.post(settings.server.path)
    async def take(request: Request) -> Response:
        return await _take(request, intake, inbox)

    @app.get("/healthz")
    async def healthz() -> Response:
        found = await health.look()
        return JSONResponse(found, status_code=200 if found["ok"] else 503)

    @app.get("/")
    async def about() -> Response:
        return PlainTextResponse(ABOUT)

    @app.exception_handler(Exception)
    async def broken(request: Request, error: Exception) -> Response:
        return _answer(500, "internal error")

    return app


async def _take(request: Request, intake: Intake, inbox: Inbox) -> Response:
    """Store one delivery; it is acknowledged only when it is committed."""
    told = log.bind(delivery=request.headers.get("x-github-delivery", "")[:64])
    try:
        delivery = await intake.delivery(request)
    except Rejected as rejected:
        told.warning("delivery_rejected", status=rejected.status, why=str(rejected))
        return _answer(rejected.status, str(rejected))
    except ClientDisconnect:
        told.warning("delivery_cut_off")
        return _answer(400, "the body was cut off")
    try:
        async with asyncio.timeout(PATIENCE):
            new = await inbox.put(delivery)
    except (NotStored, TimeoutError) as error:
        told.error("delivery_not_acknowledged", event_name=delivery.event, why=str(error) or "the database is busy")
        return _answer(503, "cannot be stored now")
    what = "delivery_stored" if new else "delivery_known"
    told.info(what, event_name=delivery.event, bytes=len(delivery.body))
    return _answer(202, "pong" if delivery.event == "ping" else "stored" if new else "known")


def _answer(status: int, what: str) -> Response:
    return JSONResponse({"status": what}, status_code=status)
