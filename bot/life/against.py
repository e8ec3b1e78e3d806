"""What people have decided since something was put into the outbox: looked at once more right before it is sent.

Withdrawing (`bot.life.aside`) takes back what nobody has begun to send. This is for all else: what is being tried
again, what was written while a person decided, and what a moderator lets go after that.
"""

from __future__ import annotations

from bot.github.errors import Refused
from bot.life import human, judged
from bot.life.changing import KEYS
from bot.life.human import Said
from triage.ledger import Ledger
from triage.ledger.records import Issue, Outgoing, OutKind, OutState
from triage.lifecycle import State

#: States in which people have put a bug aside: nothing more is said of it but that.
_ASIDE = frozenset({State.INVALID, State.DUPLICATE})
#: What a person asked for by putting the bug aside; and the words on where it stands, which follow that.
_BY_COMMAND, _STATUS = "aside", "status"


def against(one: Outgoing, ledger: Ledger) -> str:
    """Why this must not be said any more, "" where it may. Answers belong to no bug and are always given."""
    if one.bug_id is None:
        return ""
    issue, what = ledger.issues.of_bug(one.bug_id), one.key.partition(":")[0]
    said = human.read(issue.human) if issue else Said()
    if what == _BY_COMMAND:
        return _undone(said)
    if reason := said.forbids_writing():
        return reason
    if what == _STATUS:
        return ""
    bug = ledger.store.bug(one.bug_id)
    if bug.state in _ASIDE:
        return f"bug {bug.id} is put aside as {bug.state}" + (f": {bug.note}" if bug.note else "")
    return _in_issue(what, one, issue, said, ledger) if issue else ""


def before(one: Outgoing, ledger: Ledger) -> str:
    """`against`, for whoever is about to send it. Raises Refused for a change of state whose words GitHub refused."""
    if why := against(one, ledger):
        return why
    if one.kind is OutKind.STATE and "fixed_by" in one.payload:
        words, verb = KEYS[bool(one.payload["open"])]
        said = ledger.outbox.by_key(f"{words}:{one.key.removeprefix(f'{verb}:')}")
        if said is not None and said.state is OutState.FAILED:
            raise Refused(f"not without its words, which GitHub refused: {said.note}")
    return ""


def _undone(said: Said) -> str:
    """Whether what a person asked for has been undone by a person."""
    if said.gone:
        return said.forbids_writing()
    return "" if said.closed in human.REFUSED else f"{said.by or 'a person'} took that back"


def _in_issue(what: str, one: Outgoing, issue: Issue, said: Said, ledger: Ledger) -> str:
    """What speaks against closing and reopening: as it was when that was decided (`bot.life.decide`), seen today."""
    if what in ("fixed", "close"):
        # Of a closing that has arrived, and whose sender died before it noted that, the fix is known here already.
        new = not _judged(issue, said, ledger)
        return said.forbids_closing(_fix(one, ledger), issue.fixed_by if issue.open else "", new)
    if what in ("regressed", "reopen"):
        return said.forbids_reopening(issue.fixed_by or "seen before this was written")
    return ""


def _judged(issue: Issue, said: Said, ledger: Ledger) -> bool:
    """Whether the bug was judged to be fixed on no other build since a person reopened its issue."""
    return bool(said.judged) and judged.last(ledger, ledger.store.bug(issue.bug_id)) == said.judged


def _fix(one: Outgoing, ledger: Ledger) -> str:
    """The fix that a closing is for, or the comment that goes before it."""
    place = one.key.partition(":")[2]
    closing = ledger.outbox.by_key(f"close:{place}")
    return str(closing.payload.get("fixed_by") or "") if closing else ""
