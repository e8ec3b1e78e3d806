"""Signing in and out."""

from __future__ import annotations

import math
import secrets
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from bot.pages import door
from bot.pages.door import Anybody, Door, Moderator, Visitor, Waits
from bot.pages.forms import Form
from bot.pages.rendering import page as rendered

Next = Annotated[str, Query(alias="next", max_length=500)]
_NOBODY = "nobody may sign in here: `graphwarden moderators add NAME` on this database makes a moderator"
_UNSAFE = "signing in needs https, so that the secret and the session stay between the two of you"
_WRONG = "The name and the secret do not fit."


def router(doors: Door) -> APIRouter:
    """The pages of signing in and out."""
    found = APIRouter(include_in_schema=False)

    @found.get("/sign-in")
    def form(request: Request, who: Anybody, onward: Next = "/queue") -> Response:
        if who.name:
            return RedirectResponse(door.path(onward), 303)
        _check(request, who)
        return _form(request, who, onward)

    @found.post("/sign-in")
    def sign_in(request: Request, who: Anybody, told: Form) -> Response:
        _check(request, who)
        door.check_token(told.one("form"), door.form_token(door.before(request)) if door.before(request) else "")
        onward, name = told.one("next"), told.one("name", 100)
        try:
            token = doors.sign_in(request, name, told.one("secret"))
        except Waits as wait:
            return _waits(request, who, onward, wait.seconds)
        if not token:
            return _form(request, who, onward, _WRONG, 403)
        answer = RedirectResponse(door.path(onward), 303)
        door.let_in(request, answer, token)
        return answer

    @found.post("/sign-out")
    def sign_out(request: Request, who: Moderator, told: Form) -> Response:
        doors.sign_out(request, who.name, everywhere=told.one("everywhere") == "yes")
        answer = RedirectResponse("/bugs", 303)
        door.let_out(request, answer)
        return answer

    return found


def _check(request: Request, who: Visitor) -> None:
    if not who.moderated:
        raise HTTPException(404, _NOBODY)
    if not door.is_safe(request):
        raise HTTPException(403, _UNSAFE)


def _form(request: Request, who: Visitor, onward: str, why: str = "", status: int = 200) -> Response:
    """The form, bound to this browser by a token of its own: nobody can sign another one in."""
    token = door.before(request) or secrets.token_urlsafe(32)
    values = {"onward": door.path(onward), "why": why, "form": door.form_token(token)}
    answer = HTMLResponse(rendered("sign_in.html.j2", who, **values), status)
    door.greet(request, answer, token)
    return answer


def _waits(request: Request, who: Visitor, onward: str, seconds: float) -> Response:
    left = math.ceil(seconds)
    why = f"Too many sign-ins have failed. The next one is possible in {left} second{'s' if left > 1 else ''}."
    answer = _form(request, who, onward, why, 429)
    answer.headers["Retry-After"] = str(left)
    return answer
