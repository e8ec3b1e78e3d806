"""From the commands of one comment to what follows from them: work, and at most one answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bot import keys
from bot.remarks import explain, requests, verdicts
from bot.remarks.grammar import Command, Word
from bot.remarks.place import Declined, Handler, Place, Reply
from bot.rendering import render
from triage.ledger.records import NewOutgoing, OutKind

_HANDLERS: Mapping[Word, Handler] = {
    Word.REDUCE: requests.reduce,
    Word.BISECT: requests.bisect,
    Word.RETEST: requests.retest,
    Word.FILE: requests.file,
    Word.APPROVE: requests.approve,
    Word.DUPLICATE: verdicts.duplicate,
    Word.APART: verdicts.apart,
    Word.INVALID: verdicts.invalid,
    Word.MUTE: verdicts.mute,
    Word.LINK: verdicts.link,
    Word.EXPLAIN: explain.explain,
}


def follow(commands: Sequence[Command], place: Place) -> Reply:
    """Do what is asked, command by command. `said` of what comes back is the note of the work. Raises Later."""
    replies = [_followed(each, place) for each in commands if each.word in _HANDLERS]
    said = [reply.said for reply in replies if reply.said]
    if any(each.word is Word.HELP for each in commands):
        said.append(render("help", unknown=[]).strip())
    unknown = [each.argument for each in commands if each.word is Word.UNKNOWN]
    outgoing = [one for reply in replies for one in reply.outgoing]
    if said:
        outgoing.append(_comment(place, f"answer:{place.comment}", render("answer", said=said)))
    if unknown:
        # Once an issue: the key is used up by the first time.
        outgoing.append(_comment(place, f"help:{place.name}", render("help", unknown=unknown)))
    works = tuple(work for reply in replies for work in reply.works)
    return Reply(", ".join(each.word or "something unknown" for each in commands), works, tuple(outgoing))


def _followed(command: Command, place: Place) -> Reply:
    try:
        return _HANDLERS[command.word](command, place)
    except Declined as why:
        return Reply(str(why))


def _comment(place: Place, key: str, body: str) -> NewOutgoing:
    """It waits for no moderator, and for nothing that one holds: a person with write permission has asked."""
    stream = keys.talk(place.repository, place.number)
    return NewOutgoing(OutKind.COMMENT, key, place.repository, {"body": body}, stream, place.number)
