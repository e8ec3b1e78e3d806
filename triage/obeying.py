"""A campaign that does what is wished of it from outside: it looks now and then, and stops where it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeVar

from fuzz.campaign import Policy
from triage import campaign_control
from triage.records import Wish
from triage.store import Store, StoreError

#: Seconds between two looks, and between two signs that somebody runs the campaign.
LOOK, SIGN = 1.0, 20.0
_Result = TypeVar("_Result")


def _nothing() -> str:
    return ""


def _never() -> bool:
    return False


@dataclass
class Watch:
    """Whether the process that runs a campaign shall stop; asked by several threads, it looks once in `LOOK` seconds.

    `also` tells why else it shall stop, "" for no reason. Once there is a `reason`, it stays.
    """

    store: Store
    campaign_id: int
    also: Callable[[], str] = _nothing
    reason: str = ""
    _next: float = 0.0
    _sign: float = 0.0
    _looking: threading.Lock = field(default_factory=threading.Lock)

    def __call__(self) -> bool:
        """Whether to stop. Who asks while another one looks is told what was known before."""
        if not self.reason and time.monotonic() >= self._next and self._looking.acquire(blocking=False):
            try:
                self.reason = self._look()
            finally:
                self._next = time.monotonic() + LOOK
                self._looking.release()
        return bool(self.reason)

    def _look(self) -> str:
        try:
            if time.monotonic() >= self._sign:
                campaign_control.attend(self.store, self.campaign_id)
                self._sign = time.monotonic() + SIGN
            return campaign_control.wish(self.store, self.campaign_id) or self.also()
        except StoreError:  # a database in trouble tells nothing now; whoever records next hears of it
            return ""


@dataclass(frozen=True)
class Obeying(Policy):
    """A budget that also ends when `stops` says so."""

    stops: Callable[[], bool] = field(default=_never, compare=False)

    def over(self) -> bool:
        """Whether the time has ended, or something else is wished."""
        return self.stops() or super().over()


@dataclass
class Pace:
    """The time of a hunt in the foreground: it waits while the campaign is paused, and that does not count.

    `started` is in monotonic seconds, `total` the budget (None: no end); `tell` hears once of each pause.
    """

    store: Store
    campaign_id: int
    started: float
    total: float | None
    tell: Callable[[str], None]
    waited: float = 0.0

    def __post_init__(self) -> None:
        self.watch = Watch(self.store, self.campaign_id)

    @property
    def cancelled(self) -> bool:
        """Whether the campaign has been cancelled by now, be it after the last look at `watch`. Raises StoreError."""
        return self._wished() is Wish.END

    def ends(self, share: float = 1.0) -> float | None:
        """When that share of the budget ends."""
        return None if self.total is None else self.started + self.waited + self.total * share

    def spent(self) -> float:
        """The share of the budget that is used up; 0 of one without end."""
        return 0.0 if self.total is None else (time.monotonic() - self.started - self.waited) / self.total

    def through(self, part: Callable[[], _Result]) -> _Result | None:
        """Do a part of the hunt, anew after each pause that stopped it; None where the campaign was cancelled.

        The part looks at `watch`; what it has recorded it does not do again.
        """
        while self._goes_on():
            result = part()
            if not self.watch.reason:
                return result
        return None

    def _goes_on(self) -> bool:
        """Wait as long as the campaign is paused; False once it was cancelled."""
        began, told = time.monotonic(), False
        while (wished := self._wished()) is Wish.PAUSE:
            if not told:
                resume = f"graphwarden campaigns resume {self.campaign_id} --db {self.store.place}"
                self.tell(f"campaign {self.campaign_id} is paused: `{resume}` lets it go on")
            told = True
            time.sleep(LOOK / 2)
        if told:
            self.waited += time.monotonic() - began
        self.watch = Watch(self.store, self.campaign_id)
        return wished is not Wish.END

    def _wished(self) -> Wish:
        return campaign_control.wish(self.store, self.campaign_id)
