"""A subject from files: instances, and which of them show which bug. So anybody's campaign can be compared on.

Labels are one JSON object: by bug, the ids of the instances that show it, as `graphwarden prioritize` prints ids. Or
``{"bugs": {…}, "refused": [ids]}``, where it is known which instances the compiler refused honestly.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

from fuzz.ranking.item import Item
from triage.subjects import Subject


class UnusableLabels(ValueError):
    """A file of labels that cannot be used; the message says where, what and how to mend it."""


def subject(instances: Path, items: Sequence[Item], tested: Sequence[Item], labels: Path) -> Subject:
    """The instances with their labelled bugs; every one counts one second. `tested`: the compiler's own tests.

    Raises UnusableLabels and OSError.
    """
    document = _document(labels)
    bugs, refused = document, []
    if document.keys() == {"bugs", "refused"} and isinstance(document["bugs"], dict):
        bugs, refused = document["bugs"], document["refused"]
    at = {item.id: position for position, item in enumerate(items)}
    found = {bug: _positions(f"{labels}: bug {bug!r}", own, at) for bug, own in bugs.items()}
    if empty := [bug for bug, tests in found.items() if not tests] or ([] if found else [""]):
        raise UnusableLabels(f"{labels}: " + (f"bug {empty[0]!r} has no instances" if found else "holds no bugs"))
    kept = set(_positions(f"{labels}: refused", refused, at))
    return Subject(
        source=instances.name,
        target=labels.name,
        items=tuple(items),
        bugs=found,
        seconds=(1.0,) * len(items),
        refused=tuple(position in kept for position in range(len(items))),
        unknown=0,
        tested=tuple(tested),
    )


def _document(labels: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(labels.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UnusableLabels(f"{labels}: is no JSON ({error})") from error
    if not isinstance(document, dict):
        raise UnusableLabels(f"{labels}: must be an object, bug -> list of ids (docs/prioritisation.md)")
    return document


def _positions(where: str, ids: Any, at: Mapping[str | int, int]) -> tuple[int, ...]:
    if not isinstance(ids, list) or not all(isinstance(each, str | int) and not isinstance(each, bool) for each in ids):
        raise UnusableLabels(f"{where}: must be a list of ids, texts or whole numbers")
    if missing := [each for each in ids if each not in at]:
        raise UnusableLabels(f"{where}: {missing[0]!r} is the id of no instance {_like(missing[0], at)}".rstrip())
    return tuple(dict.fromkeys(at[each] for each in ids))


def _like(given: str | int, at: Collection[str | int]) -> str:
    """A hint where only the kind of the id is wrong."""
    other = next((known for known in at if str(known) == str(given)), None)
    return "" if other is None else f"(there is {other!r}: ids are compared as they are written)"
