"""Ports for programs of tests that cannot choose one themselves."""

from __future__ import annotations

import errno
import os
import random
import socket
from pathlib import Path

#: Ports from here on need no rights.
_FIRST = 10_000
#: Processes of tests that run at a time, at most: each has ports of its own.
_PROCESSES = 16
_given: set[int] = set()


def unused() -> int:
    """A port that nothing has, and that nobody else gets before the program takes it.

    The kernel chooses ports, for those that ask for any and for whoever connects, from a range of its own: this one
    lies before it.
    """
    kernels = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    mine = int(os.environ.get("PYTEST_XDIST_WORKER", "gw0").removeprefix("gw")) % _PROCESSES
    ports = [port for port in range(_FIRST, max(kernels, _FIRST + 10_000)) if port % _PROCESSES == mine]
    for port in random.SystemRandom().sample([port for port in ports if port not in _given], 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                _given.add(port)
                return port
    raise AssertionError(f"a hundred ports before {kernels} are taken")
