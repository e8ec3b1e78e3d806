"""Whether a project's tracker has an issue for a bug already (issue 6: known bug -> comment or link, no new issue)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import structlog

from bot.github.client import Client
from bot.github.errors import Refused
from bot.github.markers import keys
from bot.github.shapes import IssueSeen
from triage import related
from triage.known import Issue, Similar
from triage.records import Bug

log = structlog.get_logger()

#: So many issues of a tracker are read, those that changed last; and so many that its index gives for an operator.
NEWEST, INDEXED, OPERATORS = 500, 50, 2
#: From this weight on an issue *is* the bug (`triage.known`): the same message, or operator and detail in its title.
SURE = 3
_REFUSED = frozenset({"not_planned", "duplicate"})


@dataclass(frozen=True)
class Known:
    """What the tracker has: the bot's own issue of this bug, another one that is the same bug, others that look alike.

    `refused`: the same one was closed as not planned or as a duplicate.
    """

    own: IssueSeen | None = None
    same: Similar | None = None
    refused: bool = False
    alike: tuple[Similar, ...] = ()


def look(client: Client, bug: Bug, key: str) -> Known:
    """Search a tracker, open issues and closed ones. `key` marks the bot's own. Raises Refused, Later."""
    found = {each.number: each for each in _listed(client, bug)}
    return compared(bug, key, client.login, found)


def _listed(client: Client, bug: Bug) -> Iterable[IssueSeen]:
    for operator in bug.operators[:OPERATORS]:
        try:
            yield from client.search([operator], INDEXED)
        except Refused as problem:  # the index may be closed to us; the list below is there all the same
            log.warning("search_refused", repository=client.repository, why=str(problem))
    yield from client.tracker(NEWEST)


def compared(bug: Bug, key: str, login: str, issues: Mapping[int, IssueSeen]) -> Known:
    """What these issues are to the bug. Pure."""
    mine = [each for each in issues.values() if each.author == login and key in keys(each.body)]
    if mine:
        return Known(own=max(mine, key=lambda each: each.number))
    similar = related.known_issues(bug, (_issue(each) for each in issues.values()))
    sure = [one for one in similar if one.weight >= SURE and _holds(issues[one.issue.number], login)]
    same = sure[0] if sure else None
    refused = same is not None and not issues[same.issue.number].open
    return Known(None, same, refused, tuple(one for one in similar if one is not same))


def _holds(seen: IssueSeen, login: str) -> bool:
    """Whether an issue speaks for today: it is open, or people do not want to hear of it. What was fixed may be back.

    Those that the bot wrote are other bugs: their failures have been told apart. With a plain token its account is a
    person's as well; the bot's own carry a mark.
    """
    marked = any(key.startswith("issue:") for key in keys(seen.body))
    written = seen.author == login and (marked or login.endswith("[bot]"))
    return not written and (seen.open or seen.reason in _REFUSED)


def _issue(seen: IssueSeen) -> Issue:
    # Without its address: a tracker that is not the project's own (a fork's) is as good.
    return Issue(seen.number, seen.title, seen.body, state="open" if seen.open else "closed")
