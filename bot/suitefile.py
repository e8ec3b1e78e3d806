"""Gathering a suite: committed entries, the bugs of a hunt, files that the user names, and a slice of a source."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from bot import casefile
from bot.failures import Refusal
from fuzz import generators, registry
from fuzz.case import Case
from fuzz.data import data_path
from fuzz.instance_store import StoreError
from fuzz.ranking import cases
from fuzz.ranking.schedule import Schedule
from fuzz.runner import Runner
from triage.lifecycle import State
from triage.store import open_store
from triage.suite.entries import EXPECTED_FILE, BadEntry, Entry, Expected, Source, distinct, read_expected, written
from triage.suite.order import operators

#: Bugs that were seen to repeat, and that nobody has put aside.
CONFIRMED = (
    State.CONFIRMED,
    State.REDUCED,
    State.LOCATED,
    State.JUDGED,
    State.DRAFTED,
    State.REPORTED,
    State.FIXED,
    State.CLOSED,
    State.REGRESSED,
)
SUFFIXES = (".onnx", ".json")
#: The forms of node tests, and the variants that `fuzz.generators.onnx_node` gives them.
FORMS = {"plain": ("plain", "expanded"), "frozen": ("frozen", "expanded-frozen")}


@dataclass(frozen=True)
class Wanted:
    """What a suite shall consist of. `folder` or `tests` take the place of everything else but the bugs of `db`.

    `sources` give at most `slice_size` cases together: those of the `touched` operators (as `order.spelling` spells
    them), then those that the prioritiser holds for the most promising.
    """

    folder: Path | None = None
    tests: tuple[str, ...] = ()
    form: str = "plain"
    db: str | None = None
    sources: tuple[str, ...] = ("onnx_node",)
    slice_size: int = 500
    seed: int = 0
    touched: frozenset[str] = frozenset()


def regressions() -> Path:
    """The folder of committed entries (data/regressions/README.md)."""
    return data_path("regressions")


def gather(wanted: Wanted, backend: str, runner: Runner) -> list[Entry]:
    """The suite for a backend, each case once. Raises Refusal where something cannot be read, or nothing is left."""
    entries = distinct(_gathered(wanted, backend, runner))
    kinds = registry.backend(backend).kinds
    found = [entry for entry in entries if entry.case.kind in kinds]
    if not found:
        name = registry.backend(backend).name
        raise Refusal(f"the suite is empty: no case of a kind that {name} takes ({', '.join(kinds)})")
    return found


def _gathered(wanted: Wanted, backend: str, runner: Runner) -> Iterator[Entry]:
    if wanted.folder is not None:
        yield from in_folder(wanted.folder, Source.GIVEN, runner, wanted.seed)
    if wanted.tests:
        yield from _tests(wanted.tests, wanted.form, wanted.seed)
    named = wanted.folder is not None or bool(wanted.tests)
    if not named and regressions().is_dir():
        yield from in_folder(regressions(), Source.COMMITTED, runner, wanted.seed)
    if wanted.db is not None:
        yield from _bugs(wanted.db, backend)
    if not named and wanted.slice_size:
        yield from slice_of(wanted)


def in_folder(folder: Path, source: Source, runner: Runner, seed: int) -> Iterator[Entry]:
    """Every case file below a folder, by its path without suffix; ``ENTRY/model.onnx`` is called ``ENTRY``.

    Inputs lie beside a model (``x.npz`` for ``x.onnx``) or are drawn from `seed`. Raises Refusal.
    """
    if not folder.is_dir():
        raise Refusal(f"{folder}: no such folder")
    paths = sorted(path for path in folder.rglob("*") if path.suffix in SUFFIXES and path.is_file())
    if not paths:
        raise Refusal(f"{folder}: holds no case (*.onnx, *.json)")
    for path in paths:
        beside = path.with_suffix(".npz")
        given = beside if path.suffix == ".onnx" and beside.is_file() else None
        case = casefile.load(path, given, seed, runner)
        place = path.relative_to(folder)
        name = str(place.parent if place.stem == "model" and place.parent != Path() else place.with_suffix(""))
        yield _described(Entry(name, case, source), path.with_name(EXPECTED_FILE))


def _described(entry: Entry, path: Path) -> Entry:
    """The entry with its title and what is expected of it, if a file says so. Raises Refusal."""
    if not path.is_file():
        return entry
    try:
        expected: Expected = read_expected(path)
    except BadEntry as error:
        raise Refusal(str(error)) from error
    return replace(entry, title=expected.title, expected=expected)


def check_tests(names: Sequence[str]) -> None:
    """Raises Refusal for a name that is no node test's."""
    for _ in _tests(names, "plain", 0) if names else ():
        pass


def _tests(names: Sequence[str], form: str, seed: int) -> Iterator[Entry]:
    """Node tests of ONNX by name, in one form; the plain one where a test has no constants to freeze."""
    if form not in FORMS:
        raise Refusal(f"--form {form!r} must be one of: {', '.join(FORMS)}")
    found: dict[str, dict[str, Case]] = {}
    for case in generators.load("onnx_node")(seed):
        if isinstance(case, Case):
            found.setdefault(case.origin.test, {})[case.origin.variant] = case
    for name in dict.fromkeys(names):
        if name not in found:
            near = difflib.get_close_matches(name, found, n=3)
            raise Refusal(f"--tests {name!r}: no such node test{'; near it: ' + ', '.join(near) if near else ''}")
        variants = found[name]
        wanted = [*FORMS[form], *FORMS["plain"]]
        yield Entry(name, next(variants[variant] for variant in wanted if variant in variants), Source.GIVEN)


def _bugs(db: str, backend: str) -> Iterator[Entry]:
    """The smallest case of every bug of the backend that was ever confirmed.

    One that several bugs were reduced to has no bug's title: which of them it shows nobody knows before it has run.
    """
    found: dict[str, Entry] = {}
    for entry in _each_bugs(db, backend):
        known = found.setdefault(entry.id, entry)
        if known is not entry:
            found[entry.id] = replace(known, title="", reproducer="")
    yield from found.values()


def _each_bugs(db: str, backend: str) -> Iterator[Entry]:
    name = registry.backend(backend).name
    with open_store(db, create=False) as store:
        for bug in store.bugs(CONFIRMED):
            if Path(bug.backend).stem != name or not bug.count:
                continue
            if bug.reduced_case_id is not None:
                case = store.case(bug.reduced_case_id)
            elif bug.best_failure_id is not None:
                case = store.failure(bug.best_failure_id).failure.case
            else:
                continue
            draft = store.draft(bug.id)
            title = bug.title or f"{' + '.join(bug.operators) or 'the model'}: {bug.symptom}"
            yield Entry(f"bug-{bug.id}", case, Source.BUG, title, reproducer=draft.script if draft else "")


def slice_of(wanted: Wanted) -> Iterator[Entry]:
    """Of the sources the cases of touched operators, then the first in the prioritiser's order."""
    try:
        found = [
            case for name in wanted.sources for case in generators.load(name)(wanted.seed) if isinstance(case, Case)
        ]
    except (generators.UnknownGenerator, StoreError) as error:
        raise Refusal(f"--source: {error}") from error
    chosen = found
    if len(found) > wanted.slice_size:
        items = [cases.item(case) for case in found]
        order = list(Schedule(items, (), wanted.seed))
        order.sort(key=lambda at: wanted.touched.isdisjoint(operators(items[at])))
        chosen = [found[at] for at in order[: wanted.slice_size]]
    for case in chosen:
        yield Entry(_test_name(case), case, Source.SLICE)


def _test_name(case: Case) -> str:
    origin = case.origin
    plain = origin.variant in FORMS["plain"]
    return (origin.test or case.id) + ("" if plain else f"[{origin.variant.removeprefix('expanded-')}]")


def keep(folder: Path, entry: Entry, expected: Expected) -> Path:
    """Write an entry where `in_folder` finds it: ``FOLDER/NAME/`` with the case and what is expected.

    What an entry of that name knows of other compilers stays. Returns its place.
    Raises Refusal where another case has that name.
    """
    place = folder / re.sub(r"[^\w.-]+", "-", entry.name).strip("-")
    model = place / ("model.onnx" if entry.case.kind == "onnx" else "model.json")
    if model.is_file() and model.read_bytes().rstrip(b"\n") != entry.case.model.rstrip(b"\n"):
        raise Refusal(f"{place}: holds another case of that name; name another folder")
    place.mkdir(parents=True, exist_ok=True)
    casefile.save(entry.case, model)
    path = place / EXPECTED_FILE
    known = read_expected(path) if path.is_file() else Expected()
    title, why = (_joined(one, other) for one, other in ((known.title, expected.title), (known.why, expected.why)))
    path.write_text(written(Expected(title, why, {**known.letters, **expected.letters})), encoding="utf-8")
    return place


def _joined(known: str, new: str) -> str:
    """Two texts, unless the one already holds the other."""
    return known if new in known else f"{known} {new}".strip()
