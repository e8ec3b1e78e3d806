"""Hosts on other machines, which are network namespaces here: cables are cut, connections are encrypted."""

from __future__ import annotations

import itertools
import os
import shutil
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot import hosts
from bot.failures import Refusal
from bot.hosts import Tls, dask_hosts
from fuzz.case import Status
from fuzz.remote import RemotePool
from fuzz.runner import Runner
from tests.bot.hosts.campaigns import LIMITS, Found, campaign, found, local
from tests.bot.hosts.support import PATIENCE, REFERENCE, Cluster, wait_until
from tests.fuzz.conftest import make_case
from triage.hunt import Progress
from triage.store import open_store

__all__ = ["local"]

#: Of the cable between this machine and the other one.
_HERE, _THERE = "10.213.77.1", "10.213.77.2"


def ip(*words: str) -> bool:
    return subprocess.run(["ip", *words], capture_output=True).returncode == 0


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dask_hosts, "FIRST", PATIENCE)


@pytest.fixture
def machine() -> Iterator[tuple[str, str]]:
    """Another machine at the end of a cable: the namespace, and the other end of the cable."""
    name = f"gw{uuid.uuid4().hex[:8]}"
    if os.geteuid() != 0 or shutil.which("ip") is None or not ip("netns", "add", name):
        pytest.skip("no network namespaces here (they need root and iproute2)")
    cable, far = f"{name}a", f"{name}b"
    try:
        assert ip("link", "add", cable, "type", "veth", "peer", "name", far, "netns", name)
        assert ip("addr", "add", f"{_HERE}/24", "dev", cable) and ip("link", "set", cable, "up")
        assert ip("-n", name, "addr", "add", f"{_THERE}/24", "dev", far) and ip("-n", name, "link", "set", far, "up")
        assert ip("-n", name, "link", "set", "lo", "up")
        yield name, far
    finally:
        ip("netns", "del", name)


def test_a_cable_that_is_cut_costs_no_case(machine: tuple[str, str], tmp_path: Path, local: Found) -> None:
    name, far = machine
    told = itertools.count(1)
    with Cluster(tmp_path, host=_HERE, missed=10) as cluster, open_store(tmp_path / "hunt.db", create=True) as store:
        cluster.add(before=("ip", "netns", "exec", name))
        connected = hosts.connect(cluster.url, Tls())

        def disturb(progress: Progress) -> None:
            if next(told) == 3:
                cluster.add()
                assert ip("-n", name, "link", "set", far, "down")

        with Runner(LIMITS, pool=RemotePool(connected, LIMITS)) as runner:
            assert found(store, campaign(store, runner, disturb)) == local


@pytest.fixture(scope="module")
def tls(tmp_path_factory: pytest.TempPathFactory) -> Tls:
    """Certificates of one authority, which all sides trust."""
    if shutil.which("openssl") is None:
        pytest.skip("no openssl here")
    folder = tmp_path_factory.mktemp("tls")
    key, cert = folder / "key.pem", folder / "cert.pem"
    asked = ["-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=graphwarden", "-keyout", key, "-out", cert]
    subprocess.run(["openssl", "req", "-x509", *map(str, asked)], check=True, capture_output=True)
    return Tls(cert, cert, key)


def test_all_sides_speak_tls_with_certificates_and_nobody_else_gets_in(tls: Tls, tmp_path: Path) -> None:
    dask = ("--tls-ca-file", str(tls.ca), "--tls-cert", str(tls.cert), "--tls-key", str(tls.key))
    ours = ("--tls-ca", str(tls.ca), "--tls-cert", str(tls.cert), "--tls-key", str(tls.key))
    with Cluster(tmp_path, more=dask, protocol="tls") as cluster:
        cluster.add(more=ours)
        connected = hosts.connect(cluster.url, tls)
        with Runner(LIMITS, pool=RemotePool(connected, LIMITS)) as runner:
            wait_until(lambda: connected.slots, "no host came")
            assert runner.run(make_case(), REFERENCE).status is Status.OK
        with pytest.raises(Refusal, match="no Dask scheduler that speaks with us"):
            hosts.connect(cluster.url, Tls())


def test_half_of_the_certificates_are_refused(tls: Tls) -> None:
    with pytest.raises(Refusal, match="belong together"):
        hosts.connect("dask://127.0.0.1:1", Tls(ca=tls.ca))
    with pytest.raises(Refusal, match=r"missing\.pem: no such file"):
        hosts.connect("dask://127.0.0.1:1", Tls(tls.ca, tls.cert, Path("missing.pem")))
