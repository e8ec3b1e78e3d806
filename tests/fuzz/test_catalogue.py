"""The catalogue: what is installed and really works, decided by running a tiny model."""

import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz import catalogue, registry
from fuzz.catalogue import Probe
from fuzz.limits import Limits
from fuzz.runner import Runner


@pytest.fixture(scope="module")
def prober() -> Iterator[Runner]:
    with Runner(Limits(seconds=600), jobs=1) as shared:
        yield shared


@pytest.mark.parametrize("name", ["reference", "onnxruntime"])
def test_an_installed_backend_is_available(prober: Runner, name: str) -> None:
    found = catalogue.probe(prober, name)
    assert found == Probe(name, catalogue.version(name), True, "", ("CPU",))
    assert found.version[0].isdigit()


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("import_raises", "graphwarden-no-such-distribution is not installed (ImportError: libnative.so.4"),
        ("import_segfaults", "its import ended the process with signal SIGSEGV"),
        ("no_device", "RuntimeError: no such device: accelerator 0"),
        ("computes_garbage", "a tiny model computes garbage: 6 of 6 elements differ"),
        ("crashes_at_once", "a tiny model fails in stage run: signal SIGSEGV"),
    ],
)
def test_a_broken_backend_is_unavailable_and_says_why(
    prober: Runner, faulty_folder: Path, file: str, words: str
) -> None:
    found = catalogue.probe(prober, str(faulty_folder / f"{file}.py"))
    assert not found.available
    assert words in found.reason
    assert found.name == file


def test_targets_carry_the_installed_version_and_settled_options() -> None:
    target = catalogue.target("onnxruntime", {"opt": "off"})
    assert target.id == f"onnxruntime@{catalogue.version('onnxruntime')}[opt=off]"
    with pytest.raises(registry.UnknownBackend):
        catalogue.target("onnxruntime", {"opt": "sideways"})


def test_an_option_whose_value_needs_other_packages_may_have_an_environment_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("sys.prefix", str(tmp_path / "env"))
    monkeypatch.delenv("GRAPHWARDEN_PYTHON_TENSORFLOW", raising=False)
    monkeypatch.setenv("GRAPHWARDEN_PYTHON_OPENVINO", "/its/python")
    chosen = {"keras": "tensorflow"}
    assert catalogue.interpreter("openvino", chosen) == "/its/python"
    beside = tmp_path / "env-tensorflow" / "bin" / "python"
    beside.parent.mkdir(parents=True)
    beside.touch()
    assert catalogue.interpreter("openvino", chosen) == catalogue.interpreter("xla", chosen) == str(beside)
    monkeypatch.setenv("GRAPHWARDEN_PYTHON_TENSORFLOW", "/another/python")
    assert catalogue.target("openvino", chosen).revision.python == "/another/python"
    assert catalogue.target("openvino", {"keras": "onnx"}).revision.python == "/its/python"
    assert catalogue.interpreter("xla") == ""


def test_the_version_of_an_untrusted_package_is_read_without_running_anything_of_its_environment(
    tmp_path: Path,
) -> None:
    environment, trace = tmp_path / "env", tmp_path / "ran"
    venv.create(environment, with_pip=False)
    [packages] = environment.glob("lib/python3*/site-packages")
    (packages / "evil.pth").write_text(f"import pathlib; pathlib.Path({str(trace)!r}).touch()\n")
    (packages / "tinyc-1.4.dist-info").mkdir()
    (packages / "tinyc-1.4.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: tinyc\nVersion: 1.4\n")
    python = str(environment / "bin" / "python")
    assert (catalogue.recorded_version("tinyc", python), catalogue.recorded_version("none", python)) == ("1.4", "")
    assert not trace.exists()
    assert catalogue.package_version("tinyc", python) == "1.4" and trace.exists()  # the way for what is trusted
