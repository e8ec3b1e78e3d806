"""Bugs that turn out to be the same once they are reduced."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

import onnx

from fuzz import sequences
from fuzz.oracles import differential
from fuzz.runner import Runner
from triage import crash_site, titles
from triage.court.evidence import Judgement, find
from triage.kinship import families_of
from triage.lifecycle import WITH_DRAFT, State
from triage.records import Bug
from triage.signature import CRASH_SITE, Signature
from triage.signing import Signer
from triage.store import Store

_ASIDE = (State.DUPLICATE, State.INVALID, State.STALE, State.SLIP)
_JUDGED = (State.JUDGED, *WITH_DRAFT)
#: Operators whose bodies hold others, which are named with them.
_WITH_BODIES = ("If", "Loop", "Scan", "SequenceMap")
_UNSETTLED = (State.NEW, State.CONFIRMED, State.REDUCED, State.FLAKY)


def twin(store: Store, bug: Bug, signature: Signature, operators: list[str], died: str = "") -> Bug | None:
    """An older bug that the reduced failure belongs to, as far as no person has decided otherwise.

    `operators` are those of the reduced model: where no conversion function is known, they tell the place. `died` is
    the last output of a process that died, with its native stack: that tells the place more surely than any of these.
    """
    decided = store.decisions()
    for other in store.bugs(backend=bug.backend):
        if other.id == bug.id or (other.state in _ASIDE and other.fingerprint not in decided.muted):
            continue
        if decided.are_apart(bug.fingerprint, other.fingerprint):
            continue
        if other.fingerprint == decided.fingerprint(signature.fingerprint):
            return other
        settled = other.state not in _UNSETTLED
        if (alike := _died_alike(store, bug, other, died)) is not None:
            if alike and (settled or other.id < bug.id) and sequences.of(other.target) == signature.passes:
                return other
            continue
        if _same_parts(other, signature, operators if settled else []) and (settled or other.id < bug.id):
            return other
    return None


def _died_alike(store: Store, bug: Bug, other: Bug, died: str) -> bool | None:
    """Whether another bug's process died at the same site; None where that is not known of both.

    A wild address ends in one signal or another.
    """
    crashes = bug.symptom.startswith("crash:") and other.symptom.startswith("crash:")
    if not crashes or crash_site.site(died) is None or other.best_failure_id is None:
        return None
    error = store.failure(other.best_failure_id).failure.outcome.error
    return crash_site.same(died, error.stderr, bug.target.revision == other.target.revision) if error else None


def _same_parts(other: Bug, signature: Signature, operators: list[str]) -> bool:
    """Whether place, symptom and message are the same. A settled bug's operators are those of its reduced model."""
    if (other.symptom, other.message) != (signature.symptom, signature.message or other.message):
        return False
    if sequences.of(other.target) != signature.passes:
        return False
    if signature.kind != CRASH_SITE and (signature.conversion_function or other.conversion_function):
        return signature.conversion_function == other.conversion_function
    return bool(operators) and sorted(operators) == sorted(other.operators)


def kin(store: Store, bug: Bug, judgement: Judgement) -> Bug | None:
    """A bug that was judged before and, like this one, reads uninitialised memory in an operator of the same family."""
    families = _families(bug)
    if not families or not _reads_anything(judgement):
        return None
    decided = store.decisions()
    for other in store.bugs(_JUDGED, backend=bug.backend):
        apart = other.id == bug.id or decided.are_apart(bug.fingerprint, other.fingerprint)
        if not apart and other.judgement and _reads_anything(other.judgement) and families & _families(other):
            return other
    return None


def sibling(store: Store, bug: Bug, title: str) -> Bug | None:
    """A bug with a draft that ignores what this one ignores by its `title`, in the same operator, in one of its family,
    or in one that the same function converts; or one of the same operator, where all drafts together ignore everything
    that the operator can be told. What an attribute does wrong in a family is one bug, too, and so is what comes out of
    one operator of a family where the title says it of the other."""
    wanted, families = titles.ignored(title), _families(bug)
    others = _drafted(store, bug)
    if not wanted:
        return (
            _as_mistaken(bug, titles.mistaken(title), families, others)
            or _of_family(bug, titles.needed(title), families, others)
            or _told_of(bug, title, families, others)
            or _dying_alike(bug, titles.dies_with(title), families, others)
        )
    for other in others:
        converted = _function(bug) != "" and _function(bug) == _function(other)
        related = converted or families & _families(other) or bug.operators == other.operators
        theirs = titles.ignored(other.title or "")
        several = len(_ignored(wanted)) > 1 or len(_ignored(theirs)) > 1
        overlap = several and bug.operators == other.operators and _ignored(theirs) & _ignored(wanted)
        if related and (theirs == wanted or overlap):
            return other
    alike = [other for other in others if other.operators == bug.operators and titles.ignored(other.title or "")]
    known = _ignored(wanted).union(*(_ignored(titles.ignored(other.title or "")) for other in alike))
    return alike[0] if alike and known == _options(bug.operators) else None


def _as_mistaken(bug: Bug, mistaken: str, families: set[str], others: Sequence[Bug]) -> Bug | None:
    """A bug of the same operator, or of one of the family, that takes the same for another, whatever comes out."""
    for other in others:
        related = bug.operators == other.operators or families & _families(other)
        if mistaken and related and titles.mistaken(other.title or "") == mistaken:
            return other
    return None


def _of_family(bug: Bug, needed: str, families: set[str], others: Sequence[Bug]) -> Bug | None:
    """A bug of another operator of the family that is wrong with the same attributes, in whatever way."""
    named = {_option(one) for one in re.split(r", | and ", needed.removesuffix(titles.ON_SOME))}
    if not bug.symptom.startswith("wrong:") or not named <= _options(bug.operators):
        return None
    for other in others:
        alike = other.symptom.startswith("wrong:") and titles.needed(other.title or "") == needed
        if alike and families & _families(other):
            return other
    return None


def _told_of(bug: Bug, title: str, families: set[str], others: Sequence[Bug]) -> Bug | None:
    """A bug of another operator of the family with the same result, where one title says so of the other."""
    for other in others:
        theirs = other.title or ""
        lone = len(bug.operators) == len(other.operators) == 1 and bug.operators != other.operators
        alike = bug.symptom == other.symptom and _result(bug, title) == _result(other, theirs) != ""
        if not (lone and alike and families & _families(other)):
            continue
        if titles.tells_of(theirs, bug.operators[0]) or titles.tells_of(title, other.operators[0]):
            return other
    return None


def _result(bug: Bug, title: str) -> str:
    """What a title says comes out; of a wrong shape or type not the sizes and numbers of the one witness."""
    said = titles.result(title)
    numbers = {differential.SHAPE: r"\d+", differential.DTYPE: r"(?<!\w)-?\d[\w.+-]*"}.get(bug.symptom)
    return re.sub(numbers, "N", said) if numbers else said


def _dying_alike(bug: Bug, needed: str, families: set[str], others: Sequence[Bug]) -> Bug | None:
    """A bug of another operator of the family that dies of the same signal, in the same stage, with one condition."""
    if not bug.symptom.startswith("crash:") or not needed:
        return None
    for other in others:
        alike = other.symptom == bug.symptom and titles.dies_with(other.title or "") == needed
        if alike and bug.operators != other.operators and families & _families(other):
            return other
    return None


def told_with(store: Store, bug: Bug, title: str) -> Bug | None:
    """A bug with a draft that raises for what is to be mended in one place with this one, by its `title`.

    Either an operator with bodies raises under the same, whatever is in these. Or they raise with the same words, and
    one title says that the other's operator fails as well. Or one converter raises, with whatever words, at what both
    cases pass without, or under all that the title names. Or two operators of a family raise, with whatever words,
    under the same.
    """
    if not bug.symptom.startswith("exception:"):
        return None
    for other in _drafted(store, bug):
        theirs = other.title or ""
        if not other.symptom.startswith("exception:"):
            continue
        if _with_bodies(bug, title) and _with_bodies(bug, title) == _with_bodies(other, theirs):
            return other
        if len(bug.operators) != 1 or len(other.operators) != 1:
            continue
        alike = (other.symptom, other.message) == (bug.symptom, bug.message)
        if alike and (titles.tells_of(theirs, bug.operators[0]) or titles.tells_of(title, other.operators[0])):
            return other
        if alike and "=" in (ours := titles.needed(title)) and ours == titles.needed(theirs):
            return other
        kin = bug.operators != other.operators and bug.symptom == other.symptom and _families(bug) & _families(other)
        raising = titles.raising(title, bug.operators[0])
        if kin and raising and raising == titles.raising(theirs, other.operators[0]):
            return other
        place = (bug.operators, bug.conversion_function)
        if bug.conversion_function and place == (other.operators, other.conversion_function):
            if theirs == title and bug.symptom == other.symptom:
                return other
            ours, needed = titles.needed(title), titles.needed(theirs)
            option = _option(ours) in _options(bug.operators) and _option(ours) == _option(needed)
            if option or ours == needed != "":
                return other
    return None


def _with_bodies(bug: Bug, title: str) -> tuple[str, str, str] | None:
    """An operator with bodies, its converter, and under what it raises, whatever is in the bodies; else None."""
    outer, needed = next(iter(bug.operators), ""), titles.needed(title)
    if outer not in _WITH_BODIES or not bug.conversion_function or not needed:
        return None
    return outer, bug.conversion_function, needed


def _drafted(store: Store, bug: Bug) -> list[Bug]:
    """The other bugs of the compiler that have a draft, without those that a person has parted from this one."""
    decided = store.decisions()
    return [
        other
        for other in store.bugs(WITH_DRAFT, backend=bug.backend)
        if other.id != bug.id and not decided.are_apart(bug.fingerprint, other.fingerprint)
    ]


def _function(bug: Bug) -> str:
    """What converts several operators, e.g. ``_binary_op.<locals>.convert`` of ``…(add)``; "" where it is for one."""
    function, _, operator = (bug.conversion_function or "").partition("(")
    return function if operator else ""


def _option(ignored: str) -> str:
    """``detect_positive`` of ``detect_positive=0``."""
    return ignored.partition("=")[0]


def _ignored(told: str) -> set[str]:
    """``left_window_size`` and ``right_window_size`` of ``left_window_size=1 and right_window_size``."""
    return {_option(one) for one in re.split(r", | and ", told) if one}


def _options(operators: Sequence[str]) -> set[str]:
    """The attributes of a single operator of ONNX: a converter that looks at none of them has one bug, not one each."""
    if len(operators) != 1 or not onnx.defs.has(operators[0]):
        return set()
    return set(onnx.defs.get_schema(operators[0]).attributes)


def _reads_anything(judgement: Judgement) -> bool:
    memory = find(judgement.evidence, "memory")
    return memory is not None and bool(memory.figures.get("depends"))


def _families(bug: Bug) -> set[str]:
    return {family for name in bug.operators for family in families_of(name)}


def give(store: Store, runner: Runner, bug: Bug, twin: Bug) -> None:
    """Hand the bug's failures over to its twin."""
    signer = Signer(runner)
    failures = [store.failure(number).failure for number in store.failure_ids(bug.id)]
    store.record(0, (), [replace(signer.describe(one), fingerprint=twin.fingerprint) for one in failures])
