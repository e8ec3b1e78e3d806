"""``issues``: somebody closed, reopened or labelled an issue, or took it away."""

from __future__ import annotations

from bot.events import Event, text
from bot.events._reading import issue_number, line, login, moment
from bot.life.human import Act
from bot.settings import Project
from triage.ledger.records import NewWork

_ACTS = frozenset(Act)
_BY_PROGRAMS = frozenset({Act.CLOSED, Act.REOPENED, Act.TRANSFERRED, Act.DELETED})


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """What people do is remembered and respected; which issues are the bot's the ledger tells.

    What a program does (a merge queue, one that closes old issues) decides nothing; only whether the issue is open
    and where it is.
    """
    if event.action not in _ACTS:
        return f"{line(event.action, 40) or 'it'} decides nothing"
    actor = login(event.payload, "sender", "login", programs=True)
    if not actor:
        return "nobody did it"
    if event.by_bot and event.action not in _BY_PROGRAMS:
        return "done by a program"
    number = issue_number(event.payload, "issue", "number")
    if number is None:
        return "no issue's number in it"
    payload = {
        "number": number,
        "action": event.action,
        "actor": actor,
        "program": event.by_bot,
        "reason": line(text(event.payload, "issue", "state_reason"), 40),
        "label": line(text(event.payload, "label", "name")),
        "at": moment(event.payload, "issue", "updated_at"),
        "to": line(text(event.payload, "changes", "new_issue", "html_url"), 200),
    }
    return [NewWork("human", event.id, project.name, payload, 20)]
