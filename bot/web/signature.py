"""GitHub's signature of a delivery: HMAC-SHA256 over the raw bytes, in ``X-Hub-Signature-256``. Pure.

(docs.github.com, "Validating webhook deliveries".)
"""

from __future__ import annotations

import hmac

_PREFIX = "sha256="


def begin(secret: bytes) -> hmac.HMAC:
    """A signature to be fed with the body piece by piece. Raises ValueError for an empty secret."""
    if not secret:
        raise ValueError("an empty secret signs nothing")
    return hmac.new(secret, digestmod="sha256")


def sign(secret: bytes, body: bytes) -> str:
    """The header that GitHub sends with a body."""
    mac = begin(secret)
    mac.update(body)
    return _PREFIX + mac.hexdigest()


def matches(mac: hmac.HMAC, header: str) -> bool:
    """Whether `header` is the signature of what `mac` was fed with; takes as long for a near miss as for a far one."""
    return hmac.compare_digest((_PREFIX + mac.hexdigest()).encode(), header.encode("utf-8", "replace"))
