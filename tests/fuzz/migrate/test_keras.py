"""Recording calls of Keras layers from test files: what becomes an instance, and what is counted with its reason."""

from __future__ import annotations

import textwrap
from importlib.util import find_spec
from pathlib import Path

import pytest

from fuzz import instance_store
from fuzz.instance_store import Stored
from fuzz.migrate import MigrationFailed, Omitted, Request, keras

with_keras = pytest.mark.skipif(find_spec("keras") is None, reason="the extra 'keras' is not installed")

TEST = """
    import keras
    import numpy as np
    import pytest
    import tensorflow as tf  # not installed: names nothing
    from keras import ops

    x = np.linspace(-1, 1, 12).reshape(3, 4).astype("float32")


    class Mine(keras.layers.Layer):
        def call(self, x):
            return x


    def test_plain():
        layer = keras.layers.Dense(2, activation="relu", kernel_initializer=keras.initializers.Constant(0.5))
        for step in range(3):
            layer(x)  # one instance: the later steps show nothing new
        keras.layers.Dense(2, "relu", kernel_initializer=keras.initializers.Constant(0.5), name="other")(x)


    def test_nested():
        keras.layers.Bidirectional(keras.layers.GRU(2))(x[None])
        keras.layers.Concatenate(axis=0)([x, x])
        keras.Sequential([keras.layers.ReLU()])(x)


    def test_not_kept():
        keras.layers.Dropout(0.5)(x, training=True)
        Mine()(x)
        keras.layers.TimeDistributed(Mine())(x[None])
        keras.layers.Dense(2)(keras.Input((4,)))
        keras.layers.ReLU()(np.zeros(1 << 15))
        keras.layers.Activation(lambda x: x)(x)


    def test_settings():
        keras.config.set_dtype_policy("mixed_float16")
        keras.layers.Rescaling(2.0)(x)
        keras.config.set_dtype_policy("float32")


    def test_fails_half_way():
        keras.layers.ELU()(x)
        tf.constant(1)


    @pytest.mark.skip
    def test_skipped():
        pass
"""


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> list[Stored | Omitted]:
    """What the source gives for a folder with one test file, and one that cannot be imported."""
    folder = tmp_path_factory.mktemp("site") / "keras"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "few_test.py").write_text(textwrap.dedent(TEST))
    (folder / "src" / "broken_test.py").write_text("import keras\nkeras.no_such_thing\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keras, "_folder", lambda: folder)
        return list(keras.migrate(Request(jobs=1)))


def kept(migrated: list[Stored | Omitted]) -> dict[str, Stored]:
    return {each.operator.rpartition(".")[2]: each for each in migrated if isinstance(each, Stored)}


def reasons(migrated: list[Stored | Omitted]) -> dict[str, int]:
    return {each.reason: each.count for each in migrated if isinstance(each, Omitted)}


@with_keras
def test_calls_of_keras_s_own_layers_become_instances(migrated: list[Stored | Omitted]) -> None:
    found = kept(migrated)
    assert set(found) == {"Dense", "Bidirectional", "GRU", "Concatenate", "ReLU", "Rescaling", "ELU"}
    operators = [each.operator for each in migrated if isinstance(each, Stored)]
    assert operators.count("keras.layers.Dense") == 1, "equal calls are one instance"
    assert operators.count("keras.layers.GRU") == 2, "forwards and backwards within Bidirectional"
    assert found["Dense"].document["init"]["kwargs"] == {
        "activation": "relu",
        "kernel_initializer": {"object": {"api": "keras.initializers.Constant", "kwargs": {"value": 0.5}}},
        "units": 2,
    }
    inner = found["Bidirectional"].document["init"]["kwargs"]["layer"]["object"]
    assert inner == {"api": "keras.layers.GRU", "kwargs": {"units": 2}}
    assert found["Concatenate"].document["args"] == [[{"tensor": 0}, {"tensor": 1}]]
    assert found["Dense"].version
    assert found["Dense"].source == instance_store.Source("keras", "keras/src/few_test.py::test_plain")


@with_keras
def test_settings_of_the_process_become_arguments(migrated: list[Stored | Omitted]) -> None:
    assert kept(migrated)["Rescaling"].document["init"]["kwargs"] == {"scale": 2.0, "dtype": "mixed_float16"}


@with_keras
def test_what_is_not_kept_is_counted_with_its_reason(migrated: list[Stored | Omitted]) -> None:
    found = reasons(migrated)
    assert found["random"] == 1
    assert found["equal to another"] == 1
    assert found["a layer of the test's own"] == 1
    assert found["a tensor of more than 4096 elements"] == 1
    assert found["an argument of type function"] == 1
    assert found["the test fails here in its call (what it did before is kept)"] == 1
    assert found["the test skips itself on this backend"] == 1
    assert found["the file cannot be imported here"] == 1


@with_keras
def test_only_layers_that_are_asked_for_come_back(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "src").mkdir()
    calls = [f"    keras.layers.{name}()(keras.ops.ones(2))" for name in ("ReLU", "ELU", "Softmax")]
    test = "\n".join(["import keras", "def test_three():", *calls])
    (tmp_path / "src" / "three_test.py").write_text(test)
    monkeypatch.setattr(keras, "_folder", lambda: tmp_path)
    found = keras.migrate(Request(jobs=1, operators=("*.ELU",)))
    assert [each.operator for each in found if isinstance(each, Stored)] == ["keras.layers.ELU"]


def test_without_keras_or_its_tests_one_line_says_how_to_mend_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(keras, "_folder", lambda: tmp_path)
    with pytest.raises(MigrationFailed, match="install keras from its wheel"):
        list(keras.migrate(Request()))
    monkeypatch.undo()
    monkeypatch.setattr(keras.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MigrationFailed, match=r"pip install 'graphwarden\[keras\]'"):
        list(keras.migrate(Request()))
