"""Environments: built once, never believed when they compute garbage, whole after a kill."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz.runner import Runner
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.revisions import listing
from triage.revisions.environments import Environments, Untestable
from triage.store import StoreError


@pytest.fixture
def environments(tmp_path: Path) -> Iterator[Environments]:
    with Runner(jobs=1) as runner:
        yield Environments(runner, tmp_path / "root")


def test_a_revision_gets_an_interpreter_of_its_own_that_has_the_compiler_and_ours_stays_without(
    environments: Environments, tmp_path: Path
) -> None:
    tinyc.wheel(tmp_path, "1.0")
    compiler = support.wheels(tmp_path)
    ready = environments.ensure(compiler, listing.find(compiler, "1.0"))
    told = subprocess.run([ready.python, "-c", "import tinyc; print(tinyc.__file__)"], capture_output=True, text=True)
    assert told.stdout.startswith(str(tmp_path / "root"))
    with pytest.raises(ModuleNotFoundError):
        __import__("tinyc")


def test_an_environment_is_built_once(environments: Environments, tmp_path: Path) -> None:
    tinyc.wheel(tmp_path, "1.0")
    compiler = support.wheels(tmp_path)
    first = environments.ensure(compiler, listing.find(compiler, "1.0"))
    stamp = Path(first.python).lstat().st_ctime_ns
    with Runner(jobs=1) as runner:
        again = Environments(runner, tmp_path / "root").ensure(compiler, listing.find(compiler, "1.0"))
    assert Path(again.python).lstat().st_ctime_ns == stamp


def test_another_wheel_of_the_same_name_is_another_environment(environments: Environments, tmp_path: Path) -> None:
    tinyc.wheel(tmp_path, "1.0")
    compiler = support.wheels(tmp_path)
    first = environments.ensure(compiler, listing.find(compiler, "1.0"))
    tinyc.wheel(tmp_path, "1.0", "sub swaps")
    assert environments.ensure(compiler, listing.find(compiler, "1.0")).python != first.python


def test_the_same_files_under_two_version_numbers_are_the_same_build(
    environments: Environments, tmp_path: Path
) -> None:
    for version, note in (("1.0", ""), ("1.1", ""), ("1.2", "a comment")):
        tinyc.wheel(tmp_path, version, note=note)
    compiler = support.wheels(tmp_path)
    ready = [environments.ensure(compiler, found) for found in listing.revisions(compiler)]
    first, second, third = (environments.identity(compiler, revision) for revision in ready)
    assert first == second != third


def test_files_that_a_wheel_lists_without_a_hash_are_told_apart_by_their_content(
    environments: Environments, tmp_path: Path
) -> None:
    for version, faults in (("1.0", ()), ("1.1", ()), ("1.2", ("sub swaps",))):
        without_hashes(tinyc.wheel(tmp_path, version, *faults))
    compiler = support.wheels(tmp_path)
    ready = [environments.ensure(compiler, found) for found in listing.revisions(compiler)]
    first, second, third = (environments.identity(compiler, revision) for revision in ready)
    assert first == second != third


def without_hashes(wheel: Path) -> None:
    """Leave the hashes out of a wheel's list of its files."""
    with zipfile.ZipFile(wheel) as archive:
        files = {name: archive.read(name).decode() for name in archive.namelist()}
    with zipfile.ZipFile(wheel, "w") as archive:
        for name, text in files.items():
            record = name.endswith("/RECORD")
            told = "".join(f"{line.split(',')[0]},,\n" for line in text.splitlines()) if record else text
            archive.writestr(name, told)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("garbage", "computes garbage"),
        ("no import", "cannot be imported: ModuleNotFoundError: No module named 'nothing_of_that_name'"),
    ],
)
def test_a_build_that_imports_but_computes_garbage_or_does_not_import_is_told_as_environment(
    environments: Environments, tmp_path: Path, fault: str, told: str
) -> None:
    tinyc.wheel(tmp_path, "1.0", fault)
    compiler = support.wheels(tmp_path)
    for _ in range(2):  # the second time it is remembered
        with pytest.raises(Untestable, match="cannot be tested") as refusal:
            environments.ensure(compiler, listing.find(compiler, "1.0"))
        assert told in refusal.value.reason


def test_a_problem_that_may_pass_is_looked_at_again(environments: Environments, tmp_path: Path) -> None:
    switch = tmp_path / "busy"
    switch.touch()
    files = tinyc.sources()
    files["tinyc/__init__.py"] = (
        f"import os\nif os.path.exists({str(switch)!r}): raise ImportError('busy')\n" + files["tinyc/__init__.py"]
    )
    [commit] = tinyc.repository(tmp_path / "repository", [files])
    compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
    trusted = dataclasses.replace(compiler, untrusted=False)  # else it would not see the file
    with pytest.raises(Untestable, match="busy") as problem:
        environments.ensure(trusted, listing.find(trusted, commit))
    assert not problem.value.passing  # its own exception: waiting will not mend it
    switch.unlink()
    assert environments.ensure(trusted, listing.find(trusted, commit)).python


@contextlib.contextmanager
def waiting_process() -> Iterator[subprocess.Popen[bytes]]:
    """A process that does nothing until it is ended."""
    with subprocess.Popen(["sleep", "3600"]) as process:
        try:
            yield process
        finally:
            process.kill()


def test_a_revision_that_names_a_foreign_process_as_its_own_does_not_have_it_killed(
    environments: Environments, tmp_path: Path
) -> None:
    with waiting_process() as victim:
        files = tinyc.sources()
        files["tinyc/__init__.py"] = f"""
import json, os, socket, sys
control = socket.socket(fileno=int(sys.argv[1]))
held = [control]
control.send(json.dumps({{"ready": True}}).encode())
while True:
    data, ancillary, _, _ = control.recvmsg(65536, 1024)
    if not data:
        os._exit(0)
    if json.loads(data)["op"] == "clone":
        control = socket.socket(fileno=int.from_bytes(ancillary[0][2][:4], "little"))
        held.append(control)
    else:
        control.send(json.dumps({{"pid": {victim.pid}}}).encode())
"""
        [commit] = tinyc.repository(tmp_path / "repository", [files])
        compiler = support.overlaid(tmp_path, tmp_path / "repository", tinyc.wheel(tmp_path, "1.0"))
        with pytest.raises(Untestable, match="dies again and again"):
            environments.ensure(compiler, listing.find(compiler, commit))
        assert victim.poll() is None


def test_one_wrong_operator_is_no_broken_environment(environments: Environments, tmp_path: Path) -> None:
    files = tinyc.sources()
    assert "return np.maximum(x, 0)" in files["tinyc/frontend.py"]
    tinyc.wheel(tmp_path, "1.0", "sub swaps", "neg raises")
    compiler = support.wheels(tmp_path)
    assert environments.ensure(compiler, listing.find(compiler, "1.0")).python


def test_a_package_that_cannot_be_installed_is_told_and_tried_again_next_time(
    environments: Environments, tmp_path: Path
) -> None:
    compiler = support.configured(
        tmp_path,
        f'kind = "wheel"\nwheels = [{{revision = "1.0", file = "{tmp_path}/tinyc-1.0-py3-none-any.whl"}}]',
    )
    with pytest.raises(Untestable, match="there is no wheel"):
        environments.ensure(compiler, listing.find(compiler, "1.0"))
    tinyc.wheel(tmp_path, "1.0")
    assert environments.ensure(compiler, listing.find(compiler, "1.0")).python


def test_a_wheel_with_another_hash_than_configured_is_refused(environments: Environments, tmp_path: Path) -> None:
    wheel = tinyc.wheel(tmp_path, "1.0")
    table = f'kind = "wheel"\nwheels = [{{revision = "1.0", file = "{wheel}", sha256 = "{"0" * 64}"}}]'
    compiler = support.configured(tmp_path, table)
    with pytest.raises(Untestable, match="has the hash"):
        environments.ensure(compiler, listing.find(compiler, "1.0"))


def test_a_build_that_was_killed_in_the_middle_is_built_anew(environments: Environments, tmp_path: Path) -> None:
    repository = tmp_path / "repository"
    commits = tinyc.repository(repository, [tinyc.sources()])
    marker = tmp_path / "root"
    compiler = support.built(tmp_path, repository, ["sh", "-c", "cp -r tinyc {output}; test -e again || sleep 3600"])
    script = (
        "import sys\nfrom pathlib import Path\nfrom fuzz.runner import Runner\n"
        "from triage.revisions import config, listing\nfrom triage.revisions.environments import Environments\n"
        "compiler = config.load(sys.argv[1])\n"
        "with Runner(jobs=1) as runner:\n"
        "    Environments(runner, Path(sys.argv[2])).ensure(compiler, listing.find(compiler, sys.argv[3]))\n"
    )
    victim = subprocess.Popen([sys.executable, "-c", script, str(compiler.source), str(marker), commits[0]])
    try:
        output = _await(lambda: list(marker.glob("tinyc-*/output/tinyc/frontend.py")))
        assert output
    finally:
        os.kill(victim.pid, signal.SIGKILL)
        victim.wait()
    assert not list(marker.glob("tinyc-*/ready.json"))
    quick = support.built(tmp_path, repository, ["sh", "-c", "cp -r tinyc {output}"])
    assert environments.ensure(quick, listing.find(quick, commits[0])).python


def test_the_least_recently_used_environments_go_when_there_is_no_room(
    environments: Environments, tmp_path: Path
) -> None:
    for version in ("1.0", "1.1"):
        tinyc.wheel(tmp_path, version, note=version)
    compiler = support.wheels(tmp_path)
    for revision in listing.revisions(compiler):
        environments.ensure(compiler, revision)
    held = environments.installed(compiler)
    long_ago = time.time() - 100_000
    os.utime(held["1.0"].folder / "used", (long_ago, long_ago))
    removed = environments.collect(0.0)
    assert [environment.ready.revision for environment in removed] == ["1.0"]
    assert sorted(environments.installed(compiler)) == ["1.1"]
    assert not held["1.0"].folder.exists()


def test_what_another_version_of_the_program_left_is_built_anew(environments: Environments, tmp_path: Path) -> None:
    tinyc.wheel(tmp_path, "1.0")
    compiler = support.wheels(tmp_path)
    environments.ensure(compiler, listing.find(compiler, "1.0"))
    [environment] = environments.installed(compiler).values()
    (environment.folder / "ready.json").write_text(json.dumps({"something": "else"}))
    assert environments.ensure(compiler, listing.find(compiler, "1.0")).python
    assert sorted(environments.installed(compiler)) == ["1.0"]


def _await(found: object, seconds: float = 900.0) -> object:
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        result = found()  # type: ignore[operator]
        if result:
            return result
        time.sleep(0.05)
    return None


def troubled(times: int) -> Iterator[None]:
    """A database that cannot be used, as often in a row, and then can."""
    for _ in range(times):
        yield None


@pytest.mark.parametrize(("times", "built"), [(3, True), (99, False)])
def test_a_passing_trouble_of_the_database_does_not_throw_away_half_a_build(
    tmp_path: Path, times: int, built: bool
) -> None:
    left = troubled(times)

    def look() -> None:
        for _ in left:
            raise StoreError("bot.db: database is locked")

    tinyc.wheel(tmp_path, "1.0")
    compiler = support.wheels(tmp_path)
    with Runner(jobs=1) as runner:
        environments = Environments(runner, tmp_path / "root", look)
        with contextlib.nullcontext() if built else pytest.raises(StoreError, match="is locked"):
            environments.ensure(compiler, listing.find(compiler, "1.0"))
        assert list(environments.installed(compiler)) == (["1.0"] if built else [])
