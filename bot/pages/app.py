"""The pages as a web application over one database (docs/pages.md).

Anybody who can reach it sees everything: it listens on this machine alone unless told otherwise. Moderators who have
signed in decide there what the command line decides; without any moderator nothing can be changed.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from bot.moderation import Projects
from bot.pages import api, campaigns, deciding, gates, live, metrics, signing, views, waiting
from bot.pages import sweeps as pages_of_sweeps
from bot.pages.door import Door, known, signed_in
from bot.pages.rendering import STATIC, page
from triage.ledger import Ledger
from triage.store import Store, StoreError, Unknown

#: Nothing from elsewhere, nothing inside the text of a page that could run, no page in a frame of another.
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'"
_UNUSABLE = "the database takes nothing now: see whether this was done, and try again"
_HEADERS = {
    "Content-Security-Policy": f"{_POLICY}; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    # Not "no-referrer": with it browsers do not tell from where a form is sent.
    "Referrer-Policy": "same-origin",
}


def make_app(store: Store, projects: Projects | None = None, sweeps: Sequence[Path] = ()) -> FastAPI:
    """The application over one database; `projects` are those of the bot's configuration, `sweeps` files to show."""
    app = FastAPI(title="Graphwarden", version="1", docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json")
    ledger = Ledger(store)
    app.state.door, app.state.ending = Door(ledger), lambda: False
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    for router in (
        api.router(store),
        gates.router(ledger),
        waiting.router(ledger, projects),
        pages_of_sweeps.router(sweeps),
        views.router(store),
        campaigns.router(ledger),
        live.router(store),
        deciding.router(ledger),
        signing.router(app.state.door),
        metrics.router(store),
    ):
        app.include_router(router)

    @app.get("/", include_in_schema=False)
    def start() -> Response:
        return RedirectResponse("/bugs")

    @app.middleware("http")
    async def guarded(request: Request, handle: Callable[[Request], Awaitable[Response]]) -> Response:
        answer = await handle(request)
        answer.headers.update(_HEADERS)
        if signed_in(request):
            answer.headers["Cache-Control"] = "no-store"  # "back" shows nothing once one has signed out
        return answer

    @app.exception_handler(Unknown)
    async def unknown(request: Request, error: Unknown) -> Response:
        return _problem(request, 404, str(error).partition(": ")[2] or str(error))

    @app.exception_handler(StoreError)
    async def unreadable(request: Request, error: StoreError) -> Response:
        return _problem(request, 503, _UNUSABLE if request.method == "POST" else "the database cannot be read now")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        answer = _problem(request, error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(RequestValidationError)
    async def meaningless(request: Request, error: RequestValidationError) -> Response:
        if request.url.path.startswith("/api/"):
            return await request_validation_exception_handler(request, error)
        wrong = {f"{each['loc'][-1]}: {each['msg']}" for each in error.errors()}
        return _problem(request, 422, "; ".join(sorted(wrong)))

    return app


def _problem(request: Request, status: int, why: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": why}, status)
    html = page("problem.html.j2", known(request), why=why, status=status)
    return HTMLResponse(html, status, {"HX-Push-Url": "false"})  # what went wrong has no address of its own
