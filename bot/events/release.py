"""``release``: the compiler has a new release, on which known bugs are run."""

from __future__ import annotations

import re

from bot import keys
from bot.events import Event, text
from bot.events._reading import flag
from bot.settings import Project
from triage.ledger.records import NewWork

_TAG = re.compile(r"[\w.+/-]{1,100}", re.ASCII)


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """`version` is the tag without the ``v`` that many projects put before a number."""
    if event.action != "published":
        return "no release was published"
    tag = text(event.payload, "release", "tag_name")
    if flag(event.payload, "release", "draft") or not _TAG.fullmatch(tag) or tag.startswith("-"):
        return "a draft, or a tag that cannot name a release"
    payload = {
        "version": re.sub(r"^v(?=\d)", "", tag),
        "tag": tag,
        "prerelease": flag(event.payload, "release", "prerelease"),
    }
    return [NewWork("release", keys.commit(project.name, tag), project.name, payload)]
