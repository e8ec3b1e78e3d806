"""Ports for programs of tests that cannot choose one themselves."""

from __future__ import annotations

import errno
import random
import socket
from pathlib import Path

#: Ports from here on need no rights.
_FIRST = 10_000


def unused() -> int:
    """A port that nothing has, and that the kernel gives to nobody else before the program takes it.

    The kernel chooses ports, for those that ask for any and for whoever connects, from a range of its own: this one
    lies before it.
    """
    kernels = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    for port in random.SystemRandom().sample(range(_FIRST, max(kernels, _FIRST + 1000)), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
            else:
                return port
    raise AssertionError(f"a hundred ports before {kernels} are taken")
