"""A bug's report as the outgoing issue: its text, its key, and the file beside it. Pure but for reading the outbox."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from bot import keys
from bot.github import limits
from bot.life import saying, turns
from bot.life.limits import Allowance
from bot.settings import Project
from triage.known import Similar, with_section
from triage.ledger.outbox import Outbox
from triage.ledger.records import NewOutgoing, OutKind, OutState
from triage.records import Bug, StoredDraft
from triage.scrub import fence

#: How a report refers to a script that is too long for it (templates/parts/script.md.j2).
_ATTACHED = "is attached as `repro.py`"
#: Characters that the outgoing thing's own mark may take at the end of a text.
_MARKED = 1000
#: What is asked for again after it has ended so gets another key.
_BEFORE = (OutState.REJECTED, OutState.FAILED, OutState.WITHDRAWN)
#: The mark that a report on disk ends with; at GitHub the outgoing thing's own mark stands there.
_MARK = re.compile(r"\n<!-- graphwarden:bug:[^\n]* -->\s*$")


def key(outbox: Outbox, bug: Bug) -> tuple[str, str]:
    """The key of the bug's issue, and the state of what was put out for it before ("": nothing that still counts).

    What was rejected or refused keeps its key for ever; asked for again, it gets another.
    """
    first = f"issue:{bug.fingerprint}"
    name, number, before = first, 1, ""
    while one := outbox.by_key(name):
        if one.state not in _BEFORE:
            return name, str(one.state)
        before = "" if one.state is OutState.WITHDRAWN else str(one.state)
        number += 1
        name = f"{first}:{number}"
    return name, before


def refused(outbox: Outbox, bug: Bug) -> str:
    """For a moderator: that GitHub has refused the issue too often, "" where it has not (`bot.life.turns`)."""
    return turns.turn(outbox, f"issue:{bug.fingerprint}", _BEFORE).note


def issue(
    bug: Bug, draft: StoredDraft, project: Project, api: str, alike: Sequence[Similar], name: str, allowed: Allowance
) -> tuple[NewOutgoing, ...]:
    """The issue, after the file that it refers to, if any. `name` is its key, `api` the address of GitHub's API.

    Should that file not arrive, the text that goes out holds no link to it (`payload["without_file"]`).
    """
    held = allowed.held
    body = _MARK.sub("\n", with_section(draft.body, alike))
    labels = list(dict.fromkeys([*draft.labels, *project.filing.labels]))
    payload = {"title": draft.title, "body": body, "labels": labels}
    before: tuple[NewOutgoing, ...] = ()
    if _ATTACHED in body:
        url = saying.file_url(api, project.repository, saying.script_path(bug))
        file = saying.file(name.replace("issue:", "file:", 1), bug, project.repository, draft.script, held)
        payload["body"] = body.replace(_ATTACHED, f"lies in [`repro.py`]({url})", 1)
        payload |= {"file": file.key, "without_file": _inline(body, draft.script)}
        before = (file,)
    stream, note = keys.bug(bug.id), allowed.why if held else ""
    return (*before, NewOutgoing(OutKind.ISSUE, name, project.repository, payload, stream, None, bug.id, held, note))


def _inline(body: str, script: str) -> str:
    """The report with its long script at the end, folded, where GitHub takes that much; else without."""
    folded = f"\n\n<details><summary><code>repro.py</code></summary>\n\n{fence(script, 'python')}\n\n</details>\n"
    inline = body.replace(_ATTACHED, "stands at the end", 1).rstrip() + folded
    if limits.length(inline) <= limits.BODY - _MARKED:
        return inline
    return body.replace(_ATTACHED, "is kept with the bug, being too long to stand here", 1)


def addressed(similar: Similar, url: str) -> Similar:
    """With its issue's address, for a link."""
    return replace(similar, issue=replace(similar.issue, url=url))
