"""A commit's Python sources laid over a prebuilt package: nothing is compiled, so a build takes seconds.

Settings: `repository`, `package` (a requirement: the prebuilt one), `paths` (a table: folder or file in the
repository = where it goes below site-packages), `branch`, `since`; `anchor`, the commit that the package was built
from, with `compiled` (folders of sources that would need compiling): a commit that differs from the anchor there
cannot be tested so, and is refused.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from fuzz.case import Revision
from triage.revisions import identity, kinds
from triage.revisions.config import Compiler
from triage.revisions.git import GitError, Repository
from triage.revisions.providers._commits import foreign, repository, resolve, revisions, word
from triage.revisions.recipe import CannotBuild, Recipe, Site

SETTINGS = {
    **dict.fromkeys(("repository", "package", "branch", "since", "anchor"), kinds.text),
    "paths": kinds.places,
    "compiled": kinds.texts,
}
NEEDED = ("repository", "package", "paths")
UNTRUSTED = True
__all__ = ["NEEDED", "SETTINGS", "UNTRUSTED", "foreign", "recipe", "resolve", "revisions", "word"]
_COMPILED = ("src", "include", "cmake", "CMakeLists.txt", "3rdparty")


def recipe(compiler: Compiler, revision: Revision) -> Recipe:
    """Commits with the same sources below the overlaid paths share one environment. Raises CannotBuild."""
    source, paths = repository(compiler), _paths(compiler)
    try:
        _check_compiled(compiler, source, revision)
        trees = [f"{target}={source.tree(revision.commit, path)}" for path, target in sorted(paths.items())]
    except GitError as error:
        raise CannotBuild(str(error)) from error
    missing = [path for path in paths if not source.tree(revision.commit, path)]
    if missing:
        raise CannotBuild(f"it has no {missing[0]}, which is to be laid over {compiler.text('package')}")
    packages = tuple(package for entry in compiler.requires for package in entry.packages)

    def finish(site: Site) -> None:
        try:
            for path, target in sorted(paths.items()):
                _lay(source, revision.commit, path, site, target)
        except GitError as error:
            raise CannotBuild(str(error)) from error
        except (IsADirectoryError, NotADirectoryError, FileExistsError) as error:
            place = Path(error.filename or "").name
            raise CannotBuild(f"{place} is a file in one and a folder in the other of it and the package") from error
        identity.laid(site, "\n".join(trees))

    return Recipe((compiler.text("package"), *packages), content=("overlay", *trees), finish=finish)


def _paths(compiler: Compiler) -> Mapping[str, str]:
    told = compiler.settings["paths"]
    if not isinstance(told, dict) or not told:
        raise CannotBuild('`paths` must be a table: "python/tvm" = "tvm"')
    outside = [target for target in told.values() if Path(str(target)).is_absolute() or ".." in Path(str(target)).parts]
    if outside:
        raise CannotBuild(f"`paths` leads out of site-packages: {outside[0]}")
    return {str(path): str(target) for path, target in told.items()}


def _check_compiled(compiler: Compiler, source: Repository, revision: Revision) -> None:
    anchor = compiler.text("anchor")
    if not anchor:
        return
    watched = compiler.texts("compiled") or _COMPILED
    changed = source.changed(anchor, revision.commit, *watched)
    if changed:
        more = f" and {len(changed) - 1} more" if len(changed) > 1 else ""
        raise CannotBuild(
            f"its compiled sources differ from those of {compiler.text('package')}: {changed[0]}{more}; "
            "it needs a build (provider `command`)"
        )


def _lay(source: Repository, commit: str, path: str, site: Site, target: str) -> None:
    """Replace what is at `target`. Files that only the package has stay: its libraries lie among the sources.

    Installed files may share their content with the installer's cache, so they are replaced, never written into.
    """
    scratch = site.folder / "checkout"
    source.export(commit, path, scratch)
    origin, goal = scratch / path, site.packages / target
    files = [found for found in origin.rglob("*") if not found.is_dir()] if origin.is_dir() else [origin]
    link = next((file for file in files if file.is_symlink()), None)
    if link is not None:
        raise CannotBuild(f"{link.relative_to(scratch)} is a link; files alone can be laid over a package")
    for stale in goal.rglob("*.py") if origin.is_dir() else []:
        stale.unlink()
    for file in files:
        place = goal / file.relative_to(origin) if origin.is_dir() else goal
        place.parent.mkdir(parents=True, exist_ok=True)
        place.unlink(missing_ok=True)
        shutil.move(file, place)
    shutil.rmtree(scratch)
