"""GitHub's signature, by GitHub's own example."""

from __future__ import annotations

import pytest

from bot.web import signature

SECRET, BODY = b"It's a Secret to Everybody", b"Hello, World!"
SIGNED = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17"


def matches(body: bytes, header: str, secret: bytes = SECRET) -> bool:
    mac = signature.begin(secret)
    mac.update(body)
    return signature.matches(mac, header)


def test_the_example_of_githubs_documentation() -> None:
    assert signature.sign(SECRET, BODY) == SIGNED
    assert matches(BODY, SIGNED)


def test_a_body_that_comes_in_pieces_has_the_same_signature() -> None:
    mac = signature.begin(SECRET)
    for at in range(len(BODY)):
        mac.update(BODY[at : at + 1])
    assert signature.matches(mac, SIGNED)


@pytest.mark.parametrize(
    "header",
    [
        "",
        "sha256=",
        SIGNED[:-1],
        SIGNED + "0",
        SIGNED.removeprefix("sha256="),
        "sha1=" + SIGNED[7:],
        SIGNED.upper(),
        "é",
    ],
)
def test_anything_else_is_no_signature(header: str) -> None:
    assert not matches(BODY, header)


def test_another_body_or_secret_has_another_signature() -> None:
    assert not matches(BODY + b"\n", SIGNED)
    assert not matches(BODY, SIGNED, secret=b"another")


def test_an_empty_secret_is_refused() -> None:
    with pytest.raises(ValueError, match="empty secret"):
        signature.begin(b"")
