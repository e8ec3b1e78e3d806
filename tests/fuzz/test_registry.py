"""The registry: a backend is a file, and a wrong name is answered in one line."""

from pathlib import Path

import pytest

from fuzz import registry
from fuzz.registry import UnknownBackend

NAMES = ["reference", "inductor", "onnxruntime", "openvino", "tensorrt", "tvm"]


def test_every_file_of_the_folder_is_a_backend() -> None:
    assert set(NAMES) <= set(registry.names())
    assert registry.names()[0] == "reference"


@pytest.mark.parametrize("name", NAMES)
def test_a_backend_states_what_it_takes(name: str) -> None:
    backend = registry.backend(name)
    assert backend.name == backend.source == name
    assert backend.packages and set(backend.kinds) <= {"onnx", "instance", "keras"}
    assert all(len(values) >= 1 for values in backend.options.values())
    for variant in backend.variants:
        assert backend.settle(dict(variant)) == variant


def test_a_backend_may_be_a_file_anywhere(faulty_folder: Path) -> None:
    path = str(faulty_folder / "faulty.py")
    backend = registry.backend(path)
    assert (backend.name, backend.source) == ("faulty", path)


@pytest.mark.parametrize(("packages", "known"), [(("openvino", "other"), "openvino"), (("mine",), ""), ((), "")])
def test_a_file_around_a_known_compiler_refuses_as_that_one_does(
    tmp_path: Path, packages: tuple[str, ...], known: str
) -> None:
    path = tmp_path / "around.py"
    path.write_text(f"PACKAGES, KINDS, OPTIONS = {packages!r}, ('onnx',), {{}}\n")
    assert registry.backend(str(path)).refuses_as == known
    assert registry.backend("openvino").refuses_as == "openvino"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("onnxruntme", "unknown backend 'onnxruntme': choose one of reference, "),
        ("", "unknown backend ''"),
        ("../tvm", "unknown backend '../tvm'"),
        ("/nowhere/mine.py", "backend file /nowhere/mine.py does not exist"),
    ],
)
def test_an_unknown_name_is_refused_in_one_line(name: str, words: str) -> None:
    with pytest.raises(UnknownBackend) as caught:
        registry.backend(name)
    assert words in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("this is no python", "SyntaxError"),
        ("import graphwarden_no_such_module", "ModuleNotFoundError"),
        ("PACKAGES = ()\nKINDS = ()\n", "OPTIONS"),
        ("raise RuntimeError('not today')", "not today"),
    ],
)
def test_a_file_that_is_no_backend_is_refused_in_one_line(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "mine.py"
    path.write_text(text)
    with pytest.raises(UnknownBackend) as caught:
        registry.backend(str(path))
    assert words in str(caught.value) and "mine.py" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"opt": "of"}, "option opt='of' of backend onnxruntime must be one of: all, off"),
        (
            {"optimise": "off"},
            "backend onnxruntime has no option 'optimise' (it has: opt, threads, device, show, disable, export)",
        ),
    ],
)
def test_an_unknown_option_is_refused_with_the_allowed_ones(options: dict[str, str], words: str) -> None:
    with pytest.raises(UnknownBackend) as caught:
        registry.backend("onnxruntime").settle(options)
    assert words in str(caught.value)


def test_an_option_of_any_text_takes_any_text() -> None:
    chosen = {"disable": "ConstantFolding,GeluFusionL1"}
    assert registry.backend("onnxruntime").settle(dict(chosen)) == chosen


def test_an_option_may_change_what_a_backend_needs_and_what_runs_without_its_compiler() -> None:
    openvino, chosen = registry.backend("openvino"), {"keras": "tensorflow", "threads": "2"}
    assert openvino.packages_under({}) == ("openvino",)
    assert "tensorflow-cpu" in openvino.packages_under(chosen)
    assert openvino.uncompiled_under({"keras": "native"}) is None
    assert openvino.uncompiled_under(chosen) == {"engine": "none"}
    assert registry.backend("xla").uncompiled_under(chosen) == {"jit": "off"}


def test_the_locks_of_both_environments_agree_on_what_is_compared() -> None:
    root = Path(__file__).parents[2]
    locks = [(root / name).read_text().splitlines() for name in ("requirements.lock", "requirements-tensorflow.lock")]
    ours, theirs = (dict(line.split("==") for line in lines if "==" in line) for lines in locks)
    for package in ("keras", "numpy", "openvino"):
        assert theirs[package] == ours[package]


def test_another_way_is_known_for_what_is_chosen_and_for_what_holds_without_a_choice() -> None:
    openvino = registry.backend("openvino")
    assert openvino.another_way_under({}) == openvino.another_way_under({"keras": "native"}) == {"keras": "onnx"}
    assert openvino.another_way_under({"keras": "onnx"}) is None
    assert registry.backend("tvm").another_way_under({}) is None
