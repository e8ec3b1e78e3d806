"""Wheels that a compiler's own CI has built: listed one by one, in a folder, or at an address made of the revision.

Settings: `wheels`, an array of tables {revision, file or url, sha256, date}; or `folder` with ``*.whl``; or `url`, an
address with ``{revision}`` in it.
"""

from __future__ import annotations

import hashlib
import shutil
import urllib.parse
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from packaging.utils import InvalidWheelFilename, parse_wheel_filename

from fuzz.case import Revision
from triage.revisions import index
from triage.revisions.config import Compiler
from triage.revisions.installing import install
from triage.revisions.recipe import CannotBuild, Recipe, Site

SETTINGS = ("wheels", "folder", "url")
NEEDED = ()
UNTRUSTED = True
_LARGEST = 4 << 30


@dataclass(frozen=True)
class Wheel:
    """One wheel: where it is, and the hash that it must have ("": whatever it has)."""

    revision: str
    place: str
    sha256: str = ""
    date: str = ""


def revisions(compiler: Compiler) -> tuple[Revision, ...]:
    """The wheels that are listed or lie in the folder, in the order of the list or of their versions."""
    names = [(wheel.revision, wheel.date) for wheel in _listed(compiler)]
    parents = ["", *(name for name, _ in names)]
    return tuple(Revision(name, date=date, parent=parent) for (name, date), parent in zip(names, parents, strict=False))


def resolve(compiler: Compiler, name: str) -> Revision | None:
    """A listed wheel, or any revision where an address can be made of it."""
    found = next((revision for revision in revisions(compiler) if revision.version == name), None)
    return found or (Revision(name) if compiler.text("url") else None)


def recipe(compiler: Compiler, revision: Revision) -> Recipe:
    """The wheel with what it depends on. A wheel without a hash is told apart by its place and, if a file, content."""
    wheel = next((found for found in _listed(compiler) if found.revision == revision.version), None)
    if wheel is None:
        address = compiler.text("url").replace("{revision}", urllib.parse.quote(revision.version, safe=""))
        wheel = Wheel(revision.version, address)
    content = wheel.sha256 or (wheel.place if _remote(wheel.place) else _hash(Path(wheel.place)))
    packages = tuple(package for entry in compiler.requires for package in entry.packages)
    return Recipe(packages, content=("wheel", content), finish=partial(_install, wheel))


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
        raise CannotBuild(f"there is no wheel {wheel.place}")
    if wheel.sha256 and _hash(file) != wheel.sha256.lower():
        raise CannotBuild(f"the wheel {wheel.place} has the hash {_hash(file)}, not {wheel.sha256}")
    install(site, [str(file)])
    shutil.rmtree(folder)


def _fetched(url: str, file: Path) -> None:
    try:
        index.fetch(url, file, _LARGEST)
    except index.IndexUnreachable as error:
        raise CannotBuild(str(error)) from error


def _hash(path: Path) -> str:
    if not path.is_file():
        return ""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
