"""Nothing that names this machine's folders leaves it, whoever wrote the text."""

from __future__ import annotations

import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from tests.bot.github.outgoing import Post, check_payload
from tests.builds import tinyc
from triage.ledger.records import OutKind, OutState
from triage.machine import private_folders
from triage.scrub import guarded, leaks

HERE = Path(__file__).resolve()
TOKEN = "ghp_" + "a" * 36
SAID = f"It fails in {HERE}:3, `{tinyc.BACKEND}`, {tempfile.gettempdir()}/w/x.so and /home/joe/secret/y.py ({TOKEN})."
LEFT = "It fails in test_private.py:3, `tinyc_backend.py`, x.so and y.py (<token>)."


def test_paths_keep_their_last_part_and_all_else_stays() -> None:
    assert guarded(SAID, private_folders()) == LEFT
    for text in (
        "The node /encoder/Add of https://github.com/tmp/x, #12, @graphwarden, ada@example.org",
        "src/relax/op.cc:12, /usr/bin/env python, include/a.h, `/`",
    ):
        assert guarded(text, private_folders()) == text


def test_a_folder_alone_is_taken_out_too() -> None:
    assert guarded(f"in `{Path.cwd()}`, `/home/joe` and /root", private_folders()) == "in `~`, `~` and ~"


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        (OutKind.ISSUE, {"title": SAID, "body": SAID, "labels": []}),
        (OutKind.COMMENT, {"body": SAID}),
        (OutKind.EDIT_COMMENT, {"body": SAID}),
        (OutKind.CHECK, check_payload("x", 1, title=SAID, summary=SAID, text=SAID)),
    ],
)
def test_no_text_of_any_kind_holds_a_path_of_this_machine(post: Post, kind: OutKind, payload: dict[str, Any]) -> None:
    number = post.world.ask("/issues", "POST", {"title": "Here"})["number"]
    sent = post.deliver(kind, "k", payload, number=None if kind is OutKind.ISSUE else number)
    assert sent.state is OutState.SENT, sent.note
    written = [call.body.decode() for call in post.world.proxy.calls if call.verb in ("POST", "PATCH", "PUT")]
    assert any("It fails in test_private.py:3" in text for text in written)
    for text in written:
        assert not leaks(text) and str(HERE.parent) not in text and f"{tempfile.gettempdir()}/" not in text


def test_a_file_holds_none_either(post: Post) -> None:
    told = {"branch": "b", "path": "bugs/x.py", "message": "m", "content_base64": b64encode(SAID.encode()).decode()}
    for _ in range(2):  # what is there already is not written again
        assert post.deliver(OutKind.FILE, "f", told).state is OutState.SENT
    assert post.world.file("b", "bugs/x.py").decode() == LEFT
