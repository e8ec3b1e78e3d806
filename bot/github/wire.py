"""One request to GitHub and what became of it: every outcome is a value or one of `bot.github.errors`.

PyGithub carries it (tokens, connections, the pause between writes), but its own repeating is not used: it would repeat
a POST whose effect had taken place, and wait out rate limits with everything standing still. Reads are repeated by
urllib3 on a server's error, and here where the answer broke off; writes by the outbox, which looks first.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

import requests
from github import Auth, BadAttributeException, Github, GithubException
from github.Requester import Requester
from requests.utils import parse_header_links
from urllib3.util.retry import Retry

from bot.github.errors import Later, Limited, Refused, Unsure
from bot.github.pace import Pace

T = TypeVar("T")

API_VERSION = "2022-11-28"


class _Elsewhere(Exception):
    """A write was answered by 301: what it was for lies elsewhere now."""


class _Staying(Retry):
    """Tells what the transport repeats, and lets no write be redirected: PyGithub sends it on to wherever a 301 points.

    That may be another repository, e.g. the one to which an issue was moved.
    """

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Whether to repeat what was answered so. Raises _Elsewhere."""
        if status_code == 301 and method not in _READING:
            raise _Elsewhere(method)
        return super().is_retry(method, status_code, has_retry_after)


_READING = frozenset({"GET", "HEAD"})
#: Only what changes nothing is repeated by the transport, and no answer about limits is.
RETRY = _Staying(
    total=2,
    backoff_factor=0.3,
    allowed_methods=_READING,
    status_forcelist={500, 502, 503, 504},
    respect_retry_after_header=False,
    raise_on_status=False,
)
#: What reading an answer raises that is none of GitHub's, or half of one.
_UNREADABLE = (KeyError, TypeError, ValueError, AttributeError)
#: Items a page.
PAGE = 100
#: Seconds to wait: after a server's error; while credentials are wrong; when a limit names no time.
SERVER, CREDENTIALS, LIMIT = 10.0, 300.0, 60.0
#: Statuses that say that this very request will never succeed.
_NEVER = {400, 403, 404, 405, 406, 410, 413, 415, 422, 451}


class Wire:
    """Requests with one identity. `pace` counts its writes."""

    def __init__(self, github: Github, pace: Pace) -> None:
        self._requester: Requester = github.requester
        self.pace = pace

    def get(self, path: str, read: Callable[[Any], T], **parameters: Any) -> T:
        """What a path gives, as `read` understands it. Raises Refused, Later."""
        return self._ask("GET", path, read, parameters=parameters)[1]

    def pages(
        self, path: str, read: Callable[[Any], T], *, most: int, items: str = "", **parameters: Any
    ) -> Iterator[T]:
        """The first `most` things of a list, page by page; in each page under `items`. Raises Refused, Later."""

        def page(data: Any) -> list[T]:
            return [read(each) for each in (data[items] if items else data)]

        following: Mapping[str, Any] | None = {"per_page": min(PAGE, most), **parameters}
        while following is not None and most > 0:
            headers, found = self._ask("GET", path, page, parameters=dict(following))
            yield from found[:most]
            most -= len(found)
            following = _next(headers)

    def write(self, verb: str, path: str, body: Mapping[str, Any] | None, read: Callable[[Any], T]) -> T:
        """Change something. Raises Refused, Later, and for a POST Unsure."""
        wait = self.pace.wait()
        if wait > 0:
            raise Limited(f"{verb} {path}: enough was written for now", wait)
        self.pace.wrote()
        return self._ask(verb, path, read, body=None if body is None else dict(body))[1]

    def _ask(
        self,
        verb: str,
        path: str,
        read: Callable[[Any], T],
        parameters: dict[str, Any] | None = None,
        body: dict[str, Any] | None = None,
    ) -> tuple[Mapping[str, Any], T]:
        place = f"{verb} {path}"
        self._identify(place)
        try:
            headers, found = self._answered(verb, path, read, parameters, body)
            self.pace.answered()
            return headers, found
        except GithubException as error:
            failure = _failure(place, verb, error)
            if isinstance(failure, Limited):
                self.pace.hold(failure.seconds)
            raise failure from error
        except _Elsewhere as error:
            raise Refused(f"{place}: it lies elsewhere now", 301) from error
        except (requests.RequestException, OSError) as error:
            raise _lost(place, verb, f"no whole answer ({type(error).__name__})") from error
        except _UNREADABLE as error:
            raise _lost(place, verb, f"an answer that cannot be read ({type(error).__name__}: {error})") from error

    def _answered(
        self,
        verb: str,
        path: str,
        read: Callable[[Any], T],
        parameters: dict[str, Any] | None,
        body: dict[str, Any] | None,
    ) -> tuple[Mapping[str, Any], T]:
        """The answer; of a read that broke off or makes no sense, another one."""
        for left in (1, 0) if verb in _READING else (0,):
            try:
                headers, data = self._requester.requestJsonAndCheck(verb, path, parameters, None, body)
                if _moved(data):
                    raise Refused(f"{verb} {path}: it lies elsewhere now ({str(data['url'])[:200]})", 301)
                return headers, read(data)
            except (requests.exceptions.ChunkedEncodingError, *_UNREADABLE):
                if not left:
                    raise
        raise AssertionError("unreachable")

    def _identify(self, place: str) -> None:
        """A fresh token where one is needed: whatever goes wrong here, the request itself was not sent."""
        auth = self._requester.auth
        try:
            if isinstance(auth, Auth.AppInstallationAuth):
                auth.token  # noqa: B018 reading it refreshes it
        except GithubException as error:
            failure = _failure(f"{place}: no token for it", "GET", error)
            if isinstance(failure, Limited):
                self.pace.hold(failure.seconds)
                raise failure from error
            raise Later(str(failure), CREDENTIALS if isinstance(failure, Refused) else SERVER) from error
        except (requests.RequestException, OSError, BadAttributeException, ValueError, TypeError) as error:
            raise Later(f"{place}: no token for it ({type(error).__name__})", SERVER) from error


def nothing(data: Any) -> None:
    """Reads an answer of which only the arrival matters."""


def _moved(data: Any) -> bool:
    """Whether an answer is the notice that something is elsewhere: redirections of writes are not followed."""
    return isinstance(data, dict) and data.keys() <= {"message", "url", "documentation_url"} and "url" in data


def _lost(place: str, verb: str, why: str) -> Later | Unsure:
    return Unsure(f"{place}: {why}") if verb == "POST" else Later(f"{place}: {why}", SERVER)


def _failure(place: str, verb: str, error: GithubException) -> Refused | Later | Unsure:
    """What an error status means (docs.github.com, "Best practices for using the REST API")."""
    headers = {name.lower(): value for name, value in (error.headers or {}).items()}
    said = error.data.get("message") if isinstance(error.data, dict) else None
    why = f"{place}: {error.status}" + (f" {' '.join(str(said).split())[:200]}" if said else "")
    if error.status == 429 or (error.status == 403 and _limit(headers, str(said or ""))):
        return Limited(why, _wait(headers))
    if error.status in _NEVER:
        return Refused(why + _details(error.data), error.status)
    if error.status == 401:
        return Later(f"{why} (the credentials do not work)", CREDENTIALS)
    return _lost(why, verb, "the server failed") if error.status >= 500 else Later(why, SERVER)


def _limit(headers: Mapping[str, Any], message: str) -> bool:
    return (
        "retry-after" in headers
        or str(headers.get("x-ratelimit-remaining")) == "0"
        or Requester.isRateLimitError(message)
        or "secondary rate limit" in message.lower()
    )


def _wait(headers: Mapping[str, Any]) -> float:
    """Seconds that GitHub wants to be left alone."""
    after, reset = str(headers.get("retry-after", "")), str(headers.get("x-ratelimit-reset", ""))
    if after.isdigit():
        return float(after)
    if str(headers.get("x-ratelimit-remaining")) == "0" and reset.isdigit():
        return max(1.0, float(reset) - time.time() + 1)
    return LIMIT


def _details(data: Any) -> str:
    """What a 422 complains of."""
    errors = data.get("errors") if isinstance(data, dict) else None
    if not isinstance(errors, list):
        return ""
    return "".join(f"; {' '.join(str(each).split())[:200]}" for each in errors[:3])


def _next(headers: Mapping[str, Any]) -> dict[str, str] | None:
    """The parameters of the next page."""
    for link in parse_header_links(str(headers.get("link", ""))):
        if link.get("rel") == "next":
            return dict(parse_qsl(urlsplit(link["url"]).query))
    return None
