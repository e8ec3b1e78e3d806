"""Builds from the package index: every release that has a wheel for the configured interpreter.

Settings: `package`; `oldest` (a version), `prereleases` (true), `settle_days` (how long after a release packages that
it depends on are still taken: its own fixes often come as releases of theirs).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta

from packaging.utils import InvalidWheelFilename, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from fuzz.case import Revision
from triage.revisions import index, kinds
from triage.revisions.config import Compiler
from triage.revisions.recipe import Recipe

SETTINGS = {
    "package": kinds.text,
    "oldest": kinds.version,
    "prereleases": kinds.flag,
    "settle_days": kinds.whole,
}
NEEDED = ("package",)
UNTRUSTED = False
_SETTLE_DAYS = 14


def revisions(compiler: Compiler) -> tuple[Revision, ...]:
    """Every release with a wheel for the interpreter, oldest first. Raises index.IndexUnreachable."""
    dates: dict[Version, str] = {}
    for version, date in _wheels(compiler):
        dates[version] = min(date, dates.get(version, date))
    oldest = Version(compiler.text("oldest", "0"))
    ordered = sorted(version for version in dates if version >= oldest)
    names = [str(version) for version in ordered]
    return tuple(
        Revision(name, date=dates[version], parent=parent)
        for name, version, parent in zip(names, ordered, ["", *names], strict=False)
    )


def resolve(compiler: Compiler, name: str) -> Revision | None:
    """A release by its number, however it is written: 2023.1 is 2023.1.0."""
    try:
        wanted = Version(name)
    except InvalidVersion:
        return None
    return next((found for found in revisions(compiler) if Version(found.version) == wanted), None)


def recipe(compiler: Compiler, revision: Revision) -> Recipe:
    """The release with what it depends on, as of its day; `requires` of the configuration beside it."""
    wanted = (f"{compiler.text('package')}=={revision.version}", *beside(compiler, revision.version))
    return Recipe(wanted, as_of=_settled(compiler, revision.date))


def beside(compiler: Compiler, version: str) -> tuple[str, ...]:
    """The packages that the configuration wants beside this version of the compiler."""
    return tuple(
        package for entry in compiler.requires if entry.versions.contains(version) for package in entry.packages
    )


def _settled(compiler: Compiler, date: str) -> str:
    if not date:
        return ""
    days = int(compiler.text("settle_days", str(_SETTLE_DAYS)))
    return (datetime.fromisoformat(date) + timedelta(days=days)).date().isoformat()


def _wheels(compiler: Compiler) -> Iterator[tuple[Version, str]]:
    """(version, ISO date or "") of each wheel that fits and was not withdrawn."""
    fitting = index.tags(compiler.python)
    for file in index.files(compiler.text("package")):
        try:
            _, version, _, tags = parse_wheel_filename(file.name)
        except (InvalidWheelFilename, InvalidVersion):
            continue
        wanted = not version.is_prerelease or bool(compiler.settings.get("prereleases", False))
        if wanted and not file.withdrawn and not tags.isdisjoint(fitting):
            yield version, file.date
