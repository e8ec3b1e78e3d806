"""Wheels that a compiler's own CI has built: listed one by one, in a folder, or at an address made of the revision.

Settings: `wheels`, an array of tables {revision, file or url, sha256, date}; or `folder` with ``*.whl``; or `url`, an
address with ``{revision}`` in it. `repository` and `branch` tell whose commits these are, where revisions of `url` are
commits. `forks` says whether wheels of pull requests are among them: so it is taken to be of `url`, and not of wheels
that somebody has listed or put into the folder.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import urllib.parse
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from fuzz.case import Revision
from triage.revisions import index, kinds
from triage.revisions.config import Compiler
from triage.revisions.installing import install
from triage.revisions.providers import _commits
from triage.revisions.recipe import CannotBuild, Recipe, Site

SETTINGS = {
    **dict.fromkeys(("folder", "url", "repository", "branch", "since"), kinds.text),
    "wheels": kinds.wheels,
    "forks": kinds.flag,
}
NEEDED = ()
UNTRUSTED = True
_LARGEST = 4 << 30
_COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


@dataclass(frozen=True)
class Wheel:
    """One wheel: where it is, and the hash that it must have ("": whatever it has)."""

    revision: str
    place: str
    sha256: str = ""
    date: str = ""


def revisions(compiler: Compiler) -> tuple[Revision, ...]:
    """The wheels that are listed or lie in the folder, in the order of the list or of their versions.

    Of an address: the commits of the repository's branch, where one is configured. Raises git.GitError.
    """
    if compiler.text("url") and compiler.text("repository"):
        return _commits.revisions(compiler)
    names = [(wheel.revision, wheel.date) for wheel in _listed(compiler)]
    parents = ["", *(name for name, _ in names)]
    return tuple(Revision(name, date=date, parent=parent) for (name, date), parent in zip(names, parents, strict=False))


def resolve(compiler: Compiler, name: str) -> Revision | None:
    """A listed wheel, or any revision where an address can be made of it: of a repository's commits, if it has one."""
    if not compiler.text("url"):
        return next((revision for revision in revisions(compiler) if revision.version == name), None)
    return _commits.resolve(compiler, name) if compiler.text("repository") else Revision(name)


def recipe(compiler: Compiler, revision: Revision) -> Recipe:
    """The wheel with what it depends on. A wheel without a hash is told apart by its place."""
    wheel = _wheel(compiler, revision)
    packages = tuple(package for entry in compiler.requires for package in entry.packages)
    return Recipe(packages, content=("wheel", wheel.sha256 or wheel.place), finish=partial(_install, wheel))


def foreign(compiler: Compiler, revision: Revision) -> bool:
    """Whether a wheel may be of a pull request. Raises git.GitError."""
    if not compiler.settings.get("forks", bool(compiler.text("url"))):
        return False
    if any(wheel.revision == revision.version and wheel.sha256 for wheel in _listed(compiler)):
        return False  # whoever listed it has named its very content
    return not revision.commit or _commits.foreign(compiler, revision)


def word(compiler: Compiler, revision: Revision) -> str:
    """What a maintainer's word is given for: the commit that an address names, or a wheel's content.

    Raises CannotBuild where another wheel may lie at the same address tomorrow.
    """
    wheel = _wheel(compiler, revision)
    if wheel.sha256:
        return wheel.sha256
    if _COMMIT.fullmatch(revision.version):
        return revision.version
    raise CannotBuild(
        f"no word can be given for {wheel.place}, which may be another wheel tomorrow: "
        "name a full commit, or list the wheel with its sha256 (`wheels`)"
    )


def _wheel(compiler: Compiler, revision: Revision) -> Wheel:
    """The wheel of a revision; one that is a file here has the hash of its content."""
    wheel = next((found for found in _listed(compiler) if found.revision == revision.version), None)
    if wheel is None:
        address = compiler.text("url").replace("{revision}", urllib.parse.quote(revision.version, safe=""))
        wheel = Wheel(revision.version, address)
    return wheel if wheel.sha256 or _remote(wheel.place) else replace(wheel, sha256=_hash(Path(wheel.place)))


def _listed(compiler: Compiler) -> list[Wheel]:
    told = compiler.settings.get("wheels", [])
    if not isinstance(told, list):
        raise CannotBuild("`wheels` must be an array of tables {revision, file or url, sha256, date}")
    found = []
    for entry in told:
        place = str(entry.get("url") or (compiler.source.parent / str(entry.get("file", ""))).resolve())
        found.append(Wheel(str(entry["revision"]), place, str(entry.get("sha256", "")), str(entry.get("date", ""))))
    return found or (_in_folder(compiler.path("folder")) if compiler.text("folder") else [])


def _in_folder(folder: Path) -> list[Wheel]:
    versions = {}
    for path in folder.glob("*.whl"):
        try:
            versions[path] = parse_wheel_filename(path.name)[1]
        except InvalidWheelFilename:
            continue
    return [Wheel(str(versions[path]), str(path)) for path in sorted(versions, key=lambda path: versions[path])]


def _remote(place: str) -> bool:
    return place.startswith(("https://", "http://"))


def _install(wheel: Wheel, site: Site) -> None:
    """Fetch, check and install one wheel. Raises CannotBuild."""
    folder = site.folder / "wheel"
    folder.mkdir(exist_ok=True)
    file = folder / Path(urllib.parse.urlparse(wheel.place).path).name
    if _remote(wheel.place):
        _fetched(wheel.place, file)
    elif Path(wheel.place).is_file():
        shutil.copyfile(wheel.place, file)
    else:
        raise CannotBuild(f"there is no wheel {wheel.place}", missing=True)
    if wheel.sha256 and _hash(file) != wheel.sha256.lower():
        raise CannotBuild(f"the wheel {wheel.place} has the hash {_hash(file)}, not {wheel.sha256}")
    install(site, [str(file)])
    shutil.rmtree(folder)


def _fetched(url: str, file: Path) -> None:
    try:
        index.fetch(url, file, _LARGEST)
    except index.IndexUnreachable as error:
        raise CannotBuild(str(error), missing=True) from error


def _hash(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
