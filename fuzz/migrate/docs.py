"""Inputs made from the library's documentation: within what it says, and against one thing that it says (DocTer)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._conforming import conforming, violating
from fuzz.migrate._docstrings import Documented, read
from fuzz.migrate._torch_parent import in_order, listed

ABOUT = "calls made from the constraints in PyTorch's docstrings and signatures, conforming and violating"
CHILD = "fuzz.migrate._calls_child"
#: Calls proposed for an operator; what PyTorch refuses is left out, so more are proposed than kept.
PROPOSED = 60
#: Calls kept for an operator, by kind. What documentation forbids and PyTorch takes is rarer and tells more.
KEPT = {"docs-conforming": 16, "docs-violating": 8}


def migrate(request: Request) -> Iterator[Stored | Omitted]:
    """Calls of every documented operator, checked by PyTorch; the same for any number of jobs.

    Raises MigrationFailed where PyTorch cannot be imported.
    """
    tasks = []
    for api, told in listed(CHILD).items():
        if not request.wants(api):
            continue
        function = read(api, told["doc"], told["signature"], told["kinds"])
        if function is None:
            yield Omitted("its documentation names no parameters", api)
        else:
            tasks.append(_task(function))
    if not tasks:
        raise MigrationFailed(f"no operator of PyTorch matches {', '.join(request.operators)} (for example '*conv2d*')")
    yield from in_order(CHILD, tasks, request)


def _task(function: Documented) -> dict[str, Any]:
    good = [("docs-conforming", proposal) for proposal in conforming(function, PROPOSED, seed=0)]
    bad = [("docs-violating", proposal) for proposal in violating(function, seed=0)]
    calls = [{"kind": kind, "what": one.what, "document": one.document} for kind, one in good + bad]
    return {"name": function.api, "calls": calls, "most": KEPT}
