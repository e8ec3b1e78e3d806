"""Overlay: the Python sources of a commit over a prebuilt package."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.runner import Runner
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.revisions import approvals, listing
from triage.revisions.environments import Environments, Untestable


@pytest.fixture
def environments(tmp_path: Path) -> Iterator[Environments]:
    with Runner(jobs=1) as runner:
        yield Environments(runner, tmp_path / "root")


def test_a_commits_sources_take_the_place_of_the_packages_and_equal_ones_share_an_environment(
    environments: Environments, tmp_path: Path
) -> None:
    good, swapped = tinyc.sources(), tinyc.sources("sub swaps")
    commits = tinyc.repository(tmp_path / "repository", [good, swapped, {"README": "no source"}])
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
    first, second, third = (environments.ensure(compiler, listing.find(compiler, commit)) for commit in commits)
    assert "return y - x" not in _frontend(first.python)
    assert "return y - x" in _frontend(second.python)
    assert second.python == third.python
    assert environments.identity(compiler, second) == environments.identity(compiler, third)
    assert environments.identity(compiler, first) != environments.identity(compiler, second)


def test_what_a_commit_says_elsewhere_does_not_change_what_equal_sources_give(
    environments: Environments, tmp_path: Path
) -> None:
    """Else a pull request could spoil the environment that it shares with its base."""
    sources = tinyc.sources()
    hiding = {**sources, ".gitattributes": "tinyc/frontend.py export-ignore\n"}
    hidden, plain = tinyc.repository(tmp_path / "repository", [hiding, {".gitattributes": ""}])
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
    for commit in (hidden, plain):
        ready = environments.ensure(compiler, listing.find(compiler, commit))
        assert _frontend(ready.python) == sources["tinyc/frontend.py"]


def test_one_file_may_be_laid_over_the_package(environments: Environments, tmp_path: Path) -> None:
    hiding = {"src/new name.py": tinyc.sources("sub swaps")["tinyc/frontend.py"], ".gitattributes": "* export-ignore\n"}
    [commit] = tinyc.repository(tmp_path / "repository", [hiding])
    base = tinyc.wheel(tmp_path, "1.0").as_uri()
    table = f'kind = "overlay"\nrepository = "{tmp_path}/repository"\npackage = "tinyc @ {base}"\n'
    paths = '[provider.paths]\n"src/new name.py" = "tinyc/frontend.py"'
    compiler = support.configured(tmp_path, table + paths)
    ready = environments.ensure(compiler, listing.find(compiler, commit))
    assert "return y - x" in _frontend(ready.python) and _place(ready.python).joinpath("__init__.py").exists()


@pytest.mark.parametrize("kind", ["file", "folder", "link"])
def test_what_cannot_be_laid_over_the_package_is_told_as_its_environment(
    environments: Environments, tmp_path: Path, kind: str
) -> None:
    repository = tmp_path / "repository"
    tinyc.repository(repository, [{"README": "nothing"}])
    if kind == "file":
        (repository / "tinyc").write_text("no folder")
    elif kind == "folder":
        (repository / "tinyc" / "frontend.py").mkdir(parents=True)
        (repository / "tinyc" / "frontend.py" / "x.so").write_text("no file")
    else:
        (repository / "tinyc").symlink_to("/etc/passwd")
    [commit] = tinyc.repository(repository, [{}])
    table = f'kind = "overlay"\nrepository = "{repository}"\n'
    package = tinyc.wheel(tmp_path, "1.0").as_uri()
    over = "tinyc" if kind != "folder" else "tinyc/__init__.py"
    paths = f'package = "tinyc @ {package}"\n[provider.paths]\n"tinyc" = "{over}"'
    compiler = support.configured(tmp_path, table + paths)
    with pytest.raises(
        Untestable, match="is a link" if kind == "link" else "is a file in one and a folder in the other"
    ):
        environments.ensure(compiler, listing.find(compiler, commit))


def test_a_file_that_the_commit_has_not_does_not_stay_from_the_package(
    environments: Environments, tmp_path: Path
) -> None:
    package = tinyc.wheel(tmp_path, "1.0")
    alone = {"tinyc/__init__.py": tinyc.sources()["tinyc/frontend.py"]}
    [commit] = tinyc.repository(tmp_path / "repository", [alone])
    compiler = support.overlaid(tmp_path, tmp_path / "repository", package)
    ready = environments.ensure(compiler, listing.find(compiler, commit))
    assert not _place(ready.python).joinpath("frontend.py").exists()


def test_the_installers_cache_is_not_written_into(environments: Environments, tmp_path: Path) -> None:
    [swapped] = tinyc.repository(tmp_path / "repository", [tinyc.sources("sub swaps")])
    wheel = tinyc.wheel(tmp_path, "1.0")
    compiler = support.overlaid(tmp_path, tmp_path / "repository", wheel)
    environments.ensure(compiler, listing.find(compiler, swapped))
    plain = support.wheels(tmp_path)
    ready = environments.ensure(plain, listing.find(plain, "1.0"))
    assert "return y - x" not in _frontend(ready.python)


def test_a_commit_whose_compiled_sources_differ_from_the_packages_is_refused(
    environments: Environments, tmp_path: Path
) -> None:
    commits = tinyc.repository(tmp_path / "repository", [tinyc.sources(), {"src/kernel.cc": "int x;"}])
    more = f'anchor = "{commits[0]}"'
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"), more)
    assert environments.ensure(compiler, listing.find(compiler, commits[0])).python
    with pytest.raises(Untestable, match=r"src/kernel\.cc; it needs a build"):
        environments.ensure(compiler, listing.find(compiler, commits[1]))


def test_a_path_that_leads_out_of_the_environment_is_refused(environments: Environments, tmp_path: Path) -> None:
    commits = tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    wheel = tinyc.wheel(tmp_path, "1.0")
    table = f'kind = "overlay"\nrepository = "{tmp_path}/repository"\npackage = "tinyc @ {wheel.as_uri()}"\n'
    compiler = support.configured(tmp_path, table + '[provider.paths]\n"tinyc" = "../../../../tinyc"')
    with pytest.raises(Untestable, match="leads out of site-packages"):
        environments.ensure(compiler, listing.find(compiler, commits[0]))


def test_a_link_in_the_checkout_that_leads_out_is_refused(environments: Environments, tmp_path: Path) -> None:
    tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    (tmp_path / "repository" / "tinyc" / "secret.py").symlink_to("/etc/passwd")
    [commit, *_] = reversed(tinyc.repository(tmp_path / "repository", [{}]))
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
    with pytest.raises(Untestable, match="cannot be read"):
        environments.ensure(compiler, listing.find(compiler, commit))


def test_a_link_within_the_checkout_is_told_as_what_it_is(environments: Environments, tmp_path: Path) -> None:
    tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    (tmp_path / "repository" / "tinyc" / "linked.py").symlink_to("frontend.py")
    [commit, *_] = reversed(tinyc.repository(tmp_path / "repository", [{}]))
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
    with pytest.raises(Untestable, match=r"tinyc/linked\.py is a link"):
        environments.ensure(compiler, listing.find(compiler, commit))


def test_a_commit_on_no_branch_needs_a_word_for_itself(environments: Environments, tmp_path: Path) -> None:
    place = tmp_path / "repository"
    tinyc.repository(place, [tinyc.sources()])
    head, later = tinyc.branch(place, "fork", [tinyc.sources("sub swaps"), tinyc.sources("neg raises")])
    compiler = support.overlaid(tmp_path, place, tinyc.wheel(tmp_path, "1.0"))
    with pytest.raises(Untestable, match="needs a maintainer's word: `graphwarden revisions approve"):
        environments.ensure(compiler, listing.find(compiler, head))
    approvals.give(environments.root, compiler, listing.find(compiler, head))
    assert environments.ensure(compiler, listing.find(compiler, head)).python
    with pytest.raises(Untestable, match="maintainer's word"):
        environments.ensure(compiler, listing.find(compiler, later))


def test_revisions_are_the_branchs_commits_and_a_commit_is_found_by_its_beginning(tmp_path: Path) -> None:
    commits = tinyc.repository(tmp_path / "repository", [tinyc.sources(), {"a": "1"}, {"a": "2"}])
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
    found = listing.revisions(compiler)
    assert [revision.version for revision in found] == commits
    assert [revision.parent for revision in found] == ["", *commits[:-1]]
    assert listing.find(compiler, commits[1][:10]).version == commits[1]
    assert listing.find(compiler, "main").version == commits[2]
    with pytest.raises(listing.UnknownRevision):
        listing.find(compiler, "--output=/tmp/x")


def _place(python: str) -> Path:
    [found] = Path(python).parent.parent.glob("lib/python3*/site-packages/tinyc")
    return found


def _frontend(python: str) -> str:
    return (_place(python) / "frontend.py").read_text()
