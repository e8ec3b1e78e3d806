"""Wheels: whose word a build needs that may be of a pull request, and that its content is what was meant."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from fuzz.case import Revision
from fuzz.runner import Runner
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.revisions import approvals, listing
from triage.revisions.config import Compiler
from triage.revisions.environments import Environments, Untestable
from triage.revisions.recipe import CannotBuild

WORD = "needs a maintainer's word: `graphwarden revisions approve"


@pytest.fixture
def environments(tmp_path: Path) -> Iterator[Environments]:
    with Runner(jobs=1) as runner:
        yield Environments(runner, tmp_path / "root")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[str]:
    """The address of a folder `served`, as a CI serves what it has built."""
    (tmp_path / "served").mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path / "served"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as serving:
        threading.Thread(target=serving.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{serving.server_port}"
        serving.shutdown()


def serve(tmp_path: Path, commit: str, *faults: str) -> None:
    folder = tmp_path / "served" / commit
    folder.mkdir()
    tinyc.wheel(folder, "1.0", *faults)


def addressed(tmp_path: Path, server: str, more: str = "") -> Compiler:
    table = f'kind = "wheel"\nurl = "{server}/{{revision}}/tinyc-1.0-py3-none-any.whl"\n{more}'
    return support.configured(tmp_path, table)


def test_a_wheel_of_a_pull_requests_commit_needs_a_word_for_that_commit(
    environments: Environments, tmp_path: Path, server: str
) -> None:
    place = tmp_path / "repository"
    [own] = tinyc.repository(place, [tinyc.sources()])
    head, later = tinyc.branch(place, "fork", [{"a": "1"}, {"a": "2"}])
    for commit in (own, head, later):
        serve(tmp_path, commit)
    compiler = addressed(tmp_path, server, f'repository = "{place}"\nbranch = "main"')
    assert [revision.version for revision in listing.revisions(compiler)] == [own]
    assert environments.ensure(compiler, listing.find(compiler, "main")).python
    found = listing.find(compiler, head[:10])
    assert (found.version, found.commit, found.parent) == (head, head, own)
    with pytest.raises(Untestable, match=WORD):
        environments.ensure(compiler, found)
    approvals.give(environments.root, compiler, found)
    assert environments.ensure(compiler, found).python
    with pytest.raises(Untestable, match=WORD):
        environments.ensure(compiler, listing.find(compiler, later))


def test_an_address_without_a_repository_may_hold_anybodys_wheels(
    environments: Environments, tmp_path: Path, server: str
) -> None:
    commit = "ab" * 20
    serve(tmp_path, commit)
    compiler = addressed(tmp_path, server)
    with pytest.raises(Untestable, match=WORD):
        environments.ensure(compiler, listing.find(compiler, commit))
    own = addressed(tmp_path, server, "forks = false")
    assert environments.ensure(own, listing.find(own, commit)).python


def test_no_word_is_taken_for_what_may_be_another_wheel_tomorrow(
    environments: Environments, tmp_path: Path, server: str
) -> None:
    serve(tmp_path, "pull-7")
    compiler = addressed(tmp_path, server)
    found = listing.find(compiler, "pull-7")
    with pytest.raises(CannotBuild, match="name a full commit, or list the wheel with its sha256"):
        approvals.give(environments.root, compiler, found)
    with pytest.raises(Untestable, match="name a full commit"):
        environments.ensure(compiler, found)


def test_a_word_for_a_wheel_in_a_folder_is_for_its_content(environments: Environments, tmp_path: Path) -> None:
    tinyc.wheel(tmp_path, "1.0")
    compiler = support.configured(tmp_path, f'kind = "wheel"\nfolder = "{tmp_path}"\nforks = true')
    found = listing.find(compiler, "1.0")
    with pytest.raises(Untestable, match=WORD):
        environments.ensure(compiler, found)
    approvals.give(environments.root, compiler, found)
    first = environments.ensure(compiler, found)
    tinyc.wheel(tmp_path, "1.0", "sub swaps")  # pushed again
    with pytest.raises(Untestable, match=WORD):
        environments.ensure(compiler, found)
    approvals.give(environments.root, compiler, found)
    assert environments.ensure(compiler, found).python != first.python


def test_a_wheel_that_is_listed_with_its_hash_needs_no_further_word(environments: Environments, tmp_path: Path) -> None:
    wheel = tinyc.wheel(tmp_path, "1.0")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    table = f'kind = "wheel"\nforks = true\nwheels = [{{revision = "1.0", file = "{wheel}", sha256 = "{digest}"}}]'
    compiler = support.configured(tmp_path, table)
    assert environments.ensure(compiler, listing.find(compiler, "1.0")).python
    tinyc.wheel(tmp_path, "1.0", "sub swaps")
    with pytest.raises(Untestable, match="has the hash"):
        environments.ensure(compiler, listing.find(compiler, "1.0"), fresh=True)


def test_releases_need_no_word_and_none_can_be_given(environments: Environments, tmp_path: Path) -> None:
    compiler = support.configured(tmp_path, 'kind = "release"\npackage = "tinyc"')
    with pytest.raises(CannotBuild, match="come from no forks"):
        approvals.give(environments.root, compiler, Revision("1.0"))


def test_a_branch_that_is_not_there_is_told_of_the_revision(environments: Environments, tmp_path: Path) -> None:
    [commit] = tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    base = tinyc.wheel(tmp_path, "1.0")
    compiler = support.overlaid(tmp_path, tmp_path / "repository", base, 'branch = "nowhere"')
    with pytest.raises(Untestable, match="nowhere"):
        environments.ensure(compiler, listing.find(compiler, commit))
