"""People who speak to the bot in a repository of the emulator; what is queued, decided and said in return."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bot import working
from bot.desk import Desk
from bot.events import Event, load
from bot.github.auth import Access
from bot.github.pace import Pace
from bot.sending import sender_of
from bot.settings import Filing, Project, Settings
from fuzz.case import Case, Failure, Origin, Outcome, Revision, Stage, Status, Target
from tests.bot.life.support import JOURNEY
from tests.github import hooks
from tests.github.support import World
from triage.ledger import Ledger
from triage.ledger.records import Issue, Outgoing, Work, WorkState
from triage.lifecycle import State
from triage.records import NewFailure, StoredDraft
from triage.store import open_store

DRAFT = StoredDraft("[Bug] Sub is wrong", "It is wrong.\n", "print('PASS')\n")
#: What makes commits of forks wait for a word: an overlay, which is never built here.
OVERLAY = """
backend = "onnxruntime"
[provider]
kind = "overlay"
repository = "."
package = "onnxruntime==1.20"
paths = {python = "onnxruntime"}
"""


@dataclass
class Room:
    """One repository, its bot, and people."""

    world: World
    settings: Settings
    ledger: Ledger
    access: Access
    ids: Iterator[int] = field(default_factory=lambda: itertools.count(1000))

    @property
    def desk(self) -> Desk:
        """What work is given."""
        return Desk(self.settings, self.ledger, self.access.client)

    def configure(self, **changes: object) -> None:
        """Change settings of the project."""
        project = self.settings.projects["compiler"].model_copy(update=changes)
        self.settings = self.settings.model_copy(update={"projects": {"compiler": project}})

    def configure_token(self) -> None:
        """From now on the bot has no App but the maintainer's token."""
        self.access = Access(self.world.settings(with_token=True))

    def bug(self, state: State = State.REPORTED, name: str = "", backend: str = "onnxruntime") -> int:
        """A new bug in a state."""
        name = name or f"sub-{next(self.ids)}"
        case, target = Case("onnx", name.encode(), {}, Origin("file", name)), Target(backend, Revision("1.20"))
        failure = Failure(case, target, Outcome(Status.WRONG, Stage.RUN), None, "inconsistency", "wrong:values", "")
        self.ledger.store.record(0, [], [NewFailure(failure, f"f-{name}", "convert_sub", ("Sub",), why="one place")])
        number = self.ledger.store.bugs()[-1].id
        for old, new in itertools.pairwise(JOURNEY[: JOURNEY.index(state) + 1]):
            fields: dict[str, Any] = {"draft": DRAFT, "nodes": 1} if new is State.DRAFTED else {}
            self.ledger.store.advance(number, old, new, **fields)
        return number

    def issue(self, bug: int | None = None, ours: bool = True) -> int:
        """A new issue, of a bug if one is given."""
        number: int = self.world.ask("/issues", "POST", {"title": "Sub is wrong"})["number"]
        if bug is not None:
            self.ledger.issues.link(Issue(bug, self.world.repository, number, ours=ours))
        return number

    def says(self, text: str, number: int, by: str = "maintainer", pull: bool = False) -> Work:
        """A comment arrives and is worked off; the work afterwards."""
        issue = {"number": number, "state": "open"} | ({"pull_request": {"url": "x"}} if pull else {})
        told: dict[str, Any] = {"comment": {"id": next(self.ids), "body": text, "user": {"login": by, "type": "User"}}}
        told |= {"issue": issue, "sender": {"login": by, "type": "User"}}
        return self.arrives("issue_comment", "created", told)

    def acts(self, action: str, number: int, by: str = "maintainer", label: str = "", **issue: Any) -> Work:
        """A person does something with an issue, and the bot hears of it."""
        sender = {"login": by, "type": "Bot" if by.endswith("[bot]") else "User"}
        told: dict[str, Any] = {"issue": {"number": number, **issue}, "sender": sender}
        return self.arrives("issues", action, told | {"label": {"name": label}})

    def arrives(self, name: str, action: str, changes: dict[str, Any]) -> Work:
        """A delivery arrives; the one work that follows, done."""
        event = Event(f"guid-{next(self.ids)}", name, hooks.payload(name, action, changes))
        answer = load(name).handle(event, self.settings.projects["compiler"])
        assert isinstance(answer, list), answer
        [new] = answer
        added = self.ledger.work.add(new)
        work = self.ledger.work.claim([new.kind])
        assert work is not None and work.id == added
        working.do(work, self.desk)
        return self.ledger.work.get(added)

    def again(self, work: Work) -> Work:
        """The work is done once more, as after a kill before its end was saved."""
        from bot import kinds

        # Under another key, since the ledger holds it for done.
        answer = kinds.load(work.kind).run(replace(work, key=f"{work.key} again"), self.desk)
        assert isinstance(answer, kinds.Done), answer
        for one in answer.outgoing:
            self.ledger.outbox.add(one)
        return work

    def queued(self) -> list[tuple[str, str, Any]]:
        """Work that waits: kind, key, payload."""
        return [(one.kind, one.key, dict(one.payload)) for one in reversed(self.ledger.work.listed([WorkState.QUEUED]))]

    def out(self) -> list[Outgoing]:
        """Everything in the outbox."""
        return self.ledger.outbox.listed()

    def answers(self, number: int) -> list[str]:
        """Send everything; what the bot has said in an issue."""
        sender = sender_of(self.ledger, self.desk.github, Pace(time.monotonic))
        while sender.step() is not None:
            pass
        return [each["body"] for each in self.world.comments(number) if each["user"]["login"] == self.world.bot]

    def state(self, bug: int) -> State:
        """A bug's state."""
        return self.ledger.store.bug(bug).state


@contextmanager
def room_of(world: World, folder: Path) -> Iterator[Room]:
    """A room; nothing waits for a moderator."""
    (folder / "ort.toml").write_text(OVERLAY)
    settings = world.settings()
    project = Project(
        name="compiler",
        repository=world.repository,
        compiler=str(folder / "ort.toml"),
        filing=Filing(moderation=False),
    )
    settings = settings.model_copy(update={"projects": {"compiler": project}})
    with open_store(settings.database, create=True) as store:
        yield Room(world, settings, Ledger(store), Access(settings))
