"""Virtual environments and packages in them, by `uv`: about 2 s each where pip takes 11."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

from uv import find_uv_bin

from triage.revisions import index, leftovers, waiting
from triage.revisions.recipe import CannotBuild, Site

SECONDS = 900.0


def create(site: Site, python: str) -> None:
    """A virtual environment made from `python`. Raises CannotBuild."""
    _run(site, ["venv", "--quiet", "--python", python, str(site.folder / "env")])


def install(site: Site, packages: Sequence[str], as_of: str = "") -> None:
    """Install requirements or wheel files; of wheels only, so that nothing of a package runs yet. Raises CannotBuild.

    With `as_of` (an ISO date) packages that appeared later are not taken.
    """
    dated = ["--exclude-newer", as_of] if as_of else []
    options = ["--quiet", "--no-build", "--no-config", "--python", str(site.python), *dated]
    _run(site, ["pip", "install", *options, "--", *packages])


def _run(site: Site, arguments: list[str]) -> None:
    with site.log.open("ab") as log:
        process = subprocess.Popen(
            [find_uv_bin(), *arguments],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env={**index.installer_environment(), **leftovers.mark(site.folder)},
        )
        try:
            waiting.wait(process, SECONDS, site.goes_on)
        except subprocess.TimeoutExpired as error:
            raise CannotBuild(f"installing did not end within {SECONDS:.0f} s", site.said, passing=True) from error
        finally:
            process.kill()  # nothing to one that has ended
            process.wait()
    if process.returncode:
        said = site.said.strip()
        raise CannotBuild(f"installing failed: {' '.join(said.split())[-600:]}", said, passing=True)
