"""Machines behind a Dask scheduler. Only bytes pass through Dask: `fuzz.host.perform` takes and gives them.

What Dask forgets (its scheduler was restarted, the network was cut) is submitted again by `fuzz.remote`. What a machine
that ended was at comes back as HostLost at once: Dask itself would hand it to three more machines.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any

from distributed import Client, KilledWorker, Security

from bot import hosts
from bot.failures import ExitCode, Refusal
from bot.hosts import Tls
from fuzz import host
from fuzz.remote import HostLost
from fuzz.zygote import BackendUnavailable

#: Seconds that a scheduler may take to answer, the first machine to come, and either to come back.
ANSWER, FIRST, BACK = 15.0, 60.0, 600.0
#: Seconds between two looks at which machines there are.
_LOOK = 2.0


class DaskHosts:
    """The machines of one scheduler (`fuzz.remote.Hosts`)."""

    def __init__(self, address: str, tls: Tls) -> None:
        _check_answers(address)
        self._address = address
        self._client = _client(address, tls)
        self._seen: dict[str, float] = {}  # what was offered -> when it was last seen
        self._slots = 0
        self._scheduler = ""
        self._closed = threading.Event()
        self._watching = threading.Thread(target=self._watch, name="hosts", daemon=True)
        try:
            self._await_first()
        except BaseException:
            self.close()
            raise
        self._watching.start()

    @property
    def slots(self) -> int:
        """The threads of all machines, at least one: a campaign waits for machines that come back."""
        return max(1, self._slots)

    @property
    def offered(self) -> frozenset[str]:
        """Everything that some machine has offered since we look."""
        return frozenset(self._seen)

    def submit(self, request: bytes, tags: Sequence[str]) -> Future[bytes]:
        """Have a machine that offers all `tags` answer a request; see `fuzz.remote.Hosts`."""
        executor = self._client.get_executor(pure=False, retries=0, resources=dict.fromkeys(tags, 1))
        return _told(executor.submit(host.perform, request))

    def check(self, tags: Sequence[str]) -> None:
        """Raise BackendUnavailable where no machine ever offered `tags`, or none has been seen for BACK seconds."""
        if self._client.status == "closed":
            raise BackendUnavailable(f"{self._address}: the Dask scheduler is gone")
        for tag in tags:
            if tag not in self._seen:
                name = tag.partition("@")[0]
                others = sorted(each for each in self._seen if each.partition("@")[0] == name)
                told = f" (there is {', '.join(others)})" if others else ""
                raise BackendUnavailable(f"no host of {self._address} offers {tag}{told}")
            if time.monotonic() - self._seen[tag] > BACK:
                raise BackendUnavailable(f"no host of {self._address} has offered {tag} for {BACK:.0f} s")

    def close(self) -> None:
        """Hang up; the machines stay for others."""
        self._closed.set()
        if self._watching.ident is not None:
            self._watching.join()
        with contextlib.suppress(OSError, TimeoutError, CancelledError):
            self._client.close(timeout=ANSWER)

    def _await_first(self) -> None:
        until = time.monotonic() + FIRST
        self._look()
        while not self._slots:
            if time.monotonic() > until:
                told = f"{self._address}: no host has come within {FIRST:.0f} s (graphwarden host starts one)"
                raise Refusal(told, ExitCode.ENVIRONMENT)
            time.sleep(_LOOK / 4)
            self._look()

    def _watch(self) -> None:
        while not self._closed.wait(_LOOK):
            with contextlib.suppress(OSError, TimeoutError, RuntimeError, ValueError):  # it may be away for a while
                self._look()

    def _look(self) -> None:
        known: Mapping[str, Any] = self._client.scheduler_info(n_workers=-1)
        if known["id"] != self._scheduler:
            self._client.run_on_scheduler(_give_up_at_once)
            self._scheduler = known["id"]
        workers = known["workers"].values()
        self._slots = sum(each["nthreads"] for each in workers)
        self._seen |= dict.fromkeys((tag for each in workers for tag in each["resources"]), time.monotonic())


def _client(address: str, tls: Tls) -> Client:
    security = Security(require_encryption=True, **_files(tls)) if tls.given else None
    options = {"security": security, "timeout": ANSWER, "set_as_default": False, "name": "graphwarden"}
    connecting: Future[Client] = Future()

    def connect() -> None:
        try:
            connecting.set_result(Client(address, **options))
        except Exception as error:  # noqa: BLE001 a thread's edge: told by whoever waits for it
            connecting.set_exception(error)

    # In a thread: it waits for ever for a program that takes connections and says nothing that Dask says.
    threading.Thread(target=connect, daemon=True).start()
    try:
        client = connecting.result(2 * ANSWER)
    except (OSError, ValueError) as error:
        said = " ".join(str(error).split()) or "no answer"
        raise Refusal(f"{address}: no Dask scheduler that speaks with us: {said}", ExitCode.ENVIRONMENT) from error
    client._timeout = BACK  # from now on: how long it looks for a scheduler that was restarted
    return client


def _files(tls: Tls) -> dict[str, str]:
    return {"tls_ca_file": str(tls.ca), "tls_client_cert": str(tls.cert), "tls_client_key": str(tls.key)}


def _check_answers(address: str) -> None:
    """Raise Refusal where nobody listens: Dask would try for minutes."""
    if why := hosts.silent(address, ANSWER):
        raise Refusal(f"{address}: {why}; start one with: dask scheduler", ExitCode.ENVIRONMENT)


def _give_up_at_once(dask_scheduler: Any) -> None:
    """Runs at the scheduler: a task whose machine ended is given back to us instead of to the next machine."""
    dask_scheduler.allowed_failures = 0


def _told(asked: Future[bytes]) -> Future[bytes]:
    """The same future, with our errors in place of Dask's."""
    told: Future[bytes] = Future()

    def answer(done: Future[bytes]) -> None:
        if done.cancelled():
            told.set_exception(CancelledError())
        elif isinstance(error := done.exception(), KilledWorker):
            told.set_exception(HostLost(str(error)))
        elif error is not None:
            told.set_exception(error)
        else:
            told.set_result(done.result())

    asked.add_done_callback(answer)
    return told
