"""PyTorch's own tests: the sample inputs of its operator and module databases, run under the recorder."""

from __future__ import annotations

from collections.abc import Iterator

from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request
from fuzz.migrate._torch_parent import in_order, listed

ABOUT = "the sample inputs of PyTorch's operator database (op_db) and module database (module_db)"
CHILD = "fuzz.migrate._torch_child"


def migrate(request: Request) -> Iterator[Stored | Omitted]:
    """Every call of an operator in the databases' samples, checked; the same for any number of jobs.

    Raises MigrationFailed where PyTorch or its test databases cannot be imported.
    """
    tasks = [
        {"database": database, "test": at, "name": name}
        for database, names in listed(CHILD).items()
        for at, name in enumerate(names)
        if request.wants(name)
    ]
    if not tasks:
        raise MigrationFailed(f"no test of PyTorch matches {', '.join(request.operators)} (for example '*conv2d*')")
    yield from in_order(CHILD, tasks, request)
