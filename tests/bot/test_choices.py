"""From --backend, --option and durations to what a hunt uses."""

from __future__ import annotations

import pytest

from bot import choices
from bot.durations import seconds
from bot.failures import ExitCode, Refusal
from fuzz.runner import Runner


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("90s", 90),
        ("3m", 180),
        ("1h30m", 5400),
        ("1.5m", 90),
        (" 2H ", 7200),
        ("45", 45),
        ("none", None),
        ("0.5s", 0.5),
    ],
)
def test_a_duration(text: str, expected: float | None) -> None:
    assert seconds(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "-3m", "3 m", "3x", "0", "0s", "nan", "inf", "1e3", "3m30", "m"])
def test_no_duration(text: str) -> None:
    with pytest.raises(Refusal, match="--deadline") as caught:
        seconds(text, "--deadline")
    assert caught.value.code is ExitCode.UNUSABLE


def test_a_backend_is_hunted_in_all_its_variants_unless_an_option_is_chosen() -> None:
    every = [target.id.partition("@")[2].partition("[")[2] for target in choices.hunt_targets(["onnxruntime"], [])]
    assert sorted(every) == ["", "opt=off]"]
    [chosen] = choices.hunt_targets(["onnxruntime"], ["opt=basic", "threads=2"])
    assert dict(chosen.options) == {"opt": "basic", "threads": "2"}


def test_an_option_goes_to_the_backends_that_have_it() -> None:
    found = choices.hunt_targets(["reference", "onnxruntime"], ["opt=off"])
    assert [dict(target.options) for target in found] == [{}, {"opt": "off"}]


@pytest.mark.parametrize("pair", ["opt", "=off", "opt=", "", "="])
def test_half_an_option_is_refused(pair: str) -> None:
    with pytest.raises(Refusal, match="is not of the form key=value"):
        choices.one_target("onnxruntime", [pair])


def test_compilers_are_all_backends_but_the_reference_and_those_that_must_be_named() -> None:
    assert "reference" not in choices.compilers() and "tvm" in choices.compilers()
    assert "mnn" not in choices.compilers()
    assert [target.backend for target in choices.hunt_targets(["mnn"], [])] == ["mnn"]


@pytest.mark.parametrize(("backend", "device"), [("openvino", "NPU"), ("onnxruntime", "MIGraphX")])
def test_a_device_that_is_not_here_is_told_before_every_case_is_skipped(backend: str, device: str) -> None:
    with Runner(jobs=1) as runner:
        choices.require_devices(runner, [choices.one_target(backend, []), choices.one_target(backend, ["device=CPU"])])
        with pytest.raises(Refusal, match=rf"--option device={device}: .*CPU") as refused:
            choices.require_devices(runner, [choices.one_target(backend, [f"device={device}"])])
    assert refused.value.code is ExitCode.ENVIRONMENT
