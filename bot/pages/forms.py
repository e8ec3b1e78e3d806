"""What a form brings: read within limits, only from our own pages, and in the one way that browsers send it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Request
from starlette.exceptions import HTTPException

from triage.scrub import plain

#: Bytes of a form, its fields, and characters of a reason.
MOST_BYTES, MOST_FIELDS, MOST_WORDS = 64 * 1024, 500, 500
_KIND = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Fields:
    """The fields of a form; a name may have been given several times."""

    given: Mapping[str, Sequence[str]]

    def one(self, name: str, most: int = MOST_WORDS) -> str:
        """A field without spaces around it, "" where it is missing. Raises HTTPException."""
        values = self.given.get(name, [""])
        if len(values) != 1 or len(values[0]) > most:
            raise HTTPException(422, f"{name} must be given once, with at most {most} characters")
        return values[0].strip()

    def words(self, name: str) -> str:
        """A text of a person in one line, without anything that acts on a terminal. Raises HTTPException."""
        return " ".join(plain(self.one(name)).split())

    def number(self, name: str) -> int:
        """The number of a row. Raises HTTPException."""
        return _number(name, self.one(name).removeprefix("#"))

    def numbers(self, name: str) -> list[int]:
        """Numbers of rows, at least one. Raises HTTPException."""
        if not self.given.get(name):
            raise HTTPException(422, f"choose at least one {name}")
        return [_number(name, each) for each in self.given[name]]


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text[:20]) < 2**63 and len(text) < 20):
        raise HTTPException(422, f"{name} must be a number, e.g. 12")
    return int(text)


async def fields(request: Request) -> Fields:
    """The form that a request brings. Raises HTTPException where it is not one of our own pages' or too large."""
    _check_origin(request)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != _KIND:
        raise HTTPException(415, f"a form is sent as {_KIND}")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BYTES:
            raise HTTPException(413, f"a form has at most {MOST_BYTES} bytes")
    try:
        told = parse_qs(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
    except ValueError as error:
        raise HTTPException(422, "the form cannot be read") from error
    return Fields(told)


def _check_origin(request: Request) -> None:
    """Browsers tell of every form from where it is sent; whoever tells nothing is none of our pages."""
    site, host = request.headers.get("sec-fetch-site"), request.headers.get("host", "")
    if site not in (None, "same-origin") or not host or _host(request.headers.get("origin", "")) != host:
        raise HTTPException(403, "this form was not sent from a page of this site: nothing was changed")


def _host(origin: str) -> str:
    """The host and port of an origin, "" for what is none."""
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return ""


Form = Annotated[Fields, Depends(fields)]
