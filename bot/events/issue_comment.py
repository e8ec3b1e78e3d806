"""``issue_comment``: somebody speaks to the bot, in an issue or a pull request."""

from __future__ import annotations

from bot.events import Event, at, text
from bot.events._reading import identifier, issue_number, login
from bot.github import limits
from bot.remarks.grammar import addressed
from bot.settings import Project
from triage.ledger.records import NewWork


def handle(event: Event, project: Project) -> list[NewWork] | str:
    """Only new comments of people count: an edited one would do its work twice, and bots could answer one another."""
    if event.action != "created":
        return "no new comment"
    said = text(event.payload, "comment", "body")[: limits.BODY]
    if not addressed(said):
        return "nobody speaks to the bot"
    author = login(event.payload, "comment", "user", "login")
    if event.by_bot or text(event.payload, "comment", "user", "type") == "Bot" or not author:
        return "written by a program"
    number = issue_number(event.payload, "issue", "number")
    comment = identifier(event.payload, "comment", "id")
    if number is None or comment is None:
        return "no comment's id and issue's number in it"
    payload = {
        "number": number,
        "comment": comment,
        "author": author,
        "text": said,
        "pull": at(event.payload, "issue", "pull_request") is not None,
        "open": text(event.payload, "issue", "state") != "closed",
    }
    return [NewWork("command", str(comment), project.name, payload)]
