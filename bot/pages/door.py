"""Who is at a page: nobody in particular, or a moderator who has signed in (decision 020).

A browser has a random token in a cookie, the database its hash. Each form carries a second token that is made of the
first one, so that it is good for this session alone.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
import threading
from dataclasses import dataclass
from datetime import timedelta
from typing import Annotated

from fastapi import Depends, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from bot import passphrase
from bot.pages.forms import Form
from triage.ledger import Ledger
from triage.ledger.attempts import Limit
from triage.store import Unknown

#: How long one stays signed in.
LASTING = timedelta(hours=12)
#: Failed sign-ins of one name from one address, and of any names from one address.
PAIR, ADDRESS = Limit(5, 900.0), Limit(50, 60.0)
#: Secrets that are looked at at the same time: each takes 16 MiB; and seconds that the next one waits for its turn.
_AT_ONCE, _TURN = 2, 10.0
_SESSION, _BEFORE = "graphwarden", "graphwarden-form"
#: A path of this site: nothing that a browser would take for another one.
_PATH = re.compile(r"/(?![/\\])[\w./?=&%+~-]*")


class Waits(Exception):
    """Too many sign-ins have failed; `seconds` is how long the next one waits."""

    def __init__(self, seconds: float) -> None:
        super().__init__(seconds)
        self.seconds = seconds


@dataclass(frozen=True)
class Visitor:
    """Whose page it is. `form` is what each of its forms carries, `moderated` whether anybody may sign in at all."""

    name: str = ""
    form: str = ""
    moderated: bool = False


class Door:
    """Signs moderators in and out, and knows them again."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turns = threading.BoundedSemaphore(_AT_ONCE)

    def visitor(self, request: Request) -> Visitor:
        """Who sends a request."""
        token = request.cookies.get(_named(_SESSION, request), "")
        name = self._ledger.moderators.signed_in(_digest(token)) if token else ""
        if name:
            return Visitor(name, form_token(token), True)
        return Visitor(moderated=self._ledger.moderators.any())

    def sign_in(self, request: Request, name: str, secret: str) -> str:
        """The token of a new session, "" where name and secret do not fit. Raises Waits."""
        address = _address(request)
        pair, place = _key("pair", name, address), _key("address", address)
        seconds = self._ledger.attempts.begin({pair: PAIR, place: ADDRESS})
        if seconds > 0:
            raise Waits(seconds)
        if not self._fits(name, secret):
            return ""
        token = secrets.token_urlsafe(32)
        try:
            self._ledger.moderators.sign_in(name, _digest(token), LASTING)
        except Unknown:
            return ""
        self._ledger.attempts.succeeded(pair, place)
        self._ledger.moderators.sign_out(_digest(request.cookies.get(_named(_SESSION, request), "")))
        return token

    def _fits(self, name: str, secret: str) -> bool:
        if not self._turns.acquire(timeout=_TURN):
            raise Waits(_TURN)
        try:
            return passphrase.fits(secret, self._ledger.moderators.secret(name))
        finally:
            self._turns.release()

    def sign_out(self, request: Request, name: str, everywhere: bool) -> None:
        """End this session, or all of a moderator's."""
        if everywhere:
            self._ledger.moderators.sign_out_everywhere(name)
        self._ledger.moderators.sign_out(_digest(request.cookies.get(_named(_SESSION, request), "")))


def visitor(request: Request) -> Visitor:
    """Who looks at a page."""
    door: Door = request.app.state.door
    request.state.who = door.visitor(request)
    return known(request)


def known(request: Request) -> Visitor:
    """Who looks at a page, as far as that was asked before; of use where something has gone wrong."""
    found: Visitor = getattr(request.state, "who", Visitor())
    return found


def moderator(request: Request, form: Form) -> Visitor:
    """The moderator who has sent a form from a page of his own. Raises HTTPException."""
    found = visitor(request)
    if not found.name:
        raise HTTPException(403, "only moderators who have signed in may do this: nothing was changed")
    check_token(form.one("form"), found.form)
    return found


Anybody = Annotated[Visitor, Depends(visitor)]
Moderator = Annotated[Visitor, Depends(moderator)]


def reader(who: Anybody) -> Visitor:
    """A moderator who looks at what only moderators see. Raises HTTPException."""
    if not who.name:
        raise HTTPException(401, "only moderators who have signed in may see this")
    return who


Reader = Annotated[Visitor, Depends(reader)]


def form_token(token: str) -> str:
    """What the forms of a session carry: 64 hex digits, of which the session's own token cannot be told."""
    return hmac.digest(token.encode(), b"graphwarden form", "sha256").hex()


def check_token(given: str, wanted: str) -> None:
    """Raises HTTPException for a form of another session."""
    if not (wanted and hmac.compare_digest(given.encode(), wanted.encode())):
        raise HTTPException(403, "this form is from another session: open its page again; nothing was changed")


def signed_in(request: Request) -> bool:
    """Whether a request claims to be of a session."""
    return bool(request.cookies.get(_named(_SESSION, request)))


def before(request: Request) -> str:
    """The token of a browser that has not signed in yet, "" where it has none."""
    return request.cookies.get(_named(_BEFORE, request), "")


def let_in(request: Request, answer: Response, token: str) -> None:
    """Give a browser its session; what it had before it signed in is worth nothing any more."""
    _set(request, answer, _SESSION, token, int(LASTING.total_seconds()))
    _drop(request, answer, _BEFORE)


def greet(request: Request, answer: Response, token: str) -> None:
    """Give a browser the token that its form to sign in is bound to."""
    _set(request, answer, _BEFORE, token, 3600)


def let_out(request: Request, answer: Response) -> None:
    """Take a browser's session from it."""
    _drop(request, answer, _SESSION)


def is_safe(request: Request) -> bool:
    """Whether a cookie can be kept to itself: over https, or over http on this very machine."""
    return request.url.scheme == "https" or _is_loopback(request)


def path(text: str) -> str:
    """Where to go on, if that is a path of this site; else the list of what waits."""
    return text if _PATH.fullmatch(text) else "/queue"


def _set(request: Request, answer: Response, name: str, value: str, seconds: int) -> None:
    secure = request.url.scheme == "https"
    answer.set_cookie(_named(name, request), value, seconds, path="/", secure=secure, httponly=True, samesite="strict")


def _drop(request: Request, answer: Response, name: str) -> None:
    secure = request.url.scheme == "https"
    answer.delete_cookie(_named(name, request), path="/", secure=secure, httponly=True, samesite="strict")


def _named(name: str, request: Request) -> str:
    """Over https a name that no other host and no page without https can set."""
    return f"__Host-{name}" if request.url.scheme == "https" else name


def _is_loopback(request: Request) -> bool:
    try:
        return request.client is not None and ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


def _address(request: Request) -> str:
    """From where a request comes; of IPv6 the half that a provider gives out whole."""
    try:
        found = ipaddress.ip_address(request.client.host if request.client else "")
    except ValueError:
        return ""
    return str(ipaddress.ip_network((found, 64), strict=False)) if found.version == 6 else str(found)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _key(*parts: str) -> str:
    """Names are hashed: people write their secrets into the wrong field."""
    return _digest("\0".join(parts))
