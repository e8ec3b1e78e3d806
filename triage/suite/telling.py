"""What a gate says of each difference: a title, both statuses, a script, and where the change touches its operator."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from fuzz.case import Failure, Status
from fuzz.data import data_path
from triage import scrub
from triage.messages import core
from triage.signing import Signer
from triage.suite.changed import Place
from triage.suite.compare import Change
from triage.suite.entries import Entry, Source
from triage.suite.gate import Pair, Result, Sides
from triage.suite.order import Order
from triage.suite.reproduce import story

#: So many differences of a kind get a script; a change that breaks more than that is known by the first of them.
MOST_STORIES = 40
#: Of a compiler's message, what a title holds where there is no story.
_MOST_WORDS = 120


@dataclass(frozen=True)
class Told:
    """One difference as it is told. `reproducer` is a script, "" where none can be written or none is wanted."""

    id: str
    name: str
    title: str
    status_base: Status
    status_head: Status
    symptom: str
    detail: str = ""
    reproducer: str = ""
    conversion_function: str = ""
    place: Place | None = None

    @property
    def document(self) -> dict[str, str]:
        """The entry of a list in `gate --json`."""
        return {
            "id": self.id,
            "name": self.name,
            "title": self.title,
            "status_base": self.status_base.value,
            "status_head": self.status_head.value,
            "symptom": self.symptom,
            "detail": self.detail,
            "conversion_function": self.conversion_function,
            "reproducer": self.reproducer,
        }


class Teller:
    """Tells the pairs of a gate. `places` are the touched operators and the changed lines that convert them."""

    def __init__(
        self, entries: Sequence[Entry], order: Order, sides: Sides, signer: Signer, places: Mapping[str, Place]
    ) -> None:
        self._entries = {entry.id: entry for entry in entries}
        self._at = {entry.id: at for at, entry in enumerate(entries)}
        self._order, self._sides, self._signer, self._places = order, sides, signer, places

    def tell(self, result: Result, change: Change) -> list[Told]:
        """The pairs with this change; new failures and fixes with a script each, up to `MOST_STORIES`."""
        pairs = result.of_change(change)
        if change not in (Change.NEW_FAILURE, Change.FIXED):
            return [self._plain(pair) for pair in pairs]
        return [*map(self._whole, pairs[:MOST_STORIES]), *map(self._plain, pairs[MOST_STORIES:])]

    def _plain(self, pair: Pair) -> Told:
        entry = self._entries[pair.id]
        failing = pair.base if pair.change is Change.FIXED else pair.head
        words = " ".join(core(failing.detail).split())[:_MOST_WORDS]
        kind = "varies" if pair.change is Change.FLAKY else failing.symptom or failing.status.value
        title = _bugs_title(entry) or f"{pair.name}: {kind}" + (f": {words}" if words else "")
        return Told(
            id=pair.id,
            name=pair.name,
            title=scrub.scrub(title),
            status_base=pair.base.status,
            status_head=pair.head.status,
            symptom=failing.symptom or failing.status.value,
            detail=scrub.scrub(pair.why or failing.detail),
            reproducer=entry.reproducer,
            place=self._place(pair),
        )

    def _whole(self, pair: Pair) -> Told:
        plain = self._plain(pair)
        failure = self._failure(pair)
        if failure is None:  # refused, or it does not fail any more
            return plain
        known = story(failure, self._signer)
        return Told(
            id=plain.id,
            name=plain.name,
            title=_bugs_title(self._entries[pair.id]) or known.title,
            status_base=plain.status_base,
            status_head=plain.status_head,
            symptom=plain.symptom,
            detail=plain.detail or known.why_none,
            reproducer=known.script or plain.reproducer,
            conversion_function=known.conversion_function,
            place=plain.place,
        )

    def _failure(self, pair: Pair) -> Failure | None:
        """The failing side's; of a pair that an interrupted run has left, from one more run."""
        side = self._sides.base if pair.change is Change.FIXED else self._sides.head
        verdict = pair.verdict or self._sides.replay.once(self._entries[pair.id].case, side).verdict
        return verdict.failure if verdict else None

    def _place(self, pair: Pair) -> Place | None:
        operators = self._order.operators(self._at[pair.id])
        return next((self._places[name] for name in operators if name in self._places), None)


def _bugs_title(entry: Entry) -> str:
    """The title of the report that a bug has; what committed entries are called tells of releases."""
    return entry.title if entry.source is Source.BUG else ""


def summary(document: Mapping[str, object]) -> str:
    """The document of `gate --json` as Markdown for people."""
    environment = Environment(
        loader=FileSystemLoader(data_path().parent / "templates"),
        undefined=StrictUndefined,
        autoescape=False,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"prose": scrub.prose, "fence": scrub.fence}
    return environment.get_template("gate.md.j2").render(document)
