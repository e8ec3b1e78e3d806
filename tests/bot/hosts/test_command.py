"""`graphwarden host` and `hunt --executor`: what they refuse before anything is started, each in one line."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.bot.hosts.support import TAGS, Cluster, wait_until
from tests.bot.support import PLANTED, ROOT, Run, ended, start

SCHEDULER = "dask://127.0.0.1:1"


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--tag", "gpu"), "--tag and --tls-… are said of other machines: add --executor dask://HOST:PORT"),
        (("--executor", SCHEDULER, "--jobs", "3"), "--jobs is said by each host: graphwarden host --jobs"),
        (("--executor", "localhost:8786"), "localhost:8786: not of the form dask://HOST:PORT"),
        (("--executor", SCHEDULER, "--tls-ca", "ca.pem"), "--tls-ca, --tls-cert and --tls-key belong together"),
        (("--executor", SCHEDULER), "tcp://127.0.0.1:1: Connection refused; start one with: dask scheduler"),
    ],
)
def test_a_hunt_that_cannot_reach_machines_says_why(
    gw: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = gw("hunt", "--no-drafts", *arguments)
    assert done.code in (2, 3) and told in done.err and len(done.err.splitlines()) == 1
    assert not (tmp_path / "hunt.db").exists()


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("--backend", "tvmm"), "--backend tvmm: no such backend (there are: reference,"),
        (("--tag", "two words"), "--tag 'two words': a tag has no space, comma, = or @"),
    ],
)
def test_a_host_that_is_told_nonsense_says_so(gw: Run, arguments: tuple[str, ...], told: str) -> None:
    done = gw("host", SCHEDULER, *arguments)
    assert done.code == 2 and told in done.err


def test_a_host_whose_scheduler_does_not_answer_says_so_and_waits(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with log.open("w") as out:
        process = start(tmp_path, "host", SCHEDULER, "--backend", "reference", stderr=out)
    try:
        told = "tcp://127.0.0.1:1: Connection refused; waits for a scheduler there"
        wait_until(lambda: told in log.read_text(), "it does not say what it waits for")
        assert process.poll() is None
    finally:
        process.terminate()
        ended(process)


def test_without_dask_both_say_what_to_install() -> None:
    program = (
        "import sys; sys.modules['distributed'] = None; sys.argv[0] = 'graphwarden'; from bot import cli; cli.main()"
    )
    for command in (("host", SCHEDULER), ("hunt", "--no-drafts", "--executor", SCHEDULER)):
        done = subprocess.run([sys.executable, "-c", program, *command], capture_output=True, text=True, cwd=ROOT)
        assert done.returncode == 3 and "pip install 'graphwarden[dask]'" in done.stderr, done.stderr


def test_a_hunt_runs_its_cases_on_a_host(tmp_path: Path) -> None:
    with Cluster(tmp_path) as cluster:
        cluster.add()
        wait_until(lambda: "Registered" in _said(cluster) and TAGS[0] in _said(cluster), "the host did not come")
        asked = ("--backend", PLANTED, "--source", "onnx_node", "--budget", "30s", "--timeout", 600, "--no-drafts")
        done = ended(start(tmp_path, "hunt", "--executor", cluster.url, *asked, "--json"))
    assert done.code == 0, done.err
    assert done.json["cases"] > 0


def _said(cluster: Cluster) -> str:
    log = cluster.folder / "bot.cli.log"
    return log.read_text(errors="replace") if log.exists() else ""
