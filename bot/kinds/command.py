"""A comment speaks to the bot: if its author may write in the repository, what it asks for is done.

Payload: {number, comment, author, text, pull, open}, as `bot.events.issue_comment` makes it. Done again after a kill,
every decision is the same once more, and the answer has the comment's key.
"""

from __future__ import annotations

import structlog

from bot.desk import Desk
from bot.github import markers
from bot.kinds import Answer, Done
from bot.life import own
from bot.remarks import place
from bot.remarks.answering import follow
from bot.remarks.grammar import parse
from triage.ledger.records import Work, WorkState

log = structlog.get_logger()

HEAVY = False
#: What GitHub calls those who may push.
_MAY = frozenset({"admin", "maintain", "write"})


def run(work: Work, desk: Desk) -> Answer:
    """Ask GitHub what the author may do; others are neither followed nor answered. Raises GitHubError."""
    commands = parse(work.payload["text"])
    if not commands:
        return Done("no command in it")
    marked = own.wrote(desk.ledger, markers.keys(work.payload["text"]), work.payload["comment"])
    if marked and _by_its_account(work, desk):
        # Written with a plain token, the bot's own comments are a person's to GitHub.
        return Done("written by the bot")
    if desk.ledger.work.listed([WorkState.DONE], work.kind, work.key, limit=1):
        return Done("done before: it was delivered twice")
    where = place.of(work, desk)
    permission = desk.github(where.repository).permission(where.author)
    if permission not in _MAY:
        log.warning("command_ignored", place=where.name, author=where.author, permission=permission)
        return Done(f"ignored: the permission of {where.author} is {permission}")
    reply = follow(commands, where)
    log.info("command_followed", place=where.name, author=where.author, commands=reply.said)
    return Done(f"{where.author}: {reply.said}", reply.works, reply.outgoing)


def _by_its_account(work: Work, desk: Desk) -> bool:
    where = place.of(work, desk)
    return where.author.lower() == desk.github(where.repository).login.lower()
