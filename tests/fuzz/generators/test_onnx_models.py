"""The models of the onnx package's backend test folders as cases."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator

from fuzz.case import Case, Origin
from fuzz.generators import Skip, onnx_models


@pytest.fixture(scope="module")
def found() -> list[Case | Skip]:
    return list(onnx_models.cases(0))


def test_every_folder_gives_a_case_or_a_skip_with_a_reason(found: list[Case | Skip]) -> None:
    cases = [each for each in found if isinstance(each, Case)]
    assert len(cases) == len(list(onnx_models.DATA.glob("*/test_*/model.onnx"))) > 130
    assert {each.origin.test.partition("/")[0] for each in found if isinstance(each, Skip)} == {"light", "real"}


def test_the_shipped_data_fits_the_models(found: list[Case | Skip]) -> None:
    agreed = 0
    for case in found:
        if not isinstance(case, Case) or "pytorch-converted" not in case.origin.test:
            continue
        actual = ReferenceEvaluator(onnx.load_model_from_string(case.model)).run(None, dict(case.inputs))
        assert case.expected is not None
        np.testing.assert_allclose(actual[0], case.expected[0], rtol=1e-3, atol=1e-4, err_msg=case.origin.test)
        agreed += 1
    assert agreed > 70


def test_sequences_and_optionals_are_read_as_what_they_hold() -> None:
    items = [np.arange(3.0), np.array([1.5])]
    sequence = onnx.numpy_helper.from_list(items)
    kind = onnx.helper.make_sequence_type_proto(onnx.helper.make_tensor_type_proto(onnx.TensorProto.DOUBLE, None))
    found = onnx_models._decoded(sequence.SerializeToString(), kind)
    assert [item.tolist() for item in found] == [item.tolist() for item in items]
    optional = onnx.numpy_helper.from_optional(items).SerializeToString()
    found = onnx_models._decoded(optional, onnx.helper.make_optional_type_proto(kind))
    assert [item.tolist() for item in found] == [item.tolist() for item in items]


def test_a_folder_with_missing_or_broken_data_is_skipped(tmp_path: Path) -> None:
    whole = onnx_models.DATA / "simple" / "test_expand_shape_model1"
    folder = tmp_path / "test_data_set_0"
    folder.mkdir()
    (tmp_path / "model.onnx").write_bytes((whole / "model.onnx").read_bytes())
    missing = onnx_models._case(tmp_path, Origin("onnx_models"))
    assert isinstance(missing, Skip) and "another number of files" in missing.reason
    for name in ("input_0", "input_1", "output_0"):
        (folder / f"{name}.pb").write_bytes(b"\xff\xff\xff")
    broken = onnx_models._case(tmp_path, Origin("onnx_models"))
    assert isinstance(broken, Skip) and "cannot be read" in broken.reason
