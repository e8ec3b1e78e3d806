"""The pages as a web application over one database, which it only reads (docs/pages.md).

Anybody who can reach it sees everything: it listens on this machine alone unless told otherwise.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from fastapi.staticfiles import StaticFiles
from starlette.exceptions import HTTPException

from bot.pages import api, metrics, views
from bot.pages.rendering import STATIC, page
from triage.store import Store, StoreError, Unknown

#: Nothing from elsewhere, nothing inside the text of a page that could run, no page in a frame of another.
_POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'"
_HEADERS = {
    "Content-Security-Policy": f"{_POLICY}; form-action 'self'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
}


def make_app(store: Store) -> FastAPI:
    """The application over one database."""
    app = FastAPI(title="Graphwarden", version="1", docs_url=None, redoc_url=None, openapi_url="/api/v1/openapi.json")
    app.mount("/static", StaticFiles(directory=STATIC), name="static")
    app.include_router(api.router(store))
    app.include_router(views.router(store))
    app.include_router(metrics.router(store))

    @app.get("/", include_in_schema=False)
    def start() -> Response:
        return RedirectResponse("/bugs")

    @app.middleware("http")
    async def guarded(request: Request, handle: Callable[[Request], Awaitable[Response]]) -> Response:
        answer = await handle(request)
        answer.headers.update(_HEADERS)
        return answer

    @app.exception_handler(Unknown)
    async def unknown(request: Request, error: Unknown) -> Response:
        return _problem(request, 404, str(error).partition(": ")[2] or str(error))

    @app.exception_handler(StoreError)
    async def unreadable(request: Request, error: StoreError) -> Response:
        return _problem(request, 503, "the database cannot be read now")

    @app.exception_handler(HTTPException)
    async def refused(request: Request, error: HTTPException) -> Response:
        answer = _problem(request, error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    return app


def _problem(request: Request, status: int, why: str) -> Response:
    if request.url.path.startswith("/api/"):
        return JSONResponse({"detail": why}, status)
    return HTMLResponse(page("problem.html.j2", why=why, status=status), status)
