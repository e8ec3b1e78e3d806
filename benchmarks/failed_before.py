"""Writes what failed on an earlier release into ``data/failed/`` (`fuzz.ranking.failed_before`).

    python -m benchmarks.failed_before BACKEND DB [DB ...]

The databases are of hunts on one older release of the backend (``--no-drafts`` is enough). Only failures that count as
a compiler's bug are kept: none that was flaky, and none that anybody took for no bug.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Iterable, Sequence

from fuzz.ranking import failed_before
from triage.lifecycle import NO_BUGS
from triage.store import Store, open_store
from triage.subjects import build


def collected(stores: Iterable[Store], backend: str) -> tuple[str, dict[str, list[str]]]:
    """The version that the stores' hunts were on, and the failing cases by their bugs."""
    versions: set[str] = set()
    bugs: dict[str, set[str]] = defaultdict(set)
    for store in stores:
        counted = {bug.fingerprint for bug in store.bugs() if bug.state not in NO_BUGS}
        for info in store.campaigns():
            for each in store.recorded(info.id):
                name, version = build(each.target_id)
                if name == backend and each.bug in counted:
                    versions.add(version)
                    bugs[each.bug].add(each.case_id)
    if len(versions) != 1:
        raise SystemExit(f"wanted: hunts on one release of {backend}; found: {', '.join(sorted(versions)) or 'none'}")
    return versions.pop(), {bug: sorted(cases) for bug, cases in sorted(bugs.items())}


def main(arguments: Sequence[str] | None = None) -> None:
    """Write the file of one backend, and tell how much it holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("backend")
    parser.add_argument("db", nargs="+")
    asked = parser.parse_args(arguments)
    version, bugs = collected([open_store(name, create=False) for name in asked.db], asked.backend)
    lines = [f"  {json.dumps(bug)}: {json.dumps(cases)}" for bug, cases in bugs.items()]
    head = f'"backend": {json.dumps(asked.backend)}, "version": {json.dumps(version)}, "bugs": {{'
    path = failed_before.place(asked.backend)
    path.write_text("{" + head + "\n" + ",\n".join(lines) + "\n}}\n", encoding="utf-8")
    print(f"{path.name}: {len(bugs)} bugs of {asked.backend} {version}, {sum(map(len, bugs.values()))} cases")


if __name__ == "__main__":
    main()
