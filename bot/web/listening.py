"""The sockets on which webhooks arrive, bound before anything else begins: only then is it known that they can be."""

from __future__ import annotations

import errno
import socket
from contextlib import ExitStack

from bot.failures import Refusal
from bot.settings import Server

#: Connections that wait to be accepted.
_BACKLOG = 2048


def listen(server: Server) -> list[socket.socket]:
    """A listening socket for each address of the host, all on one port. Raises Refusal: what to change."""
    with ExitStack() as opened:
        found: list[socket.socket] = []
        for family, address in _addresses(server):
            port = found[0].getsockname()[1] if found else server.port
            try:
                found.append(opened.enter_context(_bound(family, address, port)))
            except OSError as problem:
                # Of the two addresses of `localhost` a machine may have one.
                if problem.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):
                    raise Refusal(_told(problem, address, port)) from problem
        if not found:
            raise Refusal(f"server.host: {server.host} is no address of this machine")
        opened.pop_all()
        return found


def _addresses(server: Server) -> list[tuple[socket.AddressFamily, str]]:
    try:
        found = socket.getaddrinfo(server.host or None, server.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError as problem:
        raise Refusal(f"server.host: {server.host!r}: {problem.strerror}") from problem
    return list(dict.fromkeys((family, str(address[0])) for family, _, _, _, address in found))


def _bound(family: socket.AddressFamily, address: str, port: int) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            made.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        made.bind((address, port))
        made.listen(_BACKLOG)
    except OSError:
        made.close()
        raise
    return made


def _told(problem: OSError, address: str, port: int) -> str:
    if problem.errno == errno.EADDRINUSE:
        return f"server.port: {address}:{port} is taken (by another `graphwarden serve`?): choose another one"
    if problem.errno in (errno.EACCES, errno.EPERM):
        return f"server.port: {port} may not be listened on by this user: choose one above 1023"
    return f"server: {address}:{port}: {problem.strerror}"
