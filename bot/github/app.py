"""What only the App itself can ask: where it is installed, and which webhook deliveries GitHub made."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from bot.github import shapes
from bot.github.shapes import DeliverySeen, Installation
from bot.github.wire import Wire, nothing

#: How many deliveries are looked through at most; GitHub keeps three days of them.
DELIVERIES = 20_000


class App:
    """The GitHub App, over a wire that is signed with its key."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def slug(self) -> str:
        """The App's name in links; its texts appear under ``slug[bot]``. Raises Refused, Later."""
        return self._wire.get("/app", lambda data: str(data["slug"]))

    def installation(self, repository: str) -> Installation:
        """The installation in a repository (``owner/name``). Raises Refused where there is none, Later."""
        return self._wire.get(f"/repos/{repository}/installation", shapes.installation)

    def deliveries(self, since: datetime, status: str = "") -> Iterator[DeliverySeen]:
        """Attempts to deliver a webhook since a time (UTC), the newest first. `status`: success, failure or both ("").

        Raises Refused, Later.
        """
        chosen = {"status": status} if status else {}
        for each in self._wire.pages("/app/hook/deliveries", shapes.delivery, most=DELIVERIES, **chosen):
            if each.delivered < since:
                return
            yield each

    def delivery(self, attempt: int) -> tuple[DeliverySeen, Any]:
        """An attempt and the payload that it carried, a JSON document. Raises Refused, Later."""
        return self._wire.get(
            f"/app/hook/deliveries/{attempt}", lambda data: (shapes.delivery(data), data["request"]["payload"])
        )

    def redeliver(self, attempt: int) -> None:
        """Let GitHub deliver again, with the same guid. Raises Refused, Later, Unsure (asking twice does no harm)."""
        self._wire.write("POST", f"/app/hook/deliveries/{attempt}/attempts", None, nothing)


class User:
    """Who a plain token belongs to."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def login(self) -> str:
        """The login. Raises Refused, Later."""
        return self._wire.get("/user", lambda data: str(data["login"]))
