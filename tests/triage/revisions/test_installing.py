"""What a killed Graphwarden left at work in a folder is ended before the folder is built anew."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fuzz.runner import Runner
from tests.builds import tinyc
from tests.triage.revisions import support
from triage.revisions import config, installing, listing
from triage.revisions.environments import Environments, Untestable

SLOW = '#!/bin/sh\nsh -c \'while sleep 0.05; do mkdir -p "$0"; date >> "$0/late"; done\' {there} &\nwait\n'
ENSURING = """
import sys
from pathlib import Path
from fuzz.runner import Runner
from triage.revisions import config, installing, listing
from triage.revisions.environments import Environments
compiler = config.load(sys.argv[1])
if len(sys.argv) > 4:
    installing.find_uv_bin = lambda: sys.argv[4]
with Runner(jobs=1) as runner:
    Environments(runner, Path(sys.argv[2])).ensure(compiler, listing.find(compiler, sys.argv[3]))
"""


def seen(path: Path) -> None:
    deadline = time.monotonic() + 900
    while not path.exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_an_installer_that_outlived_its_graphwarden_writes_no_more_once_the_folder_is_built_anew(
    tmp_path: Path,
) -> None:
    tinyc.wheel(tmp_path, "1.0")
    compiler, root = support.wheels(tmp_path), tmp_path / "root"
    installer, there = tmp_path / "slow", tmp_path / "there"
    installer.write_text(SLOW.format(there=there))
    installer.chmod(0o755)
    with subprocess.Popen([sys.executable, "-c", ENSURING, str(compiler.source), root, "1.0", installer]) as victim:
        seen(there / "late")
        victim.send_signal(signal.SIGKILL)
    with Runner(jobs=1) as runner:
        assert Environments(runner, root).ensure(compiler, listing.find(compiler, "1.0")).python
    (there / "late").unlink()
    time.sleep(0.3)
    assert not (there / "late").exists()


def test_a_trusted_build_that_outlived_its_graphwarden_writes_no_more_once_the_folder_is_built_anew(
    tmp_path: Path,
) -> None:
    commits = tinyc.repository(tmp_path / "repository", [tinyc.sources()])
    once, late = tmp_path / "once", tmp_path / "late"
    slow = f"test -e {once} || {{ touch {once}; (while sleep 0.05; do date >> {late}; done) & wait; }}; "
    build = slow + "cp -r tinyc {output}"
    compiler = support.built(tmp_path, tmp_path / "repository", ["sh", "-c", build])
    compiler.source.write_text("untrusted = false\n" + compiler.source.read_text())
    compiler = config.load(str(compiler.source))
    arguments = [str(compiler.source), str(tmp_path / "root"), commits[0]]
    with subprocess.Popen([sys.executable, "-c", ENSURING, *arguments]) as victim:
        seen(late)
        victim.send_signal(signal.SIGKILL)
    with Runner(jobs=1) as runner:
        assert Environments(runner, tmp_path / "root").ensure(compiler, listing.find(compiler, commits[0])).python
    late.unlink()
    time.sleep(0.3)
    assert not late.exists()


def test_a_package_index_that_is_away_is_trouble_that_passes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tinyc.wheel(tmp_path, "1.0")
    away = tmp_path / "away"
    away.write_text("#!/bin/sh\necho 'error: Could not connect' >&2\nexit 2\n")
    away.chmod(0o755)
    compiler = support.wheels(tmp_path)
    with Runner(jobs=1) as runner:
        environments = Environments(runner, tmp_path / "root")
        with monkeypatch.context() as broken:
            broken.setattr(installing, "find_uv_bin", lambda: str(away))
            with pytest.raises(Untestable, match="Could not connect") as problem:
                environments.ensure(compiler, listing.find(compiler, "1.0"))
        assert problem.value.passing
        assert environments.ensure(compiler, listing.find(compiler, "1.0")).python
