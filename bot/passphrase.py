"""Secrets of moderators: made here, told once, and kept only as what scrypt makes of them."""

from __future__ import annotations

import base64
import hashlib
import secrets
from hmac import compare_digest

#: scrypt's cost, block size and parallelism: 16 MiB and some 50 ms of one core. A secret has 144 random bits, which
#: is what keeps it; the cost stands there for whoever finds the database and hopes for less.
_COST, _BLOCK, _PARALLEL = 1 << 14, 8, 1
#: Longer ones are nobody's.
_LONGEST = 200


def new() -> str:
    """A secret that nobody can guess: 24 letters, digits, ``-`` and ``_``."""
    return secrets.token_urlsafe(18)


def kept(secret: str) -> str:
    """What is kept of a secret: ``scrypt$cost$block$parallel$salt$hash``."""
    salt = secrets.token_bytes(16)
    told = (str(_COST), str(_BLOCK), str(_PARALLEL), _text(salt), _text(_hash(secret, salt)))
    return "$".join(("scrypt", *told))


def fits(secret: str, stored: str) -> bool:
    """Whether a secret is the one of which `stored` was kept. With "" (nobody's) it takes as long, and is false."""
    kind, cost, block, parallel, salt, digest = (stored or _NOBODYS).split("$")
    assert kind == "scrypt"
    found = _hash(secret, base64.b64decode(salt), int(cost), int(block), int(parallel))
    return compare_digest(found, base64.b64decode(digest)) and bool(stored)


def _hash(secret: str, salt: bytes, cost: int = _COST, block: int = _BLOCK, parallel: int = _PARALLEL) -> bytes:
    told = secret[:_LONGEST].encode("utf-8", "replace")
    return hashlib.scrypt(told, salt=salt, n=cost, r=block, p=parallel, maxmem=1 << 27, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()


_NOBODYS = f"scrypt${_COST}${_BLOCK}${_PARALLEL}${_text(bytes(16))}${_text(bytes(32))}"
