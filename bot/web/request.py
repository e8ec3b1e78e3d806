"""What a webhook request must look like before anything is stored of it."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request

from bot.web import signature
from triage.ledger.records import NewDelivery

#: GitHub sends no more (docs.github.com, "Webhook events and payloads", payload cap).
MOST_BYTES = 25_000_000
#: Bytes of all bodies that are being read: anybody may send some.
MOST_HELD = 256_000_000
#: Seconds that a body may take: GitHub gives up after ten.
PATIENCE = 10.0
#: Bytes of a body that are read as JSON before it is stored; longer ones are looked at when they are handled.
READ_AT_ONCE = 256_000

_DELIVERY = re.compile(r"[0-9A-Za-z-]{1,64}", re.ASCII)
_EVENT = re.compile(r"[a-z_]{1,64}", re.ASCII)
_JSON, _FORM = "application/json", "application/x-www-form-urlencoded"


class Rejected(Exception):
    """A request that is not taken, with the HTTP status that says so."""

    def __init__(self, status: int, why: str) -> None:
        super().__init__(why)
        self.status = status


@dataclass(frozen=True)
class Head:
    """The headers of a delivery."""

    id: str
    event: str
    signature: str
    form: bool


def head(headers: Mapping[str, str]) -> Head:
    """Read the headers. Raises Rejected."""
    kind = headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in (_JSON, _FORM):
        raise Rejected(415, f"the content type must be {_JSON} or {_FORM}")
    signed = headers.get("x-hub-signature-256", "")
    if not signed:
        raise Rejected(401, "X-Hub-Signature-256 is missing: give the webhook a secret")
    delivery, event = headers.get("x-github-delivery", ""), headers.get("x-github-event", "")
    if not _DELIVERY.fullmatch(delivery):
        raise Rejected(400, "X-GitHub-Delivery is missing or no delivery's id")
    if not _EVENT.fullmatch(event):
        raise Rejected(400, "X-GitHub-Event is missing or no event's name")
    length = headers.get("content-length", "0")
    if length.isdecimal() and int(length) > MOST_BYTES:
        raise _too_long()
    return Head(delivery, event, signed, kind == _FORM)


class Intake:
    """Reads deliveries. What their senders make it hold before they are known to be GitHub is limited."""

    def __init__(self, secret: bytes) -> None:
        self._secret = secret
        self._held = 0

    async def delivery(self, request: Request) -> NewDelivery:
        """The delivery that a request brings, its signature checked. Raises Rejected, ClientDisconnect."""
        told = head(request.headers)
        body = await self._body(request, told.signature)
        payload = _payload(body) if told.form else body
        if len(payload) <= READ_AT_ONCE:
            _check_json(payload)
        return NewDelivery(told.id, told.event, payload)

    async def _body(self, request: Request, signed: str) -> bytes:
        """The body, counted and signed while it comes: a header may lie about its length."""
        mac, body = signature.begin(self._secret), bytearray()
        try:
            async with asyncio.timeout(PATIENCE):
                async for piece in request.stream():
                    if len(body) + len(piece) > MOST_BYTES:
                        raise _too_long()
                    if self._held + len(piece) > MOST_HELD:
                        raise Rejected(503, "too much is being read at once")
                    self._held += len(piece)
                    body += piece
                    mac.update(piece)
        except TimeoutError as error:
            raise Rejected(408, f"the body took longer than {PATIENCE:.0f} s") from error
        finally:
            self._held -= len(body)
        if not signature.matches(mac, signed):
            raise Rejected(401, "the signature does not match")
        return bytes(body)


def _payload(form: bytes) -> bytes:
    """The document in a form-encoded body."""
    try:
        found = parse_qs(form.decode(), strict_parsing=True, errors="strict", max_num_fields=16).get("payload", [])
    except ValueError as error:
        raise Rejected(400, "the form cannot be read") from error
    if len(found) != 1:
        raise Rejected(400, "the form must hold one `payload`")
    return found[0].encode()


def _check_json(payload: bytes) -> None:
    try:
        found = json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise Rejected(400, "the body is no JSON") from error
    if not isinstance(found, dict):
        raise Rejected(400, "the body is no JSON object")


def _too_long() -> Rejected:
    return Rejected(413, f"more than {MOST_BYTES:,} bytes")


__all__ = ["ClientDisconnect", "Head", "Intake", "Rejected", "head"]
