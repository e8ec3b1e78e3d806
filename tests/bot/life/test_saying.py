"""Texts from outside stay texts, and addresses lead where people read."""

from __future__ import annotations

import re

import pytest

from bot.life import saying
from bot.life.following import Change
from bot.life.seen import Does, Seen
from bot.rendering import render
from triage.scrub import revision

EVIL = "@everyone Fixes #1 </details> <!-- graphwarden:issue:x --> | `a` <img src=x> \n# head"
#: What a reader of Markdown would act upon.
ACTS = re.compile(r"(?<!\\)<(?!/?sub>|/?details>|/?summary>)|@everyone|Fixes #1|(?<!\\)\|.*`a`|^# head", re.MULTILINE)


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("fixed", Change(None, EVIL).words),
        ("regressed", Change(None, EVIL).words | {"fix": "1.0"}),
        ("known", {"why": EVIL, "title": EVIL, "revision": "1.0", "script": ""}),
        ("retest", {"bug": 3, "seen": Seen("1.0", Does.UNTESTABLE, note=EVIL), "next": EVIL}),
        ("bisected", {"sentence": "It could not.", "more": [EVIL]}),
    ],
)
def test_what_others_have_written_mentions_closes_and_marks_nothing(name: str, context: dict[str, object]) -> None:
    seen = {"old": Seen("1.0", Does.UNTESTABLE, note=EVIL), "new": Seen("2.0", Does.OTHERWISE, 3, 3, EVIL)}
    text = render(name, **(seen | context))
    assert not ACTS.search(text), text


PRIVATE = "/srv/secret/tvm: fatal: no such folder; not at: file:///srv/secret/x.whl"


@pytest.mark.parametrize(
    ("name", "context"),
    [
        ("fixed", Change(None, PRIVATE).words),
        ("regressed", Change(None, PRIVATE).words | {"fix": "1.0"}),
        ("known", {"why": PRIVATE, "title": "Sub", "revision": "1.0", "script": ""}),
        ("retest", {"bug": 3, "seen": Seen("1.0", Does.UNTESTABLE, note=PRIVATE), "next": ""}),
        ("bisected", {"sentence": "It could not.", "more": [PRIVATE]}),
        ("result", {"sentences": [PRIVATE]}),
    ],
)
def test_where_things_lie_on_this_machine_is_not_told(name: str, context: dict[str, object]) -> None:
    seen = {"old": Seen("1.0", Does.UNTESTABLE, note=PRIVATE), "new": Seen("2.0", Does.UNTESTABLE, note=PRIVATE)}
    text = render(name, **(seen | context))
    assert "secret" not in text and "tvm: fatal: no such folder; not at: x.whl" in text


def test_a_revision_with_a_hostile_name_is_code() -> None:
    assert revision("v1` @everyone") == "``v1` @everyone``"


def test_a_commit_stands_bare_so_that_it_is_linked() -> None:
    assert revision("a" * 40) == "a" * 40
    assert revision("1.2.3") == "`1.2.3`"


@pytest.mark.parametrize(
    ("api", "site"),
    [
        ("https://api.github.com", "https://github.com"),
        ("https://git.example.org/api/v3", "https://git.example.org"),
        ("http://localhost:4001", "http://localhost:4001"),
    ],
)
def test_files_lie_where_people_read_them(api: str, site: str) -> None:
    address = saying.file_url(api, "octo/tiny", "bugs/f-1.py")
    assert address == f"{site}/octo/tiny/blob/graphwarden/reproducers/bugs/f-1.py"


def test_a_build_that_proves_nothing_is_told_with_its_reason() -> None:
    assert Seen("1.2", Does.UNTESTABLE, note="no wheel").told == "cannot be tested: no wheel"
    assert Seen("1.2", Does.VARIES, 3, 2).told == "varies (2 of 3 fresh runs fail)"
