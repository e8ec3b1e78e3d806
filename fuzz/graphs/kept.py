"""The form of what a search keeps from campaign to campaign, as JSON. It is checked before anything is taken from it.

A file may be damaged, or written by hand; a wrong type in it would show only in the middle of a campaign.
"""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

from pydantic import BaseModel, Field, TypeAdapter, ValidationError

#: No campaign counts further. Squares of larger numbers would not be finite.
_MOST = 10**12
_Count = Annotated[int, Field(ge=0, le=_MOST)]
_Amount = Annotated[float, Field(ge=0, le=_MOST)]
_Real = Annotated[float, Field(ge=-_MOST, le=_MOST)]


class KeptNode(NamedTuple):
    """A node of the tree with all below it."""

    block: str
    value: _Real
    visits: _Count
    done: bool
    children: list[KeptNode]


class KeptTree(BaseModel):
    """The tree, and of the rewards: their number, their sum, and the sum of their squares."""

    rewards: tuple[_Count, _Real, _Amount]
    root: KeptNode


class KeptExperience(BaseModel):
    """By operator: results, refusals, and kinds of failures; and of each kind seen once its suspects."""

    results: dict[str, _Count]
    refused: dict[str, _Count]
    kinds: dict[str, _Amount]
    once: dict[str, Annotated[list[str], Field(min_length=1)]]


class KeptChooser(BaseModel):
    """What `fuzz.graphs.choosers.TreeChooser` knows; `tried` are operator, degree or reader, and count.

    `pairwise` are by operator the hashes of values and pairs, with what results say against them (negative: for them);
    files of searches before it have none.
    """

    tree: KeptTree
    experience: KeptExperience
    tried: list[tuple[str, str | int, _Count]]
    made: _Count
    usual: _Amount
    pairwise: dict[str, dict[int, Annotated[int, Field(ge=-_MOST, le=_MOST)]]] = {}


#: Of an operator: in-degrees, out-degrees, readers, settings, and the share of the last nodes with new settings.
KeptOperator = tuple[list[int], list[int], list[str], list[int], Annotated[float, Field(ge=0, le=1)]]

_COVERAGE = TypeAdapter(dict[str, KeptOperator])


def chooser(state: Any) -> KeptChooser:
    """The state of a chooser. Raises ValueError for anything else: what is wrong, in one line."""
    try:
        return KeptChooser.model_validate(state)
    except ValidationError as error:
        raise ValueError(_first(error, "chooser")) from error


def coverage(state: Any) -> dict[str, KeptOperator]:
    """The state of an operator-level coverage. Raises ValueError for anything else: what is wrong, in one line."""
    try:
        return _COVERAGE.validate_python(state)
    except ValidationError as error:
        raise ValueError(_first(error, "coverage")) from error


def _first(error: ValidationError, name: str) -> str:
    found = error.errors(include_url=False)[0]
    return f"{'.'.join(map(str, (name, *found['loc'])))}: {found['msg']}"
