"""Configurations of compilers: what is wrong with one is said in a line that names the file."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz import registry
from triage.revisions import config
from triage.revisions.config import BadConfiguration

GOOD = 'backend = "onnxruntime"\n[provider]\nkind = "release"\npackage = "onnxruntime"\n'
WHEELS = 'backend = "onnxruntime"\n[provider]\nkind = "wheel"\nwheels = {}\n'
COMMITS = 'backend = "onnxruntime"\n[provider]\nkind = "{}"\nrepository = "."\n{}\n'


@pytest.mark.parametrize("name", config.names())
def test_every_shipped_configuration_can_be_used(name: str) -> None:
    compiler = config.load(name)
    assert compiler.name == name
    assert compiler.backend in registry.names()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("backend = ", "no TOML"),
        (GOOD.replace("onnxruntime", "nothing", 1), "unknown backend 'nothing'"),
        (GOOD.replace("release", "magic"), "unknown provider 'magic': choose one of command, overlay, release, wheel"),
        (GOOD.replace("package", "pakage"), "unknown key provider.pakage"),
        ('[provider]\nkind = "overlay"\n', "provider 'overlay' needs 'package'"),
        (GOOD.replace("backend", "backends"), "unknown key backends"),
        (GOOD + '[options]\nopt = "most"\n', "option opt='most'"),
        (GOOD + '[[requires]]\npackages = ["numpy<<2"]\n', "requires"),
        (GOOD + '[[requires]]\nversions = "soon"\n', "requires"),
        (GOOD + '[[requires]]\npackages = "numpy"\n', "requires.packages is 'numpy': it must be an array of texts"),
        ('untrusted = "no"\n' + GOOD, "untrusted is 'no': it must be true or false"),
        (GOOD + 'oldest = "soon"\n', "provider.oldest is 'soon': it must be a version"),
        (GOOD + "settle_days = 1.5\n", "provider.settle_days is 1.5: it must be a whole number"),
        (GOOD + "prereleases = 1\n", "provider.prereleases is 1: it must be true or false"),
        (GOOD.replace('"onnxruntime"\n', "7\n").replace("= 7", '= "onnxruntime"', 1), "provider.package is 7"),
        (WHEELS.format('"a.whl"'), "provider.wheels is 'a.whl': it must be an array of tables"),
        (WHEELS.format('["a.whl"]'), "it must be an array of tables"),
        (WHEELS.format('[{file = "a.whl"}]'), "{revision, file or url}"),
        (WHEELS.format('[{revision = 1, file = "a.whl"}]'), "{revision, file or url}"),
        (WHEELS.format('[{revision = "1", file = "a.whl", url = "https://a/b"}]'), "{revision, file or url}"),
        (COMMITS.format("overlay", 'package = "a"\npaths = "src"'), "provider.paths is 'src': it must be a table"),
        (COMMITS.format("command", 'command = "make all"'), "provider.command is 'make all': it must be an array"),
        (COMMITS.format("command", 'command = ["make"]\ntimeout = "soon"'), "provider.timeout is 'soon'"),
        (COMMITS.format("command", 'command = ["make"]\ndisk_mb = -1'), "provider.disk_mb is -1"),
    ],
)
def test_what_is_wrong_is_said_in_one_line_that_names_the_file(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "onnxruntime.toml"
    path.write_text(text)
    with pytest.raises(BadConfiguration) as refusal:
        config.load(str(path))
    message = str(refusal.value)
    assert message.startswith(f"{path}: ")
    assert told in message
    assert "\n" not in message.strip()


def test_a_file_of_the_users_own_comes_before_the_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tvm.toml").write_text(GOOD)
    monkeypatch.setenv("GRAPHWARDEN_COMPILERS", str(tmp_path))
    assert config.load("tvm").backend == "onnxruntime"
    assert "openvino" in config.names()


def test_a_name_that_nobody_configured_is_answered_with_those_that_are() -> None:
    with pytest.raises(BadConfiguration, match=r"choose one of .*openvino.*, or a \.toml file"):
        config.load("glow")
